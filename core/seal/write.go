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

// stamp tells one state of a file from another.
type stamp struct{ os.FileInfo }

func (s stamp) is(other os.FileInfo) bool {
	return s.FileInfo != nil && os.SameFile(s.FileInfo, other) && s.ModTime().Equal(other.ModTime()) &&
		s.Size() == other.Size()
}

// Reload reads the file again where it has changed. Keys that cannot be read leave those that are there.
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

// ErrOlder is returned for a changed file that is not what a step of a rotation makes of the one before. The
// keys that are there stay: they may be the last copy.
var ErrOlder = errors.New(
	"another file, or an older copy, was put in its place: this process goes on with the keys that it has; put the right file back")

// follows reports whether the next state of a keyset may come after this one. The key of secrets never
// changes.
func (r *ring) follows(next *ring) bool {
	now, _ := r.secrets.ComputePRF(nil, sha256.Size)
	then, _ := next.secrets.ComputePRF(nil, sha256.Size)
	later := next.info.Changed.After(r.info.Changed)
	return bytes.Equal(now, then) && follow(r.info.Sealing, next.info.Sealing, later) &&
		follow(r.info.Searching, next.info.Searching, later)
}

// follow reports whether keys may come after others. Of those in use none is taken out but by a whole
// rotation, behind which a key writes that is new, or was added. Those of the first format have no lasting
// ids.
func follow(now, next []Key, later bool) bool {
	lost := slices.ContainsFunc(now, func(key Key) bool {
		return key.State != Retired && !key.First &&
			!slices.ContainsFunc(next, func(k Key) bool { return k.ID == key.ID })
	})
	writes := in(next, Primary)[0]
	wrote := slices.ContainsFunc(now, func(key Key) bool { return key.ID == writes && key.State != Added })
	return !lost || later && !wrote
}

// Follow looks again and again whether the file has changed, until stop is called. failed hears once of each
// thing that goes wrong.
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

// ErrMeanwhile is returned where another command changes the file at the same time.
var ErrMeanwhile = errors.New("another command changes the keyset at this moment")

// rewrite changes the file, whole or not at all, under a lock. change says what the file is wrapped by.
func (f File) rewrite(change func(*contents) (tink.AEAD, error)) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	held, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	defer held.Close() // which ends the lock
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

// write puts the whole file there or nothing, and never over another.
func write(path string, text []byte) error {
	draft, err := drafted(path, text, nil)
	if err != nil {
		return err
	}
	defer os.Remove(draft)
	return os.Link(draft, path)
}

// replace puts the whole file in the place of another, which is of the same owner and mode.
func replace(path string, text []byte, was os.FileInfo) error {
	draft, err := drafted(path, text, was)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // where it could not be renamed
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

// drafted is a file beside the one that is to be written, on disk as a whole.
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

// alike gives a file the owner and the mode of another: the service that reads it may be another user than
// who changes it.
func alike(file *os.File, like os.FileInfo) error {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok &&
		(int(owner.Uid) != os.Getuid() || int(owner.Gid) != os.Getgid()) {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	return file.Chmod(like.Mode().Perm())
}
