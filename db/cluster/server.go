package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	politely = 20 * time.Second // for SIGINT: cut clients, write a checkpoint
	firmly   = 5 * time.Second  // for SIGQUIT: leave at once, recover at the next start

	orphanPatience = 2 * time.Second  // after it, backends without a server are killed
	readyPatience  = 20 * time.Second // for a server that says it is ready to answer
	quietPatience  = 5 * time.Minute  // for a server that starts or recovers without logging anything
	biggestLog     = 10 << 20         // bytes; a bigger log is renamed to server.log.1
)

// server is one run of the PostgreSQL server, as our child or adopted.
type server struct {
	pid    int
	socket string        // folder of its socket
	exited chan struct{} // closed after how is set
	how    string        // why it exited, in words
	signal func(os.Signal) error
}

// launch adopts a running server on our data, or cleans up after a dead one and starts a new one. If it
// returns no error, the server answers.
func (c *Cluster) launch(ctx context.Context) (*server, error) {
	if adopted, err := c.settle(ctx); adopted != nil || err != nil {
		return adopted, err
	}
	began := time.Now()
	s, err := c.spawn(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.awaitReady(ctx, s); err != nil {
		_ = s.halt(ctx, c.place, c.log)
		return nil, err
	}
	c.log.Info("PostgreSQL runs", "version", c.binaries.major, "data", c.place.pgdata(),
		"pid", s.pid, "started_in", time.Since(began).Round(time.Millisecond))
	return s, nil
}

// settle handles what an earlier run left. It waits for a running server and adopts it. Of a dead one, it
// waits until the last process is gone, and removes what would keep the next server from starting.
func (c *Cluster) settle(ctx context.Context) (*server, error) {
	for end := time.Now().Add(time.Minute); ; {
		status, err := readPidFile(c.place.pidFile())
		if missing(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !c.place.owns(status.pid) {
			c.log.Warn("PostgreSQL did not stop cleanly last time; it will recover", "pid", status.pid)
			if err := disownPidFile(c.place); err != nil {
				return nil, err
			}
			break
		}
		if status.ready() && c.place.answers(ctx, status.socket) {
			c.log.Info("adopted the running PostgreSQL", "pid", status.pid, "data", c.place.pgdata())
			return c.adopt(status), nil
		}
		// It is starting, recovering or stopping, and will be ready or gone soon.
		if time.Now().After(end) {
			return nil, fmt.Errorf("the server that runs there (pid %d) does not answer; %s", status.pid,
				c.place.logEnd())
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	if err := c.awaitOrphans(ctx); err != nil {
		return nil, err
	}
	for _, left := range []string{c.place.socketFile(), c.place.socketFile() + ".lock"} {
		if err := os.Remove(left); err != nil && !missing(err) {
			return nil, err
		}
	}
	return nil, nil
}

// awaitOrphans waits until no process of a dead server is left: a busy backend outlives its server until its
// statement ends. It kills those that take too long; their work was lost with the server.
func (c *Cluster) awaitOrphans(ctx context.Context) error {
	began := time.Now()
	for {
		orphans := c.place.processes()
		if len(orphans) == 0 {
			return nil
		}
		signal := syscall.Signal(0)
		switch waited := time.Since(began); {
		case waited > orphanPatience+2*firmly:
			return fmt.Errorf("processes of an earlier server do not end: pid %v", orphans)
		case waited > orphanPatience+firmly:
			signal = syscall.SIGKILL
		case waited > orphanPatience:
			signal = syscall.SIGQUIT
		}
		for _, pid := range orphans {
			_ = syscall.Kill(pid, signal)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// adopt watches a server that is not our child.
func (c *Cluster) adopt(status pidStatus) *server {
	pid := status.pid
	s := &server{pid: pid, socket: status.socket, exited: make(chan struct{}), how: "an adopted server exited"}
	s.signal = func(signal os.Signal) error {
		if !c.place.owns(pid) {
			return os.ErrProcessDone
		}
		return syscall.Kill(pid, signal.(syscall.Signal))
	}
	go func() {
		defer close(s.exited)
		for c.place.owns(pid) {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return s
}

// spawn starts the server as our child.
func (c *Cluster) spawn(ctx context.Context) (*server, error) {
	log, err := openLog(c.place.logFile())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := c.binaries.command(context.WithoutCancel(ctx), "postgres", c.arguments()...)
	command.Stdout, command.Stderr = log, log
	// In a group of its own, because Ctrl-C reaches the whole terminal group and the program must drain
	// first.
	command.SysProcAttr = c.place.user.attributes(syscall.SIGINT)

	s := &server{socket: c.place.socket, exited: make(chan struct{})}
	if err := start(command, func(err error) {
		s.how = "exited without an error"
		if err != nil {
			s.how = err.Error()
		}
		close(s.exited)
	}); err != nil {
		return nil, err
	}
	s.pid, s.signal = command.Process.Pid, command.Process.Signal
	return s, nil
}

// start starts a command and calls exited when it has ended. The kernel ties the "parent died" signal to the
// thread that forked, so that thread waits for the child: if Go ended the thread, the server would stop.
func start(command *exec.Cmd, exited func(error)) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			exited(command.Wait())
		}
	}()
	return <-started
}

// awaitReady waits until the server says that it is ready and its socket answers. Recovery may take long and
// logs its progress. The wait fails if the server dies, logs nothing for long, or is ready and does not
// answer.
func (c *Cluster) awaitReady(ctx context.Context, s *server) error {
	next, heard := time.Now().Add(5*time.Second), time.Now()
	said := progress{}
	for {
		select {
		case <-s.exited:
			return fmt.Errorf("the server ended (%s); %s", s.how, c.place.logEnd())
		default:
		}
		status, err := readPidFile(c.place.pidFile())
		now, patience := progress{status.status, sizeOf(c.place.logFile())}, quietPatience
		if err == nil && status.pid == s.pid && status.ready() {
			if err = c.place.ask(ctx, c.place.socket); err == nil {
				return nil
			}
			now.logged, patience = 0, readyPatience // refused connections are logged too
		}
		if now != said {
			said, heard = now, time.Now()
		}
		if time.Since(heard) > patience {
			return fmt.Errorf("the server (pid %d, status %q) does not answer after %v: %w; %s",
				s.pid, status.status, patience, cmp.Or(err, errNotReady), c.place.logEnd())
		}
		if time.Now().After(next) {
			c.log.Info("PostgreSQL is still starting", "status", status.status)
			next = time.Now().Add(5 * time.Second)
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// progress is what is visible of a starting server.
type progress struct {
	status string
	logged int64 // bytes
}

var errNotReady = errors.New("it does not say that it is ready")

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// halt stops the server by SIGINT, as SIGTERM would wait for clients, and then by stronger signals. The end
// of ctx shortens only the wait after SIGINT.
func (s *server) halt(ctx context.Context, p place, log *slog.Logger) error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
		until  <-chan struct{}
	}{
		{syscall.SIGINT, politely, ctx.Done()},
		{syscall.SIGQUIT, firmly, nil},
		{syscall.SIGKILL, firmly, nil},
	} {
		if err := s.signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		select {
		case <-s.exited:
			if step.signal == syscall.SIGKILL { // a killed server leaves its backends behind
				for _, pid := range p.processes() {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			return nil
		case <-step.until:
		case <-time.After(step.wait):
		}
		log.Warn("PostgreSQL does not stop, insisting", "pid", s.pid, "signal_sent", step.signal.String())
	}
	return fmt.Errorf("the server (pid %d) does not end", s.pid)
}

// initdb creates the cluster under a temporary name, so that a crash leaves no half-made one.
func (c *Cluster) initdb(ctx context.Context) error {
	c.log.Info("making a new database cluster, once", "data", c.place.pgdata(), "version", c.binaries.major)
	began := time.Now()
	var output strings.Builder
	// not every system has C.UTF-8; in C, lower() folds only ASCII
	for _, locale := range []string{"C.UTF-8", "C"} {
		if err := c.clearUnfinished(ctx); err != nil {
			return err
		}
		arguments := []string{
			"-D", c.place.unfinished(), "-U", owner, "-E", "UTF8", "--locale=" + locale,
			"--auth=trust", "--data-checksums",
		}
		if c.fast {
			arguments = append(arguments, "--no-sync", "--wal-segsize=1")
		}
		output.Reset()
		command := c.binaries.command(ctx, "initdb", arguments...)
		command.Stdout, command.Stderr = &output, &output
		command.SysProcAttr = c.place.user.attributes(syscall.SIGKILL)
		ended := make(chan error, 1)
		err := start(command, func(err error) { ended <- err })
		if err == nil {
			err = <-ended
		}
		if err == nil {
			c.log.Info("made a new database cluster", "data", c.place.pgdata(), "version", c.binaries.major,
				"took", time.Since(began).Round(time.Millisecond))
			return os.Rename(c.place.unfinished(), c.place.pgdata())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if strings.Contains(output.String(), "could not look up effective user ID") {
			return fmt.Errorf(
				"user %d has no entry in /etc/passwd, and PostgreSQL demands one; run as a user that has",
				c.place.user.uid)
		}
		fmt.Fprintf(&output, "(%v)", err)
		if !strings.Contains(output.String(), "locale") {
			break
		}
	}
	return fmt.Errorf("initdb: %s", failures(output.String()))
}

// clearUnfinished removes what a killed initdb left. A child of it may still run, and write, for a moment.
func (c *Cluster) clearUnfinished(ctx context.Context) error {
	for end := time.Now().Add(firmly); ; {
		err := os.RemoveAll(c.place.unfinished())
		if err == nil || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > biggestLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// failures returns a program's output without the lines of successful steps, if there are others.
func failures(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		for _, word := range []string{"FATAL", "PANIC", "ERROR", "error:"} {
			if strings.Contains(line, word) {
				return strings.Join(lines[i:], "\n")
			}
		}
	}
	return strings.Join(lines, "\n")
}

// logEnd returns the end of the server's log, for an error message.
func (p place) logEnd() string {
	return fmt.Sprintf("%s ends with:\n%s", p.logFile(), tail(p.logFile()))
}

func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return filepath.Base(path) + ": " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-5):], "\n  ")
}
