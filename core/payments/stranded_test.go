package payments_test

import (
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
)

// Money that comes back to an account after another system has it is told to people, also where it was closed
// there, until the account is back in the bank's own books.
func TestMoneyThatComesBackToAnAccountThatLeftTheBooksIsTold(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			customer, other := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, s.from
			s.from = s.Account(customer, coretest.Holding(50_11, 0), coretest.Sends)
			s.send(t, s.order("50.11"))
			s.run(t)
			s.Clock.Advance(5 * time.Second)
			s.run(t)
			kept := func(by accounts.SystemOfRecord) {
				t.Helper()
				if _, err := s.Accounts.Change(s.Staff(), 0, s.from.UID, accounts.Draft{SystemOfRecord: &by},
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			act := func(action accounts.Action) {
				t.Helper()
				if _, err := s.Accounts.Act(s.Staff(), 0, s.from.UID, action,
					changes.RequestOptions{Reason: "asked for"}); err != nil {
					t.Fatal(err)
				}
			}
			told := func(want int) {
				t.Helper()
				list, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Stranded}}, 10)
				if err != nil || len(list.Items) != want || want > 0 && list.Items[0].UID != int64(s.from.UID) {
					t.Errorf("people are told of %+v, %v", list, err)
				}
			}
			kept(accounts.External)
			if closed {
				act(accounts.Close)
			}
			told(0)
			s.Clock.Advance(2 * time.Minute)
			s.run(t)
			s.has(t, 50_11, 0)
			told(1)
			if closed {
				act(accounts.Activate)
				told(1)
			}
			kept(accounts.InternalCore)
			told(0)
			if _, err := s.Payments.Transfer(s.Staff(), payments.Draft{
				Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: other.UID}, Amount: "50.11",
				ExternalReferenceID: "INV-7",
			}, changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
			s.Prove()
		})
	}
}
