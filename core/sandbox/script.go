package sandbox

import (
	"time"

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

// Outcome is what cents make of a payment.
type Outcome struct {
	Cents int64
	Acts  []Act
	Says  string
}

// Outcomes lists the amounts that the networks answer in a way of their own, by their cents (rest/CONTRACT.md,
// sandbox networks). All others settle within a second.
var Outcomes = []Outcome{
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
	for _, o := range Outcomes {
		if minor%100 == o.Cents {
			return o.Acts
		}
	}
	return []Act{{Says: iso20022.Settled}}
}

// message is the act as the network, or the other bank, writes it.
func (a Act) message(over rails.Rail, to *iso20022.CreditTransfer, number int64, at time.Time) iso20022.Message {
	profile := payments.Profiles[over]
	group := func(sender string) iso20022.Group {
		if over == rails.Fedwire {
			sender = sender[:8]
		}
		return iso20022.Group{
			ID: profile.MessageID(calendar.Today(at), sender, int(number%999_999)+1), CreatedAt: at,
			From: profile.Operator, To: to.Sender,
		}
	}
	of := iso20022.Original{
		MessageID: to.ID, Type: to.Type(), CreatedAt: to.CreatedAt, InstructionID: to.InstructionID,
		EndToEndID: to.EndToEndID, TransactionID: to.TransactionID, UETR: to.UETR,
	}
	if a.Says == "" {
		return &iso20022.Return{
			Group: group(to.Receiver), Original: of, OriginalAmount: to.Amount, OriginalDate: to.SettlementDate,
			Amount: to.Amount, SettlementDate: calendar.Next(calendar.Today(at), 0), Reason: iso20022.Reason{Code: a.Reason},
			Sender: to.Receiver, Receiver: to.Sender, Debtor: to.Creditor, Creditor: to.Debtor,
		}
	}
	status := &iso20022.Status{
		Group: group(profile.Operator), Original: of, Code: a.Says, Sender: profile.Operator, Receiver: to.Sender,
	}
	switch {
	case a.Reason == "":
	case over == rails.Fedwire: // it rejects in words of its own
		status.Reasons = []iso20022.Reason{{Code: a.Reason, Proprietary: true, Text: []string{"Rejected by the sandbox"}}}
	default:
		status.Reasons = []iso20022.Reason{{Code: a.Reason}}
	}
	return status
}
