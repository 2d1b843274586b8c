package dbtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bankgraph/db"
	"bankgraph/db/cluster"
)

// Server is a migrated PostgreSQL of a test's own, for tests of how a server is set up.
type Server struct {
	*cluster.Cluster
	Owner   string // the address of its database for the owner of the tables, a superuser
	Service string // the same for the role of the running service

	t    testing.TB
	data string
}

// OwnServer starts a server with these settings in addition to those of throw-away servers. It ends with the
// test.
func OwnServer(t testing.TB, settings map[string]string) *Server {
	t.Helper()
	base, err := workFolder()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.MkdirTemp(base, "own-")
	if err == nil {
		err = os.Chmod(data, 0o711) // root's server, another user, must pass through
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	s := &Server{t: t, data: data}
	s.Cluster = s.start(cluster.Start, "primary", settings)
	s.Owner, s.Service = s.URL(), cluster.ServiceURL(s.URL())
	if err := db.Migrate(t.Context(), s.Owner); err != nil {
		t.Fatal(err)
	}
	if err := db.Grant(t.Context(), s.Owner, s.Service); err != nil {
		t.Fatal(err)
	}
	if err := db.Bind(t.Context(), s.Owner, s.Service); err != nil {
		t.Fatal(err)
	}
	return s
}

// Streaming holds the settings of a server that replicas can follow.
var Streaming = map[string]string{
	"wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on",
	"wal_keep_size": "64", // MB, so that a backup removes nothing that a replica has not read yet
}

// Replica starts a streaming replica of the server, or restarts the one that was stopped.
func (s *Server) Replica() *cluster.Cluster {
	s.t.Helper()
	return s.start(s.Cluster.Replica, "replica", Streaming)
}

// Backup copies the server's data, and returns the options with which the copy starts, as a replica that
// knows no more than what the server has by now.
func (s *Server) Backup() cluster.Options {
	s.t.Helper()
	s.stop(s.start(s.Cluster.Replica, "backup", Streaming))
	return s.options("backup", Streaming)
}

func (s *Server) options(name string, settings map[string]string) cluster.Options {
	return cluster.Options{
		Data: filepath.Join(s.data, name), Binaries: os.Getenv("BANKGRAPH_POSTGRES"), Fast: true,
		Settings: settings,
	}
}

func (s *Server) start(
	start func(context.Context, cluster.Options) (*cluster.Cluster, error), name string,
	settings map[string]string,
) *cluster.Cluster {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := start(ctx, s.options(name, settings))
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.t.Cleanup(func() { s.stop(c) })
	return c
}

// stop ends a server, once.
func (s *Server) stop(c *cluster.Cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Stop(ctx)
}
