// Package fx quotes and books trades in which customers exchange one currency for another with the bank.
package fx

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// QuoteUID is a quote's UUID.
type QuoteUID struct{ uuid.UUID }

// ParseQuoteUID reads a UUID in its usual form.
func ParseQuoteUID(field, text string) (QuoteUID, error) {
	uid, err := uuid.Parse(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") {
		return QuoteUID{}, fault.Field("quote", field, fault.Malformed, "must be the UUID of a quote")
	}
	return QuoteUID{uid}, nil
}

// Product is the kind of a trade.
type Product string

const (
	SpotTrade Product = "SPOT"    // settled on the spot date, or before
	Forward   Product = "FORWARD" // settled later
)

// needs is the permission for quotes and trades of a product (rest/CONTRACT.md, foreign exchange
// permissions).
func (p Product) needs() access.Permission {
	if p == Forward {
		return access.InstructTrades
	}
	return access.SpotTrade
}

// QuoteStatus is the state of a quote. One that is Open can be accepted until it expires.
type QuoteStatus string

const (
	Open     QuoteStatus = "Open"
	Accepted QuoteStatus = "Accepted"
	Rejected QuoteStatus = "Rejected"
	Expired  QuoteStatus = "Expired"
)

// IDType says how a request names a customer.
type IDType string

const (
	ByUID       IDType = "CustomerUID"
	ByShortName IDType = "CustomerShortName"
	ByID        IDType = "CustomerId"
	ByAccount   IDType = "DDA" // one of its account numbers
)

// Quote is a rate at which the bank is ready to trade with a customer for some seconds (rest/CONTRACT.md,
// quotes). The customer sells the base currency and buys the quote currency.
type Quote struct {
	bun.BaseModel `bun:"table:fx_quotes,alias:q" json:"-"`

	Tenant        access.Tenant  `bun:"tenant,pk" json:"-"`
	UID           QuoteUID       `bun:"uid,pk,type:uuid" json:"quoteUUID"`
	Customer      customers.UID  `bun:"customer" json:"customer"`
	Channel       string         `bun:"channel" json:"channel"`
	IDType        IDType         `bun:"customer_id_type" json:"customerIdType"`
	CustomerID    string         `bun:"customer_id" json:"customerId"` // of an account number the last four
	Product       Product        `bun:"product" json:"productType"`
	Sell          money.Currency `bun:"sell_currency" json:"sellCurrency"`
	Buy           money.Currency `bun:"buy_currency" json:"buyCurrency"`
	SellMinor     int64          `bun:"sell_amount" json:"sellAmount"`
	BuyMinor      int64          `bun:"buy_amount" json:"buyAmount"`
	Worth         int64          `bun:"worth" json:"worth"` // minor units of the bank's currency
	SpotRate      Rate           `bun:"spot_rate" json:"spotRate"`
	ForwardPoints Rate           `bun:"forward_points" json:"fwdPoints"`
	AllInRate     Rate           `bun:"all_in_rate" json:"allInRate"`
	InvertedRate  Rate           `bun:"inverted_rate" json:"invertedRate"`
	Margin        int32          `bun:"margin" json:"margin"` // millionths of the rate
	Tenor         Tenor          `bun:"tenor" json:"tenor"`   // "" for a date to which no short tenor leads
	ValueDate     time.Time      `bun:"value_date,type:date" json:"valueDate"`
	TradeDate     time.Time      `bun:"trade_date,type:date" json:"tradeDate"`
	Reference     string         `bun:"reference" json:"externalPricingSystemRefId"`
	Status        QuoteStatus    `bun:"status" json:"fxQuoteStatus"`
	ExpiresAt     time.Time      `bun:"expires_at" json:"expiresAt"`
	MakerClient   string         `bun:"maker_client" json:"-"`
	MakerLogin    string         `bun:"maker_login" json:"-"`
	CreatedAt     time.Time      `bun:"created_at" json:"createdAt"`
	UpdatedAt     time.Time      `bun:"updated_at" json:"-"`
	Version       int32          `bun:"version" json:"-"`
}

// SellAmount returns what the customer sells.
func (q *Quote) SellAmount() money.Amount { return money.Of(q.SellMinor, q.Sell) }

// BuyAmount returns what the customer buys.
func (q *Quote) BuyAmount() money.Amount { return money.Of(q.BuyMinor, q.Buy) }

// Holds returns for how many seconds a quote can be accepted.
func (q *Quote) Holds() int64 { return int64(q.ExpiresAt.Sub(q.CreatedAt) / time.Second) }

// Term returns the tenor as text.
func (q *Quote) Term() string { return string(q.Tenor) }

// Recorded returns amounts and rates as the audit record shows them.
func (q *Quote) Recorded() map[string]audit.Field {
	return map[string]audit.Field{
		"SellMinor":     {Name: "sellAmount", Value: q.SellAmount().String()},
		"BuyMinor":      {Name: "buyAmount", Value: q.BuyAmount().String()},
		"SpotRate":      {Name: "spotRate", Value: q.SpotRate.String()},
		"ForwardPoints": {Name: "forwardPoints", Value: q.ForwardPoints.String()},
		"AllInRate":     {Name: "allInRate", Value: q.AllInRate.String()},
		"InvertedRate":  {Name: "invertedRate", Value: q.InvertedRate.String()},
	}
}

// open returns why a quote can neither be accepted nor rejected any more.
func (q *Quote) open(now time.Time) error {
	switch {
	case q.Status == Open && now.Before(q.ExpiresAt):
		return nil
	case q.Status == Open, q.Status == Expired:
		return ErrLapsed.With(string(Expired))
	}
	return ErrDecided.With(string(q.Status))
}

// The faults of quotes.
var (
	ErrNoQuote = fault.New(fault.NotFound, "quote.not_found", "no such quote")
	// ErrLapsed is returned for a quote whose time has passed.
	ErrLapsed = fault.New(fault.State, "quote.lapsed", "the quote has expired: ask for another")
	// ErrDecided is returned for a quote that was accepted or rejected before.
	ErrDecided = fault.New(fault.State, "quote.decided", "the quote has been decided already")
	// ErrManyQuotes is returned for a customer that has as many open quotes as there may be.
	ErrManyQuotes = fault.New(fault.State, "quote.many",
		"the customer has 100 open quotes: they expire by themselves")
	// ErrCustomer is returned for a customer that does not exist, or that the caller may not see.
	ErrCustomer = fault.New(fault.NotFound, "quote.customer", "no such customer")
	// ErrLimit is returned for a trade above a limit of its customer.
	ErrLimit = fault.New(fault.State, "quote.limit", "the trade is above a limit of the customer")
	// ErrOwnLimit is returned for a trade above a limit of the person that asks.
	ErrOwnLimit = fault.New(fault.Denied, "quote.own_limit", "the trade is above what the person may trade")
)

// answered returns a quote or a trade as answers have it, which an idempotency key repeats as they were.
func answered[T Quote | Trade](of *T) (answer T) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		panic(err) // its fields are texts, numbers and times
	}
	return answer
}
