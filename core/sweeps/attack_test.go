package sweeps_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/screening"
)

// Who may arrange accounts and not pay sets no sweep up: it would pay.
func TestWhoMayNotPaySetsNoSweepUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	_, err := h.Accounts.SetSweep(h.As(access.ManageAccounts), 0, h.name(accounts.Out),
		h.out("0", accounts.ACHCredit), changes.RequestOptions{})
	if err == nil {
		t.Error("who may not pay has set up a sweep that empties the account")
	}
}

// The money of a payment that compliance looks at is held: a later run does not leave room for it again.
func TestASweepCountsWhatComplianceLooksAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_500_00)
	_, err := h.Screening.Import(h.operator, screening.Import{
		List: "sanctions", Format: screening.CSV, From: strings.NewReader("name\n" + h.contact.Name + "\n"),
	})
	h.must(err)
	h.set(accounts.Out, h.out("1000", accounts.ACHCredit))
	h.until("2026-11-19 08:00")
	h.ran("19 PAID 500.00")
	h.has(1_500_00, 500_00)
	other := h.Account(h.customer)
	_, err = h.Payments.Transfer(h.Staff(), payments.Draft{
		Sender: payments.Party{UID: other.UID}, Receiver: payments.Party{UID: h.account.UID}, Amount: "300.00",
		ExternalReferenceID: "INV-7",
	}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-20 08:00")
	h.ran("19 PAID 500.00", "20 PAID 300.00")
	h.Prove()
}

// A sweep is the customer's: that its partner set it up does not end it when the customer leaves that
// partner. It goes on within what the customer has, in nobody's name.
func TestASweepGoesOnWhenItsCustomerMoves(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	former, next := b.DownstreamPartner(), b.DownstreamPartner()
	h := furnished(t, b, 1_000_00, coretest.OwnedBy(former))
	_, err := h.Accounts.SetSweep(h.Partner(former), 0, h.name(accounts.Out),
		h.out("300", accounts.InstantPayment),
		changes.RequestOptions{})
	h.must(err)
	_, err = h.Customers.Change(h.Staff(), h.customer.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-19 01:00")
	r := h.ran("19 PAID 700.00")[0]
	p, err := h.Payments.Show(h.Partner(next), r.Payment)
	h.must(err)
	if p.CreatedBy() != "operator" || p.State != payments.Settled {
		t.Errorf("%+v", p.Payment)
	}
	h.has(300_00, 0)
	h.Prove()
}

// A customer with many sweeps, and of earlier days, keeps nobody else's waiting.
func TestSweepsOfCustomersTakeTurns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 300_00)
	h.set(accounts.Out, h.out("300", accounts.ACHCredit))
	busy := h.account.UID
	for range 11 {
		h.account = h.Account(h.customer, coretest.Holding(300_00, 0), coretest.Sends)
		h.set(accounts.Out, h.out("300", accounts.ACHCredit))
	}
	for range 3 {
		other := furnished(t, h.Bank, 300_00)
		other.set(accounts.Out, other.out("300", accounts.ACHCredit))
	}
	h.work()
	h.Exec(`UPDATE sweeps SET next_date = '2026-11-14' WHERE tenant = ? AND account >= ? AND account <= ?`,
		h.Tenant, busy, h.account.UID)
	h.Clock.Set(coretest.Start.AddDate(0, 0, 1))
	h.work()
	if n := h.count(fmt.Sprintf(`SELECT count(*) FROM (SELECT customer FROM sweep_runs WHERE tenant = ?
		ORDER BY uid LIMIT 5) AS first WHERE customer <> %d`, h.customer.UID)); n != 3 {
		t.Errorf("%d of the first runs are the others'", n)
	}
	if n := h.count(`SELECT count(*) FROM sweep_runs WHERE tenant = ?`); n != 15 {
		t.Errorf("%d of 15 sweeps ran", n)
	}
}
