package payments_test

import (
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// elsewhere has a remittance that the payment does not carry.
func elsewhere(method string) func(*payments.Order) {
	return func(o *payments.Order) { o.RemittanceMethod = method }
}

func withEmail(o *payments.Order) {
	described(o)
	o.Receiver.Email = "ada@mail.example"
}

func withRemittance(o *payments.Order) { o.Remittance = "https://pay.example/R-4711" }

// RTP alone says where a remittance is: it is picked, and its message and the details say the same.
func TestARemittanceElsewhereGoesOverRTPWhichSaysWhereItIs(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for name, c := range map[string]struct {
		o    payments.Order
		want iso20022.Location
		over rails.Rail
	}{
		"to an address": {
			s.order("10.00", elsewhere("emal"), withEmail),
			iso20022.Location{Method: "EMAL", Address: "ada@mail.example"},
			rails.RTP,
		},
		"to a contact's address": {
			s.order("10.00", elsewhere("EMAL")),
			iso20022.Location{Method: "EMAL", Address: s.to.EmailAddress},
			rails.RTP,
		},
		"under a reference": {
			s.order("10.00", elsewhere("URID"), withRemittance, as("STANDARD")),
			iso20022.Location{Method: "URID", Address: "https://pay.example/R-4711"},
			rails.RTP,
		},
		"in the payment": {s.order("10.00", withRemittance, withEmail), iso20022.Location{}, rails.FedNow},
	} {
		uid := s.send(t, c.o).UID
		s.run(t)
		m := s.carried(t, uid)
		if p := s.shows(t, uid); p.Rail != c.over || m.Elsewhere != c.want || m.Remittance == "" {
			t.Errorf("%s: over %s, %+v, %q", name, p.Rail, m.Elsewhere, m.Remittance)
		}
		if d, _ := s.details(t, s.Staff(), uid); d.RemittanceMethod != c.want.Method ||
			d.RemittanceAddress != c.want.Address {
			t.Errorf("%s: %+v", name, d)
		}
	}
	s.Exec(`UPDATE accounts SET rtp_send = false WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	_, err := s.pay(s.order("10.00", elsewhere("EMAL"), withEmail))
	if f, is := fault.Of(err); !is || !payments.ErrRailOff.Is(f) {
		t.Errorf("FedNow does not say it: %v", err)
	}
}

func TestAPlaceOfARemittanceThatNobodyCouldFindIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE contacts SET email_address = '' WHERE tenant = ? AND uid = ?`, s.Tenant, s.to.UID)
	byACH := func(o *payments.Order) { o.Speed, o.SECCode = "Economy", "PPD" }
	for name, c := range map[string]struct {
		o    payments.Order
		want string
	}{
		"no such method": {s.order("10.00", elsewhere("FAXI")), "additionalInfo.remittanceMethod INVALID"},
		"no address":     {s.order("10.00", elsewhere("EMAL"), described), "receiver.email REQUIRED"},
		"no reference":   {s.order("10.00", elsewhere("URID")), "additionalInfo.paymentRemittanceNotes REQUIRED"},
		"a contact without": {
			s.order("10.00", elsewhere("EMAL")), "receiver.accountUID REQUIRED",
		},
		"over ACH": {
			s.order("10.00", elsewhere("EMAL"), withEmail, byACH),
			"additionalInfo.remittanceMethod NOTALLOWED",
		},
		"by wire": {
			s.order("10.00", elsewhere("URID"), withRemittance, byWire),
			"additionalInfo.remittanceMethod NOTALLOWED",
		},
		"over FedNow": {
			s.order("10.00", elsewhere("EMAL"), withEmail, as("FDNA")),
			"additionalInfo.remittanceMethod NOMATCH",
		},
		"in letters that the network does not take": {
			s.order("10.00", elsewhere("URID"), func(o *payments.Order) { o.Remittance = "\u4f60" }),
			"additionalInfo.paymentRemittanceNotes INVALID",
		},
	} {
		for _, repairable := range []bool{false, true} {
			o := c.o
			o.Repairable = repairable && strings.HasPrefix(c.want, "additionalInfo.remittanceMethod")
			_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{IdempotencyKey: name})
			if f, _ := fault.Of(err); f == nil || f.Field+" "+string(f.Problem) != c.want {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", asking, elsewhere("URID"), withRemittance),
		changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || f.Field != "additionalInfo.remittanceMethod" {
		t.Errorf("a request for payment: %v", err)
	}
}

// What comes in says it too, whatever its network.
func TestAReceivedPaymentShowsWhereItsRemittanceIs(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	at := iso20022.Location{Method: "EMAL", Address: "billing@old-mill.example"}
	s.deliver(t, rails.FedNow,
		s.credit(rails.FedNow, 1, func(m *iso20022.CreditTransfer) { m.Elsewhere = at }))
	if d, _ := s.details(t, s.Staff(), s.newest(t)); d.RemittanceMethod != at.Method ||
		d.RemittanceAddress != at.Address {
		t.Errorf("%+v", d)
	}
}
