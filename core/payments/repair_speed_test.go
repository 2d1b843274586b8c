package payments_test

import (
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
)

// A repair leaves out what does not belong to the speed, which no request for a repair could clear, and keeps
// what the payee is told.
func TestARepairLeavesOutWhatBelongsToAnotherNetwork(t *testing.T) {
	t.Parallel()
	late := func(o *payments.Order) { o.Date = day(-1) }
	told := func(o *payments.Order) { o.Addenda = "Invoice 4711" }
	over := func(o *payments.Order) {
		described(o)
		o.Receiver.Address.Line1, o.Receiver.Address.City = "Main Street 1", "Ames"
		o.Receiver.Address.CountryCode = "US"
		o.Receiver.Between = payments.ReceiverBank{IDType: "NID", ID: gateway}
	}
	asked := func(edits ...func(*payments.Order)) []func(*payments.Order) { return append(edits, repairably) }
	for name, c := range map[string]struct {
		asked       []func(*payments.Order)
		repair      payments.Repairs
		class, told string
	}{
		"an entry to an instant network": {
			asked(economy, late), payments.Repairs{Speed: "Instant"}, "", "",
		},
		"an entry to a wire": {
			asked(economy, late), payments.Repairs{Speed: "Express"}, "", "",
		},
		"an entry to one of the same day": {
			asked(economy, late), payments.Repairs{Speed: "Economy Plus"}, "CCD", "",
		},
		"an entry abroad to an instant network": {
			asked(toGermany, described, late), payments.Repairs{Speed: "Instant"}, "", "",
		},
		"a wire over a bank to an instant network": {
			asked(byWire, over, told, late), payments.Repairs{Speed: "Instant"}, "", "Invoice 4711",
		},
		"a wire to an entry": {
			asked(byWire, told, late), payments.Repairs{Speed: "Economy", SECCode: "CCD"}, "CCD", "Invoice 4711",
		},
		"a wire with a long text to an entry": {
			asked(byWire, late, func(o *payments.Order) { o.Addenda = strings.Repeat("a", 140) }),
			payments.Repairs{Speed: "Economy", SECCode: "CCD", Remittance: "Invoice 4711"},
			"CCD", "Invoice 4711",
		},
		"a wire with another text": {
			asked(byWire, told, late), payments.Repairs{Remittance: "Invoice 4712"}, "", "Invoice 4712",
		},
		"a class that the speed does not have": {
			asked(instantly, func(o *payments.Order) { o.SECCode = "CCD" }), payments.Repairs{}, "", "",
		},
		"a trade that the speed does not have": {
			asked(instantly, func(o *payments.Order) { o.Contract = 4711 }), payments.Repairs{}, "", "",
		},
		"an entry abroad that stays one": {
			asked(toGermany, late, func(o *payments.Order) { o.Speed = "economy" }), payments.Repairs{}, "IAT", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.Exec(`UPDATE accounts SET sec_codes = '{CCD,IAT}' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
			p := s.inRepair(t, s.order("250.00", c.asked...), "")
			c.repair.Date = day(1)
			out, err := s.Payments.Repair(s.Someone("mender"), p.UID, c.repair, changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != (c.repair.Speed != "") {
				t.Fatalf("%+v %v", out, err)
			}
			var class string
			if err := s.DB.NewRaw(`SELECT coalesce(max(class), '') FROM ach_entries
				WHERE tenant = ? AND payment = ?`, s.Tenant, p.UID).Scan(t.Context(), &class); err != nil {
				t.Fatal(err)
			}
			d, _ := s.details(t, s.Staff(), p.UID)
			if d.Remittance != c.told || class != c.class || d.IntermediaryID != "" {
				t.Errorf("%+v of class %q", d, class)
			}
			s.Prove()
		})
	}
	t.Run("but a repair that gives it is told", func(t *testing.T) {
		t.Parallel()
		s := newSender(t)
		p := s.inRepair(t, s.order("250.00", economy, late, repairably), "")
		_, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{
			Date: day(1), Speed: "Instant", SECCode: "CCD",
		}, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != "additionalInfo.secCode" {
			t.Error(err)
		}
	})
}
