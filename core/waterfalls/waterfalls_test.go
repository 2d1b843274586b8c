package waterfalls_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

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
	"bankgraph/core/waterfalls"
	"bankgraph/db"
)

// house is a bank with three accounts, of which the first has 100.00.
type house struct {
	*coretest.Bank
	t        *testing.T
	operator context.Context
	accounts [3]*accounts.Account
}

func newHouse(t *testing.T, edits ...func(*customers.Customer)) *house {
	t.Helper()
	return houseOf(t, coretest.New(t), edits...)
}

func houseOf(t *testing.T, b *coretest.Bank, edits ...func(*customers.Customer)) *house {
	t.Helper()
	payer := b.Customer(edits...)
	return &house{
		b, t, access.Operator(t.Context(), b.Tenant, b.Code, coretest.Zone()),
		[3]*accounts.Account{
			b.Account(payer, coretest.Holding(100_00, 0)), b.Account(b.Customer(), coretest.Holding(0, 0)),
			b.Account(b.Customer(), coretest.Holding(0, 0)),
		},
	}
}

// moves is a payment of the batch from one of the accounts to another.
func (h *house) moves(index int32, amount string, from, to int) waterfalls.Transfer {
	name := func(a *accounts.Account) payments.Party {
		return payments.Party{
			Number: coretest.AccountNumber(a.UID), Type: string(a.Type), SubType: string(a.SubType),
			RoutingNumber: a.BankID,
		}
	}
	return waterfalls.Transfer{
		Index: index, Amount: amount, Notes: "Sweep 7", Debtor: name(h.accounts[from]),
		Creditor: name(h.accounts[to]),
	}
}

func (h *house) run(
	reference, key string, all ...waterfalls.Transfer,
) (changes.Outcome[waterfalls.Saved], error) {
	draft := waterfalls.Draft{ExternalReferenceID: reference, Payments: all}
	return h.Waterfalls.Run(h.Staff(), draft, changes.RequestOptions{IdempotencyKey: key})
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// work runs what waits: one call of a worker ends after a while, done or not.
func (h *house) work() {
	h.t.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = h.Waterfalls.Work(h.operator)
		h.must(err)
	}
}

// is fails the test unless the batch, its steps and the balances of the accounts are these.
func (h *house) is(uid waterfalls.UID, want string) {
	h.t.Helper()
	b := h.Batch()
	found := h.Waterfalls.FindMany(h.Reader(), b, []waterfalls.UID{uid}, db.Columns{})
	steps := h.Waterfalls.StepsOf(h.Reader(), b, []waterfalls.UID{uid}, waterfalls.StepSearch{},
		db.Columns{}, page.First(10))
	h.must(b.Send(h.t.Context()))
	got := string(found.Of[uid][0].Status)
	for _, s := range steps.Of[uid] {
		got += fmt.Sprintf(" %d:%s", s.Index, s.Status)
		for _, f := range s.Faults() {
			got += fmt.Sprintf("(%s %s)", f.Code, f.Field)
		}
		made := s.Status == waterfalls.StepMade || s.Status == waterfalls.StepPending
		if made != (s.Payment != 0) && s.Status != waterfalls.StepFailed {
			h.t.Errorf("payment %d of step %d, which is %s", s.Payment, s.Index, s.Status)
		}
	}
	for _, a := range h.accounts {
		var balance ledger.Balance
		h.must(h.DB.NewSelect().Model(&balance).Where("b.tenant = ? AND b.account = ?", h.Tenant, a.UID).
			Scan(h.t.Context()))
		got += fmt.Sprintf(" %d", balance.Ledger)
	}
	if got != want {
		h.t.Errorf("%s\nwant %s", got, want)
	}
}

func (h *house) count(of string) (n int) {
	h.t.Helper()
	h.must(h.DB.NewRaw(of, h.Tenant).Scan(h.t.Context(), &n))
	return n
}

func TestPaymentsRunInTheOrderOfTheirIndexes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	out, err := h.run("B-1", "", h.moves(9, "40", 1, 2), h.moves(3, "60.50", 0, 1))
	h.must(err)
	h.is(out.Result.UID, "RECEIVED 3:WAITING 9:WAITING 10000 0 0")
	h.work()
	h.is(out.Result.UID, "PROCESSED 3:MADE 9:MADE 3950 2050 4000")
	h.work()
	h.is(out.Result.UID, "PROCESSED 3:MADE 9:MADE 3950 2050 4000")
	if n := h.count(`SELECT count(*) FROM payments WHERE tenant = ? AND external_reference_id = 'B-1'
		AND notes = 'Sweep 7'`); n != 2 {
		t.Errorf("%d payments", n)
	}
}

// What was paid stands, and what comes after the first failure is never begun.
func TestABatchStopsAtTheFirstPaymentThatCannotBeMade(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	out, err := h.run("B-1", "", h.moves(1, "60", 0, 1), h.moves(2, "60.01", 1, 2), h.moves(3, "1", 0, 2))
	h.must(err)
	h.work()
	h.is(out.Result.UID, "STOPPED 1:MADE 2:FAILED(STATUS ) 3:NOT_RUN 4000 6000 0")
	other, err := h.run("B-2", "", h.moves(1, "1", 0, 2))
	h.must(err)
	h.work()
	h.is(other.Result.UID, "PROCESSED 1:MADE 3900 6000 100")
}

// A batch of a customer that asks for a second person waits at each of its payments, and goes on, or ends, as
// people say.
func TestABatchWaitsWherePeopleDecide(t *testing.T) {
	t.Parallel()
	dual := func(c *customers.Customer) { c.Access.PaymentDualApproval = true }
	for decision, want := range map[bool]string{
		true:  "PROCESSED 1:MADE 2:MADE 4000 5000 1000",
		false: "STOPPED 1:FAILED(STATUS ) 2:NOT_RUN 10000 0 0",
	} {
		h := newHouse(t, dual)
		out, err := h.run("B-1", "", h.moves(1, "60", 0, 1), h.moves(2, "10", 1, 2))
		h.must(err)
		h.work()
		h.work()
		h.is(out.Result.UID, "PENDING_APPROVAL 1:PENDING_APPROVAL 2:WAITING 10000 0 0")
		approval := changes.UID(h.count(`SELECT max(uid) FROM approvals
			WHERE tenant = ? AND operation = 'transferFunds'`))
		if decision {
			_, err = h.Changes.Approve(h.Checker(), approval, changes.RequestOptions{})
		} else {
			_, err = h.Changes.Refuse(h.Checker(), approval, changes.RequestOptions{Reason: "not now"})
		}
		h.must(err)
		h.work()
		h.is(out.Result.UID, want)
	}
}

// A batch that cannot go on is not accepted, nor keeps its reference.
func TestABatchIsRefusedWhereTooManyWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	h.Exec(`INSERT INTO approvals (tenant, customer, operation, object, object_uid, creation, draft, version,
		maker_client)
		SELECT ?, ?, 'sendPayment', 'payment', 'x' || n, true, '', 1, 'staff'
		FROM generate_series(1, 1000) AS n`, h.Tenant, h.accounts[0].Customer)
	if _, err := h.run("B-1", "", h.moves(1, "60", 0, 1)); !errors.Is(err, changes.ErrOpen) {
		t.Error(err)
	}
	h.Exec(`DELETE FROM approvals WHERE tenant = ? AND object_uid = 'x1'`, h.Tenant)
	out, err := h.run("B-1", "", h.moves(1, "60", 0, 1))
	h.must(err)
	h.work()
	h.is(out.Result.UID, "PENDING_APPROVAL 1:PENDING_APPROVAL 10000 0 0")
}

func TestAPaymentOfABatchBearsItsFee(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Configured("Payments", "Outgoing Payment", "Book Transfer", "Gold")
	h.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Book Transfer'`, h.Tenant)
	payer := &customers.Customer{UID: h.accounts[0].Customer}
	h.Fee(payer, func(f *fees.Tier) { f.FeeName = "Book Transfer" })
	out, err := h.run("B-1", "", h.moves(1, "60", 0, 1))
	h.must(err)
	h.work()
	h.is(out.Result.UID, "PROCESSED 1:MADE 3975 6000 0")
}

// However many workers there are and whatever statement a worker ends at, each step is one payment.
func TestEachStepIsOnePaymentWheneverAWorkerEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var all []waterfalls.Transfer
	for n := range int32(10) {
		all = append(all, h.moves(n+1, "1", 0, 1))
	}
	out, err := h.run("B-1", "", all...)
	h.must(err)
	for n := range 8 { // killed sooner or later
		ctx, cancel := context.WithCancel(h.operator)
		h.Exec(`UPDATE waterfalls SET worked_at = NULL WHERE tenant = ?`, h.Tenant)
		go func() {
			for range n * 1000 {
				if ctx.Err() != nil {
					return
				}
			}
			cancel()
		}()
		_, _ = h.Waterfalls.Work(ctx)
		cancel()
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 5 {
				if _, err := h.Waterfalls.Work(h.operator); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	h.work()
	h.is(out.Result.UID,
		"PROCESSED 1:MADE 2:MADE 3:MADE 4:MADE 5:MADE 6:MADE 7:MADE 8:MADE 9:MADE 10:MADE 9000 1000 0")
	if n := h.count(`SELECT count(*) FROM payments WHERE tenant = ?`); n != 10 {
		t.Errorf("%d payments", n)
	}
}

// What the bank itself cannot do ends the batch that it is of, and not the one whose turn it is by then.
func TestABatchThatCannotBeRunEndsNoOther(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	h := houseOf(t, line.Bank())
	accept := func(reference string) waterfalls.UID {
		out, err := h.run(reference, "", h.moves(1, "1", 0, 1))
		h.must(err)
		return out.Result.UID
	}
	broken := func(reference string) waterfalls.UID {
		uid := accept(reference)
		h.Exec(`UPDATE waterfall_steps SET draft_sealed = 'garbage'::bytea
			WHERE tenant = ? AND waterfall = ?`, h.Tenant, uid)
		return uid
	}
	work := func() { _, _ = h.Waterfalls.Work(h.operator) }
	broken("A-0")
	work() // so that its reads are prepared, and the asker has had a turn
	broken("A-1")
	at := line.Begins(2, work)
	bad, good := broken("A-2"), accept("B")
	line.Elsewhere(at, h.Bank, `UPDATE waterfalls SET worked_at = clock_timestamp()
		WHERE tenant = ? AND external_reference_id = 'A-2'`, h.Tenant)
	for range 3 {
		work()
	}
	h.is(good, "PROCESSED 1:MADE 9900 100 0")
	h.is(bad, "STOPPED 1:FAILED(INTERNAL ) 9900 100 0")
}

// However many batches come, those that have begun have their turns.
func TestABatchThatComesLaterWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	begun, err := h.run("A", "", h.moves(1, "1", 0, 1), h.moves(2, "1", 0, 1))
	h.must(err)
	h.Exec(`UPDATE waterfalls SET worked_at = clock_timestamp() WHERE tenant = ?`, h.Tenant)
	later, err := h.run("B", "", h.moves(1, "1", 0, 2))
	h.must(err)
	h.work()
	var turns []waterfalls.UID
	h.must(h.DB.NewRaw(`SELECT waterfall FROM waterfall_steps WHERE tenant = ? ORDER BY payment`, h.Tenant).
		Scan(t.Context(), &turns))
	a, b := begun.Result.UID, later.Result.UID
	if want := []waterfalls.UID{a, b, a}; !slices.Equal(turns, want) {
		t.Errorf("%v, want %v", turns, want)
	}
}

func TestABatchIsAcceptedOnceForItsKeyAndItsReference(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const key = "0d3f9a5c-2f57-4f7c-9f2e-2f7f4f0a5a11"
	first, err := h.run("B-1", key, h.moves(1, "60", 0, 1))
	h.must(err)
	again, err := h.run("B-1", key, h.moves(1, "60", 0, 1))
	if err != nil || again.Result != first.Result || !again.Replayed {
		t.Errorf("again: %+v %v", again, err)
	}
	if _, err := h.run("B-1", key, h.moves(1, "61", 0, 1)); !errors.Is(err, changes.ErrKeyReused) {
		t.Errorf("another body: %v", err)
	}
	if _, err := h.run("B-1", "another", h.moves(1, "60", 0, 1)); !errors.Is(err, waterfalls.ErrReference) {
		t.Errorf("the same reference: %v", err)
	}
	h.work()
	h.is(first.Result.UID, "PROCESSED 1:MADE 4000 6000 0")
	if n := h.count(`SELECT count(*) FROM waterfalls WHERE tenant = ?`); n != 1 {
		t.Errorf("%d batches", n)
	}
}

// Nothing of a batch is accepted that has a fault, and each is named with its place.
func TestABatchTellsAllThatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long := h.moves(1, "0", 0, 1)
	long.Notes = strings.Repeat("a", 201)
	closed := h.Account(h.Customer(), func(a *accounts.Account) { a.Status = accounts.Closed })
	h.accounts[2] = closed
	nobody := h.moves(1, "1", 0, 1)
	nobody.Creditor = payments.Party{}
	for name, one := range map[string]struct {
		all  []waterfalls.Transfer
		want string
	}{
		"none": {nil, "payments REQUIRED"},
		"a field": {
			[]waterfalls.Transfer{h.moves(2, "1", 0, 1), long},
			"payments[1].paymentNotes MAX, payments[1].paymentAmount MIN",
		},
		"an index": {
			[]waterfalls.Transfer{h.moves(2, "1", 0, 1), h.moves(2, "1", 0, 1)},
			"payments[1].paymentIndex INVALID",
		},
		"accounts": {
			[]waterfalls.Transfer{h.moves(1, "1", 0, 1), h.moves(2, "1", 0, 2), h.moves(3, "1", 1, 1)},
			"payments[1].creditorAccount , payments[2].creditorAccount ",
		},
		"no account": {
			[]waterfalls.Transfer{nobody}, "payments[0].creditorAccount.accountNumber REQUIRED, " +
				"payments[0].creditorAccount.accountType REQUIRED, " +
				"payments[0].creditorAccount.accountSubType REQUIRED, " +
				"payments[0].creditorAccount.routingNumber REQUIRED",
		},
		"too many": {make([]waterfalls.Transfer, waterfalls.MostPayments+1), "payments MAX"},
	} {
		_, err := h.run("B-1", "", one.all...)
		var faults fault.Faults
		if !errors.As(err, &faults) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range faults {
			got = append(got, f.Field+" "+string(f.Problem))
		}
		if said := strings.Join(got, ", "); said != one.want {
			t.Errorf("%s: %s\nwant %s", name, said, one.want)
		}
	}
	if n := h.count(`SELECT count(*) FROM waterfalls WHERE tenant = ?`); n != 0 {
		t.Errorf("%d batches", n)
	}
}

func TestOnlyTheBankRunsBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	partner := h.DownstreamPartner()
	draft := waterfalls.Draft{ExternalReferenceID: "B-1", Payments: []waterfalls.Transfer{h.moves(1, "1", 0, 1)}}
	if _, err := h.Waterfalls.Run(h.Partner(partner), draft,
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a partner: %v", err)
	}
	if _, err := h.Waterfalls.Run(h.operator, draft,
		changes.RequestOptions{}); !errors.Is(err, waterfalls.ErrNoInstitution) {
		t.Errorf("nobody's: %v", err)
	}
	out, err := h.run("B-1", "", h.moves(1, "1", 0, 1))
	h.must(err)
	b := h.Batch()
	found := h.Waterfalls.FindMany(h.Partner(partner), b, []waterfalls.UID{out.Result.UID}, db.Columns{})
	h.must(b.Send(t.Context()))
	if len(found.Of) != 0 {
		t.Error("a partner sees a batch of the bank")
	}
}
