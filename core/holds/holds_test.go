package holds_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/holds"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// held is a bank with an account that has 100.00.
type held struct {
	*coretest.Bank
	of      *customers.Customer
	account *accounts.Account
}

func newHeld(t *testing.T, edits ...func(*customers.Customer)) *held {
	t.Helper()
	b := coretest.New(t)
	c := b.Customer(edits...)
	return &held{b, c, b.Account(c, coretest.Holding(100_00, 0))}
}

func (h *held) place(amount string, until *time.Time) (changes.Outcome[holds.Saved], error) {
	return h.Holds.Place(h.Staff(), holds.Draft{Account: h.account.UID, Amount: amount, ExpiresAt: until},
		changes.RequestOptions{Reason: "Garnishment 12"})
}

// has fails the test unless so much of the account is held, and the list of its holds explains that.
func (h *held) has(t *testing.T, want int64) {
	t.Helper()
	var b ledger.Balance
	if err := h.DB.NewSelect().Model(&b).Where("b.tenant = ? AND b.account = ?", h.Tenant, h.account.UID).
		Scan(t.Context()); err != nil || b.Held != want {
		t.Errorf("%d is held, want %d (%v)", b.Held, want, err)
	}
	var sum int64
	for _, one := range h.list(t) {
		sum += one.Minor
	}
	if sum != want {
		t.Errorf("the list explains %d of %d", sum, want)
	}
	h.Prove()
}

func (h *held) list(t *testing.T) []*holds.Held {
	t.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[accounts.UID, holds.Held] {
		return h.Holds.OfAccounts(h.Staff(), b, []accounts.UID{h.account.UID}, holds.MostShown)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found[h.account.UID]
}

func (h *held) pay(amount string) error {
	to := h.Account(h.of)
	_, err := h.Payments.Transfer(h.Staff(), payments.Draft{
		Sender: payments.Party{UID: h.account.UID}, Receiver: payments.Party{UID: to.UID}, Amount: amount,
	}, changes.RequestOptions{})
	return err
}

func TestAHoldKeepsItsAmountFromBeingSpentUntilItIsReleased(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	made, err := h.place("60", nil)
	if err != nil || made.Result.Status != holds.Active {
		t.Fatal(made, err)
	}
	h.has(t, 60_00)
	shown := h.list(t)
	if len(shown) != 1 || shown[0].UID != made.Result.UID || shown[0].Reason != "Garnishment 12" ||
		shown[0].ExpiresAt != nil {
		t.Errorf("%+v", shown)
	}
	if err := h.pay("40.01"); !errors.Is(err, ledger.ErrUncovered) {
		t.Errorf("what is held was paid: %v", err)
	}
	if _, err := h.place("40.01", nil); !errors.Is(err, ledger.ErrUncovered) {
		t.Errorf("more is held than there is: %v", err)
	}
	if err := h.pay("40"); err != nil {
		t.Error(err)
	}
	done, err := h.Holds.Release(h.Staff(), made.Result.UID, changes.RequestOptions{})
	if err != nil || done.Result.Status != holds.Released {
		t.Fatal(done, err)
	}
	h.has(t, 0)
	if err := h.pay("60"); err != nil {
		t.Error(err)
	}
	if _, err := h.Holds.Release(h.Staff(), made.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, holds.ErrOver) {
		t.Errorf("released twice: %v", err)
	}
	h.has(t, 0)
}

// A hold that the books do not end, as what they hold for it is otherwise, keeps no other one.
func TestAHoldThatCannotExpireKeepsNoOther(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	soon, later := coretest.Start.Add(time.Hour), coretest.Start.Add(2*time.Hour)
	bad, err := h.place("60", &soon)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.place("5", &later); err != nil {
			t.Fatal(err)
		}
	}
	h.Exec(`UPDATE account_holds SET amount = amount + 100000 WHERE tenant = ? AND uid = ?`, h.Tenant,
		bad.Result.UID)
	h.Clock.Set(later)
	n, err := h.Holds.Expire(access.Operator(t.Context(), h.Tenant, h.Code, coretest.Zone()))
	if n != 2 || err == nil {
		t.Errorf("%d expired, %v", n, err)
	}
	h.has(t, 60_00)
}

func TestAHoldExpiresByTheClockOfItsBank(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	until := coretest.Start.Add(36*time.Hour - time.Minute)
	if _, err := h.place("60", &until); err != nil {
		t.Fatal(err)
	}
	if _, err := h.place("5", nil); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), h.Tenant, h.Code, coretest.Zone())
	expire := func(want int, next *time.Time) {
		t.Helper()
		if n, err := h.Holds.Expire(operator); n != want || err != nil {
			t.Errorf("%d expired, want %d (%v)", n, want, err)
		}
		at, err := h.Holds.Next(operator, h.Now())
		if err != nil || (at == nil) != (next == nil) || at != nil && !at.Equal(next.Add(time.Minute)) {
			t.Errorf("the next one in the hour until %v, want that of %v (%v)", at, next, err)
		}
	}
	expire(0, &until)
	h.Clock.Set(until.Add(-time.Second))
	expire(0, &until)
	h.has(t, 65_00)
	h.Clock.Set(until)
	expire(1, nil)
	expire(0, nil)
	h.has(t, 5_00)
	var recorded int
	if err := h.DB.NewRaw(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'expireHold'`,
		h.Tenant).
		Scan(t.Context(), &recorded); err != nil || recorded != 1 {
		t.Error(recorded, err)
	}
}

func TestAHoldThatWaitsForASecondPersonHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, agrees := range []bool{true, false} {
		t.Run(fmt.Sprint(agrees), func(t *testing.T) {
			t.Parallel()
			h := newHeld(t, func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
			made, err := h.place("60", nil)
			if err != nil || made.Approval == 0 || made.Result.Status != holds.Pending {
				t.Fatal(made, err)
			}
			h.has(t, 0)
			decide, want := h.Changes.Refuse, int64(0)
			if agrees {
				decide, want = h.Changes.Approve, 60_00
			}
			if _, err := decide(h.Checker(), changes.UID(made.Approval),
				changes.RequestOptions{Reason: "seen"}); err != nil {
				t.Fatal(err)
			}
			h.has(t, want)
			if !agrees {
				return
			}
			asked, err := h.Holds.Release(h.Staff(), made.Result.UID, changes.RequestOptions{})
			if err != nil || asked.Approval == 0 {
				t.Fatal(asked, err)
			}
			h.has(t, 60_00)
			if _, err := h.Changes.Approve(h.Checker(), changes.UID(asked.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			h.has(t, 0)
		})
	}
}

func TestWhatCannotBeHeldIsRefused(t *testing.T) {
	t.Parallel()
	h := newHeld(t)
	past, of := coretest.Start,
		func(edit func(*accounts.Account)) accounts.UID { return h.Account(h.of, edit).UID }
	for name, wrong := range map[string]struct {
		draft  holds.Draft
		reason string
		field  string
		want   error
	}{
		"without a reason": {holds.Draft{Account: h.account.UID, Amount: "1"}, " ", "reason", nil},
		"nothing":          {holds.Draft{Account: h.account.UID, Amount: "0"}, "x", "amount", nil},
		"less":             {holds.Draft{Account: h.account.UID, Amount: "-1"}, "x", "amount", nil},
		"a part of a cent": {holds.Draft{Account: h.account.UID, Amount: "1.001"}, "x", "amount", nil},
		"until now": {
			holds.Draft{Account: h.account.UID, Amount: "1", ExpiresAt: &past},
			"x",
			"expiresAt", nil,
		},
		"of no account": {holds.Draft{Account: 4711, Amount: "1"}, "x", "account", holds.ErrAccount},
		"of a closed one": {holds.Draft{
			Account: of(func(a *accounts.Account) { a.Status = accounts.Closed }), Amount: "1",
		}, "x", "account", holds.ErrElsewhere},
		"of another core": {holds.Draft{
			Account: of(func(a *accounts.Account) { a.SystemOfRecord = accounts.OtherCore }), Amount: "1",
		}, "x", "account", holds.ErrElsewhere},
	} {
		_, err := h.Holds.Place(h.Staff(), wrong.draft, changes.RequestOptions{Reason: wrong.reason})
		f, is := fault.Of(err)
		if !is || f.Field != wrong.field || wrong.want != nil && !errors.Is(err, wrong.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, caller := range map[string]context.Context{
		"a reader": h.Reader(), "somebody of the customer": h.PersonOf(h.of, h.User(h.of, nil)),
	} {
		_, err := h.Holds.Place(caller, holds.Draft{Account: h.account.UID, Amount: "1"},
			changes.RequestOptions{Reason: "x"})
		if !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.has(t, 0)
}

// What payments hold is listed beside what people hold.
func TestTheHoldsOfPaymentsAreListed(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	c := b.Customer()
	h := &held{b, c, b.Account(c, coretest.Holding(100_00, 0), coretest.Sends)}
	if _, err := h.place("10", nil); err != nil {
		t.Fatal(err)
	}
	done, err := h.Payments.Send(h.Staff(), payments.Order{
		Sender: payments.Party{UID: h.account.UID}, Receiver: payments.Receiver{Contact: b.Contact(c).UID},
		Amount: "25", Currency: "USD", Speed: "Instant", ExternalReferenceID: "INV-7",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.has(t, 35_00)
	if shown := h.list(t); len(shown) != 2 || payments.UID(shown[0].Payment) != done.Result.UID ||
		shown[0].UID != 0 ||
		shown[1].Payment != 0 {
		t.Errorf("%+v", shown)
	}
}

// A court's or the bank's own hold on what a partner has is not the partner's to lift, and who placed it is
// not for it to read.
func TestAPartnerReleasesItsOwnHoldsAndNoneOfTheBank(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	of := b.DownstreamPartner()
	h := &held{b, of, b.Account(of, coretest.Holding(100_00, 0))}
	partner := b.Partner(of)
	banks, err := h.place("60", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Holds.Release(partner, banks.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, holds.ErrBanks) {
		t.Errorf("the bank's hold: %v", err)
	}
	h.has(t, 60_00)
	own, err := h.Holds.Place(partner, holds.Draft{Account: h.account.UID, Amount: "5"},
		changes.RequestOptions{Reason: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Holds.Release(partner, own.Result.UID, changes.RequestOptions{}); err != nil {
		t.Errorf("its own: %v", err)
	}
	if _, err := h.Holds.Place(h.Checker(), holds.Draft{Account: h.account.UID, Amount: "5"},
		changes.RequestOptions{Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	seen, err := coretest.Many(h.Bank, partner, func(b *db.Batch) *db.Many[accounts.UID, holds.Held] {
		return h.Holds.OfAccounts(partner, b, []accounts.UID{h.account.UID}, holds.MostShown)
	})
	if err != nil || len(seen[h.account.UID]) != 2 || seen[h.account.UID][0].MakerLogin != "" {
		t.Errorf("%+v, %v", seen, err)
	}
	h.has(t, 65_00)
}
