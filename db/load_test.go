package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

type ceiling struct {
	bun.BaseModel `bun:"table:limits"`
	Tenant        int64
	Customer      int64
	Code          string
	Application   string
	Ceiling       int64
	Currency      string
}

func ceilings(bank int64, codes ...string) (all []*ceiling) {
	for _, code := range codes {
		all = append(all,
			&ceiling{Tenant: bank, Customer: 1, Code: code, Application: "Payments", Ceiling: 5, Currency: "USD"})
	}
	return all
}

// banked returns a database with the banks 1 and 2, each with a customer 1.
func banked(t *testing.T) *db.DB {
	t.Helper()
	url := dbtest.URL(t)
	execute(t, dbtest.Owner(url),
		`INSERT INTO tenants (id, code, name, zone, currency) SELECT n, 'BANK' || n, 'Bank', 'UTC', 'USD'
			FROM generate_series(1, 2) AS n`,
		`INSERT INTO customers (tenant, uid, legal_name, short_name, type, status)
			SELECT n, 1, 'One', 'one', 'Corporate', 'Active' FROM generate_series(1, 2) AS n`)
	return open(t, url)
}

func TestALoadGoesInWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	d := banked(t)
	count := func() (n int) {
		if err := d.NewRaw(`SELECT count(*) FROM limits WHERE tenant = 1`).Scan(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	broken := errors.New("broken")
	for _, end := range []error{broken, nil} {
		err := d.Load(t.Context(), 1, func(ctx context.Context, load *db.Load) error {
			for _, codes := range [][]string{{"A", "B"}, {"C"}} { // the second must not copy the first again
				n, err := db.CopyTo(ctx, load, slices.Values(ceilings(1, codes...)))
				if err != nil || n != int64(len(codes)) {
					t.Errorf("%d of %v went in (%v)", n, codes, err)
				}
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Errorf("ended with %v, want %v", err, end)
		}
		if n := count(); end == nil && n != 3 || end != nil && n != 0 {
			t.Errorf("after %v: %d rows", end, n)
		}
	}
}

func TestALoadIsOfOneBank(t *testing.T) {
	t.Parallel()
	d := banked(t)
	err := d.Load(t.Context(), 1, func(ctx context.Context, load *db.Load) error {
		_, err := db.CopyTo(ctx, load, slices.Values(append(ceilings(1, "A"), ceilings(2, "B")...)))
		return err
	})
	var state *pgconn.PgError
	if !errors.As(err, &state) || state.Code != "42501" {
		t.Errorf("another bank's row was loaded: %v", err)
	}
}
