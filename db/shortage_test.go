package db_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/db/dbtest/faults"
)

func TestAShortageHoldsUntilAWriteSucceeds(t *testing.T) {
	t.Parallel()
	d, line := single(t)
	write := func(how func(context.Context, bun.Tx) error) error { return d.InTx(t.Context(), 0, how) }
	later := func(ctx context.Context, tx bun.Tx) error {
		return db.AtCommit(ctx, tx, tx.NewRaw(
			`INSERT INTO tenants (code, name, zone, currency) VALUES (?, 'A bank', 'UTC', 'USD')`,
			"bank-"+rand.Text()))
	}
	atOnce := func(ctx context.Context, tx bun.Tx) error { return adding("bank-"+rand.Text())(ctx, tx) }
	const insert, commit = 2, 3
	for name, again := range map[string]func(context.Context, bun.Tx) error{
		"at once": atOnce, "with the end": later,
	} {
		for _, at := range []int{insert, commit} {
			line.Break(at, faults.Fault{State: "53100"})
			if write(atOnce) == nil {
				t.Fatal("it was written")
			}
			line.Break(0, faults.Fault{})
			if err := write(func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.ExecContext(ctx, `UPDATE tenants SET name = name WHERE code = 'nobody'`); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, `SELECT 1`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := write(func(context.Context, bun.Tx) error {
				return errors.New("refused")
			}); err == nil {
				t.Fatal("it was not refused")
			}
			if short, is := d.Shortage(); !is || short.State != "53100" || short.At.IsZero() {
				t.Errorf("%s: %+v", name, short)
			}
			if err := write(again); err != nil {
				t.Fatal(err)
			}
			if short, is := d.Shortage(); is {
				t.Errorf("%s: it was written, and there is still %+v", name, short)
			}
		}
	}
}

// A server that lets nobody in has no connection for a write. One that starts or stops lacks nothing.
func TestAServerThatLetsNobodyInIsAShortage(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"XX000": true, "58030": true, "28P01": true, "53300": true, "57P03": false, "57P01": false, "08006": false,
	} {
		d, err := db.Open(refusing(t, state), db.Options{Connections: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		if err := d.InTx(t.Context(), 0, adding("nobody")); !db.IsUnavailable(err) {
			t.Errorf("%s: %v", state, err)
		}
		if short, is := d.Shortage(); is != want || is && (short.State != state || short.Text != "refused") {
			t.Errorf("%s: %+v, %v", state, short, is)
		}
	}
}

// Where the role may not ask which cluster a server is of, nothing is read from the replica, and it is said
// what is missing.
func TestAReplicaThatCannotBeKnownIsNamed(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	conn, err := pgx.Connect(t.Context(), dbtest.Owner(url))
	if err == nil {
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(url, db.Options{Connections: 2, ReadURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	state, _ := d.Replica()
	for ; state.Why == nil; state, _ = d.Replica() {
		time.Sleep(10 * time.Millisecond)
	}
	if state.Used || !strings.Contains(state.Why.Error(), "GRANT EXECUTE ON FUNCTION pg_control_system()") {
		t.Errorf("%+v", state)
	}
}
