package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

var window = page.First(10)

// pair is a bank with two accounts, each with 100.00 in it.
type pair struct {
	*coretest.Bank
	from, to *accounts.Account
}

func newPair(t *testing.T, edits ...func(*customers.Customer)) *pair {
	t.Helper()
	b := coretest.New(t)
	return &pair{
		b, b.Account(b.Customer(edits...), coretest.Holding(100_00, 0)),
		b.Account(b.Customer(), coretest.Holding(100_00, 0)),
	}
}

func (p *pair) draft(amount string) payments.Draft {
	return payments.Draft{
		Sender: payments.Party{UID: p.from.UID}, Receiver: payments.Party{UID: p.to.UID}, Amount: amount,
		ExternalReferenceID: "INV-7", Notes: "Rent",
	}
}

func (p *pair) transfer(ctx context.Context, d payments.Draft) (changes.Outcome[payments.Saved], error) {
	return p.Payments.Transfer(ctx, d, changes.RequestOptions{})
}

// has fails the test unless the two accounts have these balances, in cents.
func (p *pair) has(t *testing.T, from, to int64) {
	t.Helper()
	for _, side := range []struct {
		of   *accounts.Account
		want int64
	}{{p.from, from}, {p.to, to}} {
		var b ledger.Balance
		if err := p.DB.NewSelect().Model(&b).Where("b.tenant = ? AND b.account = ?", p.Tenant, side.of.UID).
			Scan(t.Context()); err != nil || b.Ledger != side.want {
			t.Errorf("account %s has %d, want %d (%v)", side.of.UID, b.Ledger, side.want, err)
		}
	}
}

// life returns the states that a payment went through.
func (p *pair) life(t *testing.T, uid payments.UID) string {
	t.Helper()
	_, steps, err := p.Payments.Find(p.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, s := range steps {
		if int(s.Number) != i+1 {
			t.Errorf("step %d has number %d", i+1, s.Number)
		}
		text += string(s.State) + " "
	}
	return text
}

func TestATransferMovesItsMoneyAtOnce(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	out, err := p.transfer(p.Staff(), p.draft("30.25"))
	if err != nil || out.Result.Status != "PROCESSED" || out.Result.ExternalReferenceID != "INV-7" {
		t.Fatal(out, err)
	}
	p.has(t, 69_75, 130_25)
	found, _, err := p.Payments.Find(p.Staff(), out.Result.UID)
	if err != nil || found.Amount().String() != "30.25" || found.Customer != p.from.Customer ||
		found.ReceiverCustomer != p.to.Customer || found.Notes != "Rent" || found.Channel != "API" ||
		found.Fee() != nil {
		t.Errorf("%+v %v", found, err)
	}
	if got := p.life(t, out.Result.UID); got != "SETTLED " {
		t.Error(got)
	}
	p.Prove()
}

func TestAccountsAreNamedByNumberToo(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	d := p.draft("1")
	d.Sender = payments.Party{Number: coretest.AccountNumber(p.from.UID)}
	d.Receiver = payments.Party{Number: coretest.AccountNumber(p.to.UID), Currency: "usd"}
	if _, err := p.transfer(p.Staff(), d); err != nil {
		t.Fatal(err)
	}
	p.has(t, 99_00, 101_00)
}

func TestWhatCannotBeTransferredIsRefusedAndMovesNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	of := func(edits ...func(*accounts.Account)) accounts.UID { return p.Account(p.Customer(), edits...).UID }
	to := func(uid accounts.UID) func(*payments.Draft) {
		return func(d *payments.Draft) { d.Receiver = payments.Party{UID: uid} }
	}
	suspended := p.Customer(func(c *customers.Customer) { c.Status = customers.Suspended })
	partner := p.Customer(func(c *customers.Customer) {
		c.Type, c.Owner, c.Status = customers.DownstreamPartner, c.UID, customers.Suspended
	})
	for name, wrong := range map[string]struct {
		edit  func(*payments.Draft)
		want  error
		field string
	}{
		"more than there is": {func(d *payments.Draft) { d.Amount = "100.01" }, ledger.ErrUncovered, ""},
		"to itself":          {to(p.from.UID), payments.ErrSame, "receiverAccount"},
		"to no account":      {to(4711), payments.ErrAccount, "receiverAccount.accountUID"},
		"to another currency": {
			to(of(func(a *accounts.Account) { a.Currency = "EUR" })), payments.ErrCurrencies,
			"receiverAccount",
		},
		"to a closed account": {
			to(of(func(a *accounts.Account) { a.Status = accounts.Closed })),
			payments.ErrAccountState, "receiverAccount",
		},
		"to a suspended one": {
			to(of(func(a *accounts.Account) { a.Status = accounts.Suspended })),
			payments.ErrAccountState, "receiverAccount",
		},
		"to another core": {
			to(of(func(a *accounts.Account) { a.SystemOfRecord = accounts.OtherCore })),
			payments.ErrElsewhere, "receiverAccount",
		},
		"to who is suspended": {to(p.Account(suspended).UID), customers.ErrInactive, "receiverAccount"},
		"of a suspended partner": {
			to(p.Account(p.Customer(coretest.OwnedBy(partner))).UID), customers.ErrInactive,
			"receiverAccount",
		},
		"nothing":           {func(d *payments.Draft) { d.Amount = "0.00" }, nil, "paymentAmount"},
		"less than nothing": {func(d *payments.Draft) { d.Amount = "-1" }, nil, "paymentAmount"},
		"no amount":         {func(d *payments.Draft) { d.Amount = "" }, nil, "paymentAmount"},
		"a part of a cent":  {func(d *payments.Draft) { d.Amount = "1.001" }, nil, "paymentAmount"},
		"yesterday":         {func(d *payments.Draft) { d.Date = day(-1) }, nil, "paymentDate"},
		"in two years":      {func(d *payments.Draft) { d.Date = day(730) }, nil, "paymentDate"},
		"in the wrong currency": {
			func(d *payments.Draft) { d.Sender.Currency = "EUR" }, nil,
			"senderAccount.currency",
		},
		"by no account": {
			func(d *payments.Draft) { d.Sender = payments.Party{} }, nil,
			"senderAccount.accountUID",
		},
		"by an unknown number": {
			func(d *payments.Draft) { d.Sender = payments.Party{Number: "991"} },
			payments.ErrAccount, "senderAccount.accountNumber",
		},
	} {
		d := p.draft("1")
		wrong.edit(&d)
		_, err := p.transfer(p.Staff(), d)
		f, is := fault.Of(err)
		if !is || wrong.want != nil && !errors.Is(err, wrong.want) || f.Field != wrong.field {
			t.Errorf("%s: %v (field %q)", name, err, f.Field)
		}
	}
	p.has(t, 100_00, 100_00)
	p.Prove()
}

// day returns a civil day, counted from the test bank's today.
func day(days int) time.Time {
	return ledger.Day(coretest.Start.In(coretest.Zone())).AddDate(0, 0, days)
}

func TestTheFeeOfATransferIsPaidWithIt(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.Configured("Payments", "Outgoing Payment", "Book Transfer", "Gold")
	p.Configured("Payments", "Outgoing Payment", "Book Transfer", "Silver")
	p.Exec(`UPDATE fee_catalogue SET price = CASE fee_tier WHEN 'Gold' THEN 150 ELSE 25 END WHERE tenant = ?`,
		p.Tenant)
	payer := &customers.Customer{Tenant: p.Tenant, UID: p.from.Customer}
	tier := func(name string, account *accounts.UID) func(*fees.Tier) {
		return func(f *fees.Tier) { f.FeeName, f.FeeTier, f.Account = "Book Transfer", name, account }
	}
	p.Fee(payer, tier("Gold", nil))
	p.Fee(payer, tier("Silver", &p.from.UID))
	out, err := p.transfer(p.Staff(), p.draft("10"))
	if err != nil {
		t.Fatal(err)
	}
	p.has(t, 89_75, 110_00) // the tier of the account counts before that of the customer
	found, _, err := p.Payments.Find(p.Staff(), out.Result.UID)
	if err != nil || found.Fee() == nil || found.Fee().String() != "0.25" || found.FeeTier != "Silver" {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := p.transfer(p.Staff(), p.draft("89.75")); !errors.Is(err, ledger.ErrUncovered) {
		t.Errorf("the fee is not covered, and: %v", err)
	}
	p.has(t, 89_75, 110_00)
	p.Prove()
}

func TestAFutureTransferIsCarriedOutOnItsDay(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	d := p.draft("40")
	d.Date = day(2)
	out, err := p.transfer(p.Staff(), d)
	if err != nil || out.Result.Status != "FUTURE_DATED" {
		t.Fatal(out, err)
	}
	p.due(t, 0)
	p.has(t, 100_00, 100_00)
	p.Clock.Advance(48 * time.Hour)
	p.due(t, 1)
	p.has(t, 60_00, 140_00)
	p.due(t, 0)
	if got := p.life(t, out.Result.UID); got != "SCHEDULED SETTLED " {
		t.Error(got)
	}
	p.Prove()
}

func (p *pair) due(t *testing.T, want int) {
	t.Helper()
	n, err := p.Payments.CarryOutDue(access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone()))
	if err != nil || n != want {
		t.Fatalf("%d payments were due, want %d: %v", n, want, err)
	}
}

// The record of an approval says what it changed: the fee that was taken, and the day if it had passed.
func TestTheRecordOfAnApprovalShowsFeeAndDay(t *testing.T) {
	t.Parallel()
	p := newPair(t, dual)
	p.Configured("Payments", "Outgoing Payment", "Book Transfer", "Gold")
	p.Exec(`UPDATE fee_catalogue SET price = 150 WHERE tenant = ?`, p.Tenant)
	p.Fee(&customers.Customer{Tenant: p.Tenant, UID: p.from.Customer}, func(f *fees.Tier) {
		f.FeeName, f.FeeTier = "Book Transfer", "Gold"
	})
	out, err := p.transfer(p.Staff(), p.draft("10"))
	if err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(24 * time.Hour)
	if _, err := p.Changes.Approve(p.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	var changed string
	if err := p.DB.NewRaw(`SELECT after::text FROM audit_entries WHERE tenant = ? AND object = 'payment'
		ORDER BY id DESC LIMIT 1`, p.Tenant).Scan(t.Context(), &changed); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"fee"`, `"1.50`, `"paymentDate"`, `"PROCESSED"`} {
		if !strings.Contains(changed, field) {
			t.Errorf("%s does not show %s", changed, field)
		}
	}
}

// What is wrong with our own books stops one payment, not its bank's others.
func TestAPaymentThatFailsForAReasonOfOursHurtsNoOther(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	full := p.Account(p.Customer(), coretest.Holding(0, 0))
	p.Exec(`UPDATE balances SET ledger = 9223372036854775807 WHERE tenant = ? AND account = ?`,
		p.Tenant, full.UID)
	var uids []payments.UID
	for _, to := range []*accounts.Account{full, p.to} {
		d := p.draft("10")
		d.Receiver.UID, d.Date = to.UID, day(1)
		out, err := p.transfer(p.Staff(), d)
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, out.Result.UID)
	}
	p.Clock.Advance(24 * time.Hour)
	n, err := p.Payments.CarryOutDue(access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone()))
	if n != 1 || !errors.Is(err, ledger.ErrOverflow) || !strings.Contains(err.Error(), uids[0].String()) {
		t.Errorf("carried out %d, %v", n, err)
	}
	if first, second := p.life(t, uids[0]), p.life(t, uids[1]); first != "SCHEDULED " ||
		second != "SCHEDULED SETTLED " {
		t.Errorf("%s and %s", first, second)
	}
	p.has(t, 90_00, 110_00)
}

// However many payments are wrong that come before them, the others are carried out.
func TestManyPaymentsThatFailForAReasonOfOursHurtNoOther(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	full := p.Account(p.Customer(), coretest.Holding(0, 0))
	p.Exec(`UPDATE balances SET ledger = 9223372036854775807 WHERE tenant = ? AND account = ?`,
		p.Tenant, full.UID)
	for range 251 {
		p.Payment(p.from, full, func(made *payments.Payment) {
			made.State, made.Date = payments.Scheduled, ledger.Day(p.Clock.Now().AddDate(0, 0, 1))
		})
	}
	d := p.draft("10")
	d.Date = day(1)
	out, err := p.transfer(p.Staff(), d)
	if err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(24 * time.Hour)
	n, err := p.Payments.CarryOutDue(access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone()))
	if n != 1 || !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("carried out %d, %v", n, err)
	}
	if life := p.life(t, out.Result.UID); life != "SCHEDULED SETTLED " {
		t.Error(life)
	}
}

func TestAFutureTransferThatIsNotCoveredHurtsNoOther(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var uids []payments.UID
	for _, amount := range []string{"70", "50", "20"} {
		d := p.draft(amount)
		d.Date = day(1)
		out, err := p.transfer(p.Staff(), d)
		if err != nil {
			t.Fatal(err)
		}
		uids = append(uids, out.Result.UID)
	}
	p.Clock.Advance(24 * time.Hour)
	p.due(t, 3)
	p.has(t, 10_00, 190_00)
	if got := p.life(t, uids[1]); got != "SCHEDULED INVALID " {
		t.Error(got)
	}
	found, _, err := p.Payments.Find(p.Staff(), uids[1])
	if err != nil || found.Reason != ledger.ErrUncovered.Error() || found.Status() != "VALIDATION_FAILURE" {
		t.Errorf("%+v %v", found, err)
	}
	p.Prove()
}

func dual(c *customers.Customer) { c.Access.PaymentDualApproval = true }

func TestATransferWaitsForASecondPersonWhereSettingsAsk(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]struct {
		approve  bool
		from, to int64
		life     string
	}{
		"approved": {true, 60_00, 140_00, "PENDING_APPROVAL SETTLED "},
		"refused":  {false, 100_00, 100_00, "PENDING_APPROVAL CANCELLED "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, dual)
			out, err := p.transfer(p.Someone("maker"), p.draft("40"))
			if err != nil || out.Result.Status != "PENDING_APPROVAL" || out.Approval == 0 {
				t.Fatal(out, err)
			}
			p.has(t, 100_00, 100_00)
			act := p.Changes.Refuse
			if decide.approve {
				act = p.Changes.Approve
			}
			if _, err := act(p.Someone("maker"), changes.UID(out.Approval),
				changes.RequestOptions{}); decide.approve &&
				!errors.Is(err, changes.ErrOwn) {
				t.Fatal("the maker decided:", err)
			}
			if _, err := act(p.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); decide.approve && err != nil {
				t.Fatal(err)
			}
			p.has(t, decide.from, decide.to)
			if got := p.life(t, out.Result.UID); got != decide.life {
				t.Error(got)
			}
			p.Prove()
		})
	}
}

func TestACancelledTransferNeverMovesMoney(t *testing.T) {
	t.Parallel()
	p := newPair(t, dual)
	waiting, err := p.transfer(p.Someone("maker"), p.draft("40"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.LocksWaiting(waiting.Approval, p.from.Customer, func() error {
		_, err := p.Payments.Cancel(p.Staff(), waiting.Result.UID, changes.RequestOptions{Reason: "wrong"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, err = p.Changes.Approve(p.Checker(), changes.UID(waiting.Approval), changes.RequestOptions{})
	if !errors.Is(err, changes.ErrDecided) {
		t.Error("the approval still waits:", err)
	}
	if _, err := p.Payments.Cancel(p.Staff(), waiting.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
		t.Error("cancelled twice:", err)
	}
	p.has(t, 100_00, 100_00)
	p.Prove()
}

func TestWhatHasBeenPaidCannotBeCancelled(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	out, err := p.transfer(p.Staff(), p.draft("40"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Payments.Cancel(p.Staff(), out.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
		t.Error(err)
	}
	p.has(t, 60_00, 140_00)
}

// Everybody pays from the same account at once, more than there is in it.
func TestAHotAccountIsNeverOverdrawn(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var paid, refused int
	var mu sync.Mutex
	var payers sync.WaitGroup
	for range 40 {
		payers.Go(func() {
			for range 5 {
				_, err := p.transfer(p.Staff(), p.draft("1"))
				mu.Lock()
				switch {
				case err == nil:
					paid++
				case errors.Is(err, ledger.ErrUncovered):
					refused++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	payers.Wait()
	if paid != 100 || refused != 100 {
		t.Errorf("%d paid, %d refused", paid, refused)
	}
	p.has(t, 0, 200_00)
	p.Prove()
}

func TestWhoPaysAndWhoIsPaidSeeAPayment(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, other, third := b.DownstreamPartner(), b.DownstreamPartner(), b.DownstreamPartner()
	p := &pair{
		b, b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0)),
		b.Account(b.Customer(coretest.OwnedBy(other)), coretest.Holding(100_00, 0)),
	}
	if _, err := p.transfer(p.Partner(partner), p.draft("1")); !errors.Is(err, payments.ErrAccount) {
		t.Error("a partner pays into an account that it does not see:", err)
	}
	out, err := p.transfer(p.Staff(), p.draft("1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, who := range map[string]struct {
		ctx  context.Context
		sees bool
	}{
		"who pays": {p.Partner(partner), true}, "who is paid": {p.Partner(other), true},
		"another": {p.Partner(third), false}, "another bank": {p.Other().Staff(), false},
	} {
		_, steps, err := p.Payments.Find(who.ctx, out.Result.UID)
		if sees := err == nil && len(steps) == 1; sees != who.sees || !sees &&
			!errors.Is(err, payments.ErrNotFound) {
			t.Errorf("%s: %v %v", name, steps, err)
		}
		found, err := coretest.Rows(p.Bank, who.ctx, func(q *db.Batch) *db.Rows[payments.Payment] {
			return p.Payments.List(who.ctx, q, payments.Search{}, db.Columns{}, window)
		})
		if err != nil || (len(found) == 1) != who.sees {
			t.Errorf("%s lists %d: %v", name, len(found), err)
		}
	}
	if _, err := p.Payments.Cancel(p.Partner(other), out.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNotFound) {
		t.Error("who is paid cancels:", err)
	}
}

func TestAPersonPaysUpToTheirOwnLimit(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	caller, err := access.Require(p.Someone("clerk"))
	if err != nil {
		t.Fatal(err)
	}
	caller.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
		{Name: "Per_Transaction_Payment_Limits", Minor: 50_00, Currency: "USD"},
	}}}
	ctx := access.With(t.Context(), caller)
	if _, err := p.transfer(ctx, p.draft("50.01")); !errors.Is(err, payments.ErrOwnLimit) {
		t.Error(err)
	}
	if _, err := p.transfer(ctx, p.draft("50")); err != nil {
		t.Error(err)
	}
}

func TestPaymentsAreFoundByEachFilter(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	out, err := p.transfer(p.Staff(), p.draft("30"))
	if err != nil {
		t.Fatal(err)
	}
	back := payments.Draft{
		Sender: payments.Party{UID: p.to.UID}, Receiver: payments.Party{UID: p.from.UID}, Amount: "5", Date: day(3),
		ExternalReferenceID: "B-1", Notes: "Back",
	}
	later, err := p.transfer(p.Staff(), back)
	if err != nil {
		t.Fatal(err)
	}
	thirty := int64(30_00)
	sender := p.from.Customer
	for name, by := range map[string]payments.Search{
		"uid": {UID: out.Result.UID}, "customer": {Customer: sender}, "sender": {SenderAccount: p.from.UID},
		"receiver": {ReceiverAccount: p.to.UID}, "reference": {ExternalReferenceID: "INV-7"},
		"notes": {Notes: "rEN"}, "amount": {Amount: &thirty}, "least": {Least: &thirty},
		"state": {States: payments.StatesOf("PROCESSED")}, "to": {To: day(1)},
		"sender's number":   {SenderNumber: coretest.AccountNumber(p.from.UID)},
		"receiver's number": {ReceiverNumber: coretest.AccountNumber(p.to.UID)},
		"sender's name":     {SenderName: fmt.Sprintf("works %d", sender)},
	} {
		found, err := p.Payments.Page(p.Staff(), by, window)
		if err != nil || found.Total != 1 || len(found.Items) != 1 || found.Items[0].UID != out.Result.UID {
			t.Errorf("%s: %+v %v", name, found, err)
		}
	}
	for name, by := range map[string]payments.Search{
		"from": {From: day(1)}, "most": {Most: new(int64(29_99))},
		"state": {States: payments.StatesOf("FUTURE_DATED")},
	} {
		found, err := p.Payments.Page(p.Staff(), by, window)
		if err != nil || found.Total != 1 || found.Items[0].UID != later.Result.UID {
			t.Errorf("%s: %+v %v", name, found, err)
		}
	}
	both, err := p.Payments.Page(p.Staff(), payments.Search{Account: p.to.UID}, window)
	if err != nil || both.Total != 2 || both.Items[0].UID != later.Result.UID {
		t.Errorf("newest first: %+v %v", both, err)
	}
	if none, err := p.Payments.Page(p.Staff(), payments.Search{States: payments.StatesOf("NONE")},
		window); err != nil ||
		none.Total != 0 {
		t.Errorf("an unknown state: %+v %v", none, err)
	}
}

func TestEachPaymentThatDoesNotFitTheBooksIsFound(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct{ statement, want string }{
		"money that did not move": {`UPDATE payments SET state = 'SCHEDULED' WHERE tenant = $t`, "I12"},
		"another amount":          {`UPDATE payments SET amount = amount + 1 WHERE tenant = $t`, "I12"},
		"another payee": {
			`UPDATE payments SET receiver_account = sender_account WHERE tenant = $t`,
			"I12",
		},
		"a journal of no payment": {
			`UPDATE journals SET payment = 4711 WHERE tenant = $t AND kind = 'payment'`,
			"I12",
		},
		"a step that is missing":   {`DELETE FROM payment_steps WHERE tenant = $t`, "I11"},
		"a step to somewhere else": {`UPDATE payment_steps SET state = 'INVALID' WHERE tenant = $t`, "I11"},
		"a step after the last": {`WITH
			second AS (UPDATE payment_steps SET number = 2 WHERE tenant = $t RETURNING *),
			also AS (UPDATE payments SET version = 2 WHERE tenant = $t)
			INSERT INTO payment_steps (tenant, payment, number, state, at, client, login_id, reach, reason)
			SELECT tenant, payment, 1, 'CANCELLED', at, client, login_id, reach, reason FROM second`, "I11"},
		"a version too many":      {`UPDATE payments SET version = 2 WHERE tenant = $t`, "I11"},
		"a fee that was not paid": {`UPDATE payments SET fee = 26 WHERE tenant = $t`, "I18"},
		"a fee that was paid twice": {
			`UPDATE journals SET kind = 'fee' WHERE tenant = $t AND kind = 'payment'`, "I18",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.Alone(t)
			customer := b.Customer()
			b.Configured("Payments", "Outgoing Payment", "Book Transfer", "Gold")
			b.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ?`, b.Tenant)
			b.Fee(customer, func(f *fees.Tier) { f.FeeName, f.FeeTier = "Book Transfer", "Gold" })
			p := &pair{b, b.Account(customer), b.Account(b.Customer())}
			if _, err := p.transfer(p.Staff(), p.draft("1")); err != nil {
				t.Fatal(err)
			}
			p.Prove()
			statement := strings.ReplaceAll(broken.statement, "$t", fmt.Sprint(p.Tenant))
			if _, err := p.Owner().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			found, err := p.Ledger.Prove(access.Operator(t.Context(), p.Tenant, p.Code, nil))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(v ledger.Violation) bool { return v.Invariant == broken.want }) {
				t.Errorf("%s is not named in %v", broken.want, found)
			}
		})
	}
}

// A payment above what one approver may decide alone needs two people beside the maker.
func TestLargePaymentsTakeTwoPeople(t *testing.T) {
	t.Parallel()
	p := newPair(t, dual, func(c *customers.Customer) {
		c.Access.NumberOfApprovers, c.Access.FirstApproverLimit = 2, 20_00
	})
	approve := func(who string, out changes.Outcome[payments.Saved]) error {
		_, err := p.Changes.Approve(p.Someone(who), changes.UID(out.Approval), changes.RequestOptions{})
		return err
	}
	small, err := p.transfer(p.Someone("maker"), p.draft("20.00"))
	if err != nil {
		t.Fatal(err)
	}
	if err := approve("first", small); err != nil {
		t.Fatal(err)
	}
	p.has(t, 80_00, 120_00)
	large, err := p.transfer(p.Someone("maker"), p.draft("20.01"))
	if err != nil {
		t.Fatal(err)
	}
	if err := approve("first", large); err != nil {
		t.Fatal(err)
	}
	p.has(t, 80_00, 120_00)
	for who, want := range map[string]error{"first": changes.ErrTwice, "maker": changes.ErrOwn} {
		if err := approve(who, large); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", who, err, want)
		}
	}
	if err := approve("second", large); err != nil {
		t.Fatal(err)
	}
	p.has(t, 59_99, 140_01)
	if got := p.life(t, large.Result.UID); got != "PENDING_APPROVAL PARTIALLY_APPROVED SETTLED " {
		t.Error(got)
	}
	refused, err := p.transfer(p.Someone("maker"), p.draft("30"))
	if err != nil || approve("first", refused) != nil {
		t.Fatal(err)
	}
	if _, err := p.Changes.Refuse(p.Someone("second"), changes.UID(refused.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := p.life(t, refused.Result.UID); got != "PENDING_APPROVAL PARTIALLY_APPROVED CANCELLED " {
		t.Error(got)
	}
	withdrawn, err := p.transfer(p.Someone("maker"), p.draft("30"))
	if err != nil || approve("first", withdrawn) != nil {
		t.Fatal(err)
	}
	if _, err := p.Payments.Cancel(p.Someone("maker"), withdrawn.Result.UID,
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := approve("second", withdrawn); !errors.Is(err, changes.ErrDecided) {
		t.Error("a cancelled payment was approved:", err)
	}
	p.has(t, 59_99, 140_01)
	p.Prove()
}

// Above the bound of the second approver, the customer's own people do not decide: the bank does.
func TestTheBankDecidesOnTheLargestPayments(t *testing.T) {
	t.Parallel()
	p := newPair(t, dual, func(c *customers.Customer) { c.Access.SecondApproverLimit = 40_00 })
	own := &customers.Customer{Tenant: p.Tenant, UID: p.from.Customer}
	p.to = p.Account(own, coretest.Holding(100_00, 0))
	maker, checker := p.PersonOf(own, p.User(own, nil)), p.PersonOf(own, p.User(own, nil))
	approve := func(by context.Context, out changes.Outcome[payments.Saved]) error {
		_, err := p.Changes.Approve(by, changes.UID(out.Approval), changes.RequestOptions{})
		return err
	}
	within, err := p.transfer(maker, p.draft("40.00"))
	if err != nil {
		t.Fatal(err)
	}
	above, err := p.transfer(maker, p.draft("40.01"))
	if err != nil {
		t.Fatal(err)
	}
	if err := approve(checker, within); err != nil {
		t.Error("within the bound:", err)
	}
	if err := approve(checker, above); !errors.Is(err, changes.ErrNotYours) {
		t.Errorf("above the bound: %v, want %v", err, changes.ErrNotYours)
	}
	p.has(t, 60_00, 140_00)
	if err := approve(p.Checker(), above); err != nil {
		t.Error("above the bound, the bank:", err)
	}
	p.has(t, 19_99, 180_01)
	p.Prove()
}
