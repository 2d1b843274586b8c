package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoPooler is returned when there is no PgBouncer.
var ErrNoPooler = errors.New("no PgBouncer found: make test fetches Debian's, elsewhere install it")

// FindPooler finds PgBouncer where fetch.sh does, on this machine or else in the cache, with the libraries
// that it needs.
func FindPooler() (program, libraries string, err error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if found, err := exec.LookPath(name); err == nil {
			return found, "", nil
		}
	}
	cache := filepath.Join(filepath.Dir(CacheDir()), "pgbouncer")
	program = filepath.Join(cache, "usr/sbin/pgbouncer")
	if _, err := os.Stat(program); err != nil {
		return "", "", ErrNoPooler
	}
	return program, librariesOf(filepath.Join(cache, "usr/lib/postgresql/0/bin")), nil
}
