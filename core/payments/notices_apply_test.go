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
	"bankgraph/core/customers"
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
				if err != nil || done.Result.UID != s.to.UID || done.Approval != 0 ||
					done.Replayed != replayed {
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

// Where a change of a contact waits for a second person, that by a notice does, and the notice says so. What
// was refused may be asked for again. Who asked for it partners do not read of the bank's own people.
func TestAContactFollowsANoticeOnceASecondPersonAgrees(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_bene_dual_approval = true WHERE tenant = ?`, s.Tenant)
	n := s.noticed(t, "C01", "1918171614")
	state := func(want payments.NoticeState, by string, last4 string) {
		t.Helper()
		got, k := s.notices(t, payments.UID(n.Payment))[0], s.contactNow(t)
		if got.State() != want || got.AppliedBy() != by ||
			(got.AppliedAt != nil) != (want == payments.NoticeApplied) ||
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

// changed has people change the sender's contact.
func (s *sender) changed(t *testing.T, to contacts.Draft) {
	t.Helper()
	if _, err := s.Contacts.Change(s.Staff(), 0, s.to.UID, to, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
}

// What a notice says is right of the account that the payment named: a contact that has another one by now,
// whether it changed before the notice came or after, does not become an account of which nobody has spoken.
// A contact that changed otherwise follows.
func TestANoticeIsFollowedByTheAccountThatItIsAbout(t *testing.T) {
	t.Parallel()
	number := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("77788899")}}
	bank := contacts.Draft{Bank: contacts.BankDraft{NationalCode: given.Of("061000052")}}
	kind := contacts.Draft{Bank: contacts.BankDraft{
		AccountType: given.Of("Deposit"), AccountSubType: given.Of("Savings"),
	}}
	abroad := contacts.Draft{Bank: contacts.BankDraft{
		Country:   given.Of("Germany"),
		SWIFTCode: given.Of("DEUTDEFF"),
	}}
	name := contacts.Draft{Name: given.Of("Lumen Optics")}
	for what, c := range map[string]struct {
		code, data string
		change     contacts.Draft
		refused    bool
	}{
		"another number":          {"C01", "1918171614", number, true},
		"another bank":            {"C01", "1918171614", bank, true},
		"another bank, of a name": {"C04", "Harbor Ltd", bank, true},
		"another kind":            {"C01", "1918171614", kind, true},
		"a bank abroad":           {"C01", "1918171614", abroad, true},
		"another name, of a name": {"C04", "Harbor Ltd", name, true},
		"another name":            {"C01", "1918171614", name, false},
		"what the notice says":    {"C05", "32", kind, false},
		"the name that it says":   {"C04", "Lumen Optics", name, false},
	} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprint(what, " before it came: ", before), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				p := s.send(t, s.order("250.00", economy))
				s.until(t, "2026-11-18 14:00")
				if before {
					s.changed(t, c.change)
				}
				s.arrive(t, rails.ACH, s.notice(t, 1, s.trace(t), c.code, c.data))
				s.run(t)
				if !before {
					s.changed(t, c.change)
				}
				was := s.contactNow(t)
				_, err := s.Contacts.ApplyNotice(s.Staff(), contacts.Notice{Payment: int64(p.UID), Code: c.code},
					changes.RequestOptions{})
				if c.refused != errors.Is(err, contacts.ErrNoticeOvertaken) || !c.refused && err != nil {
					t.Errorf("%v, refused: %v", err, c.refused)
				}
				if k := s.contactNow(t); c.refused && k.Version != was.Version {
					t.Errorf("it has changed: %+v", k)
				}
			})
		}
	}
}

// Notices about several payments to one account are followed one after the other: each finds the account as
// those before have corrected it. People are told of what they have not followed yet. One about an account
// that the contact had before people gave it another is not followed, though others were.
func TestAContactFollowsOneNoticeAfterTheOther(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	var all []payments.Saved
	for _, amount := range []string{"10.00", "20.00", "30.00", "40.00", "50.00"} {
		all = append(all, s.send(t, s.order(amount, economy)))
	}
	s.until(t, "2026-11-18 14:00")
	files, _, _ := s.files(t)
	codes := []string{"C01", "C02", "C01", "C07", "C05"}
	for i, data := range []string{
		"1918171614", "061000052", "1918171614", "0610000521918171615       32", "22",
	} {
		s.arrive(t, rails.ACH, s.notice(t, i+1, files[0][i].Trace, codes[i], data))
		s.run(t)
	}
	told := func(want ...int) {
		t.Helper()
		found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Notice}}, 50)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range found.Items {
			got = append(got, fmt.Sprint(item.UID))
		}
		for i, at := range want {
			if len(got) != len(want) || got[i] != all[at].UID.String() {
				t.Fatalf("people are told of %v, not of those of %v of %+v", got, want, all)
			}
		}
	}
	follow := func(at int, refused error) {
		t.Helper()
		if _, err := s.Contacts.ApplyNotice(s.Staff(),
			contacts.Notice{Payment: int64(all[at].UID), Code: codes[at]},
			changes.RequestOptions{}); !errors.Is(err, refused) {
			t.Fatalf("notice %d: %v", at, err)
		}
	}
	has := func(number, routing, product string) {
		t.Helper()
		if k := s.contactNow(t); k.Bank.AccountNumber.Masked() != number || k.Bank.NationalCode != routing ||
			k.Bank.AccountSubType != product {
			t.Fatalf("%+v", k.Bank)
		}
	}
	told(0, 1, 2, 3, 4)
	follow(0, nil)
	has("****1614", theirs, "Checking")
	told(1, 3, 4) // of the other C01, which says the same, no more
	follow(1, nil)
	has("****1614", "061000052", "Checking")
	follow(2, nil) // which the contact has already
	has("****1614", "061000052", "Checking")
	follow(3, nil)
	has("****1615", "061000052", "Savings")
	told(4)
	s.changed(t, contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("77788899")}})
	told()
	follow(4, contacts.ErrNoticeOvertaken)
	has("****8899", "061000052", "Savings")
}

// A notice about an entry of IAT, which went to a gateway, is of the account at the bank abroad.
func TestANoticeOfAnAccountAbroadIsFollowedWhileTheContactHasIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ id, bic, number string }{
		"as it was":                        {},
		"as it was, by the bank's IBAN":    {id: "DE89370400440532013000"},
		"another bank":                     {bic: "DEUTDEFF"},
		"another country, by the IBAN":     {id: "DE89370400440532013000", bic: "BNPAFRPP"},
		"another number":                   {number: "DE75512108001245126199"},
		"another number, by a bank's IBAN": {id: "DE89370400440532013000", number: "DE75512108001245126199"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRemitter(t)
			s.to = s.Contact(&customers.Customer{UID: s.from.Customer}, inGermany)
			s.Exec(`UPDATE contacts SET address_line1 = 'Unter den Linden 1', address_city = 'Berlin',
				address_country_code = 'DE' WHERE tenant = ? AND uid = ?`, s.Tenant, s.to.UID)
			p := s.send(t, s.order("5.00", toGermany, func(o *payments.Order) {
				o.ReceiverBank = c.id
				o.Receiver = payments.Receiver{Contact: s.to.UID, Bank: payments.ReceiverBank{ID: theirs}}
			}))
			s.until(t, "2026-11-18 14:00")
			s.arrive(t, rails.ACH, s.notice(t, 1, s.trace(t), "C01", "1918171614"))
			s.run(t)
			var change contacts.BankDraft
			if c.bic != "" {
				change.SWIFTCode = given.Of(c.bic)
			}
			if c.number != "" {
				change.AccountNumber = given.Of(c.number)
			}
			if change != (contacts.BankDraft{}) {
				s.changed(t, contacts.Draft{Bank: change})
			}
			_, err := s.Contacts.ApplyNotice(s.Staff(), contacts.Notice{Payment: int64(p.UID), Code: "C01"},
				changes.RequestOptions{})
			if refused := c.bic+c.number != ""; refused != errors.Is(err, contacts.ErrNoticeOvertaken) ||
				!refused && err != nil {
				t.Error(err)
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
