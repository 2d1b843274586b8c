package db_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// After a failover the first of several hosts is a standby: what migrates goes on to the primary, too.
func TestOfSeveralHostsThePrimaryIsMigrated(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, dbtest.Streaming)
	standby, err := pgx.ParseConfig(server.Replica().URL())
	if err != nil {
		t.Fatal(err)
	}
	primary, err := pgx.ParseConfig(server.Cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	both := fmt.Sprintf("user=%s dbname=%s host=%s,%s port=%d", primary.User, primary.Database, standby.Host,
		primary.Host, primary.Port)
	if err := db.Migrate(t.Context(), both); err != nil {
		t.Errorf("a schema that is up to date: %v", err)
	}
	if err := db.Grant(t.Context(), both, server.Service); err != nil {
		t.Errorf("the service's rights: %v", err)
	}
}
