package payments_test

import (
	"context"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/holds"
	"bankgraph/core/payments"
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
		steps := s.Payments.StepsOf(as, b, []payments.UID{uid})
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
		all := s.Holds.OfAccounts(as, b, []accounts.UID{from.UID})
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
	_, err = s.Customers.Change(s.Staff(), of.UID, customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)},
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is("the bank", s.Staff(), theirs, hers)
	is("the next partner", s.Partner(next), theirs, nobodys)
	is("the customer", person, theirs, nobodys)
	is("the next partner", s.Partner(next), own, [2]string{user.LoginID, user.LoginID})
	if bank, partner := placedBy(s.Staff()), placedBy(s.Partner(next)); bank != petra.LoginID || partner != "" {
		t.Errorf("the hold was placed by %q, and for the next partner by %q", bank, partner)
	}
	s.Clock.Advance(time.Second)
	is("the next partner", s.Partner(next), pay(s.Partner(next)), [2]string{"partner", ""})
}
