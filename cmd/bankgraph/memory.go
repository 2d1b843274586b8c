package main

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// useMemory trades memory for speed: the garbage collector runs a quarter as often, until the program comes
// near its share of the machine. GOGC and GOMEMLIMIT take precedence.
func useMemory(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	machine := memory()
	if os.Getenv("GOMEMLIMIT") == "" && machine > 0 {
		debug.SetMemoryLimit(machine / 2) // PostgreSQL and the page cache need the other half
	}
	log.Debug("memory", "machine", machine)
}

// memory is how many bytes the machine or the container has, or 0 if unknown.
func memory() int64 {
	var bytes int64
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
				kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
				bytes = kilobytes << 10
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil &&
			(bytes == 0 || limit < bytes) {
			bytes = limit
		}
	}
	return bytes
}
