package payments_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// noticed sends a payment to the sender's contact, and takes in a notice of change about it.
func (s *sender) noticed(t *testing.T, code, data string) contacts.Notice {
	t.Helper()
	p := s.send(t, s.order("250.00", economy))
	s.until(t, "2026-11-18 14:00")
	s.arrive(t, rails.ACH, s.notice(t, 1, s.trace(t), code, data))
	s.run(t)
	return contacts.Notice{Payment: int64(p.UID), Code: code}
}

// contactNow reads the sender's contact.
func (s *sender) contactNow(t *testing.T) *contacts.Contact {
	t.Helper()
	b := s.Batch()
	found := s.Contacts.FindMany(s.Staff(), b, []contacts.UID{s.to.UID}, db.Columns{})
	if err := b.Send(t.Context()); err != nil || found.Err != nil || len(found.Of[s.to.UID]) != 1 {
		t.Fatal(err, found.Err)
	}
	return found.Of[s.to.UID][0]
}

// A notice of change is followed once: the contact has what it says, and nothing else is another.
func TestAContactFollowsANoticeOfChange(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct{ data, number, routing, product, name string }{
		"C01": {data: "1918171614", number: "****1614"},
		"C02": {data: "061000052", routing: "061000052"},
		"C03": {data: "061000052   1918171614", number: "****1614", routing: "061000052"},
		"C04": {data: "Harbor Ltd", name: "Harbor Ltd"},
		"C05": {data: "32", product: "Savings"},
		"C06": {data: "1918171614       32", number: "****1614", product: "Savings"},
		"C07": {
			data: "0610000521918171614       32", number: "****1614", routing: "061000052", product: "Savings",
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			n := s.noticed(t, code, c.data)
			was := s.contactNow(t)
			for _, replayed := range []bool{false, true} {
				done, err := s.Contacts.ApplyNotice(s.Staff(), n, changes.RequestOptions{IdempotencyKey: "notice-1"})
				if err != nil || done.Result.UID != s.to.UID || done.Approval != 0 || done.Replayed != replayed {
					t.Fatalf("%+v %v", done, err)
				}
			}
			k := s.contactNow(t)
			for _, part := range [][2]string{
				{k.Bank.AccountNumber.Masked(), cmp.Or(c.number, was.Bank.AccountNumber.Masked())},
				{k.Bank.NationalCode, cmp.Or(c.routing, was.Bank.NationalCode)},
				{k.Bank.AccountSubType, cmp.Or(c.product, was.Bank.AccountSubType)},
				{k.Name, cmp.Or(c.name, was.Name)},
				{k.Bank.AccountType, "Deposit"},
				{k.Bank.Country, was.Bank.Country},
				{fmt.Sprint(k.Version), fmt.Sprint(was.Version + 1)},
			} {
				if part[0] != part[1] {
					t.Errorf("it has %q, not %q", part[0], part[1])
				}
			}
			if got := s.notices(t, payments.UID(n.Payment))[0]; got.State() != payments.NoticeApplied ||
				got.AppliedBy() != "staff" || got.AppliedAt == nil {
				t.Errorf("%+v", got)
			}
			_, err := s.Contacts.ApplyNotice(s.Staff(), n, changes.RequestOptions{})
			if !errors.Is(err, contacts.ErrNoticeApplied) {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// Where a change of a contact waits for a second person, that by a notice does, and the notice says so. What was
// refused may be asked for again. Who asked for it partners do not read of the bank's own people.
func TestAContactFollowsANoticeOnceASecondPersonAgrees(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_bene_dual_approval = true WHERE tenant = ?`, s.Tenant)
	n := s.noticed(t, "C01", "1918171614")
	state := func(want payments.NoticeState, by string, last4 string) {
		t.Helper()
		got, k := s.notices(t, payments.UID(n.Payment))[0], s.contactNow(t)
		if got.State() != want || got.AppliedBy() != by || (got.AppliedAt != nil) != (want == payments.NoticeApplied) ||
			k.Bank.AccountNumber.Last4 != last4 {
			t.Errorf("%s by %q, %s; want %s", got.State(), got.AppliedBy(), k.Bank.AccountNumber.Last4, want)
		}
	}
	was := s.contactNow(t).Bank.AccountNumber.Last4
	for _, decide := range []func(context.Context, changes.UID, changes.RequestOptions) (
		changes.Outcome[changes.UID], error){s.Changes.Refuse, s.Changes.Approve} {
		state(payments.NoticeOpen, "", was)
		done, err := s.Contacts.ApplyNotice(s.Staff(), n, changes.RequestOptions{})
		if err != nil || done.Approval == 0 {
			t.Fatalf("%+v %v", done, err)
		}
		state(payments.NoticeWaiting, "staff", was)
		if _, err := s.Contacts.ApplyNotice(s.Staff(), n, changes.RequestOptions{}); !errors.Is(err,
			changes.ErrWaiting) {
			t.Errorf("a second time: %v", err)
		}
		if _, err := decide(s.Checker(), changes.UID(done.Approval), changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	state(payments.NoticeApplied, "staff", "1614")
	found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Notice}}, 50)
	if err != nil || len(found.Items) != 0 {
		t.Errorf("it still waits for people: %+v %v", found.Items, err)
	}
}

// A series that pays the contact makes the notice take what another account takes.
func TestANoticeOfAContactInASeriesNeedsWhoPays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	n := s.noticed(t, "C01", "1918171614")
	s.send(t, s.order("5.00", instantly, func(o *payments.Order) {
		o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
	}))
	may := []access.Permission{access.ViewPayments, access.ManageContacts}
	if _, err := s.Contacts.ApplyNotice(s.As(may...), n, changes.RequestOptions{}); !errors.Is(err,
		access.ErrDenied) {
		t.Error(err)
	}
	if _, err := s.Contacts.ApplyNotice(s.As(append(may, access.InitiatePayments)...), n,
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}

// A notice that cannot be followed changes nothing, and the fault says why.
func TestANoticeThatNoContactCanFollow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code, data string
		prepare    func(s *sender, n *contacts.Notice)
		want       error
		says       string
	}{
		"a routing number that is none": {
			code: "C02", data: "061000059", want: contacts.ErrNoticeUseless, says: "nationalCode: ",
		},
		"an account number that is none": {
			code: "C01", data: "19181&1614", want: contacts.ErrNoticeUseless, says: "accountNo: ",
		},
		"cannot be read":           {code: "C03", data: "odd", want: contacts.ErrNoticeUseless, says: "nothing"},
		"an identification number": {code: "C09", data: "77-1", want: contacts.ErrNoticeUseless, says: "nothing"},
		"a loan of no kind":        {code: "C05", data: "52", want: contacts.ErrNoticeUseless, says: "a loan"},
		"the contact has changed": {
			code: "C01", data: "1918171614", want: contacts.ErrNoticeOvertaken,
			prepare: func(s *sender, _ *contacts.Notice) {
				_, err := s.Contacts.Change(s.Staff(), 0, s.to.UID, contacts.Draft{Name: given.Of("Harbor Ltd")},
					changes.RequestOptions{})
				if err != nil {
					panic(err)
				}
			},
		},
		"the bank is abroad": {
			code: "C02", data: "061000052", want: contacts.ErrNoticeUseless, says: "abroad",
			prepare: func(s *sender, _ *contacts.Notice) {
				s.Exec(`UPDATE contacts SET bank_country = 'Germany' WHERE tenant = ?`, s.Tenant)
			},
		},
		"the contact was refused": {
			code: "C01", data: "1918171614", want: contacts.ErrNotFound,
			prepare: func(s *sender, _ *contacts.Notice) {
				s.Exec(`UPDATE contacts SET status = 'Refused' WHERE tenant = ?`, s.Tenant)
			},
		},
		"no contact": {
			code: "C01", data: "1918171614", want: contacts.ErrNoticeOfNone,
			prepare: func(s *sender, _ *contacts.Notice) {
				s.Exec(`UPDATE payment_details SET contact = NULL WHERE tenant = ?`, s.Tenant)
			},
		},
		"another code": {
			code: "C01", data: "1918171614", want: contacts.ErrNotice,
			prepare: func(_ *sender, n *contacts.Notice) { n.Code = "C02" },
		},
		"another payment": {
			code: "C01", data: "1918171614", want: payments.ErrNotFound,
			prepare: func(_ *sender, n *contacts.Notice) { n.Payment = 4711 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			n := s.noticed(t, c.code, c.data)
			if c.prepare != nil {
				c.prepare(s, &n)
			}
			_, err := s.Contacts.ApplyNotice(s.Staff(), n, changes.RequestOptions{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// Nobody has the contact of another party's customer follow a notice.
func TestNobodyFollowsANoticeOfAnother(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	n := s.noticed(t, "C01", "1918171614")
	_, err := s.Contacts.ApplyNotice(s.Partner(s.DownstreamPartner()), n, changes.RequestOptions{})
	if !errors.Is(err, payments.ErrNotFound) {
		t.Error(err)
	}
}
