package payments

import (
	"slices"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// A remittance may be elsewhere than in the payment: the message of RTP then says how the payee gets it
// (rest/CONTRACT.md, remittances elsewhere).
const (
	byEmail     = "EMAL" // to the payee's e-mail address
	byReference = "URID" // under a reference, which paymentRemittanceNotes says
)

// checkElsewhere checks where the remittance is said to be. The e-mail address of a contact is checked where
// the contact is known.
func (o *Order) checkElsewhere(c *check.Fields) {
	info := c.In("additionalInfo")
	const field = "remittanceMethod"
	switch {
	case o.RemittanceMethod == "" || o.Speed == "":
		return
	case Speed(o.Speed) != Instant || o.EntryType == rails.Debit:
		info.Fail(field, fault.Forbidden, "belongs to credits of the speed Instant")
		return
	}
	o.RemittanceMethod = check.OneOf(info, field, o.RemittanceMethod, byEmail, byReference)
	switch o.RemittanceMethod {
	case byEmail:
		if o.Receiver.Contact == 0 {
			c.In("receiver").Required("email", o.Receiver.Email)
		}
	case byReference:
		info.Required("paymentRemittanceNotes", o.Remittance)
	}
	if known := o.instruments(rails.RTP); o.LocalInstrument != "" && !info.Failed("localInstruments") &&
		!slices.Contains(known, o.LocalInstrument) {
		info.Fail(field, fault.NoMatch, "must be left out with localInstruments of another network than RTP")
	}
}

// address returns where the payee finds the remittance; "" if the payment has it.
func (o *Order) address(to *Receiver) string {
	switch o.RemittanceMethod {
	case byEmail:
		return to.Email
	case byReference:
		return o.Remittance
	}
	return ""
}

// elsewhere returns where the payee finds the remittance, as its bank is told.
func (d *Details) elsewhere() iso20022.Location {
	return iso20022.Location{Method: d.RemittanceMethod, Address: d.RemittanceAddress}
}
