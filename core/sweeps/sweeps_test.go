package sweeps_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
	"bankgraph/core/sweeps"
	"bankgraph/db"
)

// house is a bank with a customer whose account is swept to a contact, and from it.
type house struct {
	*coretest.Bank
	t        testing.TB
	operator context.Context
	customer *customers.Customer
	account  *accounts.Account
	contact  *contacts.Contact
}

// newHouse makes a bank whose account holds an amount, in minor units.
func newHouse(t testing.TB, holds int64, edits ...func(*customers.Customer)) *house {
	t.Helper()
	b := coretest.New(t)
	b.Directory()
	return furnished(t, b, holds, edits...)
}

func furnished(t testing.TB, b *coretest.Bank, holds int64, edits ...func(*customers.Customer)) *house {
	t.Helper()
	c := b.Customer(edits...)
	return &house{
		b, t, access.Operator(b.Nobody(), b.Tenant, b.Code, coretest.Zone()), c,
		b.Account(c, coretest.Holding(holds, 0), coretest.Sends), b.Contact(c),
	}
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func gives[T any](v T) *T { return &v }

// out is a sweep that pays each day what is above an amount.
func (h *house) out(target string, method accounts.OutMethod) accounts.SweepDraft {
	return accounts.SweepDraft{
		BalanceType: gives(accounts.Target), TargetBalance: given.Of(target), ToContact: &h.contact.UID,
		ToMethod:  &method,
		Frequency: gives(accounts.Daily),
	}
}

// in is a sweep that collects each day what is missing to an amount.
func (h *house) in(target string, method accounts.InMethod) accounts.SweepDraft {
	return accounts.SweepDraft{
		BalanceType: gives(accounts.Target), TargetBalance: given.Of(target), FromContact: &h.contact.UID,
		FromMethod: &method,
		Frequency:  gives(accounts.Daily),
	}
}

func (h *house) both(low, high string) accounts.SweepDraft {
	return accounts.SweepDraft{
		BalanceType: gives(accounts.Range), FromAmount: given.Of(low), ToAmount: given.Of(high),
		FromContact: &h.contact.UID, FromMethod: gives(accounts.ACHDebit), ToContact: &h.contact.UID,
		ToMethod: gives(accounts.ACHCredit), Frequency: gives(accounts.Daily),
	}
}

// set sets a sweep up.
func (h *house) set(direction accounts.Direction, draft accounts.SweepDraft) {
	h.t.Helper()
	_, err := h.Accounts.SetSweep(h.Staff(), 0, h.name(direction), draft, changes.RequestOptions{})
	h.must(err)
}

func (h *house) name(direction accounts.Direction) accounts.SweepName {
	return accounts.SweepName{Account: h.account.UID, Direction: direction}
}

// until moves the bank's clock to a time in New York, and lets everything happen on the way.
func (h *house) until(at string) {
	h.t.Helper()
	to, err := time.ParseInLocation("2006-01-02 15:04", at, coretest.Zone())
	h.must(err)
	_, err = h.Sandbox.MoveClock(h.Staff(), sandbox.Move{To: to}, changes.RequestOptions{})
	h.must(err)
	for {
		reading, err := h.Core.Clock.Read(h.Staff())
		h.must(err)
		if reading.Target == nil {
			return
		}
		_, err = h.AdvanceClock(h.operator)
		h.must(err)
	}
}

// work runs the sweeps that are due: one call of a worker ends after a while, done or not.
func (h *house) work() {
	h.t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = h.Sweeps.Work(h.operator)
		h.must(err)
	}
}

// runs are the runs of the account's sweeps, oldest first.
func (h *house) runs() []*sweeps.Run {
	h.t.Helper()
	b := h.Batch()
	found := h.Sweeps.RunsOf(h.Reader(), b, []accounts.UID{h.account.UID}, sweeps.RunSearch{},
		db.Columns{}, page.First(100))
	h.must(b.Send(h.Nobody()))
	h.must(found.Err)
	all := found.Of[h.account.UID]
	slices.Reverse(all)
	return all
}

// line is a run as the tests write it.
func line(r *sweeps.Run) string {
	text := r.Day.Format("02") + " " + string(r.Outcome)
	if r.Amount() != nil {
		text += " " + r.Amount().String()
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// ran fails the test unless the sweeps ran like this: day, outcome and amount of each run.
func (h *house) ran(want ...string) []*sweeps.Run {
	h.t.Helper()
	all := h.runs()
	got := make([]string, len(all))
	for i, r := range all {
		got[i] = line(r)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		h.t.Errorf("ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return all
}

// has fails the test unless this is in the account, and held on it.
func (h *house) has(booked, held int64) {
	h.t.Helper()
	var balance ledger.Balance
	h.must(h.DB.NewSelect().Model(&balance).Where("b.tenant = ? AND b.account = ?", h.Tenant,
		h.account.UID).Scan(h.Nobody()))
	if balance.Ledger != booked || balance.Held != held {
		h.t.Errorf("the account has %d, %d held; want %d, %d", balance.Ledger, balance.Held, booked, held)
	}
}

// state is how far a payment has come.
func (h *house) state(uid payments.UID) payments.State {
	h.t.Helper()
	found, err := h.Payments.Show(h.Staff(), uid)
	h.must(err)
	return found.State
}

func (h *house) count(of string) (n int) {
	h.t.Helper()
	h.must(h.DB.NewRaw(of, h.Tenant).Scan(h.Nobody(), &n))
	return n
}

// dual asks for a second person before a payment is made.
func dual(c *customers.Customer) { c.Access.PaymentDualApproval = true }

func TestASweepPaysWhatIsAboveItsTarget(t *testing.T) {
	t.Parallel()
	for method, want := range map[accounts.OutMethod]payments.State{
		accounts.ACHCredit: payments.Queued, accounts.WirePayment: payments.Settled,
		accounts.InstantPayment: payments.Settled,
	} {
		h := newHouse(t, 1_000_00)
		h.set(accounts.Out, h.out("300", method))
		h.until("2026-11-18 23:59")
		h.ran()
		h.until("2026-11-19 01:00")
		r := h.ran("19 PAID 700.00")[0]
		if r.Available().String() != "1000.00" || h.state(r.Payment) != want {
			t.Errorf("%s: %+v, which is %s", method, r, h.state(r.Payment))
		}
		p, err := h.Payments.Show(h.Staff(), r.Payment)
		h.must(err)
		if p.Notes != "Sweep" || p.Channel != "Sweep" || p.CreatedBy() != "staff" ||
			p.Contact != h.contact.UID ||
			p.ExternalReferenceID != "SWEEP-"+h.account.UID.String()+"-20261119-OUT" {
			t.Errorf("%s: %+v", method, p)
		}
		h.until("2026-11-20 12:00")
		h.has(300_00, 0)
		h.ran("19 PAID 700.00", "20 NOTHING_TO_DO")
		h.Prove()
	}
}

// What a sweep collects settles days later, and is collected once all the same.
func TestASweepCollectsWhatIsMissingOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 200_00)
	h.set(accounts.In, h.in("500", accounts.ACHDebit))
	h.until("2026-11-19 08:00")
	h.ran("19 COLLECTED 300.00")
	h.Exec(`UPDATE payments SET settles_at = '2026-11-24 13:30Z'
		WHERE tenant = ? AND state = 'SENT'`, h.Tenant)
	h.until("2026-11-19 23:00")
	h.Exec(`UPDATE payments SET settles_at = '2026-11-24 13:30Z' WHERE tenant = ? AND state = 'SENT'`, h.Tenant)
	h.until("2026-11-24 08:00")
	h.has(200_00, 0)
	h.ran("19 COLLECTED 300.00", "20 NOTHING_TO_DO", "23 NOTHING_TO_DO", "24 NOTHING_TO_DO")
	h.until("2026-11-25 01:00")
	h.has(500_00, 0)
	h.ran("19 COLLECTED 300.00", "20 NOTHING_TO_DO", "23 NOTHING_TO_DO", "24 NOTHING_TO_DO", "25 NOTHING_TO_DO")
	h.Prove()
}

// A debit that comes back for want of money is tried again; one that the debtor does not want, or cannot pay,
// is not until people have changed the sweep.
func TestADebitThatCameBackIsTriedAgainOnlyIfMoneyWasMissing(t *testing.T) {
	t.Parallel()
	for code, target := range map[string]string{"R01": "300.01", "R03": "300.03", "R10": "300.11"} {
		h := newHouse(t, 0)
		h.set(accounts.In, h.in(target, accounts.ACHDebit))
		h.until("2026-11-19 01:00")
		first := h.runs()[0].Payment
		h.until("2026-12-01 01:00")
		if state := h.state(first); state != payments.Returned {
			t.Fatalf("%s: is %s", code, state)
		}
		all := h.runs()
		last, collected := all[len(all)-1], 0
		for _, r := range all {
			if r.Outcome == sweeps.Collected {
				collected++
			}
		}
		if code == "R01" {
			if collected < 2 {
				t.Errorf("%s: collected %d times", code, collected)
			}
			continue
		}
		if collected != 1 || !strings.HasPrefix(line(last),
			"01 FAILED "+target+": fromContact: a debit came back, "+code+": ") {
			t.Errorf("%s: collected %d times, %s", code, collected, line(last))
		}
		_, err := h.Accounts.ChangeSweep(h.Staff(), 0, h.name(accounts.In),
			accounts.SweepDraft{TargetBalance: given.Of("50")}, changes.RequestOptions{})
		h.must(err)
		h.until("2026-12-02 01:00")
		all = h.runs()
		if last := all[len(all)-1]; line(last) != "02 COLLECTED 50.00" {
			t.Errorf("%s, after the sweep was changed: %s, %s", code, line(last), last.Reason)
		}
		h.Prove()
	}
}

// A payment that comes back because the account cannot take it is not made again, for its fee, until people
// have changed the sweep or the contact; for any other reason it is.
func TestAPaymentThatCameBackIsMadeAgainOnlyIfTheAccountTakesIt(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		code   string
		holds  int64
		method accounts.OutMethod
		until  string
		again  bool
	}{
		{"R16", 1_000_03, accounts.ACHCredit, "2026-12-03 01:00", false},
		{"R23", 1_000_12, accounts.ACHCredit, "2026-12-03 01:00", true},
		{"AC03", 1_000_01, accounts.InstantPayment, "2026-11-23 01:00", false},
		{"AC04", 1_000_11, accounts.WirePayment, "2026-11-23 01:00", false},
		{"CUST", 1_000_12, accounts.InstantPayment, "2026-11-23 01:00", true},
	} {
		h := newHouse(t, one.holds)
		h.set(accounts.Out, h.out("500", one.method))
		paid := func() (n int, last *sweeps.Run) {
			all := h.runs()
			for _, r := range all {
				if r.Outcome == sweeps.Paid {
					n++
				}
			}
			return n, all[len(all)-1]
		}
		waits := func() int {
			found, err := h.Attention.List(h.Staff(), attention.Search{Kind: []attention.Kind{attention.Sweep}}, 20)
			h.must(err)
			return len(found.Items)
		}
		h.until(one.until)
		n, last := paid()
		if one.again {
			if n < 2 || waits() != 0 {
				t.Errorf("%s: paid %d times, %d wait", one.code, n, waits())
			}
			continue
		}
		if n != 1 || !strings.Contains(line(last), ": toContact: a payment came back, "+one.code+": ") ||
			waits() != 1 {
			t.Errorf("%s: paid %d times, %s, %d wait", one.code, n, line(last), waits())
		}
		_, err := h.Contacts.Change(h.Staff(), 0, h.contact.UID, contacts.Draft{
			Bank: contacts.BankDraft{AccountNumber: given.Of("5550001234")},
		}, changes.RequestOptions{})
		h.must(err)
		h.until(one.until[:8] + map[string]string{"03": "04", "23": "24"}[one.until[8:10]] + " 01:00")
		if n, last := paid(); n != 2 || last.Outcome != sweeps.Paid || waits() != 0 {
			t.Errorf("%s, after the contact was changed: paid %d times, %s", one.code, n, line(last))
		}
		h.Prove()
	}
}

// A contact that has another e-mail address still has the account that could not be paid.
func TestAnotherAddressOfAContactLetsNoSweepPayAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_11)
	h.set(accounts.Out, h.out("500", accounts.WirePayment))
	h.until("2026-11-23 01:00")
	_, err := h.Contacts.Change(h.Staff(), 0, h.contact.UID, contacts.Draft{
		EmailAddress: given.Of("new@cedar.example"),
	}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-24 01:00")
	var all []string
	for _, r := range h.runs() {
		all = append(all, string(r.Outcome))
	}
	if got := strings.Join(all, " "); got != "PAID FAILED FAILED FAILED" {
		t.Errorf("the runs are %s", got)
	}
}

// A payment that came back long ago stops no sweep whose later payments arrived. Those of the last two
// banking days may come back as well.
func TestASweepWhoseLaterPaymentsArrivedGoesOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_11)
	other := h.Account(h.customer)
	brings := func(amount string) {
		_, err := h.Payments.Transfer(h.Staff(), payments.Draft{
			Sender: payments.Party{UID: other.UID}, Receiver: payments.Party{UID: h.account.UID}, Amount: amount,
			ExternalReferenceID: "INV-7",
		}, changes.RequestOptions{})
		h.must(err)
	}
	h.set(accounts.Out, h.out("500", accounts.WirePayment))
	h.until("2026-11-20 01:00") // 500.11 comes back, and the next run fails
	// as a release that paid again without being asked to
	_, err := h.Contacts.Change(h.Staff(), 0, h.contact.UID, contacts.Draft{
		Bank: contacts.BankDraft{AccountNumber: given.Of("5550001234")},
	}, changes.RequestOptions{})
	h.must(err)
	brings("0.50")
	h.until("2026-11-24 01:00") // 500.61 arrives on the 23rd
	h.Exec(`UPDATE contacts SET redirected_at = NULL WHERE tenant = ? AND uid = ?`, h.Tenant, h.contact.UID)
	brings("30")
	h.until("2026-11-27 01:00") // the 26th is a holiday
	var all []string
	for _, r := range h.runs() {
		all = append(all, string(r.Outcome))
	}
	if got := strings.Join(all, " "); got != "PAID FAILED PAID NOTHING_TO_DO FAILED PAID" {
		t.Errorf("the runs are %s", got)
	}
	h.Prove()
}

// A request for payment, and a drawdown, may be paid until the next run, which asks anew for what nobody
// paid.
func TestASweepAsksToBePaid(t *testing.T) {
	t.Parallel()
	for _, method := range []accounts.InMethod{accounts.InstantRFP, accounts.WireDrawdown} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, 200_00)
			h.set(accounts.In, h.in("500", method))
			h.until("2026-11-19 01:00")
			r := h.ran("19 COLLECTED 300.00")[0]
			if h.state(r.Payment) != payments.Settled {
				t.Error(h.state(r.Payment))
			}
			h.has(500_00, 0)
			unpaid := newHouse(t, 200_00)
			unpaid.set(accounts.In, unpaid.in("500.22", method)) // nobody answers what is of 22 cents
			unpaid.until("2026-11-20 01:00")
			all := unpaid.ran("19 COLLECTED 300.22", "20 COLLECTED 300.22")
			if unpaid.state(all[0].Payment) != payments.Expired ||
				unpaid.state(all[1].Payment) != payments.Sent {
				t.Error(unpaid.state(all[0].Payment), unpaid.state(all[1].Payment))
			}
			unpaid.has(200_00, 0)
		})
	}
}

func TestASweepKeepsABalanceWithinItsRange(t *testing.T) {
	t.Parallel()
	for holds, want := range map[int64]string{
		99_99: "19 COLLECTED 0.01", 100_00: "19 NOTHING_TO_DO", 150_00: "19 NOTHING_TO_DO",
		200_00: "19 NOTHING_TO_DO", 270_00: "19 PAID 70.00", 40_00: "19 COLLECTED 60.00",
	} {
		h := newHouse(t, holds)
		h.set(accounts.Both, h.both("100", "200"))
		h.until("2026-11-19 00:00")
		h.ran(want)
	}
}

// An account may have a sweep in each direction; the money that one moves is not the other's.
func TestTwoSweepsOfAnAccountLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 50_00)
	h.set(accounts.In, h.in("100", accounts.ACHDebit))
	h.set(accounts.Out, h.out("200", accounts.ACHCredit))
	h.until("2026-11-19 23:00")
	h.ran("19 COLLECTED 50.00", "19 NOTHING_TO_DO")
	h.until("2026-11-20 23:00")
	h.has(100_00, 0)
	h.ran("19 COLLECTED 50.00", "19 NOTHING_TO_DO", "20 NOTHING_TO_DO", "20 NOTHING_TO_DO")
}

// What a payment costs is part of what leaves the account, or what is collected is more by that: either way
// the target is met.
func TestTheFeeOfASweepLeavesItsTarget(t *testing.T) {
	t.Parallel()
	priced := func(holds int64) *house {
		h := newHouse(t, holds)
		h.Configured("Payments", "Outgoing Payment", "Economy", "Gold") // 12.50
		h.Fee(h.customer, func(f *fees.Tier) { f.FeeName = "Economy" })
		return h
	}
	h := priced(100_00)
	zero := h.out("", accounts.ACHCredit)
	zero.BalanceType, zero.TargetBalance = gives(accounts.Zero), given.Text{}
	h.set(accounts.Out, zero)
	h.Exec(`UPDATE balances SET held = 3000 WHERE tenant = ? AND account = ?`, h.Tenant, h.account.UID)
	h.Exec(`INSERT INTO holds (tenant, id, account, amount, currency, payment, state, placed_at)
		VALUES (?, nextval('journal_ids'), ?, 3000, 'USD', 1, 'OPEN', now())`, h.Tenant, h.account.UID)
	h.until("2026-11-19 00:00")
	h.ran("19 PAID 57.50")
	h.has(100_00, 100_00)
	h.until("2026-11-20 12:00")
	h.has(30_00, 30_00)

	few := priced(12_50)
	few.set(accounts.Out, few.out("0", accounts.ACHCredit))
	few.until("2026-11-19 12:00")
	few.ran("19 NOTHING_TO_DO") // the fee would take it all

	in := priced(0)
	in.set(accounts.In, in.in("80", accounts.ACHDebit))
	in.until("2026-11-20 12:00")
	in.ran("19 COLLECTED 92.50", "20 NOTHING_TO_DO")
	in.has(80_00, 0)
	in.Prove()
}

// A payment that waits for people holds no money; what it is of is not paid twice.
func TestASweepWaitsForPeopleWhereSettingsAsk(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00, dual)
	_, err := h.Accounts.SetSweep(h.Someone("asker"), 0, h.name(accounts.Out), h.out("300", accounts.ACHCredit),
		changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-20 06:00")
	all := h.ran("19 PAID 700.00", "20 NOTHING_TO_DO")
	if h.state(all[0].Payment) != payments.PendingApproval {
		t.Error(h.state(all[0].Payment))
	}
	h.has(1_000_00, 0)
	approval := changes.UID(h.count(`SELECT max(uid) FROM approvals
		WHERE tenant = ? AND operation = 'sendPayment'`))
	if _, err := h.Changes.Approve(h.Someone("asker"), approval,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Error("who set the sweep up approves its payment:", err)
	}
	_, err = h.Changes.Approve(h.Checker(), approval, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-24 06:00")
	h.has(300_00, 0)
	h.ran("19 PAID 700.00", "20 NOTHING_TO_DO", "23 NOTHING_TO_DO", "24 NOTHING_TO_DO")

	in := newHouse(t, 0, dual)
	in.set(accounts.In, in.in("80", accounts.ACHDebit))
	in.until("2026-11-20 06:00")
	in.ran("19 COLLECTED 80.00", "20 NOTHING_TO_DO")
	refused := changes.UID(in.count(`SELECT max(uid) FROM approvals
		WHERE tenant = ? AND operation = 'requestDebit'`))
	_, err = in.Changes.Refuse(in.Checker(), refused, changes.RequestOptions{Reason: "not now"})
	in.must(err)
	in.until("2026-11-23 06:00")
	in.ran("19 COLLECTED 80.00", "20 NOTHING_TO_DO", "23 COLLECTED 80.00")
}

// What keeps a sweep from its payment is kept with the run and shown to the bank's people, until a run does
// what it should or somebody changes the sweep.
func TestARunThatFailsIsToldAndTriedOnItsNextDay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks, mends string // with the tenant
		draft         func(*house) accounts.SweepDraft
		holds         int64
		why, then     string
	}{
		"an account that is suspended": {
			`UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`,
			`UPDATE accounts SET status = 'Active' WHERE tenant = ?`, nil, 0,
			"19 FAILED: account: the account is not active", "20 PAID 700.00",
		},
		"a customer that is suspended": {
			`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND relationship_type <> 'Self'`,
			`UPDATE customers SET status = 'Active' WHERE tenant = ?`,
			nil, 0, "19 FAILED: account: " + customers.ErrInactive.Message, "20 PAID 700.00",
		},
		"a contact that is gone": {
			`UPDATE contacts SET status = 'Refused' WHERE tenant = ?`,
			`UPDATE contacts SET status = 'Active' WHERE tenant = ?`, nil, 0,
			"19 FAILED 700.00: toContact: must be an active contact of the customer", "20 PAID 700.00",
		},
		"a network that is switched off": {
			`UPDATE accounts SET enable_ach = false WHERE tenant = ?`,
			`UPDATE accounts SET enable_ach = true WHERE tenant = ?`, nil, 0, "19 FAILED 700.00: method: " +
				payments.ErrRailOff.Message, "20 PAID 700.00",
		},
		"a limit": {
			`INSERT INTO limits (tenant, customer, code, application, ceiling, currency, version)
			 SELECT tenant, customer, 'ACH_PAYMENT_LIMIT_PER_DAY', 'Payments', 60000, 'USD', 1 FROM accounts
			 	  WHERE tenant = ?`,
			`DELETE FROM limits WHERE tenant = ?`,
			nil, 0, "19 FAILED 700.00: amount: ", "20 PAID 700.00",
		},
		"wires that are switched off": {
			`UPDATE accounts SET enable_domestic_wires = false WHERE tenant = ?`,
			`UPDATE accounts SET enable_domestic_wires = true WHERE tenant = ?`,
			func(h *house) accounts.SweepDraft { return h.in("1000.50", accounts.WireDrawdown) },
			1_000_00, "19 FAILED 0.50: method: " + payments.ErrRailOff.Message, "20 COLLECTED 0.50",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, 1_000_00)
			direction, draft := accounts.Out, h.out("300", accounts.ACHCredit)
			if c.draft != nil {
				direction, draft = accounts.In, c.draft(h)
			}
			h.set(direction, draft)
			waiting := func() []*attention.Item {
				found, err := h.Attention.List(h.Staff(), attention.Search{Kind: []attention.Kind{attention.Sweep}}, 10)
				h.must(err)
				return found.Items
			}
			if len(waiting()) != 0 {
				t.Error("it waits before it ran")
			}
			h.Exec(c.breaks, h.Tenant)
			h.until("2026-11-19 01:00")
			first := h.runs()
			if len(first) != 1 || !strings.HasPrefix(line(first[0]), c.why) || first[0].Payment != 0 {
				t.Fatalf("%v, want %s", line(first[0]), c.why)
			}
			if n := h.count(`SELECT count(*) FROM payments WHERE tenant = ?`); n != 0 {
				t.Errorf("%d payments", n)
			}
			item := waiting()
			if len(item) != 1 || item[0].UID != int64(h.account.UID) || item[0].Reason != first[0].Reason ||
				item[0].Customer != int64(h.customer.UID) {
				t.Fatalf("%+v", item)
			}
			h.Exec(c.mends, h.Tenant)
			h.until("2026-11-20 01:00")
			if all := h.runs(); len(all) != 2 || line(all[1]) != c.then {
				t.Errorf("%s, want %s", line(all[1]), c.then)
			}
			if len(waiting()) != 0 {
				t.Error("it waits after it did what it should")
			}
		})
	}
}

func TestAChangeOfASweepEndsItsFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 0)
	h.set(accounts.In, h.in("10", accounts.WireDrawdown))
	h.Exec(`UPDATE accounts SET enable_domestic_wires = false WHERE tenant = ?`, h.Tenant)
	h.until("2026-11-20 01:00")
	found := func() *accounts.Sweep {
		w, err := h.Accounts.FindSweep(h.Staff(), 0, h.name(accounts.In))
		h.must(err)
		return w
	}
	if w := found(); w.FailedAt == nil || w.FailedAt.In(coretest.Zone()).Format("02") != "19" ||
		!strings.HasPrefix(w.Failure, "method: "+payments.ErrRailOff.Message) {
		t.Errorf("%+v", w)
	}
	_, err := h.Accounts.ChangeSweep(h.Staff(), 0, h.name(accounts.In),
		accounts.SweepDraft{FromMethod: gives(accounts.ACHDebit)}, changes.RequestOptions{})
	h.must(err)
	if w := found(); w.FailedAt != nil || w.Failure != "" ||
		w.NextSweepDate().Format(time.DateOnly) != "2026-11-23" {
		t.Errorf("%+v", w)
	}
}

// Only networks in dollars are swept over.
func TestASweepInACurrencyThatNoNetworkTakesFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 0)
	h.account = h.Account(h.customer, coretest.Holding(0, 0), coretest.Sends,
		func(a *accounts.Account) { a.Currency = "JPY" })
	h.set(accounts.In, h.in("500", accounts.ACHDebit))
	h.until("2026-11-19 01:00")
	h.ran("19 FAILED 500: currency: must be USD, in which these speeds pay")
}

func TestASweepOfABankWithoutNetworksFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	h.set(accounts.Out, h.out("300", accounts.InstantPayment))
	_, err := h.Owner().ExecContext(t.Context(), `UPDATE tenants SET sandbox = false WHERE id = ?`, h.Tenant)
	h.must(err)
	h.Clock.Set(coretest.Start.AddDate(0, 0, 1))
	h.work()
	h.ran("19 FAILED 700.00: method: " + payments.ErrNoNetwork.Message)
}

// The limit of one payment is that of the person who set the sweep up.
func TestASweepPaysNoMoreThanItsMakerMay(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	person, _ := access.Require(h.Checker())
	person.Limits = []access.ApplicationLimits{{
		Name:   "Payments",
		Limits: []access.Limit{{Name: "Per_Transaction_Payment_Limits", Minor: 500_00, Currency: "USD"}},
	}}
	_, err := h.Accounts.SetSweep(access.With(t.Context(), person), 0, h.name(accounts.Out),
		h.out("300", accounts.ACHCredit), changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-19 01:00")
	h.ran("19 FAILED 700.00: amount: " + payments.ErrOwnLimit.Message)
	_, err = h.Accounts.ChangeSweep(h.Staff(), 0, h.name(accounts.Out),
		accounts.SweepDraft{TargetBalance: given.Of("600")}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-20 01:00")
	all := h.runs()
	p, err := h.Payments.Show(h.Staff(), all[1].Payment)
	h.must(err)
	if p.CreatedBy() != "staff" {
		t.Errorf("in the name of %s, who did not change it last", p.CreatedBy())
	}
}

// What sweeps pay counts for the day and the month of who last set them up.
func TestSweepsStayWithinTheDayAndTheMonthOfTheirMaker(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	person, _ := access.Require(h.Checker())
	person.Limits = []access.ApplicationLimits{{Name: access.OfPayments, Limits: []access.Limit{
		{Name: access.PaidPerDay, Minor: 500_00, Currency: "USD"},
		{Name: access.PaidPerMonth, Minor: 600_00, Currency: "USD"},
	}}}
	who := access.With(t.Context(), person)
	_, err := h.Accounts.SetSweep(who, 0, h.name(accounts.Out), h.out("300", accounts.ACHCredit),
		changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-19 01:00")
	const above = " FAILED 700.00: amount: is above what the caller may pay in a "
	h.ran("19" + above + "day: 500.00 of 500.00 is left")
	_, err = h.Accounts.ChangeSweep(who, 0, h.name(accounts.Out),
		accounts.SweepDraft{TargetBalance: given.Of("550")}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-20 01:00")
	h.ran("19"+above+"day: 500.00 of 500.00 is left", "20 PAID 450.00")
	_, err = h.Accounts.ChangeSweep(who, 0, h.name(accounts.Out),
		accounts.SweepDraft{TargetBalance: given.Of("350")}, changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-23 01:00")
	h.ran("19"+above+"day: 500.00 of 500.00 is left", "20 PAID 450.00",
		"23 FAILED 200.00: amount: is above what the caller may pay in a month: 150.00 of 600.00 is left")
	h.Prove()
}

// A partner, and a customer's own people, set up sweeps that pay in their name.
func TestASweepPaysInTheNameOfPartnersAndCustomers(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	partner := b.DownstreamPartner()
	theirs := furnished(t, b, 1_000_00, coretest.OwnedBy(partner))
	own := furnished(t, b, 1_000_00)
	person := own.User(own.customer, nil)
	for _, one := range []struct {
		*house
		who  context.Context
		name string
	}{{theirs, b.Partner(partner), "partner"}, {own, b.PersonOf(own.customer, person), person.LoginID}} {
		_, err := one.Accounts.SetSweep(one.who, 0, one.house.name(accounts.Out),
			one.out("300", accounts.ACHCredit), changes.RequestOptions{})
		one.must(err)
	}
	own.until("2026-11-19 01:00")
	for h, name := range map[*house]string{theirs: "partner", own: person.LoginID} {
		r := h.ran("19 PAID 700.00")[0]
		p, err := h.Payments.Show(h.Staff(), r.Payment)
		h.must(err)
		if p.CreatedBy() != name {
			t.Errorf("in the name of %s, not %s", p.CreatedBy(), name)
		}
	}
}

// Of a change that a second person approves, the maker is who asked.
func TestTheMakerOfASweepIsWhoAskedForIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00, func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	out, err := h.Accounts.SetSweep(h.Someone("asker"), 0, h.name(accounts.Out),
		h.out("300", accounts.ACHCredit), changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-19 01:00")
	h.ran()
	_, err = h.Changes.Approve(h.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
	h.must(err)
	h.until("2026-11-20 01:00")
	r := h.ran("20 PAID 700.00")[0]
	p, err := h.Payments.Show(h.Staff(), r.Payment)
	h.must(err)
	if p.CreatedBy() != "asker" {
		t.Errorf("in the name of %s", p.CreatedBy())
	}
}

func TestASweepThatIsRemovedLeavesItsPaymentAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	h.set(accounts.Out, h.out("300", accounts.ACHCredit))
	h.until("2026-11-19 01:00")
	_, err := h.Accounts.RemoveSweep(h.Staff(), 0, h.name(accounts.Out), changes.RequestOptions{})
	h.must(err)
	h.set(accounts.Out, h.out("200", accounts.ACHCredit)) // on the same day: it runs on the next one
	h.until("2026-11-20 09:00")
	h.ran("19 PAID 700.00", "20 PAID 100.00")
	h.has(300_00, 100_00)
	h.until("2026-11-23 12:00")
	h.has(200_00, 0)
	h.Prove()
}

// While the clock moves over a month, a sweep runs on each banking day, and no other.
func TestAMonthOfSweepsRunsDayByDay(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	h.set(accounts.Out, h.out("300", accounts.InstantPayment))
	weekly := h.in("100", accounts.InstantRFP)
	weekly.Frequency, weekly.DayOfWeek = gives(accounts.Weekly), gives(accounts.Saturday)
	h.set(accounts.In, weekly)
	h.until("2026-12-20 12:00")
	days := map[accounts.Direction]string{}
	for _, r := range h.runs() {
		days[r.Direction] += r.Day.Format(" 02")
	}
	// Thanksgiving is the 26th
	if days[accounts.Out] != " 19 20 23 24 25 27 30 01 02 03 04 07 08 09 10 11 14 15 16 17 18" {
		t.Error("daily:", days[accounts.Out])
	}
	if days[accounts.In] != " 23 30 07 14" { // the banking days after Saturdays
		t.Error("on Saturdays:", days[accounts.In])
	}
	h.Prove()
}

// A worker that was away makes up for the days that it missed by one run.
func TestMissedDaysAreMadeUpForOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	h.set(accounts.Out, h.out("300", accounts.ACHCredit))
	h.Clock.Set(time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)) // a Saturday
	h.work()
	h.ran()
	h.Clock.Set(time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC))
	h.work()
	h.ran("30 PAID 700.00")
}

// A sweep from before sweeps ran has no next day and no maker: its day is found, and the bank itself asks.
func TestASweepFromBeforeRunsToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_500_00)
	h.Sweep(h.account,
		func(w *accounts.Sweep) {
			w.ToContact, w.Frequency, w.DayOfWeek = &h.contact.UID, accounts.Daily, ""
		})
	h.work()
	h.ran()
	h.until("2026-11-19 01:00")
	r := h.ran("19 PAID 500.00")[0]
	p, err := h.Payments.Show(h.Staff(), r.Payment)
	h.must(err)
	if p.CreatedBy() != access.OperatorClient {
		t.Error(p.CreatedBy())
	}
}

// However many workers there are and whatever statement a worker ends at, a sweep makes one payment a day.
func TestASweepMakesOnePaymentADayWheneverAWorkerEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 0)
	const many = 12
	for range many {
		h.account = h.Account(h.customer, coretest.Holding(1_000_00, 0), coretest.Sends)
		h.set(accounts.Out, h.out("300", accounts.ACHCredit))
	}
	h.Clock.Set(coretest.Start.AddDate(0, 0, 1))
	for n := range 10 { // killed sooner or later
		ctx, cancel := context.WithTimeout(h.operator, time.Duration(n)*3*time.Millisecond)
		_, _ = h.Sweeps.Work(ctx)
		cancel()
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 4 {
				if _, err := h.Sweeps.Work(h.operator); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	h.work()
	for of, want := range map[string]int{
		`SELECT count(*) FROM payments WHERE tenant = ? AND state = 'QUEUED' AND amount = 70000`:           many,
		`SELECT count(*) FROM payments WHERE tenant = ?`:                                                   many,
		`SELECT count(*) FROM sweep_runs WHERE tenant = ? AND outcome = 'PAID'`:                            many,
		`SELECT count(DISTINCT payment) FROM sweep_runs WHERE tenant = ?`:                                  many,
		`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'runSweep' AND object = 'sweep'`: many,
		`SELECT count(*) FROM sweeps WHERE tenant = ? AND next_date = '2026-11-20'`:                        many,
		`SELECT count(*) FROM balances WHERE tenant = ? AND ledger = 100000 AND held = 70000`:              many,
	} {
		if n := h.count(of); n != want {
			t.Errorf("%s: %d, want %d", of, n, want)
		}
	}
	h.Prove()
}

// Whatever is in an account, whatever is to be there and whatever a payment costs: once a run's payment has
// settled the balance is where it is wanted, nothing more moves, and no day has two payments.
func TestABalanceComesToWhereItIsWantedAndStays(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 0)
	h.Configured("Payments", "Outgoing Payment", "Economy", "Gold") // 12.50
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	dollars := func(most int64) int64 { return 100 * random.Int64N(most) }
	text := func(minor int64) string { return money.Of(minor, "USD").String() }
	type wanted struct{ least, most int64 }
	all := map[accounts.UID]wanted{}
	said := map[accounts.UID]string{}
	for n := range 40 {
		if n%10 == 0 { // every second customer pays fees
			h.customer = h.Customer()
			if h.contact = h.Contact(h.customer); n%20 == 0 {
				h.Fee(h.customer, func(f *fees.Tier) { f.FeeName = "Economy" })
			}
		}
		fee := int64(0)
		if n%20 < 10 {
			fee = 12_50
		}
		holds, low := dollars(400), dollars(200)
		high := low + 100 + dollars(200)
		h.account = h.Account(h.customer, coretest.Holding(holds, 0), coretest.Sends)
		want := wanted{holds, holds}
		switch direction := random.IntN(3); direction {
		case 0:
			h.set(accounts.Out, h.out(text(low), accounts.ACHCredit))
			if holds > low+fee {
				want = wanted{low, low}
			}
		case 1:
			h.set(accounts.In, h.in(text(low), accounts.ACHDebit))
			if holds < low {
				want = wanted{low, low}
			}
		default:
			h.set(accounts.Both, h.both(text(low), text(high)))
			if holds < low {
				want = wanted{low, low}
			} else if holds > high+fee {
				want = wanted{high, high}
			}
		}
		all[h.account.UID] = want
		said[h.account.UID] = fmt.Sprintf("it held %d, low %d, high %d, fee %d", holds, low, high, fee)
	}
	h.until("2026-11-24 12:00")
	for uid, want := range all {
		var is, held, days, made int64
		h.must(h.DB.NewRaw(`SELECT ledger, held, (SELECT count(DISTINCT day) FROM sweep_runs AS r
			WHERE r.tenant = ?0 AND r.account = ?1),
			(SELECT count(payment) FROM sweep_runs AS r WHERE r.tenant = ?0 AND r.account = ?1)
			FROM balances WHERE tenant = ?0 AND account = ?1`, h.Tenant, uid).Scan(t.Context(), &is, &held,
			&days, &made))
		if is < want.least || is > want.most || held != 0 || days != 4 || made > 1 {
			t.Errorf("seed %d: an account has %d, %d held, after %d payments on %d days; want %d to %d: %s",
				seed, is, held, made, days, want.least, want.most, said[uid])
		}
	}
	h.Prove()
}

// Who may see accounts sees their runs, within its reach.
func TestRunsAreSeenByWhomTheAccountIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	partner := h.DownstreamPartner()
	theirs := furnished(t, h.Bank, 1_000_00, coretest.OwnedBy(partner))
	for _, one := range []*house{h, theirs} {
		one.set(accounts.Out, one.out("300", accounts.ACHCredit))
	}
	h.until("2026-11-19 01:00")
	paid := theirs.runs()[0].Payment
	for _, one := range []struct {
		who                context.Context
		own, theirs, error int
	}{
		{h.Staff(), 1, 1, 0},
		{h.Partner(partner), 0, 1, 0},
		{h.Partner(h.DownstreamPartner()), 0, 0, 0},
		{h.As(access.ViewPayments), 0, 0, 1},
		{h.Nobody(), 0, 0, 1},
	} {
		b := h.Batch()
		uids := []accounts.UID{h.account.UID, theirs.account.UID}
		found := h.Sweeps.RunsOf(one.who, b, uids, sweeps.RunSearch{Outcome: []sweeps.RunOutcome{sweeps.Paid}},
			db.Columns{}, page.First(5))
		counted := h.Sweeps.CountRunsOf(one.who, b, uids,
			sweeps.RunSearch{Direction: []accounts.Direction{accounts.Out}}, 0)
		of := h.Sweeps.RunOfPayments(one.who, b, []payments.UID{paid})
		_ = b.Send(t.Context())
		if len(found.Of[uids[0]]) != one.own || len(found.Of[uids[1]]) != one.theirs ||
			(found.Err != nil) != (one.error > 0) ||
			db.CountOf(counted, uids[0]) != int64(one.own) ||
			db.CountOf(counted, uids[1]) != int64(one.theirs) ||
			len(of.Of[paid]) != one.theirs {
			t.Errorf("%+v: %v %v %v %v", one, found.Of, counted.Of, of.Of, found.Err)
		}
	}
	if _, err := h.Sweeps.Work(h.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Error("staff work as the bank does:", err)
	}
}
