package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/PID/stat: a hundredth of a second on every Linux.
const tick = 10 * time.Millisecond

// status is what the kernel reports of a process.
type status struct {
	state  string // Z: it has ended
	parent int
	cpu    time.Duration // its own
	former time.Duration // of its ended children
}

func statusOf(pid int) (status, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return status{}, err
	}
	// The name is in parentheses and may contain anything. Of the fields after it, all but the first are
	// numbers.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return status{}, fmt.Errorf("the kernel says nothing of process %d", pid)
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	return status{
		state:  fields[0],
		parent: number(1),
		cpu:    time.Duration(number(11)+number(12)) * tick,
		former: time.Duration(number(13)+number(14)) * tick,
	}, nil
}

func parentOf(pid int) (int, error) {
	s, err := statusOf(pid)
	return s.parent, err
}

// cpuOf is the CPU time of a process.
func cpuOf(pid int) (time.Duration, error) {
	s, err := statusOf(pid)
	return s.cpu, err
}

// cpuOfFamily is the CPU time of a process and its children: PostgreSQL has one for each connection.
func cpuOfFamily(pid int) (time.Duration, error) {
	s, err := statusOf(pid)
	if err != nil {
		return 0, err
	}
	sum := s.cpu + s.former
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, path := range all {
		child, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if s, err := statusOf(child); err == nil && s.parent == pid {
			sum += s.cpu
		}
	}
	return sum, nil
}
