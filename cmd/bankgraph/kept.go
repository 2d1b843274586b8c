package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

// keptFile keeps what is signed of the audit chains outside the database: in a file, or else in the log. It knows how far
// each bank had come when something was last kept of it, by whatever process that shares the file.
type keptFile struct {
	path string // "": the log alone
	log  *slog.Logger

	mu    sync.Mutex
	marks audit.Marks
	read  int64 // bytes of the file
}

func (s *settings) kept(log *slog.Logger) *keptFile {
	return &keptFile{path: s.checkpointsFile(), log: log, marks: audit.Marks{}}
}

// keep is an audit.Keeper.
func (k *keptFile) keep(signed audit.Line) error {
	if signed.Restore != nil {
		k.log.Warn("the audit record goes on in another database", "restore", signed.Restore)
	}
	if k.path == "" {
		if signed.Checkpoint != nil {
			k.log.Info("audit checkpoint", "checkpoint", signed.Checkpoint)
		}
		return nil
	}
	line, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(k.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if cutOff(file) { // by a kill or a full disk: it would swallow this line
		line = append([]byte{'\n'}, line...)
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// cutOff reports whether a file ends within a line.
func cutOff(file *os.File) bool {
	last := make([]byte, 1)
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// last is the furthest place that the file tells of a bank. It reads on where it has read to before.
func (k *keptFile) last(of access.Tenant) (audit.Mark, error) {
	if k.path == "" {
		return audit.Mark{}, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	file, err := os.Open(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		k.marks, k.read = audit.Marks{}, 0
		return audit.Mark{}, nil
	}
	if err != nil {
		return audit.Mark{}, fmt.Errorf("read the checkpoints that were kept: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.Size() < k.read { // another file, or a shorter one
		k.marks, k.read = audit.Marks{}, 0
	}
	if err == nil && info.Size() > k.read {
		if _, err = file.Seek(k.read, 0); err == nil {
			var read int64
			read, err = k.marks.Read(file)
			k.read += read
		}
	}
	if err != nil {
		return audit.Mark{}, fmt.Errorf("read the checkpoints that were kept: %w", err)
	}
	return k.marks[of], nil
}
