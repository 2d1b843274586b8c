package core_test

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/db/dbtest"
)

// witness looks at banks for a test.
type witness struct {
	t *testing.T
	*asked
}

// asked is what all witnesses ask. They share a few connections, on each of which it is planned once: planning
// takes far longer than the answers.
type asked struct {
	pool       *pgxpool.Pool
	contents   string
	invariants []invariant
}

type invariant struct{ name, query string }

// sums lists the tables with sharded counters, of which the sum matters, not the number of rows.
var sums = map[string]string{"customer_counts": "coalesce(sum(customers), 0)"}

func newWitness(t *testing.T) *witness {
	t.Helper()
	witnessed.Do(func() { witnesses, errWitnesses = ask(coretest.New(t).Ledger, dbtest.Shared(t)) })
	if errWitnesses != nil || witnesses == nil {
		t.Fatalf("what witnesses ask: %v", errWitnesses)
	}
	return &witness{t, witnesses}
}

var (
	witnessed    sync.Once
	witnesses    *asked
	errWitnesses error
)

// ask opens connections, which end with the server of the tests, and writes what is asked over them.
func ask(books *ledger.Service, url string) (*asked, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	a := new(asked)
	if a.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, err
	}
	rows, _ := a.pool.Query(context.Background(), `SELECT table_name FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'tenant' ORDER BY table_name`)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(tables) < 10 {
		err = fmt.Errorf("found few tables: %v", tables)
	}
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(tables))
	for i, name := range tables {
		parts[i] = fmt.Sprintf(`SELECT '%s', (%s)::bigint, coalesce(md5(string_agg(x::text, ' ' ORDER BY x::text)),
			'')
			FROM %s AS x WHERE tenant = $1`, name, cmp.Or(sums[name], "count(*)"), name)
	}
	a.contents = strings.Join(parts, " UNION ALL ")
	for _, one := range books.Invariants() {
		query := strings.ReplaceAll(one.Query, "?0", "$1")
		a.invariants = append(a.invariants, invariant{one.Name, "SELECT subject || ': ' || what FROM (" +
			query + ") AS v"})
	}
	return a, nil
}

// look returns the contents of a bank's tables.
func (w *witness) look(bank access.Tenant) sight {
	w.t.Helper()
	rows, _ := w.pool.Query(w.t.Context(), w.contents, bank)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[contents])
	if err != nil {
		w.t.Fatal(err)
	}
	seen := sight{}
	for _, c := range all {
		seen[c.Name] = c
	}
	return seen
}

// prove checks the books of a bank, as Ledger.Prove does.
func (w *witness) prove(at string, bank access.Tenant) {
	w.t.Helper()
	for _, one := range w.invariants {
		rows, _ := w.pool.Query(w.t.Context(), one.query, bank)
		wrong, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			w.t.Fatalf("%s: %v", one.name, err)
		}
		for _, what := range wrong {
			w.t.Errorf("%s: %s: %s", at, one.name, what)
		}
	}
}

// sight is the content of a bank: of each table the number of rows and a hash of them.
type sight map[string]contents

type contents struct {
	Name   string
	Rows   int
	Digest string
}

// since returns how many rows were added to each table.
func (s sight) since(before sight) map[string]int {
	more := map[string]int{}
	for name, now := range s {
		if now.Digest != before[name].Digest {
			more[name] = now.Rows - before[name].Rows
		}
	}
	return more
}

// holds fails the test unless exactly one effect has happened.
func (s sight) holds(t *testing.T, at string, before sight, effect map[string]int) {
	t.Helper()
	if got := s.since(before); !reflect.DeepEqual(got, effect) {
		t.Errorf("%s: in the end it has changed %v, want %v", at, got, effect)
	}
}
