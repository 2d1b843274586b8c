package core_test

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/db/dbtest"
)

// witness looks at banks for a test.
type witness struct {
	t        *testing.T
	books    *ledger.Service
	contents string
}

// weights lists the tables with sharded counters, of which the sum matters, not the number of rows.
var weights = map[string]string{"customer_counts": "customers"}

func newWitness(t *testing.T) *witness {
	t.Helper()
	witnessed.Do(func() {
		books := coretest.New(t).Ledger
		witnesses = &witness{books: books, contents: ask(t)}
	})
	if witnesses == nil {
		t.Fatal("what witnesses ask could not be written: see the first test that failed")
	}
	return &witness{t, witnesses.books, witnesses.contents}
}

var (
	witnessed sync.Once
	witnesses *witness
)

// ask writes what witnesses ask: of each table of banks, how many rows a bank has and a hash of them.
func ask(t *testing.T) string {
	t.Helper()
	tables := dbtest.Planned[struct{ Name string }](t, []string{`
		SELECT table_name FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'tenant' ORDER BY table_name`})[0]
	if len(tables) < 10 {
		t.Fatal("found few tables:", tables)
	}
	parts := make([]string, len(tables))
	for i, table := range tables {
		parts[i] = fmt.Sprintf(`SELECT '%s' AS name, %s::bigint AS weight, x::text AS line
			FROM %[1]s AS x WHERE tenant = $1`, table.Name, cmp.Or(weights[table.Name], "1"))
	}
	return "SELECT name, sum(weight)::bigint, sum(hashtextextended(line, 0))::text FROM (" +
		strings.Join(parts, " UNION ALL ") + ") AS x GROUP BY name"
}

// look returns the contents of a bank's tables.
func (w *witness) look(bank access.Tenant) sight {
	w.t.Helper()
	seen := sight{}
	for _, c := range dbtest.Planned[contents](w.t, []string{w.contents}, bank)[0] {
		seen[c.Name] = c
	}
	return seen
}

// prove checks the books of a bank, as Ledger.Prove does.
func (w *witness) prove(at string, bank access.Tenant) {
	w.t.Helper()
	for _, wrong := range coretest.Broken(w.t, w.books, bank) {
		w.t.Errorf("%s: %s", at, wrong)
	}
}

// sight is the content of a bank: of each table with rows of it their number and a hash of them.
type sight map[string]contents

type contents struct {
	Name   string
	Rows   int
	Digest string
}

// since returns how many rows were added to each table.
func (s sight) since(before sight) map[string]int {
	more := map[string]int{}
	for _, seen := range []sight{s, before} {
		for name := range seen {
			if now, then := s[name], before[name]; now.Digest != then.Digest {
				more[name] = now.Rows - then.Rows
			}
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
