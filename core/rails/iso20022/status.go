package iso20022

import "time"

// Code is what became of a payment, by the words of ISO 20022.
type Code string

const (
	Settled           Code = "ACSC" // settlement is completed
	Credited          Code = "ACCC" // and the creditor's account credited
	AcceptedTechnical Code = "ACTC" // understood, with nothing wrong
	InProcess         Code = "ACSP" // accepted, settlement is under way
	NotPosted         Code = "ACWP" // accepted; the creditor's bank posts it later
	Received          Code = "RCVD"
	Pending           Code = "PDNG" // no answer yet
	Blocked           Code = "BLCK" // the money is blocked at the creditor's bank
	Rejected          Code = "RJCT"
)

// Meaning is what a code means for the payment.
type Meaning int

const (
	Open     Meaning = iota // another answer follows; also for codes that are not of this package
	Accepted                // the network or the creditor's bank has accepted it
	Refused                 // no money moves
)

// Meaning returns what the code means for the payment.
func (c Code) Meaning() Meaning {
	switch c {
	case Settled, Credited, AcceptedTechnical, NotPosted, Blocked:
		return Accepted
	case Rejected:
		return Refused
	}
	return Open
}

// Status says what became of a payment (pacs.002). One that is rejected has a reason.
type Status struct {
	Group
	Original       Original
	Code           Code
	Reasons        []Reason
	AcceptedAt     time.Time
	SettlementDate time.Time
	// who says so, on Fedwire the network itself, and to whom
	Sender, Receiver string
}

// Type returns TypeStatus.
func (*Status) Type() string { return TypeStatus }

func (s *Status) fields(c *codec) {
	c.in("FIToFIPmtStsRpt", func() {
		c.in("GrpHdr", func() { c.group("MsgId", id35) })
		c.in("TxInfAndSts", func() {
			c.in("OrgnlGrpInf", func() { c.original(&s.Original, c.messageID()) })
			if c.profile.fedwire {
				c.uetr("OrgnlUETR", &s.Original.UETR)
			} else {
				c.ids(&s.Original)
			}
			s.ownReasons(c)
			c.outcome(&s.Code, &s.Reasons)
			c.moment("AccptncDtTm", &s.AcceptedAt, false)
			c.maybe("FctvIntrBkSttlmDt", !s.SettlementDate.IsZero(), func() {
				c.date("Dt", &s.SettlementDate, false)
			})
			c.routed("InstgAgt", &s.Sender)
			c.routed("InstdAgt", &s.Receiver)
		})
	})
}

// ownReasons demands what Fedwire says of a reason: a code of its own, and one text.
func (s *Status) ownReasons(c *codec) {
	for _, r := range s.Reasons {
		if c.profile.fedwire && !c.reading() && (!r.Proprietary || len(r.Text) != 1) {
			c.failAt("StsRsnInf", "must have a code of the network, and one text")
		}
	}
}

// outcome is a code with its reasons. A rejection that is written says why.
func (c *codec) outcome(code *Code, reasons *[]Reason) {
	text := string(*code)
	c.text("TxSts", &text, status4)
	if *code = Code(text); !c.reading() && *code == Rejected && len(*reasons) == 0 {
		c.failAt("StsRsnInf", "is missing")
	}
	c.reasons("StsRsnInf", reasons)
}

// StatusRequest asks what became of a payment (pacs.028). The answer is a Status.
type StatusRequest struct {
	Group
	Original         Original
	Sender, Receiver string
}

// Type returns TypeStatusRequest.
func (*StatusRequest) Type() string { return TypeStatusRequest }

func (s *StatusRequest) fields(c *codec) {
	c.in("FIToFIPmtStsReq", func() {
		c.in("GrpHdr", func() { c.group("MsgId", id35) })
		c.in("TxInf", func() {
			c.in("OrgnlGrpInf", func() { c.original(&s.Original, c.messageID()) })
			c.ids(&s.Original)
			c.routed("InstgAgt", &s.Sender)
			c.routed("InstdAgt", &s.Receiver)
		})
	})
}
