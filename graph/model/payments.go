package model

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
)

type (
	PaymentConnection = Connection[payments.Payment]
	PaymentEdge       = Edge[payments.Payment]
	PaymentPayload    = Payload[payments.Payment]
	FundsPayload      = Payload[payments.Payment]
)

// PaymentFilter narrows a list of payments. Its amounts are decimals of its currency.
type PaymentFilter struct {
	UID                                 payments.UID
	Status                              []payments.Status // nil for any
	Customer                            customers.UID
	Account                             accounts.UID
	SenderName, ReceiverName            string
	ExternalReferenceID, Notes          string
	Currency                            money.Currency
	Amount, AmountAtLeast, AmountAtMost string
	PaymentDateFrom, PaymentDateTo      time.Time
}

// Search is the filter as core takes it.
func (f PaymentFilter) Search() (payments.Search, error) {
	by := payments.Search{
		UID: f.UID, Customer: f.Customer, Account: f.Account, SenderName: f.SenderName, ReceiverName: f.ReceiverName,
		ExternalReferenceID: f.ExternalReferenceID, Notes: f.Notes, Currency: string(f.Currency),
		From: f.PaymentDateFrom, To: f.PaymentDateTo,
	}
	if f.Status != nil {
		by.States = []payments.State{}
	}
	for _, status := range f.Status {
		by.States = append(by.States, payments.StatesOf(status)...)
	}
	for _, bound := range []struct {
		field, text string
		minor       **int64
	}{
		{"amount", f.Amount, &by.Amount},
		{"amountAtLeast", f.AmountAtLeast, &by.Least},
		{"amountAtMost", f.AmountAtMost, &by.Most},
	} {
		if bound.text == "" {
			continue
		}
		if f.Currency == "" {
			return by, fault.Field("list", "filter.currency", fault.Required, "is required with an amount")
		}
		amount, err := money.Parse(bound.text, f.Currency)
		if err != nil {
			return by, fault.Field("list", "filter."+bound.field, fault.Malformed, "must be an amount of "+string(f.Currency))
		}
		*bound.minor = &amount.Minor
	}
	return by, nil
}

// FundsDraft is what transferFunds says.
type FundsDraft struct {
	SenderAccount, ReceiverAccount AccountBy
	Currency                       money.Currency // "" for that of the accounts
	payments.Draft
	changes.RequestOptions
}

// Whole is the draft with its accounts. Money moves only under a key, so that a lost answer is no reason to pay
// twice.
func (d FundsDraft) Whole() (payments.Draft, error) {
	c := check.Of("payment")
	c.Required("idempotencyKey", d.IdempotencyKey)
	for _, side := range []struct {
		field string
		by    AccountBy
		party *payments.Party
	}{
		{"senderAccount", d.SenderAccount, &d.Draft.Sender}, {"receiverAccount", d.ReceiverAccount, &d.Draft.Receiver},
	} {
		side.party.Currency = string(d.Currency)
		switch {
		case side.by.UID != nil && side.by.Number == nil:
			side.party.UID = *side.by.UID
		case side.by.Number != nil && side.by.UID == nil:
			side.party.Number = *side.by.Number
		default:
			c.Fail(side.field, fault.Malformed, "exactly one of the fields must be given")
		}
	}
	return d.Draft, c.Err()
}

// PaymentDraft is what other mutations say about a payment.
type PaymentDraft struct {
	UID payments.UID
	changes.RequestOptions
}
