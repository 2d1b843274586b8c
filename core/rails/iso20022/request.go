package iso20022

import (
	"time"

	"bankgraph/core/money"
)

// PaymentRequest asks the debtor to pay (pain.013): a request for payment of FedNow and RTP, a drawdown of
// Fedwire. The debtor's bank answers with a PaymentAnswer, and the debtor pays by a CreditTransfer.
type PaymentRequest struct {
	Group
	RequestID     string // demanded
	ExecutionDate time.Time
	ExpiresAt     time.Time // not on Fedwire
	// what the debtor may do, and is asked for; not on Fedwire
	Modifiable, Early, Guaranteed bool

	InstructionID string
	EndToEndID    string // demanded
	UETR          string

	LocalInstrument string // the network's usual one, if empty
	CategoryPurpose string
	Amount          money.Amount
	ChargeBearer    string // SLEV if empty
	Initiator       Party  // who asks; the creditor, if empty

	Debtor, Creditor                 Party
	DebtorAgent, CreditorAgent       string // routing numbers
	UltimateDebtor, UltimateCreditor Party
	Purpose                          string // a code of four characters
	Remittance                       string // at most 140 characters
}

// Type returns TypePaymentRequest.
func (*PaymentRequest) Type() string { return TypePaymentRequest }

func (r *PaymentRequest) fields(c *codec) {
	c.in("CdtrPmtActvtnReq", func() {
		c.in("GrpHdr", func() {
			c.group("MsgId", c.messageID())
			c.fixed("NbOfTxs", "1")
			c.initiator(&r.Initiator, r.Creditor)
		})
		c.in("PmtInf", func() {
			c.text("PmtInfId", &r.RequestID, id35)
			c.fixed("PmtMtd", "TRF")
			c.in("ReqdExctnDt", func() { c.day("Dt", &r.ExecutionDate) })
			if c.profile.fedwire && !r.ExpiresAt.IsZero() {
				c.failAt("XpryDt", "is not taken by the network")
			}
			c.maybe("XpryDt", !r.ExpiresAt.IsZero(), func() { c.moment("DtTm", &r.ExpiresAt, false) })
			r.conditions(c)
			c.party("Dbtr", &r.Debtor)
			c.routed("DbtrAgt", &r.DebtorAgent)
			c.in("CdtTrfTx", func() { r.transfer(c) })
		})
	})
}

func (r *PaymentRequest) conditions(c *codec) {
	any := r.Modifiable || r.Early || r.Guaranteed
	if c.profile.fedwire && any {
		c.failAt("PmtCond", "is not taken by the network")
	}
	c.maybe("PmtCond", any, func() {
		c.condition("AmtModAllwd", &r.Modifiable)
		c.condition("EarlyPmtAllwd", &r.Early)
		c.condition("GrntedPmtReqd", &r.Guaranteed)
	})
}

func (r *PaymentRequest) transfer(c *codec) {
	c.in("PmtId", func() {
		c.option("InstrId", &r.InstructionID, id35)
		c.text("EndToEndId", &r.EndToEndID, id35)
		c.uetr("UETR", &r.UETR)
	})
	c.in("PmtTpInf", func() { c.kindOfPayment(&r.LocalInstrument, &r.CategoryPurpose, c.profile.Requests...) })
	c.in("Amt", func() { c.settled("InstdAmt", &r.Amount) })
	c.bearer(&r.ChargeBearer)
	c.ultimate("UltmtDbtr", &r.UltimateDebtor)
	c.routed("CdtrAgt", &r.CreditorAgent)
	c.party("Cdtr", &r.Creditor)
	c.ultimate("UltmtCdtr", &r.UltimateCreditor)
	c.maybe("Purp", r.Purpose != "", func() { c.option("Cd", &r.Purpose, code4) })
	c.maybe("RmtInf", r.Remittance != "", func() { c.option("Ustrd", &r.Remittance, text140) })
}

// initiator is the name of who asks, or of somebody else if that is empty.
func (c *codec) initiator(p *Party, other Party) {
	if !c.reading() && p.Name == "" {
		p = &Party{Name: other.Name}
	}
	c.in("InitgPty", func() { c.nameAndAddress(p) })
}

// PaymentAnswer says what becomes of a PaymentRequest (pain.014): whether the debtor's bank has taken it, or
// why the debtor will not pay. One that is rejected has a reason.
type PaymentAnswer struct {
	Group
	Initiator                  Party // who answers; demanded
	DebtorAgent, CreditorAgent string
	Original                   Original
	RequestID                  string
	Code                       Code
	Reasons                    []Reason
}

// Type returns TypePaymentAnswer.
func (*PaymentAnswer) Type() string { return TypePaymentAnswer }

func (a *PaymentAnswer) fields(c *codec) {
	c.in("CdtrPmtActvtnReqStsRpt", func() {
		c.in("GrpHdr", func() {
			c.group("MsgId", id35)
			c.initiator(&a.Initiator, Party{})
			c.routed("DbtrAgt", &a.DebtorAgent)
			c.routed("CdtrAgt", &a.CreditorAgent)
		})
		c.in("OrgnlGrpInfAndSts", func() { c.original(&a.Original, c.messageID()) })
		c.in("OrgnlPmtInfAndSts", func() {
			c.text("OrgnlPmtInfId", &a.RequestID, id35)
			c.in("TxInfAndSts", func() {
				c.option("OrgnlInstrId", &a.Original.InstructionID, id35)
				c.option("OrgnlEndToEndId", &a.Original.EndToEndID, id35)
				c.uetr("OrgnlUETR", &a.Original.UETR)
				c.outcome(&a.Code, &a.Reasons)
			})
		})
	})
}
