package model

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

type (
	PaymentConnection = Connection[payments.Payment]
	PaymentEdge       = Edge[payments.Payment]
	PaymentPayload    = Payload[payments.Payment]
	FundsPayload      = Payload[payments.Payment]
	DebitPayload      = Payload[payments.Payment]
)

// PaymentFilter narrows a list of payments. Its amounts are decimals of its currency.
type PaymentFilter struct {
	UID                                 payments.UID
	Status                              []payments.Status // nil for any, as the others
	Rail                                []rails.Rail
	Direction                           payments.Direction // "" for both
	EntryType                           []rails.EntryType
	Speed                               []payments.Speed
	Contact                             contacts.UID
	Recurrence                          payments.RecurrenceUID
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
		UID: f.UID, Customer: f.Customer, Account: f.Account, SenderName: f.SenderName,
		ReceiverName: f.ReceiverName, ExternalReferenceID: f.ExternalReferenceID, Notes: f.Notes,
		Currency: string(f.Currency), From: f.PaymentDateFrom, To: f.PaymentDateTo, Rails: f.Rail, Speeds: f.Speed,
		Contact: f.Contact, Direction: f.Direction, EntryTypes: f.EntryType, Recurrence: f.Recurrence,
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
			return by, fault.Field("list", "filter."+bound.field, fault.Malformed,
				"must be an amount of "+string(f.Currency))
		}
		*bound.minor = &amount.Minor
	}
	return by, nil
}

// FundsDraft is what transferFunds says.
type FundsDraft struct {
	SenderAccount, ReceiverAccount AccountBy
	Currency                       money.Currency // "" for that of the accounts
	Recurrence                     *Repetition
	payments.Draft
	changes.RequestOptions
}

// Whole is the draft with its accounts. Money moves only under a key, so that a lost answer is no reason to
// pay twice.
func (d FundsDraft) Whole() (payments.Draft, error) {
	c := check.Of("payment")
	c.Required("idempotencyKey", d.IdempotencyKey)
	d.Draft.Sender = d.SenderAccount.party(c, "senderAccount", d.Currency)
	d.Draft.Receiver = d.ReceiverAccount.party(c, "receiverAccount", d.Currency)
	d.Draft.Repeat = d.Recurrence.whole()
	return d.Draft, c.Err()
}

// party is the account as payments name it.
func (by AccountBy) party(c *check.Fields, field string, in money.Currency) payments.Party {
	p := payments.Party{Currency: string(in)}
	switch {
	case by.UID != nil && by.Number == nil:
		p.UID = *by.UID
	case by.Number != nil && by.UID == nil:
		p.Number = *by.Number
	default:
		c.Fail(field, fault.Malformed, "exactly one of the fields must be given")
	}
	return p
}

// OrderDraft is what sendPayment says.
type OrderDraft struct {
	SenderAccount AccountBy
	Receiver      PaymentReceiver
	Currency      money.Currency
	Speed         payments.Speed
	Recurrence    *Repetition
	Fee           *CustomFee
	payments.Order
	changes.RequestOptions
}

// CustomFee is what a payment is to cost.
type CustomFee struct {
	Name     string
	Amount   string
	Currency money.Currency
}

// whole is the fee as core takes it; nil for what the fee tier says.
func (f *CustomFee) whole() *payments.CustomFee {
	if f == nil {
		return nil
	}
	return &payments.CustomFee{Name: f.Name, Amount: f.Amount, Currency: string(f.Currency)}
}

// PaymentReceiver is who is paid.
type PaymentReceiver struct {
	Contact                                     *contacts.UID
	AccountNumber, AccountType                  string
	AccountCurrency                             money.Currency
	AccountSubType, Name                        string
	Address                                     given.Address
	EmailAddress, PhoneNumber, BankID, BankName string
	BankBic, BankAccountNumber, BankCountry     string
	IntermediaryBic, IntermediaryBankID         string
	IntermediaryAccountNumber                   string
}

// Whole is the order with its parties. Money moves only under a key, as with FundsDraft.
func (d OrderDraft) Whole() (payments.Order, error) {
	c := check.Of("payment")
	c.Required("idempotencyKey", d.IdempotencyKey)
	o := d.Order
	o.Currency, o.Speed = string(d.Currency), string(d.Speed)
	o.Sender = d.SenderAccount.party(c, "senderAccount", "")
	o.Repeat, o.Fee = d.Recurrence.whole(), d.Fee.whole()
	o.Receiver = d.Receiver.whole(c, d.SECCode == rails.IAT)
	return o, c.Err()
}

// whole is who is paid as payments name them. Beside a contact a gateway may be named, to which an entry of
// IAT goes.
func (to PaymentReceiver) whole(c *check.Fields, gateway bool) payments.Receiver {
	if to.Contact != nil {
		all := payments.Receiver{Contact: *to.Contact}
		if to.Contact = nil; gateway {
			all.Bank.ID, to.BankID = to.BankID, ""
		}
		if to != (PaymentReceiver{}) {
			c.Fail("receiver", fault.Malformed, "must be a contact alone, or somebody described in full")
		}
		return all
	}
	all := payments.Receiver{
		Number: to.AccountNumber, Type: to.AccountType, SubType: to.AccountSubType, Name: to.Name,
		Currency: string(to.AccountCurrency),
		Phone:    to.PhoneNumber, Email: to.EmailAddress,
		Bank: payments.ReceiverBank{
			ID: to.BankID, BIC: to.BankBic, Name: to.BankName, Account: to.BankAccountNumber,
			Country: to.BankCountry,
		},
		Between: payments.ReceiverBank{
			ID: to.IntermediaryBankID, BIC: to.IntermediaryBic, Account: to.IntermediaryAccountNumber,
		},
	}
	to.Address.To(&all.Address)
	return all
}

// RepairDraft is what repairPayment says.
type RepairDraft struct {
	UID      payments.UID
	Receiver *PaymentReceiver
	Speed    payments.Speed
	payments.Repairs
	changes.RequestOptions
}

// Whole is what is repaired. Money moves only under a key, as with FundsDraft.
func (d RepairDraft) Whole() (payments.Repairs, error) {
	c := check.Of("payment")
	c.Required("idempotencyKey", d.IdempotencyKey)
	repairs := d.Repairs
	repairs.Speed = string(d.Speed)
	if d.Receiver != nil {
		to := d.Receiver.whole(c, true)
		repairs.Receiver = &to
	}
	return repairs, c.Err()
}

// DebitDraft is what requestDebit says.
type DebitDraft struct {
	CreditorAccount AccountBy
	Debtor          PaymentReceiver
	Currency        money.Currency
	Speed           payments.Speed
	Recurrence      *Repetition
	Fee             *CustomFee
	// of a request for payment
	RequestedExecutionDate, ExpiryDate                         time.Time
	AmountModificationAllowed, EarlyPayment, GuaranteedPayment bool
	payments.Order
	changes.RequestOptions
}

// Whole is the order with its parties, as of OrderDraft.
func (d DebitDraft) Whole() (payments.Order, error) {
	d.Ask = payments.Ask{
		On: d.RequestedExecutionDate, Expires: d.ExpiryDate, Modifiable: d.AmountModificationAllowed,
		Early: d.EarlyPayment, Guaranteed: d.GuaranteedPayment,
	}
	o, err := OrderDraft{
		d.CreditorAccount, d.Debtor, d.Currency, d.Speed, d.Recurrence, d.Fee, d.Order, d.RequestOptions,
	}.Whole()
	return o, fault.Called(err, map[string]string{"senderAccount": "creditorAccount", "receiver": "debtor"})
}

// PaymentDraft is what other mutations say about a payment.
type PaymentDraft struct {
	UID payments.UID
	changes.RequestOptions
}

// ReturnDraft is what returnPayment says.
type ReturnDraft struct {
	UID payments.UID
	payments.Return
	changes.RequestOptions
}

// ReversalDraft is what reversePayment says.
type ReversalDraft struct {
	UID payments.UID
	payments.Reversal
	changes.RequestOptions
}

// Keyed demands a key: money moves only under one, so that a lost answer is no reason to move it twice.
func Keyed(options changes.RequestOptions) error {
	c := check.Of("payment")
	c.Required("idempotencyKey", options.IdempotencyKey)
	return c.Err()
}

// RefusedCredit is a credit of another bank that could not be booked.
type RefusedCredit struct {
	Rail            rails.Rail
	Kind, MessageID string
	Code, Reason    string
	Amount          *money.Amount
	Bank            string
	Number          *seal.Value
	At              time.Time
}

// RefusedCreditOf shows a message of a network.
func RefusedCreditOf(m *payments.Message) *RefusedCredit {
	return &RefusedCredit{
		Rail: m.Rail, Kind: m.Kind, MessageID: m.MessageID, Code: m.Code, Reason: m.Reason(), Amount: m.Amount(),
		Bank: m.Bank, Number: m.Number(), At: m.At,
	}
}
