package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const port = "5432" // only names the socket file

// place says where one cluster's files are, and to which user they belong.
type place struct {
	folder string // ".../postgresql"
	socket string // folder of the socket
	name   string // cluster_name: short, the same for the same data at every start
	user   account
}

// account is the user that the server runs as.
type account struct {
	uid, gid int
	name     string
}

func (a account) ours() bool { return a.uid == os.Geteuid() }

// DefaultData returns the default data folder: /var/lib/bankgraph for root (whose home the server's user
// cannot enter), $XDG_STATE_HOME/bankgraph or ~/.local/state/bankgraph for others.
func DefaultData() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/bankgraph", nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "bankgraph"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the data: %w; set XDG_STATE_HOME or name a data folder", err)
	}
	return filepath.Join(home, ".local", "state", "bankgraph"), nil
}

func newPlace(data string) (place, error) {
	if data == "" {
		return place{}, fmt.Errorf("no data folder given")
	}
	data, err := clean(data)
	if err != nil {
		return place{}, err
	}
	p := place{folder: filepath.Join(data, "postgresql")}
	sum := sha256.Sum256([]byte(p.folder))
	p.name = "bankgraph-" + hex.EncodeToString(sum[:6])
	if p.user, err = serverUser(p.folder); err != nil {
		return place{}, err
	}
	p.socket = filepath.Join(p.folder, "socket")
	if len(p.socketFile()) > longestSocket() || strings.Contains(p.socket, ",") { // a comma separates hosts
		p.socket = filepath.Join("/tmp", fmt.Sprintf("%s-%d", p.name, p.user.uid))
	}
	return p, nil
}

// longestSocket returns the longest path, in bytes, that fits into the kernel's socket address with its final
// zero.
func longestSocket() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// serverUser returns the user that the server runs as: that of existing data, or else our own, but not root,
// which PostgreSQL refuses.
func serverUser(folder string) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	if uid, gid, err := ownerOf(filepath.Join(folder, "pgdata")); err == nil && uid != 0 {
		return account{uid: uid, gid: gid, name: fmt.Sprintf("user %d", uid)}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(found.Uid)
		if err != nil {
			return account{}, err
		}
		gid, err := strconv.Atoi(found.Gid)
		if err != nil {
			return account{}, err
		}
		return account{uid: uid, gid: gid, name: name}, nil
	}
	return account{},
		fmt.Errorf("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
}

func (p place) pgdata() string     { return filepath.Join(p.folder, "pgdata") }
func (p place) unfinished() string { return filepath.Join(p.folder, "pgdata.new") }
func (p place) pidFile() string    { return filepath.Join(p.pgdata(), "postmaster.pid") }
func (p place) lock() string       { return filepath.Join(p.folder, "lock") }
func (p place) logFile() string    { return filepath.Join(p.folder, "server.log") }
func (p place) socketFile() string { return filepath.Join(p.socket, ".s.PGSQL."+port) }

// make creates the folders, and checks that the server's user can enter each of their parents.
func (p place) make() error {
	data := filepath.Dir(p.folder)
	mode := os.FileMode(0o700)
	if !p.user.ours() {
		mode = 0o711 // the server's user can pass through, but not list
	}
	if err := makeAll(data, mode); err != nil {
		return fmt.Errorf("%w; choose another data folder (--data, BANKGRAPH_DATA)", err)
	}
	if err := p.user.enter(data); err != nil {
		return fmt.Errorf("%w; choose another data folder (--data, BANKGRAPH_DATA)", err)
	}
	for _, folder := range []string{p.folder, p.socket} {
		if err := os.Mkdir(folder, 0o700); err != nil && !os.IsExist(err) {
			return err
		} else if err == nil {
			if err := os.Chown(folder, p.user.uid, p.user.gid); err != nil {
				return err
			}
		}
		// In /tmp anybody could have made a folder or a link of this name.
		info, err := os.Lstat(folder)
		if err != nil {
			return err
		}
		if uid, _, _ := ownerOf(folder); !info.IsDir() || uid != p.user.uid {
			return fmt.Errorf("%s is not a folder of uid %d, who runs the database", folder, p.user.uid)
		}
		if err := os.Chmod(folder, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// makeAll makes a folder and those above it that are missing. All that it makes have the mode, whatever the
// umask takes away.
func makeAll(folder string, mode os.FileMode) error {
	if _, err := os.Stat(folder); err == nil || filepath.Dir(folder) == folder {
		return os.MkdirAll(folder, mode) // which says if it is no folder
	}
	if err := makeAll(filepath.Dir(folder), mode); err != nil {
		return err
	}
	if err := os.Mkdir(folder, mode); err != nil {
		if os.IsExist(err) {
			return nil // by somebody else, meanwhile
		}
		return err
	}
	return os.Chmod(folder, mode)
}

// forgetSocket removes a socket folder in /tmp, which nothing else would.
func (p place) forgetSocket() {
	if filepath.Dir(p.socket) == "/tmp" {
		_ = os.Remove(p.socket)
	}
}

// major returns the PostgreSQL version of the data; 0 if there is none yet.
func (p place) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.pgdata(), "PG_VERSION"))
	if missing(err) {
		if _, err := os.Lstat(p.pgdata()); err == nil {
			return 0, fmt.Errorf("%s is no PostgreSQL data (it has no PG_VERSION); move it away", p.pgdata())
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the version of the data: %w", err)
	}
	return major, nil
}

// answers reports whether the server behind this socket works on this data.
func (p place) answers(ctx context.Context, socket string) bool { return p.ask(ctx, socket) == nil }

// ask returns why no server on this data answers behind the socket; nil if one does.
func (p place) ask(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn(owner, socket, "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var directory string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&directory); err != nil {
		return err
	}
	if directory, err = clean(directory); err == nil && directory != p.pgdata() {
		err = fmt.Errorf("the server behind %s works on other data: %s", socket, directory)
	}
	return err
}

// enter checks that the account may pass through the folder and all its parents. Its error names the one that
// blocks.
func (a account) enter(folder string) error {
	if a.ours() {
		return nil // the system's own errors name the folder
	}
	for at := folder; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		uid, gid, err := ownerOf(at)
		if err != nil {
			return err
		}
		need := os.FileMode(0o001)
		switch {
		case uid == a.uid:
			need = 0o100
		case gid == a.gid:
			need = 0o010
		}
		if info.Mode()&need == 0 {
			return fmt.Errorf("%s, who runs PostgreSQL for root, cannot enter %s (mode %04o)", a.name, at,
				info.Mode().Perm())
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func ownerOf(path string) (uid, gid int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), int(stat.Gid), nil
}

// dsn returns the address for pgx and PostgreSQL's own programs, which do not read a plus sign as a space.
func dsn(role, socket, database string) string {
	query := url.Values{"host": {socket}, "port": {port}, "sslmode": {"disable"}}
	return "postgres://" + role + "@/" + database + "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}
