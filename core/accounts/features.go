package accounts

import (
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// FeaturesDraft is what a request says about an account's features.
type FeaturesDraft struct {
	Wires               given.Flag `json:"enableWire,omitzero"`
	DomesticWires       given.Flag `json:"enableDomesticWire,omitzero"`
	InternationalWires  given.Flag `json:"enableInternationalWire,omitzero"`
	Callbacks           given.Flag `json:"enableCallbacks,omitzero"`
	CallbackLimit       given.Text `json:"callbackLimit,omitzero"`
	ACH                 given.Flag `json:"enableACH,omitzero"`
	Offset              given.Flag `json:"enableOffset,omitzero"`
	DefaultOffset       given.Flag `json:"defaultOffset,omitzero"`
	Underwritten        given.Flag `json:"enableUnderWritten,omitzero"`
	ACHPrefund          given.Flag `json:"enableAchPrefund,omitzero"`
	DebitExposureLimit  given.Text `json:"debitExposureLimit,omitzero"`
	CreditExposureLimit given.Text `json:"creditExposureLimit,omitzero"`
	ACHCompanyID        given.Text `json:"achCompanyId,omitzero"`
	SECCodes            []string   `json:"secCodes,omitzero"` // replaces all; nil: not given
	FedNow              given.Flag `json:"enableFedNow,omitzero"`
	FedNowSend          given.Flag `json:"fednowSend,omitzero"`
	FedNowRFPSend       given.Flag `json:"fednowRfpSend,omitzero"`
	RTP                 given.Flag `json:"enableRtp,omitzero"`
	RTPSend             given.Flag `json:"rtpSend,omitzero"`
	RTPRFPSend          given.Flag `json:"rtpRfpSend,omitzero"`
	RFPReceive          given.Flag `json:"rfpReceive,omitzero"`
	RFPSend             given.Flag `json:"rfpSend,omitzero"`
	PositivePay         given.Flag `json:"enableAchPositivePay,omitzero"`
	AccountAnalysis     given.Flag `json:"accountAnalysis,omitzero"`
	FeeAccount          given.Flag `json:"feeAccount,omitzero"`
	ReturnAccount       given.Flag `json:"returnAccount,omitzero"`
}

func (d *FeaturesDraft) check(c *check.Fields) {
	c.Between("callbackLimit", d.CallbackLimit.Value, "0", highest)
	c.Between("debitExposureLimit", d.DebitExposureLimit.Value, "0", highest)
	c.Between("creditExposureLimit", d.CreditExposureLimit.Value, "0", highest)
	c.AtMost("achCompanyId", d.ACHCompanyID.Value, 10)
	c.Alphanumeric("achCompanyId", d.ACHCompanyID.Value)
	d.SECCodes = c.SECCodes("secCodes", d.SECCodes)
}

// anew refuses a change of currency that does not give the account's amounts again.
func (d *FeaturesDraft) anew(c *check.Fields, a *Account) {
	for _, amount := range []struct {
		field  string
		stored *int64
		given  given.Text
	}{
		{"callbackLimit", a.CallbackLimit, d.CallbackLimit},
		{"debitExposureLimit", a.DebitExposureLimit, d.DebitExposureLimit},
		{"creditExposureLimit", a.CreditExposureLimit, d.CreditExposureLimit},
	} {
		if amount.stored != nil && !amount.given.Given {
			c.Fail(amount.field, fault.NoMatch, "is in the former currency: give it anew")
		}
	}
}

// to writes the given fields into an account. A switch that goes off also clears what depends on it, unless
// the draft gives that itself; contradictions are left to the rules.
func (d *FeaturesDraft) to(c *check.Fields, a *Account, older bool) {
	had := a.EnableCallbacks
	d.wiresTo(a, older)
	if had && !a.EnableCallbacks {
		a.CallbackLimit = nil
	}
	amountTo(c, "callbackLimit", counting(d.CallbackLimit, a.EnableCallbacks || !older), a, &a.CallbackLimit)
	d.achTo(c, a, older)
	d.instantTo(a)
	d.PositivePay.To(&a.EnablePositivePay)
	d.AccountAnalysis.To(&a.AccountAnalysis)
	d.FeeAccount.To(&a.FeeAccount)
	d.ReturnAccount.To(&a.ReturnAccount)
}

// wiresTo writes the switches of wires. International wires go over SWIFT.
func (d *FeaturesDraft) wiresTo(a *Account, older bool) {
	had := a.EnableDomesticWires
	d.Wires.To(&a.EnableWires)
	off(d.Wires, &a.EnableDomesticWires, &a.EnableInternationalWires)
	d.DomesticWires.To(&a.EnableDomesticWires)
	d.InternationalWires.To(&a.EnableInternationalWires)
	if older && d.Wires.Given && a.EnableWires && !a.EnableInternationalWires {
		a.EnableDomesticWires = true
	}
	if d.Wires.Given || d.InternationalWires.Given {
		a.EnableSWIFT = a.EnableInternationalWires
	}
	if had && !a.EnableDomesticWires {
		a.EnableCallbacks = false
	}
	d.Callbacks.To(&a.EnableCallbacks)
}

func (d *FeaturesDraft) achTo(c *check.Fields, a *Account, older bool) {
	underwritten, exposed := a.Underwritten, a.Underwritten || a.ACHPrefund
	d.ACH.To(&a.EnableACH)
	if off(d.ACH, &a.EnableOffset, &a.DefaultOffset, &a.Underwritten, &a.ACHPrefund) {
		a.ACHCompanyID, a.SECCodes = "", []string{}
	}
	d.ACHCompanyID.To(&a.ACHCompanyID)
	if older && d.ACHCompanyID.Given {
		a.EnableACH = a.ACHCompanyID != ""
	}
	d.Offset.To(&a.EnableOffset)
	off(d.Offset, &a.DefaultOffset)
	d.DefaultOffset.To(&a.DefaultOffset)
	if a.DefaultOffset && !d.Offset.Given {
		a.EnableOffset = true
	}
	d.Underwritten.To(&a.Underwritten)
	d.ACHPrefund.To(&a.ACHPrefund)
	if d.SECCodes != nil {
		a.SECCodes = d.SECCodes
	}
	if exposed && !a.Underwritten && !a.ACHPrefund {
		a.DebitExposureLimit = nil
	}
	if underwritten && !a.Underwritten {
		a.CreditExposureLimit = nil
	}
	amountTo(c, "debitExposureLimit", counting(d.DebitExposureLimit, a.Underwritten || a.ACHPrefund || !older),
		a, &a.DebitExposureLimit)
	amountTo(c, "creditExposureLimit", counting(d.CreditExposureLimit, a.Underwritten || !older), a,
		&a.CreditExposureLimit)
}

// instantTo writes the switches of instant payments. The master switch turns on receiving and requests for
// payment; sending counts only while it is on (rest/CONTRACT.md, account rules).
func (d *FeaturesDraft) instantTo(a *Account) {
	d.FedNow.To(&a.EnableFedNow)
	d.FedNowSend.To(&a.FedNowSend)
	d.FedNowRFPSend.To(&a.FedNowRFPSend)
	d.RTP.To(&a.EnableRTP)
	d.RTPSend.To(&a.RTPSend)
	d.RTPRFPSend.To(&a.RTPRFPSend)
	if !a.EnableFedNow {
		a.FedNowSend, a.FedNowRFPSend = false, false
	}
	if !a.EnableRTP {
		a.RTPSend, a.RTPRFPSend = false, false
	}
	if d.FedNow.Given || d.RTP.Given || d.FedNowRFPSend.Given || d.RTPRFPSend.Given {
		a.RFPReceive, a.RFPSend = a.EnableFedNow || a.EnableRTP, a.FedNowRFPSend || a.RTPRFPSend
	}
	d.RFPReceive.To(&a.RFPReceive)
	d.RFPSend.To(&a.RFPSend)
}

// off clears the dependent switches if the master switch was given and is off.
func off(master given.Flag, hanging ...*bool) bool {
	if !master.Given || master.Value {
		return false
	}
	for _, field := range hanging {
		*field = false
	}
	return true
}

// counting returns the amount if it counts, and otherwise none. Clients of the older interfaces send limits
// of features that are off, as the published samples do; those are ignored. The newest interface refuses
// them.
func counting(amount given.Text, counts bool) given.Text {
	if !counts {
		return given.Text{}
	}
	return amount
}

// amountTo writes an amount in the account's currency; an empty text clears it.
func amountTo(c *check.Fields, field string, text given.Text, a *Account, stored **int64) {
	if !text.Given {
		return
	}
	*stored = nil
	if amount := c.Amount(field, text.Value, a.Currency); amount != nil {
		*stored = &amount.Minor
	}
}
