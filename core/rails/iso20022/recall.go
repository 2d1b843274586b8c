package iso20022

import (
	"time"

	"bankgraph/core/money"
)

// Recall asks for a transfer back (camt.056). The other bank answers with a RecallAnswer, and pays by a
// Return.
type Recall struct {
	Group
	CaseID         string // demanded
	CaseCreator    Agent  // Sender, if empty
	Original       Original
	OriginalAmount money.Amount
	OriginalDate   time.Time
	Reason         Reason

	Sender, Receiver string // routing numbers
}

// Type returns TypeRecall.
func (*Recall) Type() string { return TypeRecall }

func (r *Recall) fields(c *codec) {
	c.in("FIToFIPmtCxlReq", func() {
		c.assignment(c.messageID(), &r.Sender, &r.Receiver)
		c.in("Case", func() { c.recalled(&r.CaseID, &r.CaseCreator, r.Sender) })
		c.in("Undrlyg", func() {
			c.in("TxInf", func() {
				c.in("OrgnlGrpInf", func() { c.original(&r.Original, id35) })
				c.ids(&r.Original)
				c.settled("OrgnlIntrBkSttlmAmt", &r.OriginalAmount)
				c.day("OrgnlIntrBkSttlmDt", &r.OriginalDate)
				c.in("CxlRsnInf", func() { c.isoReason(&r.Reason) })
			})
		})
	})
}

// assignment says who hands a case to whom.
func (c *codec) assignment(id kind, from, to *string) {
	c.in("Assgnmt", func() {
		c.sameID("Id", id)
		c.in("Assgnr", func() { c.routed("Agt", from) })
		c.in("Assgne", func() { c.routed("Agt", to) })
		c.instant("CreDtTm", &c.message.Head().CreatedAt)
	})
}

// recalled is the case; a party may stand in the place of the bank that opened it, and is not read.
func (c *codec) recalled(id *string, creator *Agent, other string) {
	if !c.reading() && *creator == (Agent{}) {
		if creator = (&Agent{Routing: other}); c.profile.swift {
			creator = &Agent{BIC: other}
		}
	}
	c.text("Id", id, id35)
	c.in("Cretr", func() { c.maybe("Agt", true, func() { c.bank(creator) }) })
}

// RecallCode is the answer to a recall, by the words of ISO 20022.
type RecallCode string

const (
	Cancelled       RecallCode = "CNCL" // as was asked
	ReturnInitiated RecallCode = "IPAY" // the money comes back
	ReturnedInPart  RecallCode = "PECR"
	RecallRefused   RecallCode = "RJCR"
	RecallPending   RecallCode = "PDCR"
)

// Meaning returns what the code means for the recall: Accepted if money comes back, Refused if none does.
func (c RecallCode) Meaning() Meaning {
	switch c {
	case Cancelled, ReturnInitiated, ReturnedInPart:
		return Accepted
	case RecallRefused:
		return Refused
	}
	return Open
}

// RecallAnswer says what becomes of a Recall (camt.029). A refusal has a reason.
type RecallAnswer struct {
	Group
	CaseID      string
	CaseCreator Agent // Receiver, if empty
	Code        RecallCode
	StatusID    string
	Original    Original
	Reasons     []Reason

	Sender, Receiver string // routing numbers
}

// Type returns TypeRecallAnswer.
func (*RecallAnswer) Type() string { return TypeRecallAnswer }

func (a *RecallAnswer) fields(c *codec) {
	c.in("RsltnOfInvstgtn", func() {
		c.assignment(id35, &a.Sender, &a.Receiver)
		c.in("RslvdCase", func() { c.recalled(&a.CaseID, &a.CaseCreator, a.Receiver) })
		c.in("Sts", func() {
			text := string(a.Code)
			c.text("Conf", &text, status4)
			a.Code = RecallCode(text)
		})
		if !c.reading() && a.Code == RecallRefused && len(a.Reasons) == 0 {
			c.failAt("CxlDtls", "must have a reason")
		}
		c.in("CxlDtls", func() { c.in("TxInfAndSts", func() { a.details(c) }) })
	})
}

func (a *RecallAnswer) details(c *codec) {
	c.option("CxlStsId", &a.StatusID, id35)
	c.in("OrgnlGrpInf", func() { c.original(&a.Original, id35) })
	c.ids(&a.Original)
	c.reasons("CxlStsRsnInf", &a.Reasons)
}
