package sandbox

import (
	"cmp"
	"fmt"
	"time"

	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
)

// Act is one answer of the networks.
type Act struct {
	After  time.Duration // from when the message was sent
	Says   iso20022.Code // "" for a return
	Reason string        // of a rejection or a return
	Again  bool          // it is the first answer once more, with the same id
}

// MagicAmount is what cents make of a payment.
type MagicAmount struct {
	Cents int64
	Acts  []Act
	Says  string
}

// MagicAmounts lists the amounts that the networks answer in a way of their own, by their cents
// (rest/CONTRACT.md, sandbox networks). All others settle within a second.
var MagicAmounts = []MagicAmount{
	{1, []Act{{Says: iso20022.Rejected, Reason: "AC03"}}, "rejected: the receiver's account is not known"},
	{2, []Act{{Says: iso20022.Rejected, Reason: "AC04"}}, "rejected: the receiver's account is closed"},
	{3, []Act{{Says: iso20022.Rejected, Reason: "AC06"}}, "rejected: the receiver's account is blocked"},
	{
		11,
		[]Act{{Says: iso20022.Settled}, {After: time.Minute, Reason: "AC04"}},
		"settles, and is returned a minute later: the account is closed",
	},
	{
		12,
		[]Act{{Says: iso20022.Settled}, {After: time.Minute, Reason: "CUST"}},
		"settles, and is returned a minute later: the receiver does not want it",
	},
	{
		20,
		[]Act{{Says: iso20022.Pending}, {After: 30 * time.Second, Says: iso20022.Settled}},
		"is pending, and settles after 30 seconds",
	},
	{21, []Act{{After: 10 * time.Minute, Says: iso20022.Settled}}, "settles, answered after ten minutes"},
	{22, nil, "is never answered"},
	{
		23,
		[]Act{{Says: iso20022.Settled}, {Says: iso20022.Settled, Again: true}, {Says: iso20022.Settled}},
		"settles, answered three times: twice with the same message, and with another one",
	},
	{
		24,
		[]Act{{Says: iso20022.Settled}, {After: time.Minute, Says: iso20022.Rejected, Reason: "AC03"}},
		"settles, and is rejected a minute later, which counts no more",
	},
}

// Script returns what the networks answer to a payment of an amount in minor units.
func Script(minor int64) []Act {
	for _, o := range MagicAmounts {
		if minor%100 == o.Cents {
			return o.Acts
		}
	}
	return []Act{{Says: iso20022.Settled}}
}

// Recalls lists what other banks answer to being asked for money back, by the cents of the payment
// (rest/CONTRACT.md, sandbox networks). All others give all of it back.
var Recalls = []struct {
	Cents int64
	Code  iso20022.RecallCode // "" if they never answer
	Says  string
}{
	{31, iso20022.RecallRefused, "is not given back: CUST"},
	{32, iso20022.ReturnedInPart, "is given back by half"},
	{33, "", "is never answered when it is asked back"},
}

// ReturnRefused are the cents of a return that its network refuses.
const ReturnRefused = 34

// played returns what is replied to a message of a bank. What settles over SWIFT does so on the morning of
// its value date.
func played(over rails.Rail, m iso20022.Message, now time.Time) (all []reply, err error) {
	switch m := m.(type) {
	case *iso20022.CreditTransfer:
		for _, act := range Script(m.Amount.Minor) {
			after := act.After
			if opens := valued.On(m.SettlementDate); over == rails.SWIFT && act.Says != iso20022.Rejected &&
				opens.After(now) {
				after += opens.Sub(now)
			}
			all = append(all, reply{after, act.Again, act.writing(m)})
		}
	case *iso20022.Return:
		says, reason := iso20022.Settled, ""
		if m.Amount.Minor%100 == ReturnRefused {
			says, reason = iso20022.Rejected, "AC04"
		}
		all = append(all, reply{write: func(over rails.Rail, number int64, at time.Time) iso20022.Message {
			return status(over, original(m, m.Original), m.Sender, says, reason, number, at)
		}})
	case *iso20022.Recall:
		return answersTo(m), nil
	case *iso20022.PaymentRequest:
		return asked(m), nil
	case *iso20022.InformationRequest:
		return informs(m), nil
	case *iso20022.Status, *iso20022.PaymentAnswer, *iso20022.RecallAnswer, *iso20022.Information:
		// the other bank has its answer
	default:
		return nil, fmt.Errorf("the sandbox plays no answer to a %s", m.Type())
	}
	return all, nil
}

// valued is when accounts at other banks are credited on a value date.
var valued = calendar.Clock(9 * 60)

// answersTo is what another bank answers to being asked for money back: that it pays, and the money.
func answersTo(m *iso20022.Recall) []reply {
	code, amount := iso20022.ReturnInitiated, m.OriginalAmount
	for _, r := range Recalls {
		if amount.Minor%100 == r.Cents {
			code = r.Code
		}
	}
	switch code {
	case "":
		return nil
	case iso20022.ReturnedInPart:
		amount.Minor /= 2
	}
	if code == iso20022.RecallRefused {
		return []reply{{write: answersRecall(m, code, "CUST")}}
	}
	return []reply{
		{write: answersRecall(m, code, "")},
		{after: time.Second, write: func(over rails.Rail, number int64, at time.Time) iso20022.Message {
			return &iso20022.Return{
				Group: group(over, m.Receiver, m.Sender, number, at), Original: m.Original,
				OriginalAmount: m.OriginalAmount, OriginalDate: m.OriginalDate, Amount: amount,
				SettlementDate: calendar.Next(calendar.Today(at), 0), Reason: iso20022.Reason{Code: "FOCR"},
				Sender: m.Receiver, Receiver: m.Sender, Debtor: iso20022.Party{Name: "Customer of " + m.Receiver},
				Creditor: iso20022.Party{Name: "Customer of " + m.Sender},
			}
		}},
	}
}

// answersRecall writes what another bank answers to being asked for money back; reason is why it refuses.
func answersRecall(m *iso20022.Recall, code iso20022.RecallCode, reason string) writing {
	return func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		a := &iso20022.RecallAnswer{
			Group: group(over, m.Receiver, m.Sender, number, at), CaseID: m.CaseID, CaseCreator: m.CaseCreator,
			Code: code, Original: m.Original, Sender: m.Receiver, Receiver: m.Sender,
		}
		if reason != "" {
			a.Reasons = []iso20022.Reason{{Code: reason}}
		}
		return a
	}
}

// group begins a message of another bank, or of the network, to a bank.
func group(over rails.Rail, from, to string, number int64, at time.Time) iso20022.Group {
	profile := payments.Profiles[over]
	return iso20022.Group{
		ID: profile.MessageID(calendar.Today(at), profile.Sender(from), number+1), CreatedAt: at,
		From: profile.Operator, To: to,
	}
}

// writing writes the act as the network, or the other bank, does.
func (a Act) writing(to *iso20022.CreditTransfer) writing {
	if a.Says == "" {
		return returning(to, a.Reason, to.Amount)
	}
	return func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		return status(over, originalOf(to), to.Sender, a.Says, a.Reason, number, at)
	}
}

// returning writes the return of an amount of a payment.
func returning(of *iso20022.CreditTransfer, reason string, amount money.Amount) writing {
	return func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		return &iso20022.Return{
			Group: group(over, of.Receiver, of.Sender, number, at), Original: originalOf(of),
			OriginalAmount: of.Amount,
			OriginalDate:   of.SettlementDate, Amount: amount, SettlementDate: calendar.Next(calendar.Today(at), 0),
			Reason: iso20022.Reason{Code: reason}, Sender: of.Receiver, Receiver: of.Sender, Debtor: of.Creditor,
			Creditor: of.Debtor,
		}
	}
}

// originalOf names a credit transfer of a bank.
func originalOf(of *iso20022.CreditTransfer) iso20022.Original {
	return original(of, iso20022.Original{
		InstructionID: of.InstructionID, EndToEndID: of.EndToEndID, TransactionID: of.TransactionID, UETR: of.UETR,
	})
}

// original names a message of a bank, in which a payment has these ids.
func original(m iso20022.Message, ids iso20022.Original) iso20022.Original {
	ids.MessageID, ids.Type, ids.CreatedAt = m.Head().ID, m.Type(), m.Head().CreatedAt
	return ids
}

// status is what a network says of a message of a bank.
func status(
	over rails.Rail, of iso20022.Original, to string, says iso20022.Code, reason string,
	number int64, at time.Time,
) iso20022.Message {
	operator := payments.Profiles[over].Operator
	s := &iso20022.Status{
		Group: group(over, operator, to, number, at), Original: of, Code: says, Sender: operator, Receiver: to,
	}
	switch {
	case reason == "":
	case over == rails.Fedwire: // its codes are its own, and have words
		text := cmp.Or(payments.MeaningOf(reason), "rejected by the sandbox")
		s.Reasons = []iso20022.Reason{{Code: reason, Proprietary: true, Text: []string{text}}}
	default:
		s.Reasons = []iso20022.Reason{{Code: reason}}
	}
	return s
}
