package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// loadStatements makes PostgreSQL count its statements, for -statements. This costs a little time.
var loadStatements = map[string]string{"shared_preload_libraries": "pg_stat_statements"}

// statement is what PostgreSQL reports of a statement.
type statement struct {
	calls int64
	mean  float64 // milliseconds of execution, without parsing and planning: both are done once
	text  string
}

// statements sends requests to each server for a while, and reports what each of its statements costs
// PostgreSQL.
func (s servers) statements(ctx context.Context, o options, b *bank, w *workload, r *report) error {
	conn, err := b.countStatements(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, one := range []struct {
		child   *child
		request func(string) []byte
	}{{s.ours, w.ours}, {s.hand, w.hand}} {
		if _, err := conn.Exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
			return err
		}
		played, err := play(ctx, o, b, one.child, 3*time.Second, 99,
			func(choice *rand.Rand) []byte { return one.request(w.pick(choice)) })
		if err != nil {
			return err
		}
		all, err := costs(ctx, conn, played.requests/200) // many requests may share one
		if err != nil {
			return err
		}
		for _, x := range all {
			r.printf("   %s  %7.1f µs, %.2f in a request: %s\n", one.child.name, x.mean*1000,
				float64(x.calls)/float64(played.requests), brief(x.text))
		}
	}
	r.printf("\n")
	return nil
}

// countStatements connects to the database for costs.
func (b *bank) countStatements(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return nil, err
	}
	if _, err = conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_stat_statements_reset()")
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// costs returns the statements that were sent more often than that since the counts began anew, the most
// costly first.
func costs(ctx context.Context, conn *pgx.Conn, moreThan int) ([]statement, error) {
	rows, err := conn.Query(ctx, `SELECT calls, mean_exec_time, query FROM pg_stat_statements
		WHERE query NOT LIKE '%pg_stat_statements%' AND calls > $1 ORDER BY total_exec_time DESC`, moreThan)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (x statement, err error) {
		return x, row.Scan(&x.calls, &x.mean, &x.text)
	})
}

// mostCostly is how many statements reportCosts reports.
const mostCostly = 25

// reportCosts prints what the most costly statements have cost since the counts began anew.
func reportCosts(ctx context.Context, conn *pgx.Conn) error {
	all, err := costs(ctx, conn, 0)
	for _, x := range all[:min(len(all), mostCostly)] {
		fmt.Printf("   %7.0f ms in %6d: %s\n", x.mean*float64(x.calls), x.calls, brief(x.text))
	}
	return err
}

// brief is the part of a statement that identifies it.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if at := strings.LastIndex(text, " FROM "); at > 0 && len(text)-at > 40 {
		text = "…" + text[at:]
	}
	return fmt.Sprintf("%.110s", text)
}
