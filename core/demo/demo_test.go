package demo_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/demo"
	"bankgraph/core/ledger"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

var start = time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC)

func open(t testing.TB, url string) *core.Core {
	t.Helper()
	d, err := db.Open(url, db.Options{Connections: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return core.New(core.Options{DB: d, Keys: seal.New(), Now: func() time.Time { return start }})
}

func tenant(t testing.TB, c *core.Core, code string) (id access.Tenant) {
	t.Helper()
	err := c.DB.NewRaw(`INSERT INTO tenants (code, name, zone, currency, sandbox) VALUES (?, 'Sandbox Bank', 'America/New_York', 'USD', true) RETURNING id`, code).
		Scan(context.Background(), &id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTheBooksOfTheDemoBankProveThemselves(t *testing.T) {
	t.Parallel()
	c := open(t, dbtest.URL(t))
	if err := demo.Fill(t.Context(), c, tenant(t, c, "sandbox"), demo.Options{}); err != nil {
		t.Fatal(err)
	}
	violations, err := ledger.Prove(t.Context(), c.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
}

// TestALargeDemoBank measures; BANKGRAPH_DEMO_URL and _CUSTOMERS name the database and the size.
func TestALargeDemoBank(t *testing.T) {
	url := os.Getenv("BANKGRAPH_DEMO_URL")
	if url == "" {
		t.Skip()
	}
	c := open(t, url)
	n, _ := strconv.Atoi(os.Getenv("BANKGRAPH_DEMO_CUSTOMERS"))
	began := time.Now()
	err := demo.Fill(t.Context(), c, tenant(t, c, "sandbox"+strconv.Itoa(n)), demo.Options{Customers: n, Progress: func(done, total int) {
		if done%10000 == 0 {
			t.Logf("%d %v", done, time.Since(began))
		}
	}})
	t.Log(err, time.Since(began))
	began = time.Now()
	v, err := ledger.Prove(t.Context(), c.DB)
	t.Log(v, err, time.Since(began))
}
