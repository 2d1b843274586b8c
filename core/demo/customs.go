package demo

import (
	"fmt"
	"strconv"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// custom is what a customer does every week, or every few weeks.
type custom struct {
	on     time.Weekday
	every  int  // weeks; 0 for each
	alone  bool // the First customer alone
	what   kind
	with   int   // the contact's place among those of the customer
	amount int64 // minor units; some dollars more on some days
	says   string
}

// kind is what happens: a speed at which a contact is paid, or how money comes in or is taken by another
// bank.
type kind string

const (
	overFedNow kind = "credited by FedNow"
	overWire   kind = "credited by wire"
	overACH    kind = "credited by ACH"
	abroad     kind = "paid abroad by ACH" // by an entry of class IAT
)

// supplier is the contact from whom customers buy supplies, by its place.
const supplier = 5

// customs are what the First customer and the partner's first one do. The cents of some tell the simulated
// networks to send them back (rest/CONTRACT.md, sandbox networks).
var customs = []custom{
	{time.Monday, 0, false, overFedNow, 0, 18_200_00, "Larkspur Retail Group LLC"},
	{time.Monday, 0, true, kind(payments.Instant), 4, 1_450_00, "Cleaning services"},
	// rejected: no such account
	{time.Monday, 2, false, kind(payments.Instant), 9, 310_01, "Deposit for a rented van"},
	{time.Tuesday, 0, false, kind(payments.Economy), supplier, 3_275_00, "Office supplies"},
	// returned: account closed
	{time.Tuesday, 3, false, kind(payments.Economy), 10, 865_02, "Repair of the loading dock"},
	{time.Wednesday, 0, false, kind(payments.Express), 8, 2_400_00, "Equipment lease"},
	{time.Wednesday, 2, false, overACH, 0, 4_120_00, "Meadowlark Stores"},
	{time.Thursday, 0, false, kind(payments.EconomyPlus), 8, 5_180_00, "Wages"},
	{time.Thursday, 2, false, overWire, 0, 22_500_00, "Harbor Freight Forwarding Inc"},
	{time.Friday, 0, false, kind(payments.Instant), 9, 220_00, "Courier"},
	{time.Friday, 2, true, kind(payments.Spot), 3, 1_900_00, "Trade fair stand"},
	{time.Wednesday, 2, true, abroad, 7, 740_00, "Translations"},
}

// falls reports whether the custom is followed on a day. It depends on nothing else, so that a life that was
// cut short goes on as it began.
func (c custom) falls(day time.Time) bool {
	weeks := (time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC).Unix()/(24*60*60) + 3) / 7
	return c.on == day.Weekday() && weeks%int64(max(1, c.every)) == 0
}

// do does what is the custom of a customer. The name makes it happen once, also where a process that was
// killed is followed by another one.
func (l *life) do(one custom, n int64, name string, day time.Time) error {
	options := changes.RequestOptions{IdempotencyKey: "demo-" + name}
	amount := dollars(one.amount + int64(day.YearDay()%28)*37_00)
	var err error
	switch one.what {
	case overFedNow, overWire, overACH:
		rail := map[kind]rails.Rail{overFedNow: rails.FedNow, overWire: rails.Fedwire, overACH: rails.ACH}[one.what]
		_, err = l.Sandbox.PlayCredit(l.maker, sandbox.Credit{
			Account: Account(n, 0), Amount: amount, Rail: string(rail), SenderName: one.says, Reference: name,
		}, options)
	default:
		order := payments.Order{
			Sender: payments.Party{UID: Account(n, 0)}, Receiver: payments.Receiver{Contact: Contact(n, one.with)},
			Amount: amount, Currency: "USD", Speed: string(one.what), ExternalReferenceID: name, Notes: one.says,
		}
		if one.what == kind(payments.Economy) || one.what == kind(payments.EconomyPlus) {
			order.SECCode = rails.CCD
		}
		if one.what == abroad { // the first bank in the directory passes it on
			order.Speed, order.SECCode, order.Purpose = string(payments.Economy), rails.IAT, "BUS"
			order.Receiver.Bank = payments.ReceiverBank{IDType: "NID", ID: usRouting(0)}
		}
		if one.what == kind(payments.Spot) {
			order.Currency = bankAbroad(n, one.with).currency
			order.Contract, err = l.trade(n, order.Currency, amount, name)
		}
		if err == nil {
			err = l.send(order, options)
		}
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", name, one.what, err)
	}
	return nil
}

// send makes a payment, to which a person agrees where the customer wants that.
func (l *life) send(order payments.Order, options changes.RequestOptions) error {
	made, err := l.Payments.Send(l.maker, order, options)
	if err != nil || made.Approval == 0 {
		return err
	}
	_, err = l.Changes.Approve(l.checker, changes.UID(made.Approval),
		changes.RequestOptions{IdempotencyKey: options.IdempotencyKey + "-approved"})
	return err
}

// trade buys an amount of another currency for a payment of the n-th customer.
func (l *life) trade(n int64, currency, amount, name string) (fx.TradeUID, error) {
	quote, err := l.FX.Quote(l.maker, fx.Draft{
		IDType: string(fx.ByUID), UID: Customer(n), Sell: "USD", Buy: currency, Transfer: amount,
		Product: string(fx.SpotTrade), Tenor: string(fx.Spot),
	}, changes.RequestOptions{IdempotencyKey: "demo-quote-" + name})
	if err != nil {
		return 0, err
	}
	made, err := l.FX.Accept(l.maker, quote.Result.UID, fx.Acceptance{AutoCover: true, Delay: new(int32(30))},
		changes.RequestOptions{IdempotencyKey: "demo-trade-" + name})
	return made.Result.UID, err
}

func dollars(minor int64) string {
	return strconv.FormatInt(minor/100, 10) + fmt.Sprintf(".%02d", minor%100)
}

// begin makes the first payments over a network, which have the numbers after those of Fill. Examples name
// them.
func (l *life) begin() error {
	for i, of := range []customers.UID{First, PartnersFirst} {
		n, name := int64(of-Institution), fmt.Sprintf("FIRST-%d", i+1)
		if err := l.send(payments.Order{
			Sender: payments.Party{UID: Account(n, 0)}, Receiver: payments.Receiver{Contact: Contact(n, supplier)},
			Amount: "1980.00", Currency: "USD", Speed: string(payments.Economy), SECCode: rails.CCD,
			ExternalReferenceID: name, Notes: "Shelves for the archive",
		}, changes.RequestOptions{IdempotencyKey: "demo-" + name}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// notice lets the bank of a contact answer the first payment of a customer (begin) by a notice of change.
func (l *life) notice(of customers.UID, reference string) error {
	found, err := l.Payments.Page(l.maker, payments.Search{
		Customer: of, ExternalReferenceID: reference, States: []payments.State{payments.Settled},
	}, page.First(1))
	if err == nil && len(found.Items) == 1 {
		_, err = l.Sandbox.PlayAnswer(l.maker, found.Items[0].UID,
			sandbox.Answer{Verdict: sandbox.Noticed, Code: "C01", Number: "1902847756"},
			changes.RequestOptions{IdempotencyKey: fmt.Sprintf("demo-notice-%d", of)})
	}
	if err != nil {
		return fmt.Errorf("a notice of change: %w", err)
	}
	return nil
}

// leave leaves payments of the First customer under way: one whose network never answers, one to a listed
// name and one from another, on which somebody decides, and one that waits for a second person; and a notice
// of change, which nobody has followed.
func (l *life) leave() error {
	for i, of := range []customers.UID{First, PartnersFirst} {
		if err := l.notice(of, fmt.Sprintf("FIRST-%d", i+1)); err != nil {
			return err
		}
	}
	order := payments.Order{
		Sender: payments.Party{UID: Account(1, 0)}, Receiver: payments.Receiver{Contact: Contact(1, 9)},
		Amount: "412.22", Currency: "USD", Speed: string(payments.Instant), ExternalReferenceID: "LEFT-1",
		Notes: "Insurance of the vans",
	}
	if err := l.send(order, changes.RequestOptions{IdempotencyKey: "demo-left-1"}); err != nil {
		return fmt.Errorf("a payment that is never answered: %w", err)
	}
	order.Receiver = payments.Receiver{
		Name: Listed[0], Number: "4471200318", Type: "Deposit", SubType: "Checking",
		Bank: payments.ReceiverBank{ID: usRouting(6)},
	}
	order.Amount, order.ExternalReferenceID, order.Notes = "875.00", "LEFT-2", "Consulting"
	if err := l.send(order, changes.RequestOptions{IdempotencyKey: "demo-left-2"}); err != nil {
		return fmt.Errorf("a payment to a listed name: %w", err)
	}
	order.Receiver, order.Speed = payments.Receiver{Contact: Contact(1, 8)}, string(payments.Express)
	order.Amount, order.ExternalReferenceID, order.Notes = "9600.00", "LEFT-3", "Second instalment of the lease"
	if _, err := l.Payments.Send(l.maker, order,
		changes.RequestOptions{IdempotencyKey: "demo-left-3"}); err != nil {
		return fmt.Errorf("a payment that waits for a second person: %w", err)
	}
	if _, err := l.Sandbox.PlayCredit(l.maker, sandbox.Credit{
		Account: Account(1, 0), Amount: "640.00", Rail: string(rails.FedNow), SenderName: Listed[2],
		Reference: "LEFT-4",
	}, changes.RequestOptions{IdempotencyKey: "demo-left-4"}); err != nil {
		return fmt.Errorf("a payment from a listed name: %w", err)
	}
	return nil
}
