package payments

import (
	"cmp"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// These are the words for a payment that are the same everywhere: in the answers of REST and in what webhooks
// deliver.

// Kind returns the kind of the payment, by its network and speed (rest/CONTRACT.md, webhook bodies).
func (p *Payment) Kind() calendar.Service { return service(p.Speed, p.Rail) }

// DeliveryMethod returns the network that carries the payment; "" for a transfer in the bank's own books.
func (p *Payment) DeliveryMethod() rails.Rail {
	if p.Rail == rails.Book {
		return ""
	}
	return p.Rail
}

// Way returns which way the money goes for the reader. A payment that came in over a network is seen only by
// the customer that is credited, or debited.
func (p *Shown) Way() Direction {
	if (!p.Incoming() || p.EntryType == rails.Debit) && p.Payer.UID != 0 {
		return Out
	}
	return In
}

// OwnSide returns the customer on the reader's side of the payment: the payer, or else the payee.
func (p *Shown) OwnSide() Holder {
	if p.Way() == Out {
		return p.Payer
	}
	return p.Payee
}

// CostCenter returns the cost center that the payment names, for readers who see whose payment it is; else
// that of the customer on the reader's side.
func (p *Shown) CostCenter() string { return cmp.Or(p.To.CostCenter, p.OwnSide().CostCenter) }

// Person is the payer or the payee, as far as the reader sees it.
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

// Sends describes the payer.
func (p *Shown) Sends() Person {
	if p.SenderAccount == 0 {
		return p.To.holder().person(p.SenderName, p.Sender)
	}
	return p.Payer.person(p.SenderName, p.Sender)
}

// Receives describes the payee.
func (p *Shown) Receives() Person {
	if p.ReceiverAccount == 0 {
		to := p.To.holder()
		if p.Receiver.BankIDType == accounts.BIC {
			to.AccountCountry = countryName(p.Receiver.BankID[4:6])
		}
		return to.person(p.ReceiverName, p.Receiver)
	}
	return p.Payee.person(p.ReceiverName, p.Receiver)
}

// countryName returns the name of a country by its code. Of the other side a payment has only the code.
func countryName(code string) string {
	country, _ := check.CountryOf(code)
	return country.Name
}

// holder describes the side at another bank as the payment does: the bank has no record of it.
func (t To) holder() Holder {
	return Holder{
		Email: t.Email, Phone: t.Phone, Line1: t.Line1, Line2: t.Line2, City: t.City, State: t.State,
		PostalCode: t.PostalCode, CountryCode: t.CountryCode, Country: countryName(t.CountryCode),
		AccountCountry: countryName(cmp.Or(t.BankCountry, "US")),
	}
}

func (h Holder) person(name string, with Side) Person {
	return Person{
		Name: name, Number: with.Masked(), AccountName: with.Name, AccountType: with.Type,
		AccountSubType: with.SubType, Type: h.Type, Email: h.Email, Phone: h.Phone, Line1: h.Line1, Line2: h.Line2,
		City: h.City, State: h.State, PostalCode: h.PostalCode, CountryCode: h.CountryCode, Country: h.Country,
		BankIDType: bankIDTypes[with.BankIDType], BankID: with.BankID, BankName: with.BankName,
		BankCountry: h.AccountCountry,
	}
}

// RoutingNumber returns the bank's id if it is a national one.
func (p Person) RoutingNumber() string {
	if p.BankIDType != bankIDTypes[accounts.NID] {
		return ""
	}
	return p.BankID
}

// BankIDType returns the kind of a bank's id in the words of payments: NID or SWIFT, and "" for none.
func BankIDType(id string) string {
	switch {
	case id == "":
		return ""
	case agentOf(id, "").BIC == "":
		return bankIDTypes[accounts.NID]
	}
	return bankIDTypes[accounts.BIC]
}

// bankIDTypes are the kinds of bank ids in the words of payments.
var bankIDTypes = map[accounts.BankIDType]string{accounts.NID: "NID", accounts.BIC: "SWIFT"}
