package fx

import (
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// TradeUID is a trade's number; partners know it as forexContractNo.
type TradeUID int64

func (u TradeUID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseTradeUID reads a trade's number from decimal digits.
func ParseTradeUID(field, text string) (TradeUID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil || n == 0 {
		return 0, fault.Field("trade", field, fault.Number, "must be the digits of a forexContractNo")
	}
	return TradeUID(n), nil
}

// TradeStatus is the state of a trade.
type TradeStatus string

const (
	Booked    TradeStatus = "Booked"
	Covered   TradeStatus = "Covered" // the bank has made the same trade in the market
	Cancelled TradeStatus = "Cancelled"
)

// CoverUID is the number of the trade with which the bank covers another.
type CoverUID int64

func (u CoverUID) String() string { return strconv.FormatInt(int64(u), 10) }

// Trade is a contract of the bank and a customer to exchange two amounts on a day (rest/CONTRACT.md, trades).
// The customer sells the base currency and buys the quote currency.
type Trade struct {
	bun.BaseModel `bun:"table:fx_trades,alias:ft" json:"-"`

	Tenant     access.Tenant  `bun:"tenant,pk" json:"-"`
	UID        TradeUID       `bun:"uid,pk" json:"forexContractNo"`
	Quote      QuoteUID       `bun:"quote,type:uuid" json:"quoteUUID"`
	Customer   customers.UID  `bun:"customer" json:"counterpartyId"`
	Channel    string         `bun:"channel" json:"channel"`
	IDType     IDType         `bun:"customer_id_type" json:"customerIdType"`
	CustomerID string         `bun:"customer_id" json:"customerId"`
	Product    Product        `bun:"product" json:"productType"`
	Sell       money.Currency `bun:"sell_currency" json:"sellCurrency"`
	Buy        money.Currency `bun:"buy_currency" json:"buyCurrency"`
	SellMinor  int64          `bun:"sell_amount" json:"sellAmount"`
	BuyMinor   int64          `bun:"buy_amount" json:"buyAmount"`
	// minor units of the bank's currency, when it was quoted
	Worth         int64       `bun:"worth" json:"worth"`
	SpotRate      Rate        `bun:"spot_rate" json:"spotRate"`
	ForwardPoints Rate        `bun:"forward_points" json:"fwdPoints"`
	AllInRate     Rate        `bun:"all_in_rate" json:"allInRate"`
	Tenor         Tenor       `bun:"tenor" json:"tenor"`
	ValueDate     time.Time   `bun:"value_date,type:date" json:"valueDate"`
	TradeDate     time.Time   `bun:"trade_date,type:date" json:"tradeDate"`
	Reference     string      `bun:"reference" json:"externalPricingSystemRefId"`
	Status        TradeStatus `bun:"status" json:"tradeStatus"`
	CoverAt       *time.Time  `bun:"cover_at" json:"coverAt"` // when it is covered by itself; nil: it is not
	Cover         *CoverUID   `bun:"cover" json:"coverTradeNo"`
	CoveredAt     *time.Time  `bun:"covered_at" json:"coveredAt"`
	// what the market gave for the cover
	CoverRate      *Rate     `bun:"cover_rate" json:"coverRate"`
	CoverReference string    `bun:"cover_reference" json:"coverReference"`
	MakerClient    string    `bun:"maker_client" json:"-"`
	MakerLogin     string    `bun:"maker_login" json:"-"`
	CreatedAt      time.Time `bun:"created_at" json:"executionTime"`
	UpdatedAt      time.Time `bun:"updated_at" json:"-"`
	Version        int32     `bun:"version" json:"-"`
}

// SellAmount returns what the customer sells.
func (t *Trade) SellAmount() money.Amount { return money.Of(t.SellMinor, t.Sell) }

// BuyAmount returns what the customer buys.
func (t *Trade) BuyAmount() money.Amount { return money.Of(t.BuyMinor, t.Buy) }

// CoverNumber returns the number of the trade that covers it; nil if it is not covered.
func (t *Trade) CoverNumber() *int64 { return (*int64)(t.Cover) }

// Term returns the tenor as text.
func (t *Trade) Term() string { return string(t.Tenor) }

// Recorded returns amounts and rates as the audit record shows them.
func (t *Trade) Recorded() map[string]audit.Field {
	fields := map[string]audit.Field{
		"SellMinor":     {Name: "sellAmount", Value: t.SellAmount().String()},
		"BuyMinor":      {Name: "buyAmount", Value: t.BuyAmount().String()},
		"SpotRate":      {Name: "spotRate", Value: t.SpotRate.String()},
		"ForwardPoints": {Name: "forwardPoints", Value: t.ForwardPoints.String()},
		"AllInRate":     {Name: "allInRate", Value: t.AllInRate.String()},
	}
	if t.CoverRate != nil {
		fields["CoverRate"] = audit.Field{Name: "coverRate", Value: t.CoverRate.String()}
	}
	return fields
}

// The faults of trades.
var (
	ErrNotFound = fault.New(fault.NotFound, "trade.not_found", "no such trade")
	// ErrCancelled is returned for a trade that was cancelled.
	ErrCancelled = fault.New(fault.State, "trade.cancelled", "the trade is cancelled")
	// ErrLate is returned to callers outside the bank who cancel a trade later than the bank lets them: with
	// more time they would keep only those rates that have become good for them.
	ErrLate = fault.New(fault.State, "trade.too_late",
		"the bank alone cancels a trade so long after it was booked")
	// ErrUsed is returned for a trade that a payment uses.
	ErrUsed = fault.New(fault.State, "trade.used", "a payment uses the trade")
	// ErrCovered is returned to who wants to cancel a trade that the bank has covered.
	ErrCovered = fault.New(fault.State, "trade.covered",
		"the trade is covered in the market: it cannot be cancelled any more")
)
