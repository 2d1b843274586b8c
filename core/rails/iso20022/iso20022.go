// Package iso20022 writes and reads the messages of Fedwire, FedNow, RTP and SWIFT: ISO 20022 in XML.
//
//	head.001  business application header, before every message
//	pacs.008  CreditTransfer    pacs.002  Status         pacs.004  Return      pacs.028  StatusRequest
//	pain.013  PaymentRequest    pain.014  PaymentAnswer  camt.056  Recall      camt.029  RecallAnswer
//	camt.026  InformationRequest    camt.028  Information
//
// A message is a struct of what the bank means by it; what its network always says in the same way is in
// the Profile. Each message carries one payment. Its elements are listed once, in the order of the schema,
// by the method fields, which both writes and reads: what is written can be read, and what is read was
// checked by the same rules of length and form.
//
// Amounts are decimal text and exact. Days are midnight UTC; times are written in whole seconds, with the
// zone of New York or, in RTP's header, UTC. A time without a zone is read as New York's.
//
// Texts are written in the printable characters of ASCII, all that the networks take. Names, addresses and
// remittances lose their accents (package plain); a text that has other letters is refused, and so is an
// identifier with any, as nobody could guess what came of it. Read takes any printable character.
//
// Left out: the envelopes in which the networks' connections wrap a message (here the root is Message, with
// AppHdr and Document in it), signatures, acknowledgements of receipt (admi), charges, exchange rates,
// structured remittance, places of a remittance beyond one, regulatory reporting, identifications of parties
// but for their accounts, agents beyond one intermediary, and the conditions of a request for payment. Read
// passes over elements that it does not know, and names them in Group.Unread. The elements of Fedwire are
// held against its schemas in tests; for FedNow, RTP and SWIFT, whose schemas cannot be had, they are those
// of the same base messages.
package iso20022

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"time"
)

// Message is one of the messages of this package.
type Message interface {
	// Head returns what all messages have.
	Head() *Group
	// Type returns the message's name with its version, such as pacs.008.001.08.
	Type() string
	fields(c *codec)
}

// Group is what all messages have.
type Group struct {
	ID        string // of the message, in the form of its network; it is never used for another one
	CreatedAt time.Time
	// participants of the network, by routing number or BIC: who sends it and who gets it, of which one may
	// be the network's operator
	From, To  string
	Duplicate bool // it may have been sent before, with the same ID
	// Unread has the elements that Read passed over, by their paths. Write does not look at it.
	Unread []string
}

// Head returns the group itself, for messages that embed it.
func (g *Group) Head() *Group { return g }

// Types of messages, by the generation that the three networks use.
const (
	TypeCreditTransfer = "pacs.008.001.08"
	TypeStatus         = "pacs.002.001.10"
	TypeReturn         = "pacs.004.001.10"
	TypeStatusRequest  = "pacs.028.001.03"
	TypePaymentRequest = "pain.013.001.07"
	TypePaymentAnswer  = "pain.014.001.07"
	TypeRecall         = "camt.056.001.08"
	TypeRecallAnswer   = "camt.029.001.09"

	TypeInformationRequest = "camt.026.001.07"
	TypeInformation        = "camt.028.001.09"
)

var empty = map[string]func() Message{
	TypeCreditTransfer: func() Message { return new(CreditTransfer) },
	TypeStatus:         func() Message { return new(Status) },
	TypeReturn:         func() Message { return new(Return) },
	TypeStatusRequest:  func() Message { return new(StatusRequest) },
	TypePaymentRequest: func() Message { return new(PaymentRequest) },
	TypePaymentAnswer:  func() Message { return new(PaymentAnswer) },
	TypeRecall:         func() Message { return new(Recall) },
	TypeRecallAnswer:   func() Message { return new(RecallAnswer) },

	TypeInformationRequest: func() Message { return new(InformationRequest) },
	TypeInformation:        func() Message { return new(Information) },
}

// Profile is what a network always says in the same way.
type Profile struct {
	Name     string
	Operator string // the network itself, as messages to and from it name it
	// the local instruments of credit transfers, and of requests for payment, the usual one first
	Transfers, Requests []string

	header   string         // version of head.001
	service  string         // BizSvc of the header, if it has one
	registry string         // of the market practice that the header names
	practice string         // and the practice's name in it
	clearing string         // the clearing system that settles
	level    string         // service level
	id       *regexp.Regexp // form of a message's ID
	fedwire  bool           // see the uses
	swift    bool           // participants are named by BIC, and each settles with the next, in any currency
	// types of messages, where the network uses another generation than the others
	types map[string]string
	uetr  bool // a payment must have one
	utc   bool // the header's time is in UTC
}

const registry = "www2.swift.com/mystandards/#/group/Federal_Reserve_Financial_Services/"

// The networks. The IDs of messages:
//
//	Fedwire  the day, eight letters and digits of the sender's endpoint, a number of six digits
//	FedNow   the day, the sender's routing number, up to 18 letters and digits
//	RTP      M, the day, up to 26 letters and digits that begin with the sender's routing number
//	SWIFT    the day, the first eight characters of the sender's BIC, a number of six digits
var (
	Fedwire = &Profile{
		Name: "Fedwire", Operator: "021151080", header: "head.001.001.03", service: "PROD",
		registry: registry + "Fedwire_Funds_Service", practice: "frb.fedwire.01", clearing: "FDW",
		Transfers: []string{"CTRC", "CTRD", "CTRS"},
		Requests:  []string{"DRRC", "DRRB"}, fedwire: true, uetr: true,
		id: regexp.MustCompile(`^[0-9]{8}[A-Z0-9]{8}[0-9]{6}$`),
	}
	FedNow = &Profile{
		Name: "FedNow", Operator: "021150706", header: "head.001.001.02",
		registry: registry + "FedNow_Service", practice: "frb.fednow.01", clearing: "FDN",
		Transfers: []string{"FDNA"},
		Requests:  []string{"FDNA"}, uetr: true,
		id: regexp.MustCompile(`^[0-9]{17}[A-Za-z0-9]{1,18}$`),
	}
	RTP = &Profile{
		Name: "RTP", Operator: "990000001", header: "head.001.001.01", clearing: "TCH",
		Transfers: []string{"STANDARD", "ZELLE", "INTERMEDIARY", "FOREIGN_AFFILIATE"},
		Requests:  []string{"STANDARD"},
		level:     "SDVA", utc: true,
		id: regexp.MustCompile(`^M[0-9]{17}[A-Za-z0-9]{1,17}$`),
	}
	// SWIFT's operator is its tracker, which tells what became of payments. Participants are BICs.
	SWIFT = &Profile{
		Name: "SWIFT", Operator: "TRCKCHZZXXX", header: "head.001.001.02", service: "swift.cbprplus.02",
		level: "G001", swift: true, uetr: true, types: map[string]string{TypeReturn: "pacs.004.001.09"},
		id: regexp.MustCompile(`^[0-9]{8}[A-Z0-9]{8}[0-9]{6}$`),
	}
)

// Between returns which bank sends a message, and which one gets it.
func Between(m Message) (sender, receiver string) {
	switch m := m.(type) {
	case *CreditTransfer:
		return m.Sender, m.Receiver
	case *Status:
		return m.Sender, m.Receiver
	case *Return:
		return m.Sender, m.Receiver
	case *StatusRequest:
		return m.Sender, m.Receiver
	case *PaymentRequest:
		return m.CreditorAgent, m.DebtorAgent
	case *PaymentAnswer:
		return m.DebtorAgent, m.CreditorAgent
	case *Recall:
		return m.Sender, m.Receiver
	case *RecallAnswer:
		return m.Sender, m.Receiver
	case *InformationRequest:
		return m.Sender, m.Receiver
	case *Information:
		return m.Sender, m.Receiver
	}
	return "", ""
}

// typeOf returns the type of a message in the generation that the network uses.
func (p *Profile) typeOf(m Message) string {
	if named := p.types[m.Type()]; named != "" {
		return named
	}
	return m.Type()
}

// Sender returns a participant as the IDs of its messages begin with it.
func (p *Profile) Sender(participant string) string {
	if p.fedwire || p.swift {
		return participant[:min(8, len(participant))]
	}
	return participant
}

// FitsID reports whether a text has the form of the network's message ids.
func (p *Profile) FitsID(id string) bool { return len(id) <= 35 && p.id.MatchString(id) }

// MessageID returns the ID of the nth message of a sender on a day, counted from 1. The IDs of Fedwire and
// SWIFT have room for six digits, and are the same again after 999,999 messages. The sender is its routing
// number, on Fedwire the eight characters of its endpoint, on SWIFT those of its BIC.
func (p *Profile) MessageID(day time.Time, sender string, n int64) string {
	if p.fedwire || p.swift {
		n = (n-1)%999_999 + 1
	}
	text := fmt.Sprintf("%s%s%06d", day.Format("20060102"), sender, n)
	if p == RTP {
		return "M" + text
	}
	return text
}

// FieldError says what is wrong with which element. It never has the element's value.
type FieldError struct {
	Message string // type of the message
	Path    string // of the element in AppHdr or Document, without the latter: FIToFICstmrCdtTrf/GrpHdr/MsgId
	Reason  string
}

func (e *FieldError) Error() string { return e.Message + ": " + e.Path + " " + e.Reason }

// Write writes a message with its header. Of a message that its network would refuse nothing is written; the
// error is a *FieldError.
func Write(w io.Writer, p *Profile, m Message) error {
	out := bytes.NewBuffer(make([]byte, 0, 4<<10)) // most messages are shorter
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Message>")
	c := &codec{profile: p, message: m, out: out}
	c.whole()
	out.WriteString("</Message>\n")
	if c.err != nil {
		return c.err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Check returns the *FieldError with which Write would refuse a message; nil if it would write it.
func Check(p *Profile, m Message) error {
	c := &codec{profile: p, message: m}
	c.whole()
	return c.err
}

// whole goes through the header and the document.
func (c *codec) whole() {
	c.part("AppHdr", c.profile.header, func() { header(c) })
	c.part("Document", c.profile.typeOf(c.message), func() { c.message.fields(c) })
}

// Read reads one message with its header, and nothing after it. It reads at most MostBytes, and takes neither
// document types nor entities, comments or processing instructions. What is wrong with an element is a
// *FieldError; ErrUnknown is returned for types of messages that are not of this package, and ErrMalformed
// for what is no message at all.
func Read(r io.Reader, p *Profile) (Message, error) {
	root, err := parse(r)
	if err != nil {
		return nil, err
	}
	if root.name != "Message" || root.space != "" || len(root.kids) != 2 || root.currency != "" {
		return nil, fmt.Errorf("%w: the root must be Message, with AppHdr and Document in it", ErrMalformed)
	}
	m, err := typed(root.kids[1], p)
	if err != nil {
		return nil, err
	}
	c := &codec{profile: p, message: m, at: root}
	c.whole()
	if c.err != nil {
		return nil, c.err
	}
	m.Head().Unread = c.unread
	return m, nil
}
