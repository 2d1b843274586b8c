package core_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// crowd is a bank with many rows of its own, and a partner with few: they stand where a list is read last.
type crowd struct {
	*coretest.Bank
	partner      *customers.Customer
	own, foreign []*accounts.Account // each of another customer
}

const ofOthers, ofPartner = 20_000, 10

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{Bank: coretest.Alone(t)}
	c.partner = c.DownstreamPartner()
	for range 5 {
		c.own = append(c.own, c.Account(c.Customer(coretest.OwnedBy(c.partner))))
	}
	for range 20 {
		c.foreign = append(c.foreign, c.Account(c.Customer()))
	}
	c.fill(c.own, ofPartner, 0, ofOthers)
	c.fill(c.foreign, ofOthers, ofPartner, 0)
	if _, err := c.Owner().ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	return c
}

// fill adds rows of the customers of accounts: of payments and the record numbered after from, of approvals
// after fromApproval.
func (c *crowd) fill(of []*accounts.Account, rows, from, fromApproval int) {
	var customers, accounts []string
	for _, a := range of {
		customers, accounts = append(customers, a.Customer.String()), append(accounts, a.UID.String())
	}
	customer, account := "{"+strings.Join(customers, ",")+"}", "{"+strings.Join(accounts, ",")+"}"
	c.Exec(`INSERT INTO payments (tenant, uid, customer, rail, state, amount, currency, payment_date,
		sender_account, sender_name, receiver_account, receiver_customer, receiver_name, maker_client, created_at,
		  updated_at, version)
		SELECT ?0, ?4 + n, whose, 'BOOK', 'SETTLED', 1, 'USD', now(), account, 'Payer', account, whose, 'Payee',
		'key', now(), now(), 1 FROM (SELECT n, (?1::bigint[])[n % ?3 + 1] AS whose,
		  (?2::bigint[])[n % ?3 + 1] AS account
		FROM generate_series(1, ?5) AS n) AS r`, c.Tenant, customer, account, len(of), from, rows)
	c.Exec(`INSERT INTO audit_entries (tenant, id, client, login_id, entity, action, decision, object, uid,
		customer)
		SELECT ?0, ?3 + n, 'key', 'jane', 1, 'act', 'done', 'account', n::text, (?1::bigint[])[n % ?2 + 1]
		FROM generate_series(1, ?4) AS n`, c.Tenant, customer, len(of), from, rows)
	c.Exec(`INSERT INTO approvals (tenant, uid, customer, operation, object, object_uid, creation, draft,
		version, status, maker_client, decided_at)
		SELECT ?0, ?3 + n, (?1::bigint[])[n % ?2 + 1], 'act', 'account', '1', false, '', 1, 'Approved', 'key', now()
		FROM generate_series(1, ?4) AS n`, c.Tenant, customer, len(of), fromApproval, rows)
}

// touched returns how many rows of tables a read takes up.
func (c *crowd) touched(t *testing.T, ctx context.Context, read func(context.Context, *db.Batch)) (n int64) {
	t.Helper()
	err := c.DB.InTx(ctx, int64(c.Tenant), func(ctx context.Context, tx bun.Tx) error {
		so := func() (rows int64, err error) {
			err = tx.NewRaw(`SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))
				FROM pg_stat_xact_user_tables`).
				Scan(ctx, &rows)
			return rows, err
		}
		before, err := so()
		if err != nil {
			return err
		}
		b := db.TxBatch(tx)
		read(ctx, b)
		if err := b.Send(ctx); err != nil {
			return err
		}
		after, err := so()
		n = after - before
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A caller outside the bank must not make the database go through what others have.
func TestWhoSeesLittleReadsLittle(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	foreign := c.foreign[0]
	reads := map[string]func(context.Context, *db.Batch){}
	for name, by := range map[string]audit.Search{
		"all": {}, "of a person": {LoginID: "jane"}, "of a kind": {Object: "account"},
		"of an action": {Action: "other"}, "of others": {Customer: int64(foreign.Customer)},
		"of own": {Customer: int64(c.own[0].Customer)},
	} {
		reads["audit "+name] = func(ctx context.Context, b *db.Batch) {
			c.Audit.List(ctx, b, by, db.Columns{}, page.First(20))
			c.Audit.CountUpTo(ctx, b, by, 10_000)
		}
	}
	for name, by := range map[string]changes.Search{
		"all": {}, "open": {Status: changes.Open}, "decided": {Status: changes.Approved},
		"of others": {Customer: int64(foreign.Customer)},
	} {
		reads["approvals "+name] = func(ctx context.Context, b *db.Batch) {
			c.Changes.List(ctx, b, by, db.Columns{}, page.First(20))
			c.Changes.CountUpTo(ctx, b, by, 10_000)
		}
	}
	for name, by := range map[string]payments.Search{
		"all": {}, "by name": {SenderName: "nobody"}, "the newest": {MostRecent: true},
		"cancelled": {States: []payments.State{}}, "of others": {Customer: foreign.Customer},
		"of own": {Customer: c.own[0].Customer}, "from another account": {SenderAccount: foreign.UID},
		"of another account": {Account: foreign.UID}, "to another account": {ReceiverAccount: foreign.UID},
		"of an own account": {Account: c.own[0].UID},
	} {
		reads["payments "+name] = func(ctx context.Context, b *db.Batch) {
			c.Payments.List(ctx, b, by, db.Columns{}, page.First(20))
			c.Payments.CountUpTo(ctx, b, by, 0)
		}
	}
	of := &customers.Customer{UID: c.own[0].Customer, Owner: c.partner.UID}
	for who, ctx := range map[string]context.Context{
		"partner": c.Partner(c.partner), "customer": c.PersonOf(of, c.User(of, nil)),
	} {
		for name, read := range reads {
			if n := c.touched(t, ctx, read); n > 1000 { // others have 20,000 of each
				t.Errorf("%s: %s takes up %d rows", who, name, n)
			}
		}
	}
}

// What is filtered by its status is found by it, however many have another.
func TestAnApprovalIsFoundByItsStatus(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.Exec(`UPDATE approvals SET status = 'Refused' WHERE tenant = ? AND uid % 5000 = 0`, c.Tenant)
	for status, want := range map[changes.Status]int{changes.Open: 0, changes.Refused: 4, changes.Approved: 20} {
		var found *db.Rows[changes.Approval]
		n := c.touched(t, c.Staff(), func(ctx context.Context, b *db.Batch) {
			found = c.Changes.List(ctx, b, changes.Search{Status: status}, db.Columns{}, page.First(19))
		})
		if len(found.Items) != want || n > 100 {
			t.Errorf("%s: %d approvals of %d rows, want %d", status, len(found.Items), n, want)
		}
	}
}

// A page of a caller outside the bank is what is left of the bank's list without the rows of others.
func TestAPageIsTheBanksWithoutOthers(t *testing.T) {
	t.Parallel()
	c := &crowd{Bank: coretest.New(t)}
	large, small := c.DownstreamPartner(), c.DownstreamPartner()
	var all []*accounts.Account
	for _, owner := range []*customers.Customer{large, large, large, large, small, nil, nil} {
		var edits []func(*customers.Customer)
		if owner != nil {
			edits = append(edits, coretest.OwnedBy(owner))
		}
		all = append(all, c.Account(c.Customer(edits...)))
	}
	var list []*payments.Payment // newest first
	for i := range 60 {
		from, to := all[i*i%7], all[(i+i/7)%7]
		list = append(list, c.Payment(from, to, func(p *payments.Payment) { p.Notes = fmt.Sprint("part ", i%2) }))
	}
	slices.Reverse(list)
	owned := &customers.Customer{UID: all[0].Customer, Owner: large.UID}
	for who, ctx := range map[string]context.Context{
		"bank": c.Staff(), "large": c.Partner(large), "small": c.Partner(small),
		"customer": c.PersonOf(owned, c.User(owned, nil)),
	} {
		caller, _ := access.Require(ctx)
		sees := func(a accounts.UID) bool {
			i := slices.IndexFunc(all, func(o *accounts.Account) bool { return o.UID == a })
			owner := int64(0)
			if i < 5 {
				owner = int64([]customers.UID{large.UID, small.UID}[i/4])
			}
			return caller.Sees(int64(all[i].Customer), owner)
		}
		for name, search := range map[string]struct {
			by    payments.Search
			finds func(*payments.Payment) bool
		}{
			"all":  {payments.Search{}, func(*payments.Payment) bool { return true }},
			"some": {payments.Search{Notes: "part 1"}, func(p *payments.Payment) bool { return p.Notes == "part 1" }},
			"of one": {
				payments.Search{Customer: all[1].Customer},
				func(p *payments.Payment) bool { return p.Customer == all[1].Customer },
			},
			"from one": {
				payments.Search{SenderAccount: all[5].UID},
				func(p *payments.Payment) bool { return p.SenderAccount == all[5].UID },
			},
			"with one": {payments.Search{Account: all[0].UID}, func(p *payments.Payment) bool {
				return p.SenderAccount == all[0].UID || p.ReceiverAccount == all[0].UID
			}},
		} {
			var want []payments.UID
			for _, p := range list {
				if search.finds(p) && (sees(p.SenderAccount) || sees(p.ReceiverAccount)) {
					want = append(want, p.UID)
				}
			}
			c.pages(t, ctx, who+": "+name, search.by, want)
		}
	}
}

// pages fails the test unless a search finds these payments, in pages from both ends and by number.
func (c *crowd) pages(
	t *testing.T, ctx context.Context, name string, by payments.Search, want []payments.UID,
) {
	t.Helper()
	uids := func(items []*payments.Payment) (all []payments.UID) {
		for _, p := range items {
			all = append(all, p.UID)
		}
		return all
	}
	read := func(w page.Window) []payments.UID {
		b := c.DB.Batch()
		rows, count := c.Payments.List(ctx, b, by, db.Columns{}, w), c.Payments.CountUpTo(ctx, b, by, 0)
		if err := b.Send(ctx); err != nil {
			t.Fatal(name, err)
		}
		if n := count.Items[0].N; n != int64(len(want)) {
			t.Errorf("%s: counted %d, want %d", name, n, len(want))
		}
		return uids(page.Cut(rows.Items, w).Items)
	}
	for _, size := range []int{1, 4, 100} {
		var forward, backward, numbered []payments.UID
		for from := 0; from < max(len(want), 1); from += size {
			after, before := page.Window{Size: size}, page.Window{Size: size, Backward: true}
			if from > 0 {
				after.Cursor.UID, before.Cursor.UID = int64(want[from-1]), int64(want[len(want)-from])
			}
			forward, backward = append(forward, read(after)...), append(read(before), backward...)
			numbered = append(numbered, read(page.Numbered(from/size+1, size))...)
		}
		for way, got := range map[string][]payments.UID{
			"forward": forward, "backward": backward, "numbered": numbered,
		} {
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s in pages of %d: %v, want %v", name, way, size, got, want)
			}
		}
	}
}

// What is shown beside the rows of a page is not read for all the rows that come before it.
func TestAFarPageReadsWhatItShowsAlone(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	read := func() (listed, beside int64) { // so far, as far as the database has told
		t.Helper()
		if err := c.DB.NewRaw(`SELECT sum(n) FILTER (WHERE relname = 'payments'),
			sum(n) FILTER (WHERE relname <> 'payments')
			FROM (SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) AS n FROM pg_stat_user_tables
			WHERE relname IN ('payments', 'accounts', 'customers')) AS r`).Scan(t.Context(), &listed,
			&beside); err != nil {
			t.Fatal(err)
		}
		return listed, beside
	}
	// A connection tells what it has read when it is used again. So the first pages may be charged with what
	// filled the bank.
	var beside int64
	for range 5 {
		if beside = c.readBeside(t, read); beside <= 10_000 { // 15,000 come before
			return
		}
	}
	t.Errorf("a page of 20 reads %d rows beside those of the list", beside)
}

// readBeside reads a far page, and returns how many rows that are not payments were read meanwhile.
func (c *crowd) readBeside(t *testing.T, read func() (listed, beside int64)) int64 {
	t.Helper()
	listed, beside := read()
	found, err := c.Payments.Page(c.Staff(), payments.Search{}, page.Numbered(751, 20))
	if err != nil || len(found.Items) != 20 || found.Total != ofOthers+ofPartner {
		t.Fatalf("%+v %v", found, err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		nowListed, nowBeside := read()
		if nowListed-listed >= 15_000 {
			return nowBeside - beside
		}
		if _, err := c.Payments.Page(c.Staff(), payments.Search{MostRecent: true}, page.First(1)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the database tells nothing of what was read")
	return 0
}
