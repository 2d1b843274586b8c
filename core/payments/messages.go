package payments

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/plain"
	"bankgraph/core/seal"
)

// Profiles say how each network writes its messages.
var Profiles = map[rails.Rail]*iso20022.Profile{
	rails.FedNow: iso20022.FedNow, rails.RTP: iso20022.RTP, rails.Fedwire: iso20022.Fedwire,
	rails.SWIFT: iso20022.SWIFT,
}

// compose makes the message of a payment, for its network, and seals it. It has the id left, if the network
// knows it by that already.
func (s *Service) compose(
	p *Payment, from *party, id MessageID, now time.Time, left string,
) (*Message, error) {
	number, err := s.keys.Open(seal.Value{Sealed: from.Sealed}, ownPlace(p))
	if err != nil {
		return nil, fmt.Errorf("open the number of account %s: %w", p.SenderAccount, err)
	}
	numbers, err := p.details.open(s.keys)
	if err != nil {
		return nil, fmt.Errorf("open the numbers of the other side: %w", err)
	}
	if numbers.own = number; number == "" || numbers.other == "" {
		return nil, errors.New("a payment needs two account numbers")
	}
	m := p.composed(from, numbers, id, now)
	if left != "" {
		m.Head().ID = left
	}
	return s.write(&Message{Tenant: p.Tenant, ID: id, Rail: p.Rail, Payment: p.UID, At: now}, m)
}

// composed returns the message of a payment: its credit transfer, or the request for one.
func (p *Payment) composed(from *party, of accountNumbers, id MessageID, now time.Time) iso20022.Message {
	if p.Asks() {
		return p.asking(from, of.own, of.other, id, now)
	}
	return p.message(from, of, id, now)
}

// write completes a row of the outbox with its message, as its network writes it, and seals that.
func (s *Service) write(row *Message, m iso20022.Message) (*Message, error) {
	Addressed(row.Rail, m)
	var body bytes.Buffer
	if err := iso20022.Write(&body, Profiles[row.Rail], m); err != nil {
		return nil, err
	}
	row.Direction, row.Kind, row.MessageID = Out, kindOf(m.Type()), m.Head().ID
	row.Body = s.keys.Encrypt(body.String(), row.place())
	return row, nil
}

// Addressed addresses a message over SWIFT, from its sender to its receiver. Over other networks the header
// already names the operator.
func Addressed(over rails.Rail, m iso20022.Message) {
	if over == rails.SWIFT {
		m.Head().From, m.Head().To = iso20022.Between(m)
	}
}

// group returns the header of a message of ours; from is a routing number of ours.
func group(over rails.Rail, from string, id MessageID, now time.Time) iso20022.Group {
	profile := Profiles[over]
	return iso20022.Group{
		ID:        profile.MessageID(calendar.Today(now), profile.Sender(from), int64(id)+1),
		CreatedAt: now, From: from,
		To: profile.Operator,
	}
}

// kindOf returns a message's name without its version.
func kindOf(name string) string { return strings.Join(strings.SplitN(name, ".", 3)[:2], ".") }

// message returns the credit transfer of a payment. Texts that the network does not carry whole are cut.
func (p *Payment) message(
	from *party, of accountNumbers, id MessageID, now time.Time,
) *iso20022.CreditTransfer {
	d := p.details
	t := &iso20022.CreditTransfer{
		InstructionID: p.UID.String(), EndToEndID: endToEnd(d, p), UETR: d.UETR, Amount: p.Amount(),
		SettlementDate: p.Date, ChargeBearer: bearers[d.Charges], CreditorAgent: agentOf(d.BankID, d.BankName),
		Debtor:     iso20022.Party{Name: p.SenderName, Account: of.own, Address: from.Address},
		Creditor:   iso20022.Party{Name: p.ReceiverName, Account: of.other, Address: d.Address},
		Remittance: p.remitted(), ForCreditorAgent: d.forCreditorAgent(), Elsewhere: d.elsewhere(),
	}
	if p.Rail == rails.SWIFT {
		t.Group, t.Sender = group(p.Rail, from.bic, id, now), from.bic
		t.DebtorAgent = iso20022.Agent{BIC: from.bic, Name: from.BankName}
	} else {
		t.Group, t.Sender = group(p.Rail, from.BankID, id, now), from.BankID
		t.DebtorAgent = iso20022.Agent{Routing: from.BankID, Name: from.BankName}
		t.TransactionID, t.AcceptedAt, t.LocalInstrument = p.UID.String(), p.CreatedAt, d.LocalInstrument
	}
	if _, _, is := check.BankOfIBAN(of.other); is && agentOf(d.BankID, "").BIC != "" {
		t.Creditor.IBAN, t.Creditor.Account = of.other, ""
	}
	d.route(t, of)
	return t
}

// forCreditorAgent returns what the payee's bank is told, over the networks that have a place for it: wires.
func (d *Details) forCreditorAgent() []string {
	if told := cut(d.BankInfo, longestRemittance); told != "" {
		return []string{told}
	}
	return nil
}

// remitted returns what a payment is for, in the words for the other side.
func (p *Payment) remitted() string {
	return cut(cmp.Or(p.details.Remittance, p.details.OriginatorInfo, p.Notes), longestRemittance)
}

// bearers are the networks' words for who bears the charges.
var bearers = map[string]string{"OUR": "DEBT", "BEN": "CRED", "SHA": "SHAR"}

// endToEnd returns the reference that is carried to the payee: the one that was given for it, or the caller's
// own. That of a request names the request alone.
func endToEnd(d *Details, p *Payment) string {
	if p.Asks() {
		return askedAs + p.UID.String()
	}
	text := strings.TrimSpace(plain.ASCII(cmp.Or(d.Reference, p.ExternalReferenceID)))
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		text = ""
	}
	return cmp.Or(strings.TrimSpace(cut(text, 35)), p.UID.String())
}

func cut(text string, most int) string {
	runes := []rune(plain.ASCII(text))
	return string(runes[:min(most, len(runes))])
}

// named are the fields of a request, by the message elements that its network would refuse; the first that
// matches counts.
var named = []struct{ element, field string }{
	{"/Cdtr/Nm", "receiver.name"},
	{"/Cdtr/PstlAdr", "receiver.address"},
	{"/CdtrAcct", "receiver.accountNumber"},
	{"/Dbtr", "sender.accountUID"},
	{"/RmtInf", "paymentNotes"},
	{"/RltdRmtInf", "additionalInfo.paymentRemittanceNotes"}, // or an e-mail address, whose form it takes
	{"/InstrForCdtrAgt", "additionalInfo.senderToReceiverNotes"},
	{"/EndToEndId", "additionalInfo.referenceForBeneficiary"},
	{"/CdtrAgtAcct", "receiver.bank.accountNumber"},
	{"/CdtrAgt", "receiver.bank"},
	{"/IntrmyAgt1Acct", "receiver.intermediaryBank.accountNumber"},
	{"/IntrmyAgt1", "receiver.intermediaryBank"},
}

// namedAsking are those of a request for payment, whose debtor is the other side.
var namedAsking = []struct{ element, field string }{
	{"/Dbtr/Nm", "receiver.name"},
	{"/Dbtr/PstlAdr", "receiver.address"},
	{"/DbtrAcct", "receiver.accountNumber"},
	{"/DbtrAgt", "receiver.bank"},
	{"/Cdtr", "sender.accountUID"},
	{"/RmtInf", "paymentNotes"},
}

// carried returns a fault if the network would refuse what the payment's message says.
func (p *Payment) carried(from *party, of accountNumbers) error {
	m := p.composed(from, of, 1, p.CreatedAt)
	Addressed(p.Rail, m)
	return p.notCarried(iso20022.Check(Profiles[p.Rail], m))
}

// notCarried returns the fault of a message that its network would refuse, and any other error as it is.
func (p *Payment) notCarried(err error) error {
	var wrong *iso20022.FieldError
	if !errors.As(err, &wrong) {
		return err
	}
	fields := named
	if p.Asks() {
		fields = namedAsking
	}
	field := "payment"
	for _, n := range fields {
		if strings.Contains(wrong.Path, n.element) {
			field = n.field
			break
		}
	}
	return fault.Field("payment", field, problemOf(wrong.Reason),
		"cannot be sent over "+string(p.Rail)+": "+wrong.Reason)
}

// ownPartyRefused reports whether a network refuses what a message says of our customer. All else of it was
// tried when the payment was accepted; an address may be another one since.
func (p *Payment) ownPartyRefused(err error) bool {
	element := "/Dbtr/"
	if p.Asks() {
		element = "/Cdtr/"
	}
	var wrong *iso20022.FieldError
	return errors.As(err, &wrong) && strings.Contains(wrong.Path, element)
}

// problemOf tells from a network's reason whether a text is too long for it, or is of another form.
func problemOf(reason string) fault.Problem {
	if strings.HasPrefix(reason, "has more than ") {
		return fault.Max
	}
	return fault.Malformed
}
