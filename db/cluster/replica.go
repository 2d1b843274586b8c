package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// Replica starts a streaming replica of this cluster on this machine, with data of its own, which it creates
// if necessary. The cluster must run with wal_level=replica and max_wal_senders above 0.
func (c *Cluster) Replica(ctx context.Context, options Options) (*Cluster, error) {
	p, err := newPlace(options.Data)
	if err == nil {
		p.user = c.place.user
		err = p.make()
	}
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	if _, err := os.Stat(p.pgdata()); missing(err) {
		if err := c.copyTo(ctx, p); err != nil {
			return nil, fmt.Errorf("replica: %w", err)
		}
	}
	return Start(ctx, options)
}

// copyTo makes a copy of the data that is set up to stream from this server.
func (c *Cluster) copyTo(ctx context.Context, to place) error {
	copied := c.Command(ctx, c.binaries.libraries, filepath.Join(c.binaries.folder, "pg_basebackup"),
		"--pgdata", to.pgdata(), "--dbname", c.url,
		"--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	runtime.LockOSThread() // the program would die with the thread that forks it
	defer runtime.UnlockOSThread()
	if output, err := copied.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, output)
	}
	return nil
}

// Command prepares a program to run as the server's user, which alone can reach the server's socket, with
// these shared libraries in addition to the system's. It ends with this program.
func (c *Cluster) Command(ctx context.Context, libraries, program string, arguments ...string) *exec.Cmd {
	command := c.binaries.command(ctx, "postgres", arguments...)
	command.Path, command.Args[0] = program, program
	if libraries != "" {
		command.Env = append(command.Env, "LD_LIBRARY_PATH="+libraries)
	}
	command.SysProcAttr = c.place.user.attributes(syscall.SIGKILL)
	return command
}

// Owned creates a folder that belongs to the server's user.
func (c *Cluster) Owned(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	return os.Chown(folder, c.place.user.uid, c.place.user.gid)
}

// Log returns the path of the server's log.
func (c *Cluster) Log() string { return c.place.logFile() }
