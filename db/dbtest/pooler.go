package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/db/cluster"
)

// Pooled starts a PgBouncer in transaction mode in front of the server, with these lines in its settings, and
// returns the service's address through it. It has few connections, so that clients take turns on each. If
// the machine has no PgBouncer and cannot fetch one, the test is skipped.
func (s *Server) Pooled(settings ...string) string {
	s.t.Helper()
	program, libraries, err := cluster.FindPooler()
	if _, missing := exec.LookPath("apt-get"); missing != nil && errors.Is(err, cluster.ErrNoPooler) {
		s.t.Skip(err)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	folder := filepath.Join(s.data, fmt.Sprintf("pool%d", count.Add(1)))
	if err := s.Owned(folder); err != nil {
		s.t.Fatal(err)
	}
	service, err := url.Parse(s.Service)
	if err != nil {
		s.t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return path
	}
	users := write("users", `"`+service.User.Username()+`" ""`+"\n")
	ini := write("pgbouncer.ini",
		fmt.Sprintf("[databases]\n* = host='%s' port=%s\n[pgbouncer]\n",
			strings.ReplaceAll(service.Query().Get("host"), "'", "''"), service.Query().Get("port"))+
			strings.Join(append(settings, "pool_mode = transaction", "auth_type = trust", "auth_file = "+users,
				"unix_socket_dir = "+folder, "listen_port = 6432",
				"default_pool_size = 3", "max_client_conn = 200",
				"server_login_retry = 1"), "\n")+"\n")
	ctx, stop := context.WithCancel(context.Background())
	pooler := s.Command(ctx, libraries, program, ini)
	started, ended := make(chan error), make(chan struct{})
	go func() { // PgBouncer dies with the thread that forked it, so that thread waits
		runtime.LockOSThread()
		defer close(ended)
		err := pooler.Start()
		if started <- err; err == nil {
			_ = pooler.Wait()
		}
	}()
	if err := <-started; err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { stop(); <-ended })
	query := service.Query()
	query.Set("host", folder)
	query.Set("port", "6432")
	service.RawQuery = query.Encode()
	s.answers(service.String())
	return service.String()
}

// answers waits until the address answers.
func (s *Server) answers(url string) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(s.t.Context(), url)
		if err == nil {
			_ = conn.Close(context.Background())
			return
		}
		if time.Now().After(end) {
			s.t.Fatal(err)
		}
	}
}
