package payments_test

import (
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

func as(instrument string) func(*payments.Order) {
	return func(o *payments.Order) { o.LocalInstrument = instrument }
}

func TestALocalInstrumentPicksTheNetworkThatKnowsIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for instrument, over := range map[string]rails.Rail{
		"": rails.FedNow, "fdna": rails.FedNow, "STANDARD": rails.RTP, "ZELLE": rails.RTP,
		"INTERMEDIARY": rails.RTP, "FOREIGN_AFFILIATE": rails.RTP,
	} {
		uid := s.send(t, s.order("10.00", as(instrument))).UID
		asked := s.collect(t, s.order("10.00", asking)).UID
		s.run(t)
		want := instrument
		if over == rails.FedNow {
			want = "FDNA"
		}
		if p := s.shows(t, uid); p.Rail != over || s.carried(t, uid).LocalInstrument != want {
			t.Errorf("%s: over %s as %s", instrument, p.Rail, s.carried(t, uid).LocalInstrument)
		}
		if r := s.firstMessage(t, asked).(*iso20022.PaymentRequest); r.LocalInstrument != "FDNA" {
			t.Errorf("a request that names none goes as %s", r.LocalInstrument)
		}
	}
	uid := s.collect(t, s.order("10.00", asking, as("STANDARD"))).UID
	s.run(t)
	if r := s.firstMessage(t, uid).(*iso20022.PaymentRequest); s.shows(t, uid).Rail != rails.RTP ||
		r.LocalInstrument != "STANDARD" {
		t.Errorf("%s as %s", s.shows(t, uid).Rail, r.LocalInstrument)
	}
}

// A payment goes over no other network than the one that knows what was asked for, and what no network of the
// speed knows is refused.
func TestALocalInstrumentThatCannotBeHadIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE accounts SET rtp_send = false WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	_, err := s.Payments.Send(s.Staff(), s.order("10.00", as("ZELLE")), changes.RequestOptions{})
	if f, is := fault.Of(err); !is || !payments.ErrRailOff.Is(f) {
		t.Error(err)
	}
	byACH := func(o *payments.Order) { o.Speed, o.SECCode = "Economy", "PPD" }
	for name, o := range map[string]payments.Order{
		"of wires": s.order("10.00", as("COVS")), "of nothing": s.order("10.00", as("X")),
		"instant over wire": s.order("10.00", byWire, as("STANDARD")),
		"over ACH":          s.order("10.00", byACH, as("FDNA")),
	} {
		_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != "additionalInfo.localInstruments" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = s.Payments.RequestDebit(s.Staff(), s.order("10.00", asking, as("ZELLE")), changes.RequestOptions{})
	if f, is := fault.Of(err); !is || f.Field != "additionalInfo.localInstruments" {
		t.Errorf("RTP takes no such requests: %v", err)
	}
}

func TestWiresDoNotTellLocalInstrumentsOfFormerTimes(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.send(t, s.order("10.00", byWire, as("UEDI"))).UID
	s.run(t)
	if d, _ := s.details(t, s.Staff(), uid); d.LocalInstrument != "" ||
		s.carried(t, uid).LocalInstrument != "CTRC" {
		t.Errorf("%q, %q", d.LocalInstrument, s.carried(t, uid).LocalInstrument)
	}
}

// What came in under a local instrument shows it, and goes back under it.
func TestWhatComesInGoesBackUnderItsLocalInstrument(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.deliver(t, rails.RTP,
		s.credit(rails.RTP, 1, func(m *iso20022.CreditTransfer) { m.LocalInstrument = "ZELLE" }))
	uid := s.newest(t)
	if d, _ := s.details(t, s.Staff(), uid); d.LocalInstrument != "ZELLE" {
		t.Errorf("%+v", d)
	}
	if _, err := s.back(uid, payments.Return{Type: "IPAY"}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if back := s.lastMessage(t, uid).(*iso20022.Return); back.LocalInstrument != "ZELLE" {
		t.Errorf("%+v", back)
	}
}
