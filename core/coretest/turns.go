package coretest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/customers"
)

// Turns begins a transaction that holds a lock, and then the others, each once the one before it waits. It
// fails the test if one finishes before the holder has ended, and returns the error of each.
func (b *Bank) Turns(hold func(ctx context.Context, tx bun.Tx) error, others ...func() error) []error {
	b.t.Helper()
	holds, release, held := make(chan int, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		held <- b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			process := 0
			if err := tx.NewRaw(`SELECT pg_backend_pid()`).Scan(ctx, &process); err != nil {
				return err
			}
			err := hold(ctx, tx)
			holds <- process
			<-release
			return err
		})
	}()
	var done atomic.Int64
	results := make([]chan error, len(others))
	behind := <-holds
	for i, other := range others {
		results[i] = make(chan error, 1)
		go func() {
			err := other()
			done.Add(1)
			results[i] <- err
		}()
		before := behind
		for began := time.Now(); behind == before; time.Sleep(time.Millisecond) {
			if done.Load() > 0 || time.Since(began) > 5*time.Second {
				close(release)
				b.t.Fatalf("what came as number %d was done first, or waits for nobody", i+1)
			}
			behind = b.waitsFor(before)
		}
	}
	close(release)
	if err := <-held; err != nil {
		b.t.Error(err)
	}
	errs := make([]error, len(others))
	for i, result := range results {
		errs[i] = <-result
	}
	return errs
}

// LocksWaiting does something that takes back what waits for a second person. It fails the test unless the
// approval is locked before its customer, as by who decides on it.
func (b *Bank) LocksWaiting(approval int64, of customers.UID, act func() error) error {
	b.t.Helper()
	lock := func(table string, uid any) func(context.Context, bun.Tx) error {
		return func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw("SELECT FROM ? WHERE tenant = ? AND uid = ? FOR NO KEY UPDATE",
				bun.Ident(table), b.Tenant, uid).
				Exec(ctx)
			return err
		}
	}
	errs := b.Turns(lock("customers", of), act, func() error {
		return b.DB.InTx(b.t.Context(), int64(b.Tenant), lock("approvals", approval))
	})
	if errs[1] != nil {
		b.t.Error(errs[1])
	}
	return errs[0]
}

// waitsFor returns a process of the database that waits for the given one; the given one if none does.
func (b *Bank) waitsFor(process int) (waits int) {
	b.t.Helper()
	err := b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(
			`SELECT coalesce((SELECT pid FROM pg_stat_activity WHERE ?0 = ANY (pg_blocking_pids(pid)) LIMIT 1), ?0)`,
			process).Scan(ctx, &waits)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return waits
}
