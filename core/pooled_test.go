package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// poolers lists settings of an old PgBouncer, which refuses settings that it does not know, or drops them
// silently.
var poolers = map[string][]string{
	"that refuses settings": nil,
	"that drops settings": {
		"ignore_startup_parameters = lock_timeout, statement_timeout, idle_in_transaction_session_timeout, " +
			"default_transaction_read_only, plan_cache_mode, max_parallel_workers_per_gather",
	},
}

func TestTheBankWorksThroughAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	for name, settings := range poolers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.OwnServer(t, nil)
			at := server.Pooled(settings...)
			first := coretest.On(t, server.Owner, at, db.Options{})
			if ways, err := first.DB.Loose(t.Context()); err != nil || len(ways) > 0 {
				t.Errorf("bounds do not hold: %v %v", ways, err)
			}
			everyWrite(t, first)
			many(t, first)
			bounded(t, first)
			if err := db.Migrate(t.Context(), at); !errors.Is(err, db.ErrPooled) {
				t.Errorf("it migrates through a pooler: %v", err)
			}
		})
	}
}

// If "migrate" has not given the role its bounds, the program says so.
func TestWhatAPoolerLosesIsTold(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, nil)
	owner, err := db.Open(server.Owner+"&default_transaction_read_only=off", db.Options{Connections: 1})
	if err == nil {
		defer owner.Close()
		_, err = owner.ExecContext(t.Context(), `ALTER ROLE bankgraph_service IN DATABASE bankgraph RESET ALL`)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := coretest.On(t, server.Owner, server.Pooled(), db.Options{})
	if ways, err := b.DB.Loose(t.Context()); err != nil || len(ways) != 2 {
		t.Errorf("told %q %v, want what a read may do, and for how long", ways, err)
	}
	everyTimeout(t, b) // transactions set their own bounds
}

// everyWrite carries out each write, and repeats it.
func everyWrite(t *testing.T, first *coretest.Bank) {
	t.Helper()
	for _, w := range writes {
		b := first.Another()
		if w.as == nil {
			w.as = (*coretest.Bank).Staff
		}
		do := w.on(b)
		for _, replayed := range []bool{false, true} {
			out, err := do(w.as(b), "key")
			if !errors.Is(err, w.refused) || err == nil && out.Replayed != replayed {
				t.Errorf("%s: %+v %v", w.name, out.Receipt, err)
			}
		}
	}
}

// many makes more concurrent reads than the pooler has connections, with each query on each connection.
func many(t *testing.T, b *coretest.Bank) {
	t.Helper()
	c := b.Customer()
	b.Account(c)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := range 40 {
				batch := b.Batch()
				found := b.Customers.FindMany(b.Staff(), batch, []customers.UID{c.UID}, db.Columns{})
				owned := b.Accounts.OfCustomers(b.Staff(), batch, []customers.UID{c.UID},
					accounts.Search{}, db.Columns{},
					page.Window{Size: 3, Offset: n % 2})
				if err := batch.Send(t.Context()); err != nil || len(found.Of) != 1 || owned.Err != nil {
					t.Error(err, len(found.Of), owned.Err)
					return
				}
			}
		})
	}
	all.Wait()
}

// bounded tries what a connection must not do.
func bounded(t *testing.T, b *coretest.Bank) {
	t.Helper()
	if _, err := b.DB.ExecContext(t.Context(), `UPDATE tenants SET name = name WHERE id = ?`,
		int64(b.Tenant)); err == nil {
		t.Error("a statement outside of a transaction may write")
	}
	if _, err := b.DB.ExecContext(t.Context(), `SELECT pg_sleep(8)`); !db.IsTimeout(err) {
		t.Errorf("a read runs for long: %v", err)
	}
	other := b.Another()
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		moved, err := tx.ExecContext(ctx, `UPDATE customers SET legal_name = 'Taken' WHERE tenant = ?`,
			int64(other.Tenant))
		if err == nil {
			if n, _ := moved.RowsAffected(); n > 0 {
				t.Error("one bank writes the rows of another")
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	everyTimeout(t, b)
}

// everyTimeout makes transactions wait and run for too long.
func everyTimeout(t *testing.T, b *coretest.Bank) {
	t.Helper()
	lock := func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `SELECT FROM customers WHERE tenant = ? FOR UPDATE`, int64(b.Tenant))
		return err
	}
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		if err := b.DB.InTx(t.Context(), int64(b.Tenant), lock); !db.IsLockTimeout(err) {
			t.Errorf("a lock is waited for without end: %v", err)
		}
		_, err := tx.ExecContext(ctx, `SELECT pg_sleep(8)`)
		return err
	})
	if !db.IsTimeout(err) {
		t.Errorf("a statement runs without end: %v", err)
	}
}
