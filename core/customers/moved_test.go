package customers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/db"
)

// recorded returns how many entries about a customer a caller reads, which is the same by every way.
func recorded(t *testing.T, bank *coretest.Bank, ctx context.Context, c customers.UID) int {
	t.Helper()
	by, of := audit.Search{Customer: int64(c)}, []customers.UID{c}
	all, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
		return bank.Audit.List(bank.Staff(), b, by, db.Columns{}, page.First(50))
	})
	must(t, err)
	ids := make([]audit.ID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	listed, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[audit.Entry] {
		return bank.Audit.List(ctx, b, by, db.Columns{}, page.First(50))
	})
	must(t, err)
	counted, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[db.Count] {
		return bank.Audit.CountUpTo(ctx, b, by, 50)
	})
	must(t, err)
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[audit.ID, audit.Entry] {
		return bank.Audit.FindMany(ctx, b, ids, db.Columns{})
	})
	must(t, err)
	history, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, audit.Entry] {
		return audit.OfObjects(ctx, b, "customer", of, db.Columns{}, page.First(50))
	})
	must(t, err)
	histories, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, db.Count] {
		return audit.CountOfObjects(ctx, b, "customer", of, 50)
	})
	must(t, err)
	n := len(listed)
	if counted[0].N != int64(n) || len(found) != n || len(history[c]) != n || histories[c][0].N != int64(n) {
		t.Errorf("%d listed, %d counted, %d found, %d of the customer, %d of it counted", n, counted[0].N,
			len(found), len(history[c]), histories[c][0].N)
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was recorded before a customer came to its present partner, and the move itself, the bank alone reads.
func TestTheRecordBeforeAMoveIsTheBanks(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"at once": false, "approved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bank := staffed(t)
			former, next := bank.DownstreamPartner(), bank.DownstreamPartner()
			c := bank.Customer(coretest.OwnedBy(former))
			neighbour := bank.Customer(coretest.OwnedBy(next))
			person := bank.PersonOf(c, bank.User(c, nil))
			n := 0
			noted := func(ctx context.Context, of *customers.Customer) {
				t.Helper()
				n++
				change(t, bank, ctx, of.UID, func(d *customers.Draft) { d.Note = given.Of(fmt.Sprint("call ", n)) })
			}
			noted(bank.Partner(former), c)
			noted(bank.Partner(next), neighbour)
			if n := recorded(t, bank, bank.Partner(former), c.UID); n != 1 {
				t.Fatalf("the former partner read %d entries", n)
			}
			bank.Exec(`UPDATE customers SET access_customer_dual_approval = ? WHERE tenant = ? AND uid = ?`, waits,
				bank.Tenant, c.UID)
			moved, err := bank.Customers.Change(bank.Staff(), c.UID,
				customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
			must(t, err)
			if (moved.Approval != 0) != waits {
				t.Fatalf("approval %d", moved.Approval)
			}
			if waits {
				_, err := bank.Changes.Approve(bank.Checker(), changes.UID(moved.Approval), changes.RequestOptions{})
				must(t, err)
			}
			entries := recorded(t, bank, bank.Staff(), c.UID)
			all, err := coretest.Rows(bank, bank.Staff(), func(b *db.Batch) *db.Rows[audit.Entry] {
				return bank.Audit.List(bank.Staff(), b, audit.Search{Customer: int64(c.UID)}, db.Columns{}, page.First(50))
			})
			must(t, err)
			for _, e := range all { // the entry of the move has its time already
				if strings.Contains(string(e.After), "ovedAt") {
					t.Errorf("%s: %s", e.Action, e.After)
				}
			}
			for who, ctx := range map[string]context.Context{
				"the former partner": bank.Partner(former), "the next": bank.Partner(next), "the customer": person,
			} {
				if n := recorded(t, bank, ctx, c.UID); n != 0 {
					t.Errorf("%s reads %d of %d entries", who, n, entries)
				}
			}
			bank.Exec(`UPDATE customers SET access_customer_dual_approval = false WHERE tenant = ? AND uid = ?`,
				bank.Tenant, c.UID)
			noted(bank.Partner(next), c)
			for who, ctx := range map[string]context.Context{"partner": bank.Partner(next), "customer": person} {
				if n := recorded(t, bank, ctx, c.UID); n != 1 {
					t.Errorf("of what was done since, the %s reads %d entries", who, n)
				}
			}
			if n := recorded(t, bank, bank.Partner(next), neighbour.UID); n != 1 {
				t.Errorf("of its other customer, the partner reads %d entries", n)
			}
			if n := recorded(t, bank, bank.Staff(), c.UID); n != entries+1 {
				t.Errorf("the bank reads %d entries", n)
			}
		})
	}
}
