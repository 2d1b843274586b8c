package db_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// odd lists defaults that an operator, or another program on the same server, may have set for a database.
var odd = []string{
	"standard_conforming_strings TO off", "datestyle TO 'German, DMY'", "timezone TO 'Asia/Kathmandu'",
	"bytea_output TO 'escape'",
	"row_security TO off", "default_transaction_read_only TO on",
	"default_transaction_isolation TO 'serializable'",
	"intervalstyle TO 'sql_standard'", "client_encoding TO 'LATIN1'", "lock_timeout TO '1ms'",
}

// The settings of the program's connections do not depend on the defaults of the database.
func TestDefaultsOfTheDatabaseDoNotCount(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	owner := dbtest.Owner(url)
	conn, err := pgx.Connect(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, setting := range odd {
		if _, err := conn.Exec(t.Context(),
			"ALTER DATABASE "+pgx.Identifier{conn.Config().Database}.Sanitize()+" SET "+setting); err != nil {
			t.Fatal(err)
		}
	}
	all, err := db.MigrationStatus(t.Context(), owner)
	if err != nil || len(all) == 0 || time.Since(all[0].Applied).Abs() > 24*time.Hour {
		t.Fatalf("%+v, %v", all, err)
	}
	for range all { // to the first one and back
		if _, err := db.MigrateDown(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if err := db.Grant(t.Context(), owner, url); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(url, db.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var row struct {
		Bytes []byte    `bun:"bytes,type:bytea"`
		At    time.Time `bun:"at"`
		Text  string    `bun:"text"`
	}
	if err := d.NewRaw(`SELECT ?::bytea AS bytes, now() AS at, ?::text AS text`, []byte{0, 255, '\\'},
		`Łódź \ 'x'`).Scan(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	if string(row.Bytes) != "\x00\xff\\" || time.Since(row.At).Abs() > time.Hour || row.Text != `Łódź \ 'x'` {
		t.Errorf("%+v", row)
	}
}

func TestDatabaseOfAnotherEncodingIsRefused(t *testing.T) {
	t.Parallel()
	owner := dbtest.Owner(dbtest.URL(t))
	conn, err := pgx.Connect(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	name := conn.Config().Database + "_latin"
	if _, err := conn.Exec(t.Context(),
		"CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+
			" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"); err != nil {
		t.Skip("the role may not create databases: ", err)
	}
	defer func() {
		_, _ = conn.Exec(context.Background(), "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	}()
	if err := db.Migrate(t.Context(), strings.Replace(owner, conn.Config().Database, name, 1)); err == nil ||
		!strings.Contains(err.Error(), "ENCODING 'UTF8'") {
		t.Errorf("error = %v", err)
	}
}
