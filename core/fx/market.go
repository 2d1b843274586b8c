package fx

import (
	"context"
	"math/big"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// Market is where a bank's prices come from. It is asked within a transaction, so it answers from what it has
// at hand.
type Market interface {
	// Price returns what one unit of a currency costs in another. It returns ErrNoPrice if it knows none.
	Price(ctx context.Context, ask Ask) (Price, error)
}

// Ask says which price is wanted.
type Ask struct {
	Tenant  access.Tenant
	Sandbox bool // whether the bank is a sandbox
	Sell    money.Currency
	Buy     money.Currency
	At      time.Time // by the bank's clock
	Spot    time.Time // the pair's spot date
	Value   time.Time // when the money is exchanged
}

// Price is how much of the currency that is bought one unit of the currency that is sold brings in the
// market, without the bank's margin.
type Price struct {
	Spot      *big.Rat
	Points    *big.Rat // what the value date adds to the spot rate
	Reference string   // the price's name there, at most 64 characters
}

// ErrNoPrice is returned where the market has no price.
var ErrNoPrice = fault.New(fault.State, "quote.no_price",
	"the bank has no price for these currencies and this date")
