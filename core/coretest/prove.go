package coretest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"bankgraph/core/access"
	"bankgraph/core/ledger"
	"bankgraph/db/dbtest"
)

// Prove fails the test if this bank's books are wrong.
func (b *Bank) Prove() {
	b.t.Helper()
	for _, wrong := range b.broken() {
		b.t.Error(wrong)
	}
}

// broken is for any bank what Broken is for those in the shared database.
func (b *Bank) broken() []ledger.Violation {
	b.t.Helper()
	if b.opened == shared {
		return Broken(b.t, b.Ledger, b.Tenant)
	}
	violations, err := b.Ledger.Prove(access.Operator(b.t.Context(), b.Tenant, b.Code, nil))
	b.must(err)
	return violations
}

// Broken returns what is wrong with the books of a bank in the shared database. It asks what Ledger.Prove asks,
// with plans that all tests share.
func Broken(t testing.TB, books *ledger.Service, bank access.Tenant) (all []ledger.Violation) {
	t.Helper()
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(t.Context(), Planned(t), snapshot, func(tx pgx.Tx) error {
		batch := new(pgx.Batch)
		for _, one := range books.Invariants() {
			batch.Queue("SELECT subject, what FROM ("+strings.ReplaceAll(one.Query, "?0", "$1")+") AS v", bank).
				Query(func(rows pgx.Rows) error {
					wrong := ledger.Violation{Invariant: one.Name, Tenant: bank}
					_, err := pgx.ForEachRow(rows, []any{&wrong.Subject, &wrong.What}, func() error {
						all = append(all, wrong)
						return nil
					})
					return err
				})
		}
		return tx.SendBatch(t.Context(), batch).Close()
	})
	if err != nil {
		t.Fatalf("prove bank %d: %v", bank, err)
	}
	return all
}

// Planned returns connections to the shared database, for what tests ask of one bank after the other: each
// connection plans it once, which takes far longer than the answers. They end with the server of the tests.
func Planned(t testing.TB) *pgxpool.Pool {
	t.Helper()
	planning.Do(func() {
		config, err := pgxpool.ParseConfig(dbtest.Unhurried(dbtest.Shared(t)))
		if err != nil {
			t.Fatal(err)
		}
		config.MaxConns = 4
		config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		if planned, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
			t.Fatal(err)
		}
	})
	if planned == nil {
		t.Fatal("the connections could not be opened: see the first test that failed")
	}
	return planned
}

var (
	planning sync.Once
	planned  *pgxpool.Pool
)
