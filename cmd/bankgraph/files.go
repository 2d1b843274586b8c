package main

import (
	"fmt"
	"log/slog"
	"math"
	"syscall"

	"bankgraph/db"
)

const (
	// sparedFiles are what the process may have open beside its callers' connections and its pools: its own
	// files, the private PostgreSQL's pipes, balancers at /metrics, identity providers, and connections that
	// are just being made or closed.
	sparedFiles = 128
	// fewestConnections are too few for callers, of whom one network has a quarter.
	fewestConnections = 32
	enoughFiles       = 8192
)

// openFiles is how many files and sockets this process may have open; Go has raised that as far as it may be
// raised.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt // it will be seen
	}
	if most := uint64(limit.Cur); most < math.MaxInt { //nolint:unconvert // signed on other systems
		return int(most)
	}
	return math.MaxInt
}

// boundByFiles takes no more connections than the process may have. Without this, a stranger who opens many
// would leave it unable to open a file, or to answer a balancer.
func (e *exposure) boundByFiles(log *slog.Logger, files int) error {
	room := files - sparedFiles - 3*db.PoolSize() // writes, reads, and those of a replica
	switch {
	case room < fewestConnections:
		return fmt.Errorf(
			"this process may have %d files and connections open, and %d is the least that it works with: raise the "+
				"limit to %d, by \"ulimit -n\" in the shell that starts it, or LimitNOFILE in its "+
				"systemd unit", files, files-room+fewestConnections, enoughFiles)
	case room < e.Connections:
		log.Warn("this process may have few files open: it takes fewer connections than it is set to",
			"limit", files, "connections", room, "set", e.Connections,
			"see", "README, fair shares: ulimit -n, LimitNOFILE")
		e.Connections = room
	}
	return nil
}
