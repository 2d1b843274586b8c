package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"bankgraph/db"
	"bankgraph/db/cluster"
)

// settings holds the settings of the throw-away server, in addition to those of cluster.Options.Fast.
var settings = map[string]string{
	"autovacuum":      "off", // nothing lives long enough; a test that needs statistics runs ANALYZE
	"max_connections": "200",
}

// startThrowAway starts this binary's own server and returns the URL of its maintenance database.
func startThrowAway(ctx context.Context) (string, error) {
	base, err := workFolder()
	if err != nil {
		return "", err
	}
	sweep(base)
	made, lock, err := madeOnce(ctx, base)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	run, err := os.MkdirTemp(base, "run-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(run, 0o711); err != nil { // root's server, another user, must pass through
		return "", err
	}
	if err := reap(run); err != nil {
		return "", err
	}
	copied := exec.CommandContext(ctx, "cp", "-Rp", filepath.Join(made, "postgresql"), run)
	if output, err := copied.CombinedOutput(); err != nil {
		return "", fmt.Errorf("copy the prepared data: %w: %s", err, output)
	}
	c, err := cluster.Start(ctx, options(run))
	if err != nil {
		return "", err
	}
	return c.URL(), nil
}

func options(data string) cluster.Options {
	return cluster.Options{Data: data, Binaries: os.Getenv("BANKGRAPH_POSTGRES"), Fast: true, Settings: settings}
}

// reap starts a shell that outlives this binary, even if that is killed. When the pipe closes, because the
// binary is gone, the shell stops the server if the kernel did not, and removes the data.
func reap(run string) error {
	end, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer end.Close()
	holders = append(holders, held)
	shell := exec.Command("/bin/sh", "-c", `
		read -r nothing
		pid=$(head -n 1 "$0/postgresql/pgdata/postmaster.pid" 2>/dev/null) && kill -INT "$pid" 2>/dev/null
		for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			[ -e "$0/postgresql/pgdata/postmaster.pid" ] || break
			sleep 0.1
		done
		rm -rf "$0"`, run)
	shell.Dir = "/"
	shell.Stdin = end
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not reach it
	return shell.Start()
}

var holders []*os.File // kept open until the kernel closes them, when the binary ends

// madeOnce returns a data folder with the migrated template. The first test binary creates it; all others,
// even of later runs, copy it. The lock protects it from test binaries of other migrations, which sweep.
func madeOnce(ctx context.Context, base string) (made string, lock *os.File, err error) {
	made = filepath.Join(base, "made-"+schemaHash())
	lock, err = os.OpenFile(made+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, err
	}
	for {
		if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err == nil {
			err = makeData(ctx, made)
		}
		if err == nil {
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH)
		}
		if err != nil {
			_ = lock.Close()
			return "", nil, err
		}
		if _, err := os.Stat(made); err == nil { // the kernel releases the one lock before it takes the other
			return made, lock, nil
		}
	}
}

// makeData creates the data folder, unless it exists.
func makeData(ctx context.Context, made string) error {
	if _, err := os.Stat(made); err == nil {
		return nil
	}
	unfinished := made + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	c, err := cluster.Start(ctx, options(unfinished))
	if err != nil {
		return err
	}
	err = makeTemplate(ctx, c.URL())
	if stopErr := c.Stop(ctx); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	return os.Rename(unfinished, made)
}

// workFolder returns this user's folder for throw-away data: in memory if there is plenty and we may use it.
func workFolder() (string, error) {
	var shm syscall.Statfs_t
	const plenty = 2 << 30 // bytes; containers often have only 64 MB
	if syscall.Statfs("/dev/shm", &shm) == nil && shm.Bavail*uint64(shm.Bsize) > plenty {
		if base, err := ownFolder("/dev/shm"); err == nil {
			return base, nil
		}
	}
	return ownFolder(os.TempDir())
}

// ownFolder creates a folder for this user below the parent, through which root's server, another user, may
// pass.
func ownFolder(parent string) (string, error) {
	base := filepath.Join(parent, fmt.Sprintf("bankgraph-test-%d", os.Geteuid()))
	if err := os.Mkdir(base, 0o711); err != nil && !os.IsExist(err) {
		return "", err
	}
	info, err := os.Lstat(base)
	if err != nil {
		return "", err
	}
	if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is not a folder of ours", base)
	}
	return base, os.Chmod(base, 0o711)
}

// sweep removes prepared data of other migrations, so that it does not pile up in memory.
func sweep(base string) {
	others, _ := filepath.Glob(filepath.Join(base, "made-*.lock"))
	for _, path := range others {
		made := strings.TrimSuffix(path, ".lock")
		if filepath.Base(made) == "made-"+schemaHash() {
			continue
		}
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(made)
		}
		_ = lock.Close()
	}
}

// schemaHash returns a hash of the migrations and of everything else that the prepared data is made from.
func schemaHash() string {
	sum := sha256.New()
	fmt.Fprintln(sum, os.Getenv("BANKGRAPH_POSTGRES"), settings, service, db.Grants)
	_ = fs.WalkDir(db.Migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(db.Migrations, path)
		fmt.Fprintln(sum, path, len(text))
		sum.Write(text)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
