package payments

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
)

// outcome is what a message of a network means for a payment of ours.
type outcome int

const (
	noted       outcome = iota // nothing yet
	accepted                   // the network, or the other bank, takes our message
	refused                    // it does not
	returned                   // the other bank gives money back
	kept                       // the other bank gives no money back
	credited                   // somebody at another bank pays a customer
	recalled                   // the other bank asks for money back
	inquired                   // the other bank asks about a payment
	informed                   // the other bank answers what was asked
	demanded                   // somebody at another bank asks a customer to pay
	dishonoured                // the other bank does not take our return
)

// incoming is a message from a network, as read makes it.
type incoming struct {
	over  rails.Rail
	id    string            // of the message
	of    string            // of the message that it answers
	asked string            // of the recall of ours that a bank answers
	ids   iso20022.Original // of the payment that it names beside
	from  string            // the bank that sends it, or the network
	kind  string
	code  string
	why   string
	says  outcome
	// its bank has used its id before, for another message of the kind
	twice bool
	// of a return
	amount   money.Amount
	transfer *iso20022.CreditTransfer // of a credit
	// of a credit that came before: the account that had its number then
	account accounts.UID
	recall  *iso20022.Recall
	request *iso20022.PaymentRequest

	inquiry     *iso20022.InformationRequest
	information *iso20022.Information
	entry       *nacha.Entry // of another bank, for an account here
	batch       nacha.Batch  // in which that came
	// of a line of a file: why it cannot be taken as it is; "" if it can
	wrong string
	back  string // of an entry with a fault: the return reason for which it goes back; "" if it cannot
	body  []byte
	line  int // of a file
	alike int // which entry it is there of those that say the same, from 1

	payment UID // the payment that it is about; 0 if that is not known
	// reversal: the message is about the entry that takes the payment back; booked: that entry's money was
	// booked
	reversal, booked bool
	made             time.Time       // of a return: when its file was made
	way              rails.EntryType // of a return or a dishonour: that of the entry which comes back
	prenote          PrenoteID       // that it is about; 0 if about none
	change           *nacha.Change   // of a notice of change
	number           MessageID       // of the message here
}

// read parses a message that has arrived. One that cannot be parsed is kept for people.
func read(from Arrived) *incoming {
	a := &incoming{over: from.Over, body: from.Body, kind: unreadable, id: fmt.Sprintf("unreadable-%d", from.ID)}
	m, err := iso20022.Read(bytes.NewReader(from.Body), Profiles[from.Over])
	if err != nil {
		a.code = cut(err.Error(), mostOfCode)
		return a
	}
	a.kind, a.id = kindOf(m.Type()), m.Head().ID
	a.from, _ = iso20022.Between(m)
	a.ids = originalIn(m)
	switch m := m.(type) {
	case *iso20022.Status:
		a.of, a.code = a.ids.MessageID, string(m.Code)
		switch m.Code.Meaning() {
		case iso20022.Accepted:
			a.says = accepted
		case iso20022.Refused:
			a.says = refused
		}
		a.because(m.Reasons...)
	case *iso20022.PaymentAnswer:
		a.of, a.code = a.ids.MessageID, string(m.Code)
		if m.Code.Meaning() == iso20022.Refused {
			a.says = refused
		}
		a.because(m.Reasons...)
	case *iso20022.Return:
		a.of, a.says, a.amount = a.ids.MessageID, returned, m.Amount
		a.because(m.Reason)
	case *iso20022.CreditTransfer:
		a.says, a.transfer = credited, m
	case *iso20022.PaymentRequest:
		a.says, a.request = demanded, m
	case *iso20022.Recall:
		a.of, a.says, a.recall = a.ids.MessageID, recalled, m
		a.because(m.Reason)
	case *iso20022.RecallAnswer: // the case has the name of the message that opened it
		a.of, a.asked, a.code = a.ids.MessageID, m.CaseID, string(m.Code)
		if m.Code.Meaning() == iso20022.Refused {
			a.says = kept
		}
		a.because(m.Reasons...)
	case *iso20022.InformationRequest:
		a.of, a.says, a.inquiry = a.ids.MessageID, inquired, m
		for _, lack := range slices.Concat(m.Missing, m.Incorrect) {
			a.code = strings.TrimSpace(a.code + " " + lack.Code)
		}
	case *iso20022.Information: // likewise
		a.of, a.says, a.information = m.CaseID, informed, m
	}
	return a
}

// originalIn returns how a message names the one that it is about.
func originalIn(m iso20022.Message) iso20022.Original {
	switch m := m.(type) {
	case *iso20022.Status:
		return m.Original
	case *iso20022.PaymentAnswer:
		return m.Original
	case *iso20022.Return:
		return m.Original
	case *iso20022.Recall:
		return m.Original
	case *iso20022.RecallAnswer:
		return m.Original
	case *iso20022.InformationRequest:
		return m.Original
	case *iso20022.Information:
		return m.Original
	}
	return iso20022.Original{}
}

// The kinds of messages that answers are about.
var (
	creditKind = kindOf(iso20022.TypeCreditTransfer)
	returnKind = kindOf(iso20022.TypeReturn)
	recallKind = kindOf(iso20022.TypeRecall)
	statusKind = kindOf(iso20022.TypeStatus)
	// recallAnswerKind is that of answers to recalls.
	recallAnswerKind = kindOf(iso20022.TypeRecallAnswer)
)

// because adds reasons to an answer.
func (a *incoming) because(reasons ...iso20022.Reason) {
	for _, r := range reasons[:min(1, len(reasons))] {
		a.code = strings.TrimSpace(a.code + " " + r.Code)
		a.why = strings.Join(r.Text, " ")
	}
}

// reason returns why the payment was rejected, returned or asked back, as the payment shows it.
func (a *incoming) reason() string {
	if a.says == accepted {
		return ""
	}
	return because(a.reasonCode(), a.why)
}

// because returns a reason of ISO 20022 with the words that came with it, or else with its meaning.
func because(code, why string) string {
	return strings.TrimSuffix(code+": "+cmp.Or(why, meanings[code]), ": ")
}

// reasonCode returns the reason of a rejection or a return, such as AC03.
func (a *incoming) reasonCode() string { return reasonIn(a.code) }

// reasonIn returns the reason in the code of an answer, such as AC03 of RJCT AC03.
func reasonIn(code string) string { return code[strings.LastIndexByte(code, ' ')+1:] }

// meanings are the reasons of ISO 20022 and the return codes of ACH in plain words (rest/CONTRACT.md, sandbox
// networks).
var meanings = map[string]string{
	"R01": "there is not enough money", "R05": "the consumer has not agreed to a corporate entry",
	"R07": "the debtor has withdrawn the authorization", "R08": "the debtor has stopped it",
	"R09": "the money on the account is not collected yet", "R10": "the debtor says that it was not authorized",
	"R11": "it does not fit the authorization", "R02": "the account is closed",
	"R03": "there is no such account", "R04": "the account number is wrong", "R13": "there is no such bank",
	"R06": "the bank that sent it asks for it", "R24": "it is a duplicate", "R16": "the account is blocked",
	"R17": "the entry looks wrong or is suspicious", "R20": "no account of this kind takes it",
	"R23": "the receiver does not want it", "R29": "the company does not allow it",
	"R40": "the agency returns the enrolment", "R41": "the enrolment has a wrong transaction code",
	"R42": "the enrolment has a wrong routing number", "R43": "the enrolment has a wrong account number",
	"R44": "the enrolment has a wrong social security number", "R45": "the enrolment has another person's name",
	"R46": "the enrolment is wrong about who represents the person", "R47": "the enrolment is a duplicate",
	"R80": "the entry of IAT has a wrong code", "R81": "the gateway has no agreement about IAT",
	"R82": "the id of the bank abroad is wrong", "R83": "the bank abroad cannot settle it",
	"R84": "the gateway does not pass it on", "R85": "it should be an entry of IAT",
	"AC01": "the account number is wrong", "AC03": "the account is not known", "AC04": "the account is closed",
	"AC06": "the account is blocked", "AC14": "the account has the wrong type",
	"AG01": "the account does not take such payments", "AGNT": "a bank on the way asks for it",
	"AM02": "the amount is above what is accepted", "AM03": "the account has another currency",
	"AM04": "there is not enough money", "AM05": "it came before, and was another payment",
	"AM06": "the amount is too low", "AM09": "the amount is wrong", "ARDT": "it was returned already",
	"BE05": "who asked is not known", "BE06": "the receiver is not known", "CUST": "the customer decided so",
	"CUTA": "it cannot be applied", "DUPL": "it is a duplicate", afterRecall: "it was asked for",
	"FR01": "fraud is suspected", "FRAD": "fraud is suspected", "LEGL": "it is not permitted by law",
	"MS02": "the customer gives no reason", "MS03": "the bank gives no reason",
	"NOAS": "the customer does not answer", "NOOR": "the payment never came",
	"RR01": "the payer's account is missing", "RR02": "the payer's name or address is missing",
	"RR03": "the receiver's name or address is missing", "RR04": "for a regulatory reason",
	"RUTA": "it could not be applied", "TECH": "a technical problem", "TM01": "it came after the cut-off",
	"UPAY": "it was not due",
}

// notices are the codes of notices of change (NOC) in plain words.
var notices = map[string]string{
	"C01": "the account number is incorrect", "C02": "the routing number is incorrect",
	"C03": "the routing number and the account number are incorrect", "C04": "the name is incorrect",
	"C05": "the type of the account is incorrect",
	"C06": "the account number and the type of the account are incorrect",
	"C07": "the routing number, the account number and the type of the account are incorrect",
	"C09": "the identification number is incorrect", "C13": "the addendum cannot be read",
}

// MeaningOf returns the meaning, in plain words, of a reason of ISO 20022 or of the code of an ACH return or
// notice of change. It is "" for a code that is not known.
func MeaningOf(code string) string { return cmp.Or(meanings[code], notices[code]) }

// message returns the answer as it is stored.
func (a *incoming) message(keys *seal.Keys, tenant access.Tenant, now time.Time) *Message {
	m := a.shown()
	m.Tenant, m.At = tenant, now
	m.Body = keys.Encrypt(string(a.body), m.place())
	return m
}

// shown returns the answer without its text.
func (a *incoming) shown() *Message {
	m := &Message{
		ID: a.number, Rail: a.over, Direction: In, Kind: a.kind, MessageID: a.id, Payment: a.payment, Code: a.code,
		Bank: a.from,
	}
	if t := a.transfer; t != nil {
		m.Minor, m.Currency, m.Bank = t.Amount.Minor, t.Amount.Currency, t.Sender
	}
	if r := a.request; r != nil {
		m.Minor, m.Currency, m.Bank = r.Amount.Minor, r.Amount.Currency, r.CreditorAgent
	}
	m.Last4 = seal.Mask(a.accountNumber()).Last4
	return m
}
