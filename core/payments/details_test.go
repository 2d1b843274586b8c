package payments_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// details reads what a payment says over its network, and its messages, as a caller.
func (s *sender) details(
	t *testing.T, ctx context.Context, uid payments.UID,
) (*payments.Details, []*payments.Message) {
	t.Helper()
	b := s.Core.Batch()
	details, messages := s.Payments.DetailsOf(ctx, b, []payments.UID{uid}),
		s.Payments.MessagesOf(ctx, b, []payments.UID{uid}, 50)
	if err := b.Send(ctx); err != nil || details.Err != nil || messages.Err != nil {
		t.Fatal(err, details.Err, messages.Err)
	}
	if len(details.Of[uid]) == 0 {
		return nil, messages.Of[uid]
	}
	return details.Of[uid][0], messages.Of[uid]
}

func TestWhatAPaymentSaidAndWasAnsweredIsReadWithoutNumbersAndTexts(t *testing.T) {
	t.Parallel()
	for amount, want := range map[string]struct{ code, messages string }{
		"10":    {"", "OUT pacs.008 / IN pacs.002 ACSC"},
		"10.01": {"AC03", "OUT pacs.008 / IN pacs.002 RJCT AC03"},
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t,
				s.order(amount, func(o *payments.Order) { o.Remittance, o.Reference = "Rent of May", "LEASE-44" }))
			if _, messages := s.details(t, s.Staff(), p.UID); len(messages) != 0 {
				t.Error("it has messages before it was sent")
			}
			s.run(t)
			d, messages := s.details(t, s.Staff(), p.UID)
			if d == nil || d.Contact != s.to.UID || d.BankID != "611590103" ||
				d.Remittance != "Rent of May" ||
				d.Reference != "LEASE-44" ||
				d.Address.City != "Tampa" || d.UETR == "" || d.Route != "" || d.ReturnCode != want.code ||
				d.Number.Sealed != nil ||
				d.Number.Hash != nil {
				t.Errorf("%+v", d)
			}
			var all []string
			for _, m := range messages {
				all = append(all, strings.TrimSpace(string(m.Direction)+" "+m.Kind+" "+m.Code))
				if m.Body != nil || m.MessageID == "" || m.At.IsZero() ||
					(m.HandedAt != nil) != (m.Direction == payments.Out) {
					t.Errorf("%+v", m)
				}
			}
			if got := strings.Join(all, " / "); got != want.messages {
				t.Errorf("%s, want %s", got, want.messages)
			}
			if d, messages := s.details(t, s.Partner(s.DownstreamPartner()), p.UID); d != nil ||
				messages != nil {
				t.Error("a partner reads what is not its customer's")
			}
		})
	}
}

func TestAReturnedPaymentSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.11"))
	s.run(t)
	s.Clock.Advance(2 * 60e9)
	s.run(t)
	if d, messages := s.details(t, s.Staff(), p.UID); d.ReturnCode != "AC04" || len(messages) != 3 ||
		messages[2].Kind != "pacs.004" {
		t.Errorf("%+v, %d messages", d, len(messages))
	}
}

func TestPaymentsAreFoundByTheirNetworkAndTheirContact(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(s.Customer())
	described := func(o *payments.Order) {
		o.Receiver = payments.Receiver{
			Number: "440055551", Name: "Ada",
			Bank: payments.ReceiverBank{ID: "021000021"},
		}
	}
	uids := map[payments.UID]string{
		s.send(t, s.order("1")).UID: "f", s.send(t, s.order("2", byWire)).UID: "w",
		s.send(t, s.order("3", described)).UID: "r",
	}
	booked, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: other.UID}, Amount: "4",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uids[booked.Result.UID] = "b"
	for name, c := range map[string]struct {
		by   payments.Search
		want string
	}{
		"all":                          {payments.Search{}, "brwf"},
		"a rail":                       {payments.Search{Rails: []rails.Rail{rails.RTP}}, "r"},
		"rails":                        {payments.Search{Rails: []rails.Rail{rails.Book, rails.Fedwire}}, "bw"},
		"no rail":                      {payments.Search{Rails: []rails.Rail{}}, ""},
		"a speed":                      {payments.Search{Speeds: []payments.Speed{payments.Instant}}, "rf"},
		"a contact":                    {payments.Search{Contact: s.to.UID}, "wf"},
		"another contact":              {payments.Search{Contact: s.to.UID + 1}, ""},
		"a number at another bank":     {payments.Search{ReceiverNumber: "440055551"}, "r"},
		"a contact's number":           {payments.Search{ReceiverNumber: coretest.ContactNumber(s.to.UID)}, "wf"},
		"a number of this bank":        {payments.Search{ReceiverNumber: coretest.AccountNumber(other.UID)}, "b"},
		"the number of who is debited": {payments.Search{ReceiverNumber: coretest.AccountNumber(s.from.UID)}, ""},
	} {
		found, err := s.Payments.Page(s.Staff(), c.by, window)
		got := ""
		for _, p := range found.Items {
			got += uids[p.UID]
		}
		if err != nil || got != c.want || found.Total != int64(len(c.want)) {
			t.Errorf("%s: %q of %d, want %q (%v)", name, got, found.Total, c.want, err)
		}
	}
}

func TestARefusalSaysWhyNoNetworkTakesThePayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	described := s.order("1", byWire, func(o *payments.Order) {
		o.Receiver = payments.Receiver{
			Number: "440055551", Name: "Ada", Bank: payments.ReceiverBank{ID: "021000021"},
			Address: postal.Address{Line1: "1 Lake Rd", City: "Erie", CountryCode: "US"},
		}
	})
	_, err := s.Payments.Send(s.Staff(), described, changes.RequestOptions{})
	if !errors.Is(err, payments.ErrRoute) || !strings.Contains(err.Error(), "FEDWIRE does not reach the bank") {
		t.Error(err)
	}
}

// What a partner says to the bank of who is paid reaches it: in wires, which have a place for it.
func TestAWireTellsTheCreditorsBankWhatThePartnerSays(t *testing.T) {
	t.Parallel()
	say := func(o *payments.Order) { o.BankInfo, o.Addenda = "Hold for collection", "Invoices 7 and 8" }
	s, exporter := newSender(t), newExporter(t)
	wire := s.send(t, s.order("10.00", byWire, say)).UID
	instant := s.send(t, s.order("10.00", func(o *payments.Order) { o.BankInfo = "Hold for collection" })).UID
	abroad := exporter.send(t, exporter.toGermany("2500.50", exporter.trade(t, "2500.50").UID, say)).UID
	s.run(t)
	exporter.until(t, "2026-11-20 12:00")
	for _, m := range []*iso20022.CreditTransfer{s.carried(t, wire), exporter.carried(t, abroad)} {
		if !slices.Equal(m.ForCreditorAgent, []string{"Hold for collection"}) ||
			m.Remittance != "Invoices 7 and 8" {
			t.Errorf("%+v", m)
		}
	}
	if m := s.carried(t, instant); m.ForCreditorAgent != nil {
		t.Errorf("%+v", m)
	}
	wrong := s.order("10.00", byWire, say, func(o *payments.Order) { o.Remittance = "Invoice 9" })
	for _, o := range []payments.Order{wrong, s.order("10.00", say)} {
		_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != "additionalInfo.unstructuredAddendaInfo.addendaInformation" {
			t.Errorf("%v on %v", err, f)
		}
	}
}

// Letters that the networks do not carry become longer ones: what has no place then is cut, and nothing is
// refused.
func TestAWireCutsWhatItTellsTheBank(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.send(t,
		s.order("10.00", byWire, func(o *payments.Order) { o.BankInfo = strings.Repeat("ß", 105) })).UID
	s.run(t)
	if told := s.carried(t, uid).ForCreditorAgent; len(told) != 1 || told[0] != strings.Repeat("s", 140) {
		t.Error(told)
	}
}

func TestWhatAWireTellsTheBankIsKept(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.deliver(t, rails.Fedwire, s.credit(rails.Fedwire, 1, func(m *iso20022.CreditTransfer) {
		m.ForCreditorAgent = []string{"Hold for collection,", "and call"}
	}))
	d, _ := s.details(t, s.Staff(), s.newest(t))
	if d.BankInfo != "Hold for collection, and call" {
		t.Errorf("%+v", d)
	}
}
