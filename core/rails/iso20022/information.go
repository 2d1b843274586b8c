package iso20022

import (
	"time"

	"bankgraph/core/money"
)

// InformationRequest says of a payment what of it is missing or wrong, and asks for that (camt.026). The
// other bank answers with an Information.
type InformationRequest struct {
	Group
	CaseID   string // demanded
	Creator  string // the name of who asks; the bank itself, Sender, if empty
	Original Original
	// what was to be paid, and when: of a request for payment, the day on which it asked to be paid
	OriginalAmount     money.Amount
	OriginalDate       time.Time
	Missing, Incorrect []Lack // at most MostLacks each

	Sender, Receiver string // routing numbers
}

// Lack is a piece of information that is missing or wrong.
type Lack struct {
	Code string // of ISO 20022, four characters such as MS01
	Text string // at most LackText characters
}

// What an InformationRequest carries at most.
const (
	MostLacks = 10
	LackText  = 140
)

// Type returns TypeInformationRequest.
func (*InformationRequest) Type() string { return TypeInformationRequest }

func (r *InformationRequest) fields(c *codec) {
	c.in("UblToApply", func() {
		c.assignment(c.messageID(), &r.Sender, &r.Receiver)
		c.in("Case", func() { c.opened(&r.CaseID, &r.Creator, r.Sender) })
		c.in("Undrlyg", func() { c.underlying(&r.Original, &r.OriginalAmount, &r.OriginalDate) })
		c.in("Justfn", func() {
			if !c.reading() && len(r.Missing)+len(r.Incorrect) == 0 {
				c.failAt("MssngOrIncrrctInf", "must name something")
			}
			c.maybe("MssngOrIncrrctInf", true, func() {
				c.lacks("MssngInf", "AddtlMssngInf", &r.Missing)
				c.lacks("IncrrctInf", "AddtlIncrrctInf", &r.Incorrect)
			})
		})
	})
}

// opened is a case, and the name of who has opened it; of a bank it is not read.
func (c *codec) opened(id, creator *string, bank string) {
	c.text("Id", id, id35)
	c.in("Cretr", func() {
		c.maybe("Pty", *creator != "", func() { c.option("Nm", creator, text140) })
		c.maybe("Agt", *creator == "", func() { c.bank(&Agent{Routing: bank}) })
	})
}

// underlying names the payment that a case is about: a transfer between banks, or the request for one.
func (c *codec) underlying(o *Original, amount *money.Amount, day *time.Time) {
	found := 0
	c.maybe("Initn", o.Type == TypePaymentRequest, func() {
		found++
		c.in("OrgnlGrpInf", func() { c.original(o, id35) })
		c.option("OrgnlInstrId", &o.InstructionID, id35)
		c.option("OrgnlEndToEndId", &o.EndToEndID, id35)
		c.uetr("OrgnlUETR", &o.UETR)
		c.settled("OrgnlInstdAmt", amount)
		c.in("ReqdExctnDt", func() { c.day("Dt", day) })
	})
	c.maybe("IntrBk", o.Type != TypePaymentRequest, func() {
		found++
		c.in("OrgnlGrpInf", func() { c.original(o, id35) })
		c.ids(o)
		c.settled("OrgnlIntrBkSttlmAmt", amount)
		c.day("OrgnlIntrBkSttlmDt", day)
	})
	if found != 1 {
		c.fail("must have one payment")
	}
}

// lacks are pieces of information of one kind, each with its code.
func (c *codec) lacks(name, text string, all *[]Lack) {
	if len(*all) > MostLacks {
		c.failAt(name, "must not be there so often")
	}
	c.each(name, len(*all), func() { *all = append(*all, Lack{}) }, func(i int) {
		c.text("Cd", &(*all)[i].Code, code4)
		c.option(text, &(*all)[i].Text, text140)
	})
	if len(*all) > MostLacks {
		c.failAt(name, "must not be there so often")
	}
}

// Information is what a bank knows more of a payment (camt.028), mostly the answer to an InformationRequest,
// whose case it names.
type Information struct {
	Group
	CaseID         string
	Creator        string // the name of who has opened the case; the bank that asked, Receiver, if empty
	Original       Original
	OriginalAmount money.Amount
	OriginalDate   time.Time
	// who pays and who is paid, by name and address; empty if nothing is said of them
	Debtor, Creditor Party
	Text             []string // at most MostInformation of at most 140 characters

	Sender, Receiver string // routing numbers
}

// MostInformation is how many texts an Information carries at most.
const MostInformation = 10

// Type returns TypeInformation.
func (*Information) Type() string { return TypeInformation }

func (a *Information) fields(c *codec) {
	c.in("AddtlPmtInf", func() {
		c.assignment(c.messageID(), &a.Sender, &a.Receiver)
		c.in("Case", func() { c.opened(&a.CaseID, &a.Creator, a.Receiver) })
		c.in("Undrlyg", func() { c.underlying(&a.Original, &a.OriginalAmount, &a.OriginalDate) })
		c.in("Inf", func() {
			c.ultimate("Dbtr", &a.Debtor)
			c.ultimate("Cdtr", &a.Creditor)
			c.maybe("RmtInf", len(a.Text) > 0, func() { c.list("Ustrd", &a.Text, text140, MostInformation) })
		})
	})
}
