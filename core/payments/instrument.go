package payments

import (
	"slices"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
)

// formerInstruments are the local instruments that wires once had, which said how their addenda were written.
// Today's wires have no place for them: they are accepted, and not sent (rest/CONTRACT.md, local
// instruments).
var formerInstruments = []string{
	"COVS", "ANSI", "GXML", "IXML", "NARR", "S820", "SWIF", "UEDI", "RRMT", "PROP", "FOREIGN_AFFILIATE",
}

// checkInstrument checks the local instrument that is asked for. That of a wire is dropped.
func (o *Order) checkInstrument(info *check.Fields) {
	const field = "localInstruments"
	switch speed := Speed(o.Speed); {
	case o.LocalInstrument == "" || speed == "":
	case speed.overACH():
		info.Fail(field, fault.Forbidden, "belongs to instant payments and wires")
	case speed == Instant:
		var known []string
		for _, over := range networks[speed] {
			known = append(known, o.instruments(over)...)
		}
		o.LocalInstrument = check.OneOf(info, field, o.LocalInstrument, known...)
	default:
		check.OneOf(info, field, o.LocalInstrument, formerInstruments...)
		o.LocalInstrument = ""
	}
}

// instruments returns the local instruments that a network knows for such an order.
func (o *Order) instruments(over rails.Rail) []string {
	if o.EntryType == rails.Debit {
		return Profiles[over].Requests
	}
	return Profiles[over].Transfers
}

// networks returns the networks that the order may go over, the preferred one first: those of its speed that
// know its local instrument and say where its remittance is, or the one over which another bank has asked for
// the payment.
func (o *Order) networks() []rails.Rail {
	return slices.DeleteFunc(slices.Clone(networks[Speed(o.Speed)]), func(over rails.Rail) bool {
		return o.over != "" && o.over != over ||
			o.LocalInstrument != "" && !slices.Contains(o.instruments(over), o.LocalInstrument) ||
			o.RemittanceMethod != "" && over != rails.RTP
	})
}
