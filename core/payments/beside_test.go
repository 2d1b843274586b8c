package payments_test

import (
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
)

// move moves the clock of the bank to a time, with all that is due until then. What fails stops no clock.
func (s *sender) move(t *testing.T, to string) {
	t.Helper()
	if _, err := s.Sandbox.MoveClock(s.Staff(), sandbox.Move{To: at(t, to)},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for {
		reading, err := s.Core.Clock.Read(s.Staff())
		if err != nil {
			t.Fatal(err)
		}
		if reading.Target == nil {
			return
		}
		if _, err := s.AdvanceClock(operator); err != nil {
			t.Log(err)
		}
	}
}

// holdElsewhere holds the money of payments on another account than the payer's, as an older release did.
func (s *sender) holdElsewhere(on accounts.UID, of ...payments.UID) {
	s.Exec(`WITH moved AS (UPDATE holds SET account = ?0
			WHERE tenant = ?1 AND payment IN (?3) AND state = 'OPEN' RETURNING amount),
		less AS (UPDATE balances SET held = held - (SELECT sum(amount) FROM moved)
			WHERE tenant = ?1 AND account = ?2)
		UPDATE balances SET held = held + (SELECT sum(amount) FROM moved) WHERE tenant = ?1 AND account = ?0`,
		on, s.Tenant, s.from.UID, bun.List(of))
}

// An entry that cannot leave, for whatever reason, makes nothing of others late: neither their entries nor
// what goes back to other banks.
func TestAnEntryThatCannotLeaveMakesNothingOfOthersLate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		within time.Duration // where it may still be sent
		keep   func(*testing.T, *sender, payments.UID)
	}{
		"its customer is suspended": {0, func(t *testing.T, other *sender, _ payments.UID) {
			t.Helper()
			if _, err := other.Customers.Suspend(other.Staff(), other.from.Customer,
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
		}},
		"another account holds its money": {0, func(_ *testing.T, other *sender, stays payments.UID) {
			other.holdElsewhere(other.Account(other.Customer(), coretest.Holding(1_000_00, 0)).UID, stays)
		}},
		"its money is not held": {time.Minute, func(_ *testing.T, other *sender, _ payments.UID) {
			other.Exec(`UPDATE balances SET held = 0 WHERE tenant = ? AND account = ?`, other.Tenant, other.from.UID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			of := s.Customer()
			other := &sender{s.Bank, s.Account(of, coretest.Holding(1_000_00, 0), coretest.Sends), s.Contact(of)}
			stays := other.send(t, other.order("250.00", economy))
			c.keep(t, other, stays.UID)
			back, beside := s.debit(t), s.send(t, s.order("400.00", economy))
			s.move(t, "2026-11-24 09:00")
			if got := s.life(t, stays.UID); !strings.HasSuffix(got, "QUEUED") {
				t.Error("the one that stays:", got)
			}
			for _, event := range []struct{ what, query, want string }{
				{"the other entry settles", `SELECT max(at) FROM payment_steps
					WHERE tenant = ? AND payment = ? AND state = 'SETTLED'`, "2026-11-19 08:30"},
				{"the return leaves", `SELECT nm.handed_at FROM ach_received AS ar JOIN network_messages AS nm
					ON nm.tenant = ar.tenant AND nm.id = ar.file
					WHERE ar.tenant = ? AND ar.payment = ?`, "2026-11-19 17:00"},
			} {
				of := beside.UID
				if event.what == "the return leaves" {
					of = back
				}
				var got time.Time
				if err := s.DB.NewRaw(event.query, s.Tenant, of).Scan(t.Context(), &got); err != nil ||
					got.Sub(at(t, event.want)).Abs() > c.within {
					t.Errorf("%s at %s instead of %s, %v: %s", event.what, got.In(coretest.Zone()), event.want, err,
						s.life(t, of))
				}
			}
		})
	}
}

// However many payments of a customer cannot be sent, the others are.
func TestPaymentsThatCannotLeaveKeepNoneOfTheirCustomerFromBeingSent(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(*sender, []payments.UID){
		"another account holds their money": func(s *sender, all []payments.UID) {
			s.holdElsewhere(s.Account(s.Customer(), coretest.Holding(1_000_00, 0)).UID, all...)
		},
		"their account is kept elsewhere": func(s *sender, _ []payments.UID) {
			s.Exec(`UPDATE accounts SET system_of_record = 'External' WHERE tenant = ? AND uid = ?`, s.Tenant,
				s.from.UID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			full := s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				coretest.Holding(1_000_00, 0), coretest.Sends)
			other := &sender{s.Bank, full, s.to}
			stay := make([]payments.UID, 250)
			for i := range stay {
				stay[i] = other.send(t, other.order("1.00", byWire)).UID
			}
			keep(other, stay)
			beside := s.send(t, s.order("400.00", byWire))
			s.run(t)
			if got := s.life(t, beside.UID); got == "QUEUED" {
				t.Error("the customer's other payment is not sent")
			}
		})
	}
}

// A request for payment that cannot be sent before its last day is over ends, as one does that nobody pays;
// after a restore once people have said what had left.
func TestARequestThatCannotBeSentExpires(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := &sender{s.Bank, s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		coretest.Holding(0, 0), coretest.Sends), s.to}
	made := other.collect(t, other.order("250.00", instantly, func(o *payments.Order) {
		o.Ask.On, o.Ask.Expires = day(0), day(2)
	}))
	elsewhere := accounts.External
	if _, err := s.Accounts.Change(s.Staff(), 0, other.from.UID,
		accounts.Draft{SystemOfRecord: &elsewhere}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-20 23:59")
	s.expire(t)
	s.lived(t, made.UID, "QUEUED")
	resume := s.hold()
	s.until(t, "2026-11-21 00:00")
	s.expire(t)
	s.lived(t, made.UID, "QUEUED")
	resume()
	s.expire(t)
	s.lived(t, made.UID, "QUEUED EXPIRED")
	if why := s.reasons(t, made.UID); !strings.Contains(why, "it could not be sent in time") {
		t.Error(why)
	}
	s.Prove()
}

// A payment is accepted with an address that its network takes, and the customer moves before it leaves, to
// one that the network does not take: the payment ends with the reason, and its money is free again.
func TestAPaymentWhoseCustomerHasMovedWhereItsNetworkDoesNotWriteEnds(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := s.Customer()
	other := &sender{s.Bank, s.Account(of, coretest.Holding(0, 0), coretest.Sends), s.Contact(of)}
	dated := func(o *payments.Order) { o.Ask.On, o.Ask.Expires = day(0), day(2) }
	made, asked := s.send(t, s.order("250.00", byWire)), s.collect(t, s.order("1.00", instantly, dated))
	beside := other.collect(t, other.order("1.00", instantly, dated))
	s.Exec(`UPDATE customers SET legal_city = 'Αθήνα' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	s.run(t)
	for _, uid := range []payments.UID{made.UID, asked.UID} {
		s.lived(t, uid, "QUEUED INVALID")
		if why := s.reasons(t, uid); !strings.Contains(why, "sender.accountUID: cannot be sent over ") ||
			strings.Contains(why, "Αθήνα") {
			t.Error(why)
		}
	}
	if got := s.life(t, beside.UID); !strings.HasPrefix(got, "QUEUED SENT") {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}
