package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

// keptFile keeps the signed checkpoints of the audit chains outside the database: in a file, or else in the
// log. It knows the furthest checkpoint of each bank, whichever process sharing the file has kept it.
type keptFile struct {
	path string // "": only the log
	log  *slog.Logger
	sure slog.Handler  // keeps a line or returns an error
	turn chan struct{} // held while the file is used, also while it hangs

	hangs atomic.Bool // a use hangs: others fail at once

	mu      sync.Mutex
	marks   audit.KeptPlaces
	file    os.FileInfo // the file that was read
	read    int64       // bytes read of it
	trouble error       // the error of keeping the last line
}

// keptPatience is how long a use of the file may take: it may be on another machine's disk.
const keptPatience = 3 * time.Second

var errKeptHangs = errors.New("it hangs, and nothing can be kept in it")

// kept makes the keptFile of the settings. It reports trouble to log. Without a file, sure keeps the
// checkpoints.
func (s *settings) kept(log, sure *slog.Logger) *keptFile {
	return &keptFile{
		path: s.checkpointsFile(), log: log, sure: sure.Handler(), turn: make(chan struct{}, 1),
		marks: audit.KeptPlaces{},
	}
}

// open reads the file for the first time. It fails if nothing can be kept in it.
func (k *keptFile) open() error {
	if err := k.use(k.follow); err != nil {
		return fmt.Errorf("--audit-checkpoints (BANKGRAPH_AUDIT_CHECKPOINTS): %w", err)
	}
	return nil
}

// keep implements audit.Keeper.
func (k *keptFile) keep(signed audit.Line) error {
	line, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	if k.path == "" || signed.Restore != nil {
		err = k.within("the log", func() error { return k.tell(signed) })
	}
	if err == nil && k.path != "" {
		err = k.use(func(file *os.File) error { return appendLine(file, line) })
	}
	k.mu.Lock()
	k.trouble = err
	k.mu.Unlock()
	return err
}

// tell writes a line to the log and reports whether the log took it.
func (k *keptFile) tell(signed audit.Line) error {
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "audit checkpoint", 0)
	line.AddAttrs(slog.Any("checkpoint", signed.Checkpoint))
	if signed.Restore != nil {
		line = slog.NewRecord(time.Now(), slog.LevelWarn, "the audit record goes on in another database", 0)
		line.AddAttrs(slog.Any("restore", signed.Restore))
	}
	return k.sure.Handle(context.Background(), line)
}

// last is the furthest place known to be kept of a bank. If the file cannot be read now, what was read before
// still counts, and no bank stops.
func (k *keptFile) last(of access.Tenant) audit.KeptPlace {
	if err := k.use(k.follow); err != nil {
		k.log.Error("the checkpoints that were kept cannot be read", "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.marks[of]
}

// failed is the reason why the last line could not be kept, or nil.
func (k *keptFile) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trouble
}

// use calls do with the file, which is created if necessary.
func (k *keptFile) use(do func(*os.File) error) error {
	if k.path == "" {
		return nil
	}
	return k.within(k.path, func() error {
		file, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			err = errors.Join(do(file), file.Close())
		}
		return err
	})
}

// within runs one do at a time. If a disk hangs, or nobody reads the log, one caller waits for three seconds;
// all others fail at once until it answers again.
func (k *keptFile) within(where string, do func() error) error {
	if k.hangs.Load() {
		return fmt.Errorf("%s: %w", where, errKeptHangs)
	}
	late := time.NewTimer(keptPatience)
	defer late.Stop()
	select {
	case k.turn <- struct{}{}:
	case <-late.C:
		return fmt.Errorf("%s: %w", where, errKeptHangs)
	}
	done := make(chan error, 1)
	go func() {
		defer func() { k.hangs.Store(false); <-k.turn }()
		done <- do()
	}()
	select {
	case err := <-done:
		return err
	case <-late.C:
		k.hangs.Store(true)
		select {
		case err := <-done: // it ended just now, perhaps before hangs was set
			k.hangs.Store(false)
			return err
		default:
		}
		return fmt.Errorf("%s: %w", where, errKeptHangs)
	}
}

// appendLine adds a line. If a kill or a full disk has cut the last line, it begins a new one.
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

// follow reads the file on from where it was read to before. A file that is shorter, or another file in its
// place, is read from the start. What was known before still counts, so that an empty file does not hide a
// record that went back.
func (k *keptFile) follow(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	k.mu.Lock()
	from, another := k.read, k.file != nil && !os.SameFile(info, k.file)
	k.mu.Unlock()
	if info.Size() < from || another {
		k.log.Warn("the file of audit checkpoints was cut off, or another one was put in its place: put back "+
			"the right one", "file", k.path)
		from, another = 0, true
	}
	if info.Size() == from && !another {
		return nil
	}
	found := audit.KeptPlaces{}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return err
	}
	n, err := found.Read(file)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file, k.read = info, from+n
	k.marks.Join(found)
	return err
}
