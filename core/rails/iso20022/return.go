package iso20022

import (
	"time"

	"bankgraph/core/money"
)

// Return pays a transfer back, in whole or in part (pacs.004). Its debtor is who pays back, the creditor of
// the transfer that is returned.
type Return struct {
	Group
	ReturnID       string
	Original       Original
	OriginalAmount money.Amount // optional, with OriginalDate
	OriginalDate   time.Time
	// LocalInstrument is that of the transfer, the network's usual one if empty.
	LocalInstrument string
	Amount          money.Amount
	SettlementDate  time.Time
	Instructed      money.Amount // Fedwire: Amount if zero
	Reason          Reason

	Sender, Receiver           string // routing numbers
	Debtor, Creditor           Party
	DebtorAgent, CreditorAgent Agent // optional
}

// Type returns TypeReturn.
func (*Return) Type() string { return TypeReturn }

func (r *Return) fields(c *codec) {
	c.in("PmtRtr", func() {
		c.in("GrpHdr", func() {
			c.group("MsgId", c.messageID())
			c.settlement()
		})
		c.in("TxInf", func() {
			c.option("RtrId", &r.ReturnID, id35)
			c.in("OrgnlGrpInf", func() { c.original(&r.Original, id35) })
			c.ids(&r.Original)
			r.money(c)
			c.routed("InstgAgt", &r.Sender)
			c.routed("InstdAgt", &r.Receiver)
			c.in("RtrChain", func() { r.chain(c) })
			c.in("RtrRsnInf", func() { c.isoReason(&r.Reason) })
			c.in("OrgnlTxRef", func() {
				c.in("PmtTpInf", func() {
					var category string
					c.kindOfPayment(&r.LocalInstrument, &category, c.profile.Transfers...)
				})
			})
		})
	})
}

func (r *Return) money(c *codec) {
	c.amount("OrgnlIntrBkSttlmAmt", &r.OriginalAmount, false, !c.profile.swift, mostDigits)
	c.date("OrgnlIntrBkSttlmDt", &r.OriginalDate, false)
	c.settled("RtrdIntrBkSttlmAmt", &r.Amount)
	c.day("IntrBkSttlmDt", &r.SettlementDate)
	c.instructed("RtrdInstdAmt", &r.Instructed, r.Amount)
}

func (r *Return) chain(c *codec) {
	c.returning("Dbtr", &r.Debtor)
	c.maybe("DbtrAgt", r.DebtorAgent != Agent{}, func() { c.bank(&r.DebtorAgent) })
	c.maybe("CdtrAgt", r.CreditorAgent != Agent{}, func() { c.bank(&r.CreditorAgent) })
	c.returning("Cdtr", &r.Creditor)
}

// returning is a party of a return; a bank may stand in its place, and is not read.
func (c *codec) returning(name string, p *Party) {
	c.in(name, func() {
		c.maybe("Pty", true, func() { c.nameAndAddress(p) })
	})
	c.account(name+"Acct", p)
}
