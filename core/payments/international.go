package payments

import (
	"fmt"
	"math/big"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// Exchange says how a payment in another currency than the account's was exchanged: by a trade, which pays
// this payment alone (rest/CONTRACT.md, international payments).
type Exchange struct {
	Trade fx.TradeUID `bun:"trade,nullzero" json:"fxContractNumber,omitzero"`
	// what the account pays for the amount, in its own currency; 0 without a trade
	SoldMinor    int64          `bun:"sold" json:"-"`
	SoldCurrency money.Currency `bun:"sold_currency" json:"senderCurrency,omitempty"`
	SoldReturned int64          `bun:"sold_returned" json:"-"` // of that, what is given back
}

// TradeNumber returns the trade by which the payment was exchanged; nil if it was not.
func (p *Payment) TradeNumber() *fx.TradeUID {
	if p.Trade == 0 {
		return nil
	}
	return &p.Trade
}

// Debited returns what the payer is debited, without the fee: the amount, or its cost in the account's
// currency.
func (p *Payment) Debited() money.Amount {
	if p.SoldMinor != 0 {
		return money.Of(p.SoldMinor, p.SoldCurrency)
	}
	return p.Amount()
}

// DebitedCurrency returns the currency of what the payer is debited, and of the fee.
func (p *Payment) DebitedCurrency() money.Currency { return p.Debited().Currency }

// International reports whether payments of the speed go over SWIFT.
func (s Speed) International() bool { return tenors[s] != "" }

// tenors are the terms of the international speeds: how long after it is sent a payment settles.
var tenors = map[Speed]fx.Tenor{Spot: fx.Spot, SameDay: fx.Overnight, NextDay: fx.TomorrowNext}

// pair is the two currencies of a payment, which are the same if nothing is exchanged. Their calendars count
// together.
type pair struct{ sold, bought money.Currency }

func (p *Payment) pair() pair { return pair{p.DebitedCurrency(), p.Currency} }

// overSWIFT returns when an international payment that is ready at an instant is sent and settles: on the
// wanted day, or the first day after it that its speed reaches. The day of a trade is fixed: whatever the
// speed, it is kept as long as a payment of the same day reaches it.
func (c pair) overSWIFT(speed Speed, ready, wanted time.Time, fixed bool) calendar.Slot {
	today := calendar.Today(ready)
	for day := fx.NextDay(c.sold, c.bought, today); ; day = fx.NextDay(c.sold, c.bought, day.AddDate(0, 0, 1)) {
		cutOff := calendar.Default().SWIFTCutOff.On(day)
		if !ready.Before(cutOff) {
			continue
		}
		settles := fx.ValueDate(c.sold, c.bought, day, tenors[speed])
		if same := fx.ValueDate(c.sold, c.bought, day, fx.Overnight); fixed && settles.After(wanted) {
			settles = later(wanted, same)
		}
		if settles.Before(wanted) {
			continue
		}
		return calendar.Slot{CutOff: cutOff, Sent: later(ready, calendar.Clock(0).On(day)), Settles: settles}
	}
}

// exchanged returns how an order is exchanged; the zero Exchange if it names no trade.
func (f *facts) exchanged(o *Order, from *party, amount money.Amount) (x Exchange, err error) {
	if o.Contract == 0 {
		return x, nil
	}
	t := f.trades[o.Contract]
	wrong := func(field, says string) error { return fault.Field("payment", field, fault.NoMatch, says) }
	switch {
	case t == nil || t.Customer != from.Customer:
		return x, ErrContract
	case t.Status == fx.Cancelled:
		return x, ErrContractOver
	case f.used[t.UID]:
		return x, ErrContractUsed
	case t.Buy != amount.Currency:
		return x, wrong("paymentCurrency", "must be the currency that the trade buys, "+string(t.Buy))
	case t.Sell != from.Currency:
		return x, wrong("additionalInfo.fxContractNumber",
			"must sell the currency of the account, "+string(from.Currency))
	case t.BuyMinor != amount.Minor:
		return x, ErrContractAmount.Saying("must be the amount that the trade buys, " + t.BuyAmount().String()).
			With(t.BuyAmount().String())
	case !o.Date.IsZero() && !o.Date.Equal(t.ValueDate):
		return x, wrong("paymentDate", "must be the value date of the trade, "+t.ValueDate.Format(time.DateOnly))
	}
	return Exchange{Trade: t.UID, SoldMinor: t.SellMinor, SoldCurrency: t.Sell}, nil
}

// use marks the trade of a payment as used, so that it pays no other payment of the transaction.
func (f *facts) use(p *Payment) {
	if p.Trade != 0 {
		f.used[p.Trade] = true
	}
}

// positions returns the bank's own accounts over which a payment is exchanged.
func (p *Payment) positions() []house {
	if p.Trade == 0 {
		return nil
	}
	return []house{{ledger.HousePosition, p.Currency}, {ledger.HousePosition, p.SoldCurrency}}
}

// paying makes the journal that moves money of a payment from the payer's account to an account of the bank's
// own or, with an amount below zero, back. sold is what the account pays, or gets back, where the payment was
// exchanged: the two sides meet in the position of each currency.
func (f *facts) paying(
	p *Payment, kind ledger.Kind, on time.Time, why string, to accounts.UID, minor, sold int64,
) (*ledger.Journal, error) {
	if p.Trade == 0 {
		return p.journal(kind, on, why, p.SenderAccount, to, minor)
	}
	in := func(c money.Currency) accounts.UID { return f.houses[house{ledger.HousePosition, c}] }
	entries := []ledger.Entry{
		{Account: in(p.Currency), Amount: money.Of(-minor, p.Currency)},
		{Account: to, Amount: money.Of(minor, p.Currency)},
	}
	if sold != 0 { // what little comes back may be worth nothing
		entries = append([]ledger.Entry{
			{Account: p.SenderAccount, Amount: money.Of(-sold, p.SoldCurrency)},
			{Account: in(p.SoldCurrency), Amount: money.Of(sold, p.SoldCurrency)},
		}, entries...)
	}
	journal, err := ledger.NewJournal(kind, on, why, entries...)
	if err != nil {
		return nil, err
	}
	uid := int64(p.UID)
	journal.Payment = &uid
	return journal, nil
}

// soldFor returns what the account gets back for a part of the amount: at the rate of the trade, rounded half
// to even, and all that it paid for the whole amount.
func (p *Payment) soldFor(minor int64) int64 {
	if minor == p.Minor {
		return p.SoldMinor
	}
	product := new(big.Int).Mul(big.NewInt(p.SoldMinor), big.NewInt(minor))
	whole, rest := new(big.Int).QuoRem(product, big.NewInt(p.Minor), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(big.NewInt(p.Minor)) {
	case 1:
		whole.Add(whole, big.NewInt(1))
	case 0:
		whole.Add(whole, new(big.Int).And(whole, big.NewInt(1)))
	}
	return whole.Int64()
}

// internationalAmount reads the amount of an order over SWIFT, which pays no US dollars.
func internationalAmount(o *Order, sender *party) (money.Amount, error) {
	in := money.Currency(o.Currency)
	switch {
	case in == usDollar:
		return money.Amount{}, fault.Field("payment", "paymentCurrency", fault.NoMatch,
			"must be another currency than USD, which the other speeds pay")
	case o.Contract == 0 && in != sender.Currency:
		return money.Amount{}, fault.Field("payment", "additionalInfo.fxContractNumber", fault.Required,
			"is required, as the account is in "+string(sender.Currency)+": ask for a quote, and accept it")
	}
	amount, err := money.Parse(o.Amount, in)
	if err != nil {
		return money.Amount{}, fault.Field("payment", "paymentAmount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", in, in.Digits()))
	}
	return amount, nil
}

// leaves sets when a payment that waits for its day is sent, if it is sent before that day.
func (p *Payment) leaves() {
	if p.Rail == rails.SWIFT {
		at := calendar.Clock(0).On(p.starts())
		p.SendAt = &at
	}
}
