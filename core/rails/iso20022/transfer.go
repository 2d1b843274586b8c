package iso20022

import (
	"time"

	"bankgraph/core/money"
)

// CreditTransfer moves money between customers of two banks (pacs.008). Who sends it, and who gets it, are
// banks of the network; on the way from debtor to creditor others may follow.
type CreditTransfer struct {
	Group
	InstructionID string // optional, as are all that are not said to be demanded
	EndToEndID    string // the debtor's own reference; demanded
	TransactionID string
	UETR          string // of the payment all the way, a UUID of version 4 in lower case

	LocalInstrument string // the network's usual one, if empty
	CategoryPurpose string // FedNow and RTP: CONSUMER, BUSINESS and so on
	Amount          money.Amount
	SettlementDate  time.Time
	AcceptedAt      time.Time    // when the debtor's bank took it
	Instructed      money.Amount // Fedwire: what the debtor asked to pay, Amount if zero
	ChargeBearer    string       // SLEV if empty, on SWIFT SHAR; CRED, DEBT, SHAR

	Sender, Receiver string // routing numbers, on SWIFT BICs
	Intermediary     Agent
	// of the intermediary and of the creditor's bank, each with the bank before it; Fedwire and SWIFT
	IntermediaryAccount, CreditorAgentAccount AgentAccount
	Debtor, Creditor                          Party
	DebtorAgent, CreditorAgent                Agent
	UltimateDebtor, UltimateCreditor          Party  // without accounts
	Purpose                                   string // a code of four characters
	// what the creditor's bank is told, each at most 140 characters; Fedwire and SWIFT
	ForCreditorAgent []string
	Elsewhere        Location
	Remittance       string // at most 140 characters
}

// Location says where the creditor finds a remittance that is not in the message.
type Location struct {
	Method  string // such as EMAL, or URID of a reference that says where
	Address string // at most 2048 characters
}

// Type returns TypeCreditTransfer.
func (*CreditTransfer) Type() string { return TypeCreditTransfer }

func (t *CreditTransfer) fields(c *codec) {
	c.in("FIToFICstmrCdtTrf", func() {
		c.in("GrpHdr", func() {
			c.group("MsgId", c.messageID())
			c.settlement()
		})
		c.in("CdtTrfTxInf", func() {
			c.in("PmtId", func() {
				c.option("InstrId", &t.InstructionID, id35)
				c.text("EndToEndId", &t.EndToEndID, id35)
				c.option("TxId", &t.TransactionID, id35)
				c.uetr("UETR", &t.UETR)
			})
			c.in("PmtTpInf", func() {
				c.kindOfPayment(&t.LocalInstrument, &t.CategoryPurpose, c.profile.Transfers...)
			})
			t.money(c)
			t.parties(c)
			if c.profile.fedwire || c.profile.swift {
				c.each("InstrForCdtrAgt", len(t.ForCreditorAgent),
					func() { t.ForCreditorAgent = append(t.ForCreditorAgent, "") },
					func(i int) { c.option("InstrInf", &t.ForCreditorAgent[i], text140) })
			}
			c.maybe("Purp", t.Purpose != "", func() { c.option("Cd", &t.Purpose, code4) })
			c.elsewhere(&t.Elsewhere)
			c.maybe("RmtInf", t.Remittance != "", func() { c.option("Ustrd", &t.Remittance, text140) })
		})
	})
}

// elsewhere has one location, and is read as the first one that has an electronic address.
func (c *codec) elsewhere(l *Location) {
	count := 0
	if !c.reading() && *l != (Location{}) {
		count = 1
	}
	c.each("RltdRmtInf", count, func() {}, func(int) {
		c.each("RmtLctnDtls", count, func() {}, func(int) {
			at := *l
			if c.reading() {
				at = Location{}
			}
			c.text("Mtd", &at.Method, code4)
			c.leaf("ElctrncAdr", &at.Address, text2048, !c.reading())
			if c.reading() && *l == (Location{}) && at.Address != "" {
				*l = at
			}
		})
	})
}

// settlement says that the network settles, one payment; on SWIFT the bank that gets the message, over an
// account that the sender has with it.
func (c *codec) settlement() {
	c.fixed("NbOfTxs", "1")
	c.in("SttlmInf", func() {
		if c.profile.swift {
			c.oneOf("SttlmMtd", "INDA", "INGA", "COVE")
			return
		}
		c.fixed("SttlmMtd", "CLRG")
		c.in("ClrSys", func() { c.fixed("Cd", c.profile.clearing) })
	})
}

func (t *CreditTransfer) money(c *codec) {
	c.settled("IntrBkSttlmAmt", &t.Amount)
	c.day("IntrBkSttlmDt", &t.SettlementDate)
	c.moment("AccptncDtTm", &t.AcceptedAt, false)
	c.instructed("InstdAmt", &t.Instructed, t.Amount)
	c.bearer(&t.ChargeBearer)
}

func (t *CreditTransfer) parties(c *codec) {
	c.routed("InstgAgt", &t.Sender)
	c.routed("InstdAgt", &t.Receiver)
	c.maybe("IntrmyAgt1", t.Intermediary != Agent{}, func() { c.bank(&t.Intermediary) })
	c.agentAccount("IntrmyAgt1Acct", &t.IntermediaryAccount)
	c.ultimate("UltmtDbtr", &t.UltimateDebtor)
	c.party("Dbtr", &t.Debtor)
	c.agent("DbtrAgt", &t.DebtorAgent)
	c.agent("CdtrAgt", &t.CreditorAgent)
	c.agentAccount("CdtrAgtAcct", &t.CreditorAgentAccount)
	c.party("Cdtr", &t.Creditor)
	c.ultimate("UltmtCdtr", &t.UltimateCreditor)
}

// mostDigits is how many an amount that is settled may have: one cent under ten billions has twelve.
const mostDigits = 14

// settled is an amount that the networks settle: dollars, on SWIFT any currency.
func (c *codec) settled(name string, value *money.Amount) {
	c.amount(name, value, true, !c.profile.swift, mostDigits)
}

// instructed is an amount in any currency, which Fedwire wants to know.
func (c *codec) instructed(name string, value *money.Amount, settled money.Amount) {
	if !c.profile.fedwire {
		return
	}
	if !c.reading() && *value == (money.Amount{}) {
		value = &settled
	}
	c.amount(name, value, true, false, 18)
}

func (c *codec) bearer(value *string) {
	text := *value
	if !c.reading() && text == "" {
		text = "SLEV"
		if c.profile.swift { // which knows no other service level
			text = "SHAR"
		}
	}
	c.text("ChrgBr", &text, chargeBearer)
	if c.reading() {
		*value = text
	}
}
