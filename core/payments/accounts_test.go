package payments_test

import (
	"context"
	"slices"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/users"
	"bankgraph/db"
)

func TestAnAccountListsThePaymentsFromAndToIt(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	p := &pair{
		b, b.Account(b.Customer(), coretest.Holding(100_00, 0)),
		b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0)),
	}
	other := p.Account(p.Customer(), coretest.Holding(100_00, 0))
	var uids []payments.UID
	for _, way := range [][2]*accounts.Account{
		{p.from, p.to}, {p.to, p.from}, {other, p.from}, {p.from, p.to}, {other, p.to}, {p.to, other},
	} {
		d := p.draft("1")
		d.Sender.UID, d.Receiver.UID = way[0].UID, way[1].UID
		out, err := p.transfer(p.Staff(), d)
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, out.Result.UID)
	}
	both := []accounts.UID{p.from.UID, p.to.UID}
	for name, c := range map[string]struct {
		ctx      context.Context
		by       payments.Search
		w        page.Window
		from, to []int // places in uids
		count    bool
	}{
		"all":      {p.Staff(), payments.Search{}, window, []int{3, 2, 1, 0}, []int{5, 4, 3, 1, 0}, true},
		"narrowed": {p.Staff(), payments.Search{SenderAccount: other.UID}, window, []int{2}, []int{4}, true},
		"a page": {
			p.Staff(),
			payments.Search{},
			page.Window{Size: 2, Cursor: page.Cursor{UID: int64(uids[3])}},
			[]int{2, 1},
			[]int{1, 0},
			false,
		},
		"the last page": {
			p.Staff(),
			payments.Search{},
			page.Window{Size: 2, Backward: true},
			[]int{1, 0},
			[]int{1, 0},
			false,
		},
		"a numbered page":    {p.Staff(), payments.Search{}, page.Numbered(2, 3), []int{0}, []int{1, 0}, false},
		"the partner of one": {p.Partner(partner), payments.Search{}, window, nil, []int{5, 4, 3, 1, 0}, true},
		"another bank":       {p.Other().Staff(), payments.Search{}, window, nil, nil, true},
	} {
		found, err := coretest.Many(p.Bank, c.ctx, func(q *db.Batch) *db.Many[accounts.UID, payments.Payment] {
			return p.Payments.OfAccounts(c.ctx, q, both, c.by, db.Columns{}, c.w)
		})
		if err != nil {
			t.Fatal(name, err)
		}
		counted, err := coretest.Many(p.Bank, c.ctx, func(q *db.Batch) *db.Many[accounts.UID, db.Count] {
			return p.Payments.CountOfAccounts(c.ctx, q, both, c.by, 0)
		})
		if err != nil {
			t.Fatal(name, err)
		}
		for i, want := range [][]int{c.from, c.to} {
			var got []int
			for _, one := range page.Cut(found[both[i]], c.w).Items {
				got = append(got, slices.Index(uids, one.UID))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			if n := counted[both[i]]; c.count && (len(n) != 1 || n[0].N != int64(len(want))) {
				t.Errorf("%s: counted %+v, want %d", name, n, len(want))
			}
		}
	}
}

// Who is paid reads how a payment came about, but not who at the payer's did what, and why. Nobody outside
// the bank reads who of the bank's people did.
func TestWhoIsPaidReadsNoNamesOfThePayersPeople(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, other := b.DownstreamPartner(), b.DownstreamPartner()
	p := &pair{
		b, b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0)),
		b.Account(b.Customer(coretest.OwnedBy(other))),
	}
	payer, paid := &customers.Customer{UID: p.from.Customer, Owner: partner.UID}, p.to
	person := b.PersonOf(payer, b.User(payer, nil, func(u *users.User) { u.LoginID = "theirs" }))
	p.to = b.Account(payer)
	own, err := p.transfer(person, p.draft("1"))
	if err != nil {
		t.Fatal(err)
	}
	p.to = paid
	p.Exec(`UPDATE payments SET receiver_account = ?, receiver_customer = ? WHERE tenant = ? AND uid = ?`,
		paid.UID, paid.Customer, p.Tenant, own.Result.UID)
	ours, err := p.transfer(p.Someone("maker"), p.draft("1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []struct {
		ctx        context.Context
		ours, them string
	}{
		{p.Staff(), "maker", "theirs"},
		{p.Partner(partner), "", "theirs"},
		{person, "", "theirs"},
		{p.Partner(other), "", ""},
	} {
		for uid, read := range map[payments.UID]string{ours.Result.UID: who.ours, own.Result.UID: who.them} {
			_, steps, err := p.Payments.Find(who.ctx, uid)
			if err != nil || len(steps) != 1 || steps[0].LoginID != read ||
				(steps[0].Client == "") != (read == "") {
				t.Errorf("%+v, want %q: %v", steps, read, err)
			}
			shown, err := p.Payments.Show(who.ctx, uid)
			if err != nil || shown.CreatedBy() != read {
				t.Errorf("created by %q, want %q: %v", shown.CreatedBy(), read, err)
			}
		}
	}
}
