package payments

import (
	"slices"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/rails"
)

// What is said here of a payment is said the same everywhere: in the answers of REST and in what webhooks deliver.

// MemoPost says whether a payment is in the books (rest/CONTRACT.md, payment states).
type MemoPost string

const (
	NotPosted       MemoPost = "NOT_POSTED"
	Posted          MemoPost = "POSTED"
	PostFailed      MemoPost = "FAILURE"
	ReturnInitiated MemoPost = "NA_RETURN_INITIATED"
)

var memoPosts = map[State]MemoPost{
	PendingApproval: NotPosted, PartlyApproved: NotPosted, Scheduled: NotPosted, Queued: NotPosted, Sent: Posted,
	Settled: Posted, Returned: ReturnInitiated, Rejected: PostFailed, Invalid: PostFailed, Cancelled: NotPosted,
}

// MemoPost says whether a payment in this state is in the books.
func (s State) MemoPost() MemoPost { return memoPosts[s] }

// Failed reports whether a payment in this state has not reached who was to be paid, for a reason that it gives.
func (s State) Failed() bool { return slices.Contains([]State{Invalid, Rejected, Returned}, s) }

// Kind is the kind of a payment, by its network and speed (rest/CONTRACT.md, webhook bodies).
type Kind string

// kinds are the published words. Those of a network that has several go by the speed.
var kinds = map[rails.Rail]map[Speed]Kind{
	rails.Book:    {"": "BOOK_TRANSFER"},
	rails.FedNow:  {"": "REALTIME_FEDNOW"},
	rails.RTP:     {"": "REALTIME_RTP"},
	rails.Fedwire: {"": "WIRE"},
	rails.ACH:     {"": "REGULAR_ACH", "Economy Plus": "SAME_DAY_ACH"},
	"SWIFT":       {"SPOT": "SPOT_SWIFT", "ON": "SAME_DAY_SWIFT", "TN": "NEXT_DAY_SWIFT"},
}

// Kind returns the kind of the payment.
func (p *Payment) Kind() Kind {
	of := kinds[p.Rail]
	if kind, faster := of[p.Speed]; faster {
		return kind
	}
	return of[""]
}

// EntryType says who starts the payment: who pays (CREDIT), or who is paid (DEBIT).
func (p *Payment) EntryType() rails.EntryType { return rails.Credit }

// DeliveryMethod returns the network that carries the payment; "" for a transfer in the bank's own books.
func (p *Payment) DeliveryMethod() rails.Rail {
	if p.Rail == rails.Book {
		return ""
	}
	return p.Rail
}

// Way says which way the money goes for who reads of the payment.
func (p *Shown) Way() Direction {
	if p.Payer.UID != 0 {
		return Out
	}
	return In
}

// Own returns the customer on the reader's side of the payment: who pays, or else who is paid.
func (p *Shown) Own() Holder {
	if p.Way() == Out {
		return p.Payer
	}
	return p.Payee
}

// Person is who pays or is paid, as far as the reader sees it.
type Person struct {
	Name           string
	Number         string // of the account, masked
	AccountName    string
	AccountType    accounts.Type
	AccountSubType accounts.SubType
	Type           customers.Type
	Email, Phone   string

	Line1, Line2, City, State, PostalCode, CountryCode, Country string

	BankIDType, BankID, BankName, BankCountry string
}

// Sends describes who pays.
func (p *Shown) Sends() Person { return p.Payer.person(p.SenderName, p.Sender) }

// Receives describes who is paid: by the records of the bank, or as the payment describes somebody who has an
// account at another bank.
func (p *Shown) Receives() Person {
	if p.ReceiverAccount != 0 {
		return p.Payee.person(p.ReceiverName, p.Receiver)
	}
	outside := Holder{
		Email: p.To.Email, Phone: p.To.Phone, Line1: p.To.Line1, Line2: p.To.Line2, City: p.To.City, State: p.To.State,
		PostalCode: p.To.PostalCode, CountryCode: p.To.CountryCode, Country: p.To.CountryCode, AccountCountry: "US",
	}
	return outside.person(p.ReceiverName, p.Receiver)
}

func (h Holder) person(name string, with Side) Person {
	return Person{
		Name: name, Number: with.Masked(), AccountName: with.Name, AccountType: with.Type, AccountSubType: with.SubType,
		Type: h.Type, Email: h.Email, Phone: h.Phone, Line1: h.Line1, Line2: h.Line2, City: h.City, State: h.State,
		PostalCode: h.PostalCode, CountryCode: h.CountryCode, Country: h.Country, BankIDType: bankIDTypes[with.BankIDType],
		BankID: with.BankID, BankName: with.BankName, BankCountry: h.AccountCountry,
	}
}

// RoutingNumber returns the bank's id if it is a national one.
func (p Person) RoutingNumber() string {
	if p.BankIDType != bankIDTypes[accounts.NID] {
		return ""
	}
	return p.BankID
}

// bankIDTypes are the kinds of bank ids in the words of payments.
var bankIDTypes = map[accounts.BankIDType]string{accounts.NID: "NID", accounts.BIC: "SWIFT"}
