package payments

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/plain"
	"bankgraph/core/seal"
)

// Profiles are how each network writes its messages.
var Profiles = map[rails.Rail]*iso20022.Profile{
	rails.FedNow: iso20022.FedNow, rails.RTP: iso20022.RTP, rails.Fedwire: iso20022.Fedwire,
}

// mostMessages is how many messages have different ids on one day.
const mostMessages = 999_999

// compose makes the message of a payment, for its network, and seals it.
func (s *Service) compose(p *Payment, from *party, id MessageID, now time.Time) (*Message, error) {
	number, err := s.keys.Open(seal.Value{Sealed: from.Sealed}, senderPlace(p))
	if err != nil {
		return nil, fmt.Errorf("open the number of account %s: %w", p.SenderAccount, err)
	}
	to, err := s.keys.Open(p.details.Number, p.details.place())
	if err != nil {
		return nil, fmt.Errorf("open the number of who is paid: %w", err)
	}
	if number == "" || to == "" {
		return nil, errors.New("a payment needs two account numbers")
	}
	m := p.message(from, number, to, id, now)
	var body bytes.Buffer
	if err := iso20022.Write(&body, Profiles[p.Rail], m); err != nil {
		return nil, err
	}
	row := &Message{
		Tenant: p.Tenant, ID: id, Rail: p.Rail, Direction: Out, Kind: kindOf(m.Type()), MessageID: m.ID, Payment: p.UID,
		At: now,
	}
	row.Body = s.keys.Seal(body.String(), row.place()).Sealed
	return row, nil
}

// kindOf returns a message's name without its version.
func kindOf(name string) string { return strings.Join(strings.SplitN(name, ".", 3)[:2], ".") }

// message is the credit transfer of a payment. Texts that the network does not carry whole are cut.
func (p *Payment) message(from *party, number, to string, id MessageID, now time.Time) *iso20022.CreditTransfer {
	d, profile := p.details, Profiles[p.Rail]
	day := calendar.Today(now)
	sender := from.BankID
	if p.Rail == rails.Fedwire {
		sender = sender[:min(8, len(sender))]
	}
	return &iso20022.CreditTransfer{
		Group: iso20022.Group{
			ID: profile.MessageID(day, sender, int(id%mostMessages)+1), CreatedAt: now, From: from.BankID, To: profile.Operator,
		},
		InstructionID: p.UID.String(), EndToEndID: endToEnd(d, p), TransactionID: p.UID.String(), UETR: d.UETR,
		Amount: p.Amount(), SettlementDate: p.Date, AcceptedAt: p.CreatedAt, ChargeBearer: bearers[d.Charges],
		Sender: from.BankID, Receiver: d.BankID, DebtorAgent: iso20022.Agent{Routing: from.BankID, Name: from.BankName},
		CreditorAgent: iso20022.Agent{Routing: d.BankID, Name: d.BankName},
		Debtor:        iso20022.Party{Name: p.SenderName, Account: number, Address: from.Address},
		Creditor:      iso20022.Party{Name: p.ReceiverName, Account: to, Address: d.Address},
		Remittance:    cut(cmp.Or(d.Remittance, d.OriginatorInfo, p.Notes), longestRemittance),
	}
}

// bearers are who pays the charges, in the words of the networks.
var bearers = map[string]string{"OUR": "DEBT", "BEN": "CRED", "SHA": "SHAR"}

// endToEnd is the reference that is carried to who is paid: the one that was given for it, or the caller's own.
func endToEnd(d *Details, p *Payment) string {
	text := strings.TrimSpace(plain.Text(cmp.Or(d.Reference, p.ExternalReferenceID)))
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		text = ""
	}
	return cmp.Or(strings.TrimSpace(cut(text, 35)), p.UID.String())
}

func cut(text string, most int) string {
	runes := []rune(plain.Text(text))
	return string(runes[:min(most, len(runes))])
}

// named are the fields of a request by the elements that its network would refuse, the first that fits.
var named = []struct{ element, field string }{
	{"/Cdtr/Nm", "receiver.name"},
	{"/Cdtr/PstlAdr", "receiver.address"},
	{"/CdtrAcct", "receiver.accountNumber"},
	{"/Dbtr", "sender.accountUID"},
	{"/RmtInf", "paymentNotes"},
	{"/EndToEndId", "additionalInfo.referenceForBeneficiary"},
	{"/CdtrAgt", "receiver.bank"},
}

// carried returns a fault if the network would refuse what the payment's message says.
func (p *Payment) carried(from *party, number, to string) error {
	err := iso20022.Write(new(bytes.Buffer), Profiles[p.Rail], p.message(from, number, to, 1, p.CreatedAt))
	var wrong *iso20022.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	field := "payment"
	for _, n := range named {
		if strings.Contains(wrong.Path, n.element) {
			field = n.field
			break
		}
	}
	return fault.Field("payment", field, fault.Malformed, "cannot be sent over "+string(p.Rail)+": "+wrong.Reason)
}

// outcome is what a message of a network means for a payment of ours.
type outcome int

const (
	noted outcome = iota // nothing yet
	accepted
	refused
	returned
)

// answer is a message of a network.
type answer struct {
	over rails.Rail
	id   string // of the message
	of   string // of the message that it answers
	kind string
	code string
	why  string
	says outcome
	// of a return
	amount money.Amount
	body   []byte
	line   int // of a file

	payment UID       // that it is about; 0 if it is not known
	number  MessageID // of the message here
}

// read reads a message that has arrived. One that cannot be read is kept for people.
func read(from Arrived) *answer {
	a := &answer{over: from.Over, body: from.Body, kind: "unreadable", id: fmt.Sprintf("unreadable-%d", from.ID)}
	m, err := iso20022.Read(bytes.NewReader(from.Body), Profiles[from.Over])
	if err != nil {
		a.code = cut(err.Error(), 200)
		return a
	}
	a.kind, a.id = kindOf(m.Type()), m.Head().ID
	switch m := m.(type) {
	case *iso20022.Status:
		a.of, a.code = m.Original.MessageID, string(m.Code)
		switch m.Code.Outcome() {
		case iso20022.Accepted:
			a.says = accepted
		case iso20022.Refused:
			a.says = refused
		}
		a.because(m.Reasons...)
	case *iso20022.Return:
		a.of, a.says, a.amount = m.Original.MessageID, returned, m.Amount
		a.because(m.Reason)
	}
	return a
}

// because adds why to an answer.
func (a *answer) because(reasons ...iso20022.Reason) {
	for _, r := range reasons[:min(1, len(reasons))] {
		a.code = strings.TrimSpace(a.code + " " + r.Code)
		a.why = strings.Join(r.Text, " ")
	}
}

// reason is what a payment says of why it was rejected or returned.
func (a *answer) reason() string {
	if a.says == accepted {
		return ""
	}
	code := a.reasonCode()
	return strings.TrimSuffix(code+": "+cmp.Or(a.why, meanings[code]), ": ")
}

// reasonCode is the reason of a rejection or a return, such as AC03.
func (a *answer) reasonCode() string { return a.code[strings.LastIndexByte(a.code, ' ')+1:] }

// meanings are reasons of ISO 20022 in plain words (rest/CONTRACT.md, sandbox networks).
var meanings = map[string]string{
	"R02": "the account is closed", "R03": "the receiver has no such account", "R04": "the account number is wrong",
	"R16": "the account is blocked", "R17": "the entry looks wrong or is suspicious", "R20": "no account of this kind takes it",
	"R23": "the receiver does not want it", "R29": "the company does not allow it",
	"AC01": "the account number is wrong", "AC03": "the receiver's account is not known",
	"AC04": "the account is closed", "AC06": "the account is blocked", "AM04": "there is not enough money",
	"AM09": "the amount is wrong", "BE06": "the receiver is not known", "CUST": "the customer asked for it",
	"DUPL": "it is a duplicate", "FRAD": "fraud is suspected", "MS03": "the bank gives no reason",
	"RR04": "for a regulatory reason", "TM01": "it came after the cut-off",
}

// message is the answer as it is kept.
func (a *answer) message(keys *seal.Keys, tenant access.Tenant, now time.Time) *Message {
	m := &Message{
		Tenant: tenant, ID: a.number, Rail: a.over, Direction: In, Kind: a.kind, MessageID: a.id, Payment: a.payment,
		Code: a.code, At: now,
	}
	m.Body = keys.Seal(string(a.body), m.place()).Sealed
	return m
}
