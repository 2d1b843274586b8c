package payments_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
)

// The proof finds what a payment holds on an account that does not pay it.
func TestAHoldOfAPaymentOnAnotherAccountIsFound(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"on another account": `WITH moved AS (UPDATE holds SET account = $o WHERE tenant = $t RETURNING amount),
			less AS (UPDATE balances SET held = 0 WHERE tenant = $t AND account = $a)
			UPDATE balances SET held = amount FROM moved WHERE tenant = $t AND account = $o`,
		"of no payment": `WITH another AS (INSERT INTO holds (tenant, id, account, amount, currency, payment, state,
				placed_at)
			SELECT tenant, id + 1000000, account, amount, currency, 4711, state, placed_at FROM holds
			WHERE tenant = $t RETURNING amount)
			UPDATE balances SET held = held + amount FROM another WHERE tenant = $t AND account = $a`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.Alone(t)
			b.Directory()
			c := b.Customer()
			s := &sender{b, b.Account(c, coretest.Holding(1_000_00, 0), coretest.Sends), b.Contact(c)}
			other := b.Account(c, coretest.Holding(1_000_00, 0))
			s.send(t, s.order("250.00", instantly))
			s.has(t, 1_000_00, 250_00)
			s.Prove()
			replace := strings.NewReplacer("$t", fmt.Sprint(s.Tenant), "$a", s.from.UID.String(),
				"$o", other.UID.String())
			if _, err := s.Owner().ExecContext(t.Context(), replace.Replace(statement)); err != nil {
				t.Fatal(err)
			}
			found, err := s.Ledger.Prove(access.Operator(t.Context(), s.Tenant, s.Code, nil))
			if err != nil || len(found) != 1 ||
				!slices.ContainsFunc(found, func(v ledger.Violation) bool { return v.Invariant == "I12" }) {
				t.Errorf("%v %v", found, err)
			}
		})
	}
}

// The proof finds money that a journal of a payment moves between accounts that have nothing to do with it.
func TestMoneyOfOthersInTheJournalsOfAPaymentIsFound(t *testing.T) {
	t.Parallel()
	for invariant, kind := range map[string]ledger.Kind{"I12": ledger.Payment, "I18": ledger.Fee} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := coretest.Alone(t)
			b.Directory()
			c := b.Customer()
			s := &sender{b, b.Account(c, coretest.Holding(1_000_00, 0), coretest.Sends), b.Contact(c)}
			one, other := b.Account(b.Customer()), b.Account(b.Customer())
			made := s.send(t, s.order("250.00", instantly))
			s.run(t)
			s.Prove()
			uid := int64(made.UID)
			err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
				entry := func(a *accounts.Account, minor int64) ledger.Entry {
					return ledger.Entry{Account: a.UID, Amount: money.Of(minor, "USD")}
				}
				j, err := ledger.NewJournal(kind, day(0), "stolen", entry(one, -100_00), entry(other, 100_00))
				if err != nil {
					return err
				}
				j.Payment = &uid
				return s.Ledger.PostTx(ctx, tx, s.Tenant, j)
			})
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Ledger.Prove(access.Operator(t.Context(), s.Tenant, s.Code, nil))
			if err != nil || len(found) == 0 {
				t.Fatalf("100.00 of somebody went to another one in a journal of payment %s: %v", made.UID, err)
			}
			for _, v := range found {
				if v.Invariant != invariant || v.Subject != "payment "+made.UID.String() {
					t.Error(v)
				}
			}
		})
	}
}

// An account that another system keeps, and on which nothing was ever booked, may have another currency than
// before: the proof accuses nobody.
func TestAnAccountKeptElsewhereMayGetAnotherCurrency(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	a := s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, coretest.Holding(0, 0))
	s.Prove()
	for _, d := range []accounts.Draft{
		{SystemOfRecord: new(accounts.External)},
		{Currency: new(money.Currency("EUR"))},
		{SystemOfRecord: new(accounts.InternalCore)},
	} {
		if _, err := s.Accounts.Change(s.Staff(), 0, a.UID, d, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		s.Prove()
	}
}
