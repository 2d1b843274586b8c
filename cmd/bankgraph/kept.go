package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

// keptFile keeps what is signed of the audit chains outside the database: in a file, or else in the log. It knows how far
// each bank had come when something was last kept of it, by whatever process that shares the file.
type keptFile struct {
	path string // "": the log alone
	log  *slog.Logger
	turn chan struct{} // held by who uses the file, and by who hangs in it

	mu      sync.Mutex
	marks   audit.Marks
	read    int64 // bytes of the file
	trouble error // of the last line that was to be kept
}

// keptPatience is how long the file may take: it may be on another machine's disk.
const keptPatience = 3 * time.Second

var errKeptHangs = errors.New("the disk does not answer")

func (s *settings) kept(log *slog.Logger) *keptFile {
	return &keptFile{path: s.checkpointsFile(), log: log, turn: make(chan struct{}, 1), marks: audit.Marks{}}
}

// open reads the file for the first time, and refuses one that nothing can be kept in.
func (k *keptFile) open() error {
	if err := k.use(func(file *os.File) error { return k.follow(file) }); err != nil {
		return fmt.Errorf("--audit-checkpoints (BANKGRAPH_AUDIT_CHECKPOINTS): %w", err)
	}
	return nil
}

// keep is an audit.Keeper.
func (k *keptFile) keep(signed audit.Line) error {
	if signed.Restore != nil {
		k.log.Warn("the audit record goes on in another database", "restore", signed.Restore)
	}
	if k.path == "" && signed.Checkpoint != nil {
		k.log.Info("audit checkpoint", "checkpoint", signed.Checkpoint)
	}
	line, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	err = k.use(func(file *os.File) error { return appendLine(file, line) })
	k.mu.Lock()
	k.trouble = err
	k.mu.Unlock()
	return err
}

// last is the furthest place that is known to be kept of a bank. A file that cannot be read now has told what it held before:
// it stops no bank.
func (k *keptFile) last(of access.Tenant) audit.Mark {
	if err := k.use(k.follow); err != nil {
		k.log.Error("the checkpoints that were kept cannot be read", "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.marks[of]
}

// failed is why the last line could not be kept; nil where it was.
func (k *keptFile) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trouble
}

// use does something with the file, which is made where there is none. A disk that hangs holds up nobody for long.
func (k *keptFile) use(do func(*os.File) error) error {
	if k.path == "" {
		return nil
	}
	late := time.NewTimer(keptPatience)
	defer late.Stop()
	select {
	case k.turn <- struct{}{}:
	case <-late.C:
		return fmt.Errorf("%s: %w", k.path, errKeptHangs)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-k.turn }()
		file, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			err = errors.Join(do(file), file.Close())
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%s: %w", k.path, errKeptHangs)
	}
}

// appendLine adds a line, behind one that a kill or a full disk has cut off.
func appendLine(file *os.File, line []byte) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if last := make([]byte, 1); info.Size() > 0 {
		if _, err := file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

// follow reads on where the file was read to before; a shorter one is another one.
func (k *keptFile) follow(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	k.mu.Lock()
	from := k.read
	k.mu.Unlock()
	if info.Size() == from {
		return nil
	}
	found := audit.Marks{}
	if info.Size() < from {
		from = 0
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return err
	}
	n, err := found.Read(file)
	k.mu.Lock()
	defer k.mu.Unlock()
	if from == 0 {
		k.marks = audit.Marks{}
	}
	k.read = from + n
	k.marks.Join(found)
	return err
}
