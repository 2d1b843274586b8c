package dbtest

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Planned answers queries about one moment of the shared database, with all of them the same arguments. It
// returns the rows of each query, as T by the order of its fields. A few connections, which end with the server,
// plan a query once for all tests: that takes far longer than what tests ask of one bank.
func Planned[T any](t testing.TB, queries []string, args ...any) [][]T {
	t.Helper()
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	all := make([][]T, len(queries))
	err := pgx.BeginTxFunc(t.Context(), planners(t), snapshot, func(tx pgx.Tx) error {
		batch := new(pgx.Batch)
		for i, query := range queries {
			batch.Queue(query, args...).Query(func(rows pgx.Rows) (err error) {
				all[i], err = pgx.CollectRows(rows, pgx.RowToStructByPos[T])
				return err
			})
		}
		return tx.SendBatch(t.Context(), batch).Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	planning sync.Once
	planned  *pgxpool.Pool
)

func planners(t testing.TB) *pgxpool.Pool {
	t.Helper()
	planning.Do(func() {
		config, err := pgxpool.ParseConfig(Unhurried(Shared(t)))
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
