package payments_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/holds"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Nobody sees another partner's people: who of a former partner paid, or placed a hold, the bank alone reads
// once the customer has left that partner. What the customer's own people did is theirs to read as before.
func TestWhoActedForAFormerPartnerIsTheBanksToRead(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	former, next := s.DownstreamPartner(), s.DownstreamPartner()
	of := s.Customer(coretest.OwnedBy(former))
	from, to := s.Account(of, coretest.Holding(100_00, 0)), s.Account(of)
	user, petra := s.User(of, nil), s.User(former, nil)
	person := s.PersonOf(of, user)
	caller, err := access.Require(s.Partner(former))
	if err != nil {
		t.Fatal(err)
	}
	caller.User, caller.LoginID = petra.UID.UUID, petra.LoginID
	partners := access.With(t.Context(), caller)
	pay := func(as context.Context) payments.UID {
		t.Helper()
		out, err := s.Payments.Transfer(as, payments.Draft{
			ExternalReferenceID: "INV-7", Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID},
			Amount: "1.00",
		}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result.UID
	}
	theirs, own := pay(partners), pay(person)
	_, err = s.Holds.Place(partners, holds.Draft{Account: from.UID, Amount: "5.00"},
		changes.RequestOptions{Reason: "card"})
	if err != nil {
		t.Fatal(err)
	}
	// paidBy is who made a payment, by its record and by its timeline
	paidBy := func(as context.Context, uid payments.UID) [2]string {
		t.Helper()
		shown, err := s.Payments.Show(as, uid)
		if err != nil {
			t.Fatal(err)
		}
		b := s.Core.Batch()
		steps := s.Payments.StepsOf(as, b, []payments.UID{uid}, 50)
		if err := b.Send(as); err != nil || steps.Err != nil || len(steps.Of[uid]) != 1 {
			t.Fatal(err, steps.Err, steps.Of)
		}
		return [2]string{shown.CreatedBy(), steps.Of[uid][0].LoginID}
	}
	is := func(who string, as context.Context, uid payments.UID, want [2]string) {
		t.Helper()
		if got := paidBy(as, uid); got != want {
			t.Errorf("%s reads that payment %s was made by %q, want %q", who, uid, got, want)
		}
	}
	// placedBy is who placed the hold
	placedBy := func(as context.Context) string {
		t.Helper()
		b := s.Core.Batch()
		all := s.Holds.OfAccounts(as, b, []accounts.UID{from.UID}, 50)
		if err := b.Send(as); err != nil || all.Err != nil || len(all.Of[from.UID]) != 1 {
			t.Fatal(err, all.Err, all.Of)
		}
		return all.Of[from.UID][0].MakerLogin
	}
	hers, nobodys := [2]string{petra.LoginID, petra.LoginID}, [2]string{}
	is("its partner", partners, theirs, hers)
	is("the customer", person, theirs, hers)
	if got := placedBy(person); got != petra.LoginID {
		t.Errorf("the customer reads that the hold was placed by %q", got)
	}
	_, err = s.Customers.Change(s.Staff(), of.UID,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)},
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is("the bank", s.Staff(), theirs, hers)
	is("the next partner", s.Partner(next), theirs, nobodys)
	is("the customer", person, theirs, nobodys)
	is("the next partner", s.Partner(next), own, [2]string{user.LoginID, user.LoginID})
	if bank, partner := placedBy(s.Staff()), placedBy(s.Partner(next)); bank != petra.LoginID ||
		partner != "" {
		t.Errorf("the hold was placed by %q, and for the next partner by %q", bank, partner)
	}
	s.Clock.Advance(time.Second)
	is("the next partner", s.Partner(next), pay(s.Partner(next)), [2]string{"partner", ""})
}

// Nor is it told in the record of what workers make of it after the move.
func TestARunAfterAMoveNamesNobodyOfTheFormerPartner(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	former, next := b.DownstreamPartner(), b.DownstreamPartner()
	s := newSenderOf(b, coretest.OwnedBy(former))
	to := s.Account(s.Customer(coretest.OwnedBy(former)))
	caller, err := access.Require(s.Partner(former))
	if err != nil {
		t.Fatal(err)
	}
	caller.LoginID = "eve.of.former"
	out, err := s.Payments.Transfer(access.With(t.Context(), caller), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "10",
		ExternalReferenceID: "RENT", Repeat: monthly(3),
	}, changes.RequestOptions{})
	if err != nil || out.Result.Recurrence == 0 {
		t.Fatal(out, err)
	}
	if _, err = s.Customers.Change(s.Staff(), s.from.Customer,
		customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-12-18 12:00")
	all, err := coretest.Rows(b, b.Partner(next), func(batch *db.Batch) *db.Rows[audit.Entry] {
		return b.Audit.List(b.Partner(next), batch, audit.Search{Customer: int64(s.from.Customer)},
			db.Columns{}, page.First(50))
	})
	ran := 0
	for _, e := range all {
		if e.Action == "runRecurrence" && e.Object == "payment" {
			ran++
		}
		if text := string(e.Before) + string(e.After) + e.LoginID; strings.Contains(text, caller.LoginID) {
			t.Errorf("the next partner reads in the record of %s: %s", e.Action, text)
		}
	}
	if err != nil || ran == 0 {
		t.Error(ran, err)
	}
}

// While money is on its way to an account, it stays in the bank's books; what comes back to one that is kept
// elsewhere by then is got out by taking the account into the books again.
func TestAnAccountGoesElsewhereWithoutMoneyOnItsWay(t *testing.T) {
	t.Parallel()
	elsewhere, here := accounts.OtherCore, accounts.InternalCore
	keep := func(s *sender, of *accounts.Account, by *accounts.SystemOfRecord) error {
		_, err := s.Accounts.Change(s.Staff(), 0, of.UID, accounts.Draft{SystemOfRecord: by},
			changes.RequestOptions{})
		return err
	}
	s := newDebtor(t)
	empty := s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, coretest.Holding(0, 0),
		coretest.Sends)
	s.from = empty
	uid := s.paidOver(t, creditedOn(19))
	s.lived(t, uid, "VALIDATED")
	if err := keep(s, empty, &elsewhere); !errors.Is(err, accounts.ErrUnderWay) {
		t.Errorf("before the credit settles: %v", err)
	}
	// be it that it went elsewhere all the same
	s.Exec(`UPDATE accounts SET system_of_record = ? WHERE tenant = ? AND uid = ?`, elsewhere,
		s.Tenant, empty.UID)
	s.until(t, "2026-11-19 08:30")
	s.run(t)
	if p := s.shows(t, uid); p.State == payments.Settled || !strings.HasPrefix(p.Reason, "R03") {
		t.Errorf("%+v", p.Payment)
	}
	s.has(t, 0, 0)
	if err := keep(s, empty, &here); err != nil {
		t.Error(err)
	}
	full := s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, coretest.Holding(50_00, 0))
	s.Exec(`UPDATE accounts SET system_of_record = ? WHERE tenant = ? AND uid = ?`, elsewhere,
		s.Tenant, full.UID)
	if err := keep(s, full, &here); err != nil {
		t.Errorf("with money in the books: %v", err)
	}
	if _, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		ExternalReferenceID: "INV-7", Sender: payments.Party{UID: full.UID},
		Receiver: payments.Party{UID: empty.UID},
		Amount:   "50.00",
	}, changes.RequestOptions{}); err != nil {
		t.Errorf("the money is not got out: %v", err)
	}
	s.Prove()
}
