package payments_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// notice is a file with a notice of change, of the bank of the contact, about an entry.
func (s *sender) notice(t *testing.T, number int, trace, code, data string) string {
	t.Helper()
	return s.noticeOf(t, theirs, number, trace, code, data)
}

func (s *sender) noticeOf(t *testing.T, bank string, number int, trace, code, data string) string {
	t.Helper()
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: fmt.Sprint("FRB ", number), Destination: ours, DestinationName: "US",
		CreatedAt: s.Now(), FirstTrace: number,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: nacha.COR, CompanyID: "1234567890", CompanyName: "Cedar", Description: "PAYMENT",
			Effective: s.Now(), Only: rails.Credit, Bank: bank,
		})
	}
	if err == nil {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(0, "USD"), Routing: ours,
			Number: "440000002", Name: "Harbor",
			Change: &nacha.Change{Code: code, OriginalTrace: trace, OriginalBank: theirs[:8], Data: data},
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// notices reads the notices of change about a payment, as a caller with these permissions reads them, or
// somebody of the whole staff.
func (s *sender) notices(t *testing.T, uid payments.UID, may ...access.Permission) []*payments.Notice {
	t.Helper()
	ctx := s.Staff()
	if len(may) > 0 {
		ctx = s.As(may...)
	}
	b := s.Batch()
	found := s.Payments.NoticesOf(ctx, b, []payments.UID{uid}, 50)
	if err := b.Send(t.Context()); err != nil || found.Err != nil {
		t.Fatal(err, found.Err)
	}
	if err := s.Payments.OpenNotices(ctx, found.Of[uid]); err != nil {
		t.Fatal(err)
	}
	return found.Of[uid]
}

// trace returns the number of the bank's only entry.
func (s *sender) trace(t *testing.T) string {
	t.Helper()
	files, _, _ := s.files(t)
	if len(files) != 1 || len(files[0]) != 1 {
		t.Fatal(files)
	}
	return files[0][0].Trace
}

func TestANoticeOfChangeIsToldAndMovesNoMoney(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct{ data, says, reason string }{
		"C01": {"1918171614", "number 1918171614", "the account number is incorrect"},
		"C02": {"061000052", "routing 061000052", "the routing number is incorrect"},
		"C03": {
			"061000052   1918171614", "number 1918171614 routing 061000052",
			"the routing number and the account number are incorrect",
		},
		"C04": {"Harbor Ltd", "name Harbor Ltd", "the name is incorrect"},
		"C05": {"32", "type SAVINGS code 32", "the type of the account is incorrect"},
		"C06": {
			"1918171614       32", "number 1918171614 type SAVINGS code 32",
			"the account number and the type of the account are incorrect",
		},
		"C07": {
			"0610000521918171614       32", "number 1918171614 routing 061000052 type SAVINGS code 32",
			"the routing number, the account number and the type of the account are incorrect",
		},
		"C09": {"77-1", "id 77-1", "the identification number is incorrect"},
	} {
		for when, life := range map[string]string{
			"2026-11-18 15:00": "QUEUED SENT SENT SETTLED", "2026-11-20 09:00": "QUEUED SENT SETTLED SETTLED",
		} {
			t.Run(code+" "+when, func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				p := s.send(t, s.order("250.00", economy))
				s.until(t, "2026-11-18 14:00")
				trace := s.trace(t)
				s.until(t, when)
				first := s.notice(t, 1, trace, code, c.data)
				for _, body := range []string{first, first, s.notice(t, 2, trace, code, c.data)} {
					s.arrive(t, rails.ACH, body) // the same file twice, and the same notice in another one
					s.run(t)
				}
				if got := s.shows(t, p.UID); got.Reason != code+": "+c.reason {
					t.Errorf("the payment says %q", got.Reason)
				}
				s.until(t, "2026-11-20 09:01")
				if got := s.life(t, p.UID); got != life {
					t.Errorf("%s, want %s", got, life)
				}
				all := s.notices(t, p.UID)
				if len(all) != 1 {
					t.Fatal(all)
				}
				n := all[0]
				var says []string
				for name, value := range map[string]any{
					"number": n.RightNumber(), "routing": n.RightRouting(), "type": n.RightAccount(), "name": n.RightName(),
					"id": n.RightID(), "code": n.Corrected(),
				} {
					if text := fmt.Sprint(value); text != "" && text != "0" {
						says = append(says, name+" "+text)
					}
				}
				want := map[string]bool{}
				for _, part := range says {
					want[part] = true
				}
				rest := c.says
				for part := range want {
					if !strings.Contains(rest, part) {
						t.Errorf("it says %s", part)
					}
					rest = strings.TrimSpace(strings.Replace(rest, part, "", 1))
				}
				if rest != "" {
					t.Errorf("it does not say %s", rest)
				}
				if n.Meaning() != c.reason || n.Routing != theirs || n.Last4 != "0002" || n.Original() != 22 {
					t.Errorf("%+v", n)
				}
				s.has(t, 99_750_00, 0)
				s.Prove()
			})
		}
	}
}

// The number that is right is read whole by whoever may correct the contact with it, and by nobody else.
func TestOnlyWhoMayChangeContactsReadsTheRightNumber(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("250.00", economy))
	s.until(t, "2026-11-18 14:00")
	s.arrive(t, rails.ACH, s.notice(t, 1, s.trace(t), "C01", "1918171614"))
	s.run(t)
	for want, may := range map[string][]access.Permission{
		"****1614":   {access.ViewPayments, access.ViewContacts},
		"1918171614": {access.ViewPayments, access.ManageContacts},
	} {
		if all := s.notices(t, p.UID, may...); len(all) != 1 || all[0].RightNumber() != want {
			t.Errorf("%v: %v", may, all[0].RightNumber())
		}
	}
	var plain int
	if err := s.DB.NewRaw(`SELECT count(*) FROM ach_notices AS n
		WHERE tenant = ? AND n::text LIKE '%1918171614%'`, s.Tenant).
		Scan(t.Context(), &plain); err != nil || plain != 0 {
		t.Error("it is in a plain column", err)
	}
	other := s.Partner(s.DownstreamPartner())
	b := s.Batch()
	found := s.Payments.NoticesOf(other, b, []payments.UID{p.UID}, 50)
	if err := b.Send(t.Context()); err != nil || found.Err != nil || len(found.Of) != 0 {
		t.Error(found.Of, found.Err, err)
	}
}

// What is no notice, or is about nothing of ours, is on record and does nothing.
func TestOddNoticesOfChange(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.13", economy)) // returned within the hour
	s.until(t, "2026-11-18 14:00")
	trace := s.trace(t)
	for _, body := range []string{
		s.notice(t, 1, trace[:8]+"9999999", "C01", "1918171614"), s.notice(t, 2, trace, "C14", "x"),
		s.noticeOf(t, "061000052", 5, trace, "C01", "1918171614"), // of a bank that has nothing to do with it
	} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	if got := s.life(t, p.UID); got != "QUEUED SENT" || len(s.notices(t, p.UID)) != 0 {
		t.Errorf("%s %v", got, s.notices(t, p.UID))
	}
	s.until(t, "2026-11-18 15:01")
	s.run(t)
	life := s.life(t, p.UID)
	for _, body := range []string{
		s.notice(t, 3, trace, "C01", "1918171614"), s.notice(t, 4, trace, "C03", "odd"),
	} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	if got := s.life(t, p.UID); got != life || !strings.HasSuffix(life, "RETURNED") {
		t.Errorf("%s, was %s", got, life)
	}
	if got := s.shows(t, p.UID); !strings.HasPrefix(got.Reason, "R17") {
		t.Errorf("the reason of the return became %q", got.Reason)
	}
	if all := s.notices(t, p.UID); len(all) != 2 || all[0].Number != 0 ||
		all[0].RightNumber() != "1918171614" {
		t.Errorf("%+v", all)
	}
	s.Prove()
}

func TestANoticeOfChangeAboutADebit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("250.00", economy))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 09:00")
	s.arrive(t, rails.ACH, s.notice(t, 1, s.trace(t), "C05", "37"))
	s.run(t)
	all := s.notices(t, p.UID)
	if len(all) != 1 || all[0].Original() != 27 || all[0].Corrected() != 37 {
		t.Fatalf("%+v", all)
	}
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED SETTLED" {
		t.Error(got)
	}
	s.has(t, 100_250_00, 0)
	s.Prove()
}

// A notice waits for people until its contact is changed, or a week is over.
func TestANoticeOfChangeWaitsForPeople(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	waits := func() (all []string) {
		found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Notice}}, 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range found.Items {
			if item.Customer != int64(s.from.Customer) {
				t.Errorf("%+v", item)
			}
			all = append(all, fmt.Sprint(item.UID, " ", item.Reason))
		}
		return all
	}
	first, second := s.send(t, s.order("10.00", economy)), s.send(t, s.order("20.00", economy,
		func(o *payments.Order) { // whose other side is no contact
			o.Receiver = payments.Receiver{
				Number: "440055551", Name: "Ada Byron", Bank: payments.ReceiverBank{ID: theirs}, Type: "Deposit",
				SubType: "Checking",
				Address: postal.Address{Line1: "1 Lake Rd", City: "Erie", CountryCode: "US"},
			}
		}))
	s.until(t, "2026-11-18 14:00")
	files, _, _ := s.files(t)
	for i, e := range files[0] {
		s.arrive(t, rails.ACH, s.notice(t, i+1, e.Trace, "C01", "1918171614"))
		s.run(t)
	}
	says := " C01: the account number is incorrect"
	if got := waits(); len(got) != 2 || got[0] != first.UID.String()+says ||
		got[1] != second.UID.String()+says {
		t.Error(got)
	}
	if _, err := s.Contacts.Change(s.Staff(), s.from.Customer, s.to.UID,
		contacts.Draft{Name: given.Of("Harbor Ltd")}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := waits(); len(got) != 1 || got[0] != second.UID.String()+says {
		t.Error("after the contact was changed:", got)
	}
	s.Clock.Advance(7*24*time.Hour + time.Minute)
	if got := waits(); len(got) != 0 {
		t.Error("a week later:", got)
	}
}
