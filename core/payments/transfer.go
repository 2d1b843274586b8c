package payments

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// party returns the account that a request names, if the caller sees it.
func (f *facts) party(s *Service, by access.Caller, field string, named Party) (*party, error) {
	uid, at := named.UID, field+".accountUID"
	numbered := f.numbered(s, named.Number)
	if uid == 0 {
		uid, at = numbered, field+".accountNumber"
	}
	p, why := f.parties[uid], error(nil)
	switch {
	case p == nil || !by.Sees(int64(p.Customer), int64(p.Owner)):
		why = ErrAccount.On(at)
	case named.Number != "" && numbered != uid:
		why = fault.Field("payment", field+".accountNumber", fault.NoMatch, "must be the account's number")
	}
	if why = f.guessed(s, by, named.Number, why); why != nil {
		return nil, why
	}
	return p, p.fits(field, named)
}

// guessed counts an account number that a caller names as tried out if it is refused, and returns why it is.
// Who has tried out too many is refused whatever number it names.
func (f *facts) guessed(s *Service, by access.Caller, number string, why error) error {
	if number == "" || f.asked {
		return why
	}
	return cmp.Or(s.sought(f.tenant, number).Now(by, why != nil), why)
}

// numbered returns the account with a number; 0 if there is none.
func (f *facts) numbered(s *Service, number string) accounts.UID {
	if number == "" {
		return 0
	}
	for _, hash := range s.keys.Hashes(int64(f.tenant), accounts.NumberColumn, number) {
		if uid := f.numbers[string(hash)]; uid != 0 {
			return uid
		}
	}
	return 0
}

// fits returns a fault for the first detail of a request that does not match the account (rest/CONTRACT.md,
// book transfers).
func (a *party) fits(field string, named Party) error {
	routing, kind := a.BankID, "bank, with the routing number"
	if named.BankIDType == "BIC" || named.BankIDType == "SWIFT" {
		routing, kind = cmp.Or(a.bic, a.BankID), "bank, with the BIC"
		if whole := strings.ToUpper(named.RoutingNumber); strings.TrimSuffix(whole, "XXX") ==
			strings.TrimSuffix(routing, "XXX") { // its head office
			named.RoutingNumber = routing
		}
	}
	for _, detail := range []struct{ field, given, is, what string }{
		{"currency", named.Currency, string(a.Currency), "currency"},
		{"accountType", named.Type, string(a.Type), "type"},
		{"accountSubType", named.SubType, string(a.SubType), "sub-type"},
		{"routingNumber", named.RoutingNumber, routing, kind},
	} {
		if detail.given != "" && detail.given != detail.is {
			return fault.Field("payment", field+"."+detail.field, fault.NoMatch,
				"must be the account's "+detail.what+" "+detail.is)
		}
	}
	return nil
}

// transfer makes the payment of a book transfer. It is refused if it can never be carried out; whether it can
// be now is for movable and carryOut.
func (f *facts) transfer(s *Service, by access.Caller, d *Draft, now time.Time) (*Payment, error) {
	sender, err := f.party(s, by, "senderAccount", d.Sender)
	if err != nil {
		return nil, err
	}
	receiver, err := f.party(s, by, "receiverAccount", d.Receiver)
	if err != nil {
		return nil, err
	}
	switch {
	case sender.Account == receiver.Account:
		return nil, ErrSame
	case sender.Currency != receiver.Currency:
		return nil, ErrCurrencies
	}
	amount, err := money.Parse(d.Amount, sender.Currency)
	if err != nil {
		return nil, fault.Field("payment", "paymentAmount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", sender.Currency, sender.Currency.Digits()))
	}
	today := ledger.Day(now.In(by.Location()))
	on := d.Date
	if on.IsZero() {
		on = today
	}
	switch {
	case on.Before(today):
		return nil, fault.Field("payment", "paymentDate", fault.Min, "must be today or later")
	case on.After(today.AddDate(1, 0, 0)):
		return nil, fault.Field("payment", "paymentDate", fault.Max, "must be at most a year from today")
	}
	p := &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: sender.Customer, Rail: rails.Book, EntryType: rails.Credit,
		Minor: amount.Minor, Currency: amount.Currency, Date: on, ExternalReferenceID: d.ExternalReferenceID,
		Notes: d.Notes, Channel: cmp.Or(d.Channel, "API"), SenderAccount: sender.Account, SenderName: sender.Name,
		Direction: Out, ReceiverAccount: receiver.Account, ReceiverCustomer: receiver.Customer,
		ReceiverName: receiver.Name, MakerClient: by.Client, MakerLogin: by.LoginID, CreatedAt: now, UpdatedAt: now,
	}
	if err := f.mayPay(by, amount); err != nil {
		return p, err
	}
	if err := f.movable(p); err != nil {
		return nil, err
	}
	f.uids = f.uids[1:]
	return p, f.repeat(s, p, d.Repeat, d.repeated(p))
}

// mayPay returns ErrOwnLimit for an amount above the person's own limits.
func (f *facts) mayPay(by access.Caller, amount money.Amount) error {
	return f.own.exceeded(paid, by, amount)
}
