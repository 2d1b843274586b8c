package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// oldest is the oldest version of PostgreSQL that this program works with.
const oldest = 15

// binaries is a folder with postgres and initdb of one version.
type binaries struct {
	folder    string
	major     int
	libraries string // the LD_LIBRARY_PATH that packages unpacked by fetch.sh need
}

// CacheDir returns where fetch.sh puts PostgreSQL if the machine has none. For root it is outside root's
// home, because the server runs as another user.
func CacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/bankgraph/postgresql"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "bankgraph", "postgresql")
}

// usual lists where PostgreSQL is installed, as Debian does not put it on PATH. fetch.sh has the same list.
var usual = []string{
	"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
	"/usr/pgsql-*/bin",          // Red Hat, from PostgreSQL's own packages
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

// findBinaries finds a PostgreSQL of this major version (0: the newest, at least oldest) that the account can
// execute.
func findBinaries(ctx context.Context, setting string, major int, by account) (binaries, error) {
	var folders []string
	if setting != "" {
		folders = []string{setting}
	} else {
		if path, err := exec.LookPath("postgres"); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				folders = append(folders, filepath.Dir(path))
			}
		}
		for _, pattern := range append(usual, filepath.Join(CacheDir(), "usr/lib/postgresql/*/bin")) {
			found, _ := filepath.Glob(pattern)
			folders = append(folders, found...)
		}
	}

	var best binaries
	var unfit []string
	for _, folder := range folders {
		b, err := readBinaries(ctx, folder, by)
		switch {
		case err != nil:
			unfit = append(unfit, fmt.Sprintf("%s: %v", folder, err))
		case major != 0 && b.major != major:
			unfit = append(unfit, fmt.Sprintf("%s: is PostgreSQL %d", folder, b.major))
		case b.major < oldest:
			unfit = append(unfit, fmt.Sprintf("%s: is PostgreSQL %d, too old", folder, b.major))
		case b.major > best.major:
			best = b
		}
	}
	if best.folder != "" {
		return best, nil
	}
	if err := ctx.Err(); err != nil { // the programs were not run, or did not finish
		return binaries{}, err
	}
	return binaries{}, notFound(major, unfit)
}

func notFound(major int, unfit []string) error {
	var text strings.Builder
	version := fmt.Sprintf("PostgreSQL %d or newer", oldest)
	if major == 0 {
		fmt.Fprintf(&text, "no %s found", version)
	} else {
		version = fmt.Sprintf("PostgreSQL %d", major)
		fmt.Fprintf(&text,
			"the data was made by %s, which was not found; other versions cannot read it, and it is never "+
				"upgraded by itself", version)
	}
	for _, reason := range unfit {
		fmt.Fprintf(&text, "\n  %s", reason)
	}
	fmt.Fprintf(&text, "\nDo one of these:\n  1. name a database: BANKGRAPH_DATABASE_URL=postgres://...\n  2. "+
		"install %s (Debian: apt-get install postgresql), or name its folder: BANKGRAPH_POSTGRES=/path/to/bin\n  "+
		"3. start with make run, which fetches it on Debian and Ubuntu without installing", version)
	return fmt.Errorf("%s", text.String())
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

func readBinaries(ctx context.Context, folder string, by account) (binaries, error) {
	folder, err := clean(folder)
	if err != nil {
		return binaries{}, err
	}
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return binaries{}, fmt.Errorf("has no %s", name)
		}
	}
	if err := by.enter(folder); err != nil {
		return binaries{}, err
	}
	b := binaries{folder: folder, libraries: librariesOf(folder)}
	command := b.command(ctx, "postgres", "--version")
	output, err := command.CombinedOutput()
	if err != nil {
		return binaries{}, fmt.Errorf("does not run: %w: %s", err, strings.TrimSpace(string(output)))
	}
	found := versionPattern.FindSubmatch(output)
	if found == nil {
		return binaries{}, fmt.Errorf("postgres --version says %q", strings.TrimSpace(string(output)))
	}
	b.major, err = strconv.Atoi(string(found[1]))
	return b, err
}

// librariesOf finds the shared libraries of unpacked packages: those of ROOT/usr/lib/postgresql/15/bin are in
// ROOT/usr/lib/TRIPLET and ROOT/lib/TRIPLET. An installed PostgreSQL needs none.
func librariesOf(folder string) string {
	root, unpacked := strings.CutSuffix(folder,
		filepath.Join("/usr/lib/postgresql", filepath.Base(filepath.Dir(folder)), "bin"))
	if !unpacked || root == "" {
		return ""
	}
	var found []string
	for _, pattern := range []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*"} {
		matches, _ := filepath.Glob(filepath.Join(root, pattern))
		found = append(found, matches...)
	}
	return strings.Join(found, ":")
}

// command prepares one of the programs with a clean environment, without PGDATA, PGPORT or the locale of the
// caller's shell.
func (b binaries) command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(b.folder, name), arguments...)
	command.Dir = "/"
	command.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	if b.libraries != "" {
		command.Env = append(command.Env, "LD_LIBRARY_PATH="+b.libraries)
	}
	return command
}
