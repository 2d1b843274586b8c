package seal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tink-crypto/tink-go/v2/tink"
)

// stamp identifies one state of a file.
type stamp struct{ os.FileInfo }

func (s stamp) is(other os.FileInfo) bool {
	return s.FileInfo != nil && os.SameFile(s.FileInfo, other) && s.ModTime().Equal(other.ModTime()) &&
		s.Size() == other.Size()
}

// Reload reads the file again if it has changed. If that fails, the present keys stay.
func (k *Keys) Reload() (changed bool, err error) {
	if k.file.Path == "" {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.file.Path)
	if err != nil {
		return false, fmt.Errorf("read the keyset: %w", err)
	}
	if k.seen.is(info) {
		return false, nil
	}
	c, info, err := k.file.read()
	if err != nil {
		return false, err
	}
	r, err := newRing(c)
	if err != nil {
		return false, fmt.Errorf("keyset %s: %w", k.file.Path, err)
	}
	if before := k.ring.Load(); before != nil && !before.follows(r) {
		return false, fmt.Errorf("keyset %s: %w", k.file.Path, ErrOlder)
	}
	k.ring.Store(r)
	k.seen = stamp{info}
	return true, nil
}

// ErrOlder is returned for a changed file that no rotation makes of the present one. The present keys stay,
// as they may be the last copy.
var ErrOlder = errors.New(
	"another file, or an older copy, was put in its place: this process goes on with the keys that it has; " +
		"put the right file back")

// follows reports whether a keyset may replace this one. The key of secrets never changes.
func (r *ring) follows(next *ring) bool {
	now, _ := r.secrets.ComputePRF(nil, sha256.Size)
	then, _ := next.secrets.ComputePRF(nil, sha256.Size)
	later := next.info.Changed.After(r.info.Changed)
	return bytes.Equal(now, then) && follow(r.info.Sealing, next.info.Sealing, later) &&
		follow(r.info.Searching, next.info.Searching, later)
}

// follow reports whether the keys next may replace the keys now. A key in use may disappear only by a whole
// rotation, after which the primary is a new key or one that was only added. Keys of the first format do not
// count, as their ids are not lasting.
func follow(now, next []Key, later bool) bool {
	lost := slices.ContainsFunc(now, func(key Key) bool {
		return key.State != Retired && !key.First &&
			!slices.ContainsFunc(next, func(k Key) bool { return k.ID == key.ID })
	})
	writes := in(next, Primary)[0]
	wrote := slices.ContainsFunc(now, func(key Key) bool { return key.ID == writes && key.State != Added })
	return !lost || later && !wrote
}

// Follow calls Reload at an interval, until stop is called. It reports each new error once to failed.
func (k *Keys) Follow(every time.Duration, failed func(error)) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		told := ""
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			_, err := k.Reload()
			switch {
			case err == nil:
				told = ""
			case err.Error() != told:
				told = err.Error()
				failed(err)
			}
		}
	}()
	return func() { close(done) }
}

// ErrMeanwhile is returned when another command is changing the file.
var ErrMeanwhile = errors.New("another command changes the keyset at this moment")

// rewrite changes the file atomically, under a lock. change returns what to wrap the file with.
func (f File) rewrite(change func(*contents) (tink.AEAD, error)) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	held, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	defer held.Close() // releases the lock
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return ErrMeanwhile
	}
	c, now, err := f.read()
	if err != nil {
		return err
	}
	if locked, err := held.Stat(); err != nil || !os.SameFile(locked, now) {
		return ErrMeanwhile
	}
	closer, err := change(c)
	if err != nil {
		return err
	}
	text, err := c.text(closer)
	if err == nil {
		err = replace(path, text, now)
	}
	if err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	return nil
}

// write creates a file atomically. It fails if the file exists.
func write(path string, text []byte) error {
	draft, err := drafted(path, text, nil)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	return os.Link(draft, path)
}

// replace replaces a file atomically, and keeps its owner and mode.
func replace(path string, text []byte, was os.FileInfo) error {
	draft, err := drafted(path, text, was)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // if it was not renamed
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// drafted writes text to a temporary file in the same folder, and syncs it to disk.
func drafted(path string, text []byte, like os.FileInfo) (name string, err error) {
	draft, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(draft.Name())
		}
	}()
	_, err = draft.Write(text)
	if like != nil && err == nil {
		err = alike(draft, like)
	}
	return draft.Name(), errors.Join(err, draft.Sync(), draft.Close())
}

// alike gives a file the owner and mode of another: the service that reads it may run as another user.
func alike(file *os.File, like os.FileInfo) error {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok &&
		(int(owner.Uid) != os.Getuid() || int(owner.Gid) != os.Getgid()) {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	return file.Chmod(like.Mode().Perm())
}
