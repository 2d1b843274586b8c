package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/db/cluster"
)

// helperData is a variable that makes the test binary act as another program, which runs a cluster in that
// folder.
const helperData = "BANKGRAPH_CLUSTER_TEST_DATA"

func TestMain(m *testing.M) {
	if data := os.Getenv(helperData); data != "" {
		actAsProgram(data)
		return
	}
	os.Exit(m.Run())
}

// actAsProgram starts a cluster, prints its URL and stops it when stdin ends.
func actAsProgram(data string) {
	c, err := cluster.Start(context.Background(), options(data))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(c.URL())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := c.Stop(context.Background()); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func options(data string) cluster.Options {
	return cluster.Options{Data: data, Binaries: os.Getenv("BANKGRAPH_POSTGRES"), Fast: true}
}

func TestDataSurvivesAStop(t *testing.T) {
	t.Parallel()
	data := folder(t)
	c := start(t, data)
	write(t, c.URL())
	stop(t, c)

	again := start(t, data)
	if rows := count(t, again.URL()); rows != 1 {
		t.Fatalf("%d rows after a restart, want 1", rows)
	}
}

func TestAProductionServerIsSafeAgainstPowerLoss(t *testing.T) {
	t.Parallel()
	o := options(folder(t))
	o.Fast, o.Settings = false, map[string]string{"max_connections": "17"}
	c, err := cluster.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	conn := connect(t, c.URL())
	for setting, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "data_checksums": "on",
		"listen_addresses": "", "unix_socket_permissions": "0700", "TimeZone": "GMT",
		"log_min_error_statement": "panic", "log_error_verbosity": "terse", "max_connections": "17",
	} {
		var got string
		if err := conn.QueryRow(context.Background(), "SELECT current_setting($1)", setting).
			Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q (%v)", setting, got, want, err)
		}
	}
}

func TestOneDataHasOneSupervisor(t *testing.T) {
	t.Parallel()
	data := folder(t)
	c := start(t, data)
	_, err := cluster.Start(context.Background(), options(data))
	if !errors.Is(err, cluster.ErrInUse) {
		t.Fatalf("a second supervisor got %v, want ErrInUse", err)
	}
	for _, part := range []string{
		fmt.Sprintf("pid %d, %s", os.Getpid(), filepath.Base(os.Args[0])), "BANKGRAPH_DATA",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	write(t, c.URL()) // the first one's server is unharmed
}

func TestAnotherProgramUsesTheRunningServer(t *testing.T) {
	t.Parallel()
	data := folder(t)
	program := startProgram(t, data, nil)

	url, stop, err := cluster.Use(context.Background(), options(data))
	if err != nil || url != program.url {
		t.Fatalf("got %q (%v), want %q", url, err, program.url)
	}
	if err := stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	write(t, program.url) // still there
}

func TestUseStartsAServerWhenNoneRuns(t *testing.T) {
	t.Parallel()
	data := folder(t)
	if _, ok := cluster.Running(context.Background(), data); ok {
		t.Fatal("something runs in an empty folder")
	}
	url, stop, err := cluster.Use(context.Background(), options(data))
	if err != nil {
		t.Fatal(err)
	}
	write(t, url)
	if running, ok := cluster.Running(context.Background(), data); !ok || running != url {
		t.Errorf("Running says %q, %v; want %q", running, ok, url)
	}
	if err := stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, ok := cluster.Running(context.Background(), data); ok {
		t.Error("still runs after stop")
	}
}

func TestDataSurvivesTheKillOfTheProgram(t *testing.T) {
	t.Parallel()
	data := filepath.Join(folder(t), "not", "there")
	program := startProgram(t, data, nil)
	write(t, program.url)
	program.kill(t)

	c := start(t, data)
	if rows := count(t, c.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
}

func TestTheServerEndsWithItsKilledProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child that its parent died; elsewhere the next start adopts it")
	}
	data := folder(t)
	program := startProgram(t, data, nil)
	program.kill(t)
	eventually(t, "the server ends", func() bool {
		_, runs := cluster.Running(context.Background(), data)
		return !runs
	})
}

func TestAKilledServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	data := folder(t)
	c := start(t, data)
	write(t, c.URL())
	first := serverPid(t, data)
	kill(t, first)

	if rows := countPatiently(t, c.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
	if serverPid(t, data) == first {
		t.Fatal("the server was not killed")
	}
}

func TestDataSurvivesTheKillOfProgramAndServerDuringABusyQuery(t *testing.T) {
	t.Parallel()
	data := folder(t)
	program := startProgram(t, data, nil)
	write(t, program.url)

	busy := connect(t, program.url)
	ended := make(chan error, 1)
	go func() { // pure computing for minutes: such a backend does not notice that its server died
		_, err := busy.Exec(context.Background(),
			"SELECT count(*) FROM generate_series(1, 40000) a(n), generate_series(1, 40000) b(n) "+
				"WHERE a.n % 7 < b.n % 3")
		ended <- err
	}()
	awaitActive(t, program.url)
	postmaster := serverPid(t, data)
	kill(t, postmaster)
	program.kill(t)

	c := start(t, data)
	if rows := count(t, c.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
	if err := <-ended; err == nil {
		t.Error("the query of a dead server came to its end")
	}
}

func TestALeftOverPidFileOfALivingStrangerDoesNotBlock(t *testing.T) {
	t.Parallel()
	data := folder(t)
	program := startProgram(t, data, nil)
	write(t, program.url)
	pidFile := filepath.Join(data, "postgresql", "pgdata", "postmaster.pid")
	left, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	kill(t, serverPid(t, data))
	program.kill(t)
	stop(t, start(t, data))

	// The pid now belongs to a living process that is not PostgreSQL: this test.
	_, rest, _ := strings.Cut(string(left), "\n")
	stranger := fmt.Sprint(os.Getpid())
	writeAs(t, pidFile, stranger+"\n"+rest)
	socket := filepath.Join(data, "postgresql", "socket", ".s.PGSQL.5432")
	writeAs(t, socket+".lock", stranger+"\n")

	c := start(t, data)
	if rows := count(t, c.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
}

func TestFoldersOfAnyNameWork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		`My Bank + it's "quoted" at 100%25 %s & Été?`, `a,b;c=d#e back\slash [x]* $HOME 銀行`,
		"long " + strings.Repeat("é ", 60) + "/" + strings.Repeat("x", 120),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(folder(t), name)
			c := start(t, data)
			write(t, c.URL())
			if running, ok := cluster.Running(context.Background(), data); !ok || running != c.URL() {
				t.Errorf("Running says %q, %v", running, ok)
			}
			psql := c.Command(context.Background(), "", filepath.Join(c.Binaries(), "psql"), "-At", "-c",
				"SELECT n FROM kept", c.URL())
			if _, err := os.Stat(psql.Path); err == nil {
				if output, err := psql.CombinedOutput(); err != nil || string(output) != "1\n" {
					t.Errorf("psql: %v: %s", err, output)
				}
			}
			stop(t, c)
			if rows := count(t, start(t, data).URL()); rows != 1 {
				t.Errorf("%d rows after a restart, want 1", rows)
			}
		})
	}
}

func TestWaitingForASilentServerEndsWithTheReason(t *testing.T) {
	t.Parallel()
	data := folder(t)
	stop(t, start(t, data))
	o := options(data)
	o.Settings = map[string]string{"port": "5433"} // the server is ready, but not at the expected socket
	_, err := cluster.Start(context.Background(), o)
	for _, part := range []string{"does not answer after", "server.log ends with:\n"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("the error does not say %q: %v", part, err)
		}
	}
}

func TestAPathTooLongForASocketWorks(t *testing.T) {
	t.Parallel()
	data := filepath.Join(folder(t), strings.Repeat("long", 40))
	c := start(t, data)
	write(t, c.URL())
	if running, ok := cluster.Running(context.Background(), data); !ok || running != c.URL() {
		t.Errorf("Running says %q, %v", running, ok)
	}
}

func TestALivingServerIsAdopted(t *testing.T) {
	t.Parallel()
	data := folder(t)
	c := start(t, data)
	write(t, c.URL())
	pid := serverPid(t, data)
	arguments, environment := processStrings(t, pid, "cmdline"), processStrings(t, pid, "environ")
	stop(t, c)

	// The same server, but not as the program's child.
	orphan := exec.Command(arguments[0], arguments[1:]...)
	orphan.Env = environment
	orphan.Dir = "/"
	orphan.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Credential: credential(t, filepath.Join(data, "postgresql")),
	}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = orphan.Wait(); close(exited) }()
	awaitStatus(t, data)

	adopted := start(t, data)
	if got := serverPid(t, data); got != orphan.Process.Pid {
		t.Fatalf("server %d runs, want the adopted %d", got, orphan.Process.Pid)
	}
	if rows := count(t, adopted.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
	stop(t, adopted)
	<-exited // an adopted server is stopped like an own one
}

func TestDataOfAnotherMajorVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	data := folder(t)
	stop(t, start(t, data))
	version := filepath.Join(data, "postgresql", "pgdata", "PG_VERSION")
	if err := os.WriteFile(version, []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Start(context.Background(), options(data))
	if err == nil {
		t.Fatal("started on data of version 14")
	}
	for _, part := range []string{"PostgreSQL 14", "BANKGRAPH_DATABASE_URL", "install", "make run"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	if text, err := os.ReadFile(version); err != nil || string(text) != "14\n" {
		t.Errorf("the data was touched: %q %v", text, err)
	}
}

func TestHalfMadeDataIsMadeAnew(t *testing.T) {
	t.Parallel()
	data := folder(t)
	stop(t, start(t, data))
	made := filepath.Join(data, "postgresql", "pgdata")
	if err := os.Rename(made, made+".new"); err != nil { // as if initdb had been killed near its end
		t.Fatal(err)
	}
	write(t, start(t, data).URL())
	if _, err := os.Stat(made + ".new"); err == nil {
		t.Error("the half-made data is still there")
	}
}

func TestTheErrorNamesTheFolderThatBlocks(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root's server runs as another user")
	}
	blocked := filepath.Join(folder(t), "blocked")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Start(context.Background(), options(filepath.Join(blocked, "data")))
	if err == nil || !strings.Contains(err.Error(), "cannot enter "+blocked+" ") {
		t.Fatalf("got %v", err)
	}
}

func TestAnOrdinaryUserRunsItToo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests show it")
	}
	// Fetched binaries are in root's cache, in which only root searches by default.
	t.Setenv("BANKGRAPH_POSTGRES", start(t, folder(t)).Binaries())
	data := folder(t)
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	if err := os.Chown(data, int(nobody.Uid), int(nobody.Gid)); err != nil {
		t.Fatal(err)
	}
	program := startProgram(t, data, nobody)
	write(t, program.url)
	var uid uint32
	if info, err := os.Stat(filepath.Join(data, "postgresql", "pgdata")); err != nil {
		t.Fatal(err)
	} else if uid = info.Sys().(*syscall.Stat_t).Uid; uid != nobody.Uid {
		t.Fatalf("the data belongs to uid %d", uid)
	}
	program.stop(t)
	// Root takes over data that an ordinary user made, and leaves it to that user.
	c := start(t, data)
	if rows := count(t, c.URL()); rows != 1 {
		t.Fatalf("%d rows, want 1", rows)
	}
	stop(t, c)
	startProgram(t, data, nobody).stop(t)
}

func TestMissingBinariesAreExplained(t *testing.T) {
	t.Parallel()
	o := options(folder(t))
	o.Binaries = t.TempDir()
	_, err := cluster.Start(context.Background(), o)
	for _, part := range []string{
		o.Binaries, "has no postgres", "BANKGRAPH_DATABASE_URL", "install",
		"make run",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

func TestNoProcessIsLeftAfterStop(t *testing.T) {
	t.Parallel()
	data := folder(t)
	c := start(t, data)
	pid := serverPid(t, data)
	open := connect(t, c.URL()) // must not delay the stop
	stop(t, c)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("server %d is still there (%v)", pid, err)
	}
	if err := open.Ping(context.Background()); err == nil {
		t.Error("the connection still works")
	}
}

// program is another process that supervises a cluster.
type program struct {
	url     string
	command *exec.Cmd
	stdin   interface{ Close() error }
}

// startProgram runs this test binary as another program, with misleading environment variables.
func startProgram(t *testing.T, data string, as *syscall.Credential) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if as != nil { // only we can enter go test's folder
		copied := filepath.Join(folder(t), "program")
		if output, err := exec.Command("cp", self, copied).CombinedOutput(); err != nil {
			t.Fatalf("copy: %v: %s", err, output)
		}
		self = copied
	}
	p := &program{command: exec.Command("/bin/sh", "-c", `umask 077; exec "$0"`, self)} // as hardened systems do
	p.command.Env = append(os.Environ(), helperData+"="+data,
		"PGPORT=1", "PGDATA=/nonexistent", "PGHOST=/nonexistent", "PGUSER=nobody", "PGDATABASE=none",
		"PGOPTIONS=-c search_path=nowhere", "PGTARGETSESSIONATTRS=standby", "PGSERVICE=none",
		"LC_ALL=xx_YY", "TZ=Asia/Tokyo")
	p.command.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	p.command.Dir = "/"
	p.command.Stderr = os.Stderr
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
		// the server stops by itself then, and writes until it has: its folder is removed next
		eventually(t, "the server stops", func() bool {
			_, err := os.Stat(filepath.Join(data, "postgresql", "pgdata", "postmaster.pid"))
			return os.IsNotExist(err)
		})
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if p.url = strings.TrimSpace(line); err != nil || strings.HasPrefix(line, "error") {
		t.Fatalf("the other program says %q (%v)", line, err)
	}
	return p
}

func (p *program) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.command.Wait() // "signal: killed"
}

func (p *program) stop(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	if err := p.command.Wait(); err != nil {
		t.Fatal(err)
	}
}

// folder makes a folder that the server's user can enter, unlike t.TempDir.
func folder(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	if err := os.Chmod(filepath.Dir(path), 0o711); err != nil {
		t.Fatal(err)
	}
	return path
}

func start(t *testing.T, data string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(context.Background(), options(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// write leaves one row behind.
func write(t *testing.T, url string) {
	t.Helper()
	_, err := connect(t, url).Exec(context.Background(),
		"CREATE TABLE kept (n int); SET synchronous_commit = on; INSERT INTO kept VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, url string) (rows int) {
	t.Helper()
	if err := connect(t, url).QueryRow(context.Background(), "SELECT count(*) FROM kept").
		Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// countPatiently counts the rows as soon as the server answers again.
func countPatiently(t *testing.T, url string) (rows int) {
	t.Helper()
	eventually(t, "the server answers again", func() bool {
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			return false
		}
		defer conn.Close(context.Background())
		return conn.QueryRow(context.Background(), "SELECT count(*) FROM kept").Scan(&rows) == nil
	})
	return rows
}

func awaitActive(t *testing.T, url string) {
	t.Helper()
	conn := connect(t, url)
	eventually(t, "the busy query runs", func() bool {
		var active bool
		err := conn.QueryRow(context.Background(),
			"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' "+
				"AND query LIKE '%generate_series%' AND pid <> pg_backend_pid())").Scan(&active)
		return err == nil && active
	})
}

func awaitStatus(t *testing.T, data string) {
	t.Helper()
	eventually(t, "the server is ready", func() bool {
		text, _ := os.ReadFile(filepath.Join(data, "postgresql", "pgdata", "postmaster.pid"))
		return strings.Contains(string(text), "ready")
	})
}

// eventually waits until is returns true, at most a minute.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited a minute, but not: %s", what)
		}
	}
}

func serverPid(t *testing.T, data string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postgresql", "pgdata", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// processStrings returns a process's arguments or environment, from Linux's /proc.
func processStrings(t *testing.T, pid int, list string) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, list))
	if err != nil {
		t.Skip("needs /proc")
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// writeAs writes a file as the server's user.
func writeAs(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	owner := credential(t, filepath.Dir(path))
	if owner == nil {
		return
	}
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
}

// credential returns the owner of the folder; nil unless this is root.
func credential(t *testing.T, folder string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}
}
