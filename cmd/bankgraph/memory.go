package main

import (
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// useMemory trades memory for speed: the garbage collector runs more rarely than by default, until the
// program comes near its share of the machine. GOGC and GOMEMLIMIT take precedence.
func useMemory(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		paceCollector()
	}
	machine := memory()
	if os.Getenv("GOMEMLIMIT") == "" && machine > 0 {
		debug.SetMemoryLimit(machine / 2) // PostgreSQL and the page cache need the other half
	}
	log.Debug("memory", "machine", machine)
}

const (
	usualHeap   = 96 << 20 // in bytes
	leastGrowth = 200      // in percent of what is in use
	// also in percent: where the collector has run twice before it was asked, it goes by what was in use at
	// first, such as the little of a start
	mostGrowth = 700
)

// paceCollector has the garbage collector run when the heap has grown to usualHeap, or three times what is in
// use, and looks again whenever it has run. A percentage alone would multiply each moment in which a little
// more is in use: over a long file the most memory was a third more than over a short one, by chance.
func paceCollector() {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	debug.SetGCPercent(growth(int64(sample[0].Value.Uint64()))) //nolint:gosec // far below 2^63
	collected := &struct{ next *int }{}                         // unreachable, so the next run ends it
	runtime.AddCleanup(collected, func(struct{}) { paceCollector() }, struct{}{})
}

// growth is by how many percent the heap may grow while so many bytes are in use.
func growth(inUse int64) int {
	return int(min(max(leastGrowth, 100*(usualHeap-inUse)/max(1, inUse)), mostGrowth))
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
