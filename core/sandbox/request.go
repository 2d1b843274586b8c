package sandbox

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
)

// Asked is what a debtor does who is asked for a payment.
type Asked struct {
	Cents int64
	// when it pays, after its bank has taken the request; less than 0 if it never does
	Pays   time.Duration
	Half   bool          // it pays half of it
	Says   time.Duration // when its bank answers
	Reason string        // why not; "" if the bank takes the request
	Silent bool          // nobody answers
}

// Requests lists the requests for payment that debtors answer in a way of their own, by their cents
// (rest/CONTRACT.md, sandbox networks). All others are paid within a second or two.
var Requests = []Asked{
	{Cents: 1, Reason: "AC03", Pays: never},
	{Cents: 2, Reason: "AC04", Pays: never},
	{Cents: 11, Says: time.Minute, Reason: "CUST", Pays: never},
	{Cents: 21, Pays: 10 * time.Minute},
	{Cents: 22, Silent: true, Pays: never},
	{Cents: 24, Pays: never},
	{Cents: 32, Pays: time.Second, Half: true},
}

const never time.Duration = -1

// asked is what is replied to a request for payment: the answer of the debtor's bank, and the debtor's
// credit.
func asked(m *iso20022.PaymentRequest) (all []reply) {
	act := Asked{Pays: time.Second}
	for _, a := range Requests {
		if a.Cents == m.Amount.Minor%100 {
			act = a
		}
	}
	if !act.Silent {
		all = append(all, reply{after: act.Says, write: answersRequest(m, act.Reason)})
	}
	if act.Pays == never {
		return all
	}
	amount := m.Amount
	if act.Half {
		amount.Minor /= 2
	}
	return append(all, reply{after: act.Pays, write: paysRequest(m, amount)})
}

// answersRequest writes what the debtor's bank answers to a request for payment; reason is why it refuses, ""
// if it takes it.
func answersRequest(m *iso20022.PaymentRequest, reason string) writing {
	return func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		a := &iso20022.PaymentAnswer{
			Group:     group(over, m.DebtorAgent, m.CreditorAgent, number, at),
			Initiator: iso20022.Party{Name: m.Debtor.Name}, DebtorAgent: m.DebtorAgent,
			CreditorAgent: m.CreditorAgent, RequestID: m.RequestID,
			Original: original(m, iso20022.Original{
				InstructionID: m.InstructionID, EndToEndID: m.EndToEndID, UETR: m.UETR,
			}),
			Code: iso20022.AcceptedTechnical,
		}
		if reason != "" {
			a.Code, a.Reasons = iso20022.Rejected, []iso20022.Reason{{Code: reason}}
		}
		return a
	}
}

// paysRequest writes the credit by which the debtor pays an amount of a request for payment.
func paysRequest(m *iso20022.PaymentRequest, amount money.Amount) writing {
	return func(over rails.Rail, number int64, at time.Time) iso20022.Message {
		own := strconv.FormatInt(number, 10)
		return &iso20022.CreditTransfer{
			Group: group(over, m.DebtorAgent, m.CreditorAgent, number, at), InstructionID: own, TransactionID: own,
			EndToEndID: m.EndToEndID, UETR: uuid.NewString(), Amount: amount,
			SettlementDate: calendar.Next(calendar.Today(at), 0), AcceptedAt: at, ChargeBearer: "SLEV",
			Sender: m.DebtorAgent, Receiver: m.CreditorAgent, DebtorAgent: iso20022.Agent{Routing: m.DebtorAgent},
			CreditorAgent: iso20022.Agent{Routing: m.CreditorAgent}, Debtor: m.Debtor, Creditor: m.Creditor,
			Remittance: m.Remittance,
		}
	}
}
