package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"bankgraph/core/fx"
	"bankgraph/core/money"
)

// Market gives sandbox banks prices of foreign exchange. They follow from the currencies and the bank's clock
// alone: each currency moves around its middle by a tenth of a percent at most, one step every ten seconds,
// and what a later value date adds follows from two rates of interest that never change. It is a fx.Market.
type Market struct{}

// quoted is a currency against the US dollar.
type quoted struct {
	perDollar string // exact decimal: what a dollar costs
	interest  int64  // of a year of 360 days, in hundredths of a percent
	pace      int64  // how many millionths a step is
}

// board lists the currencies that have a price.
var board = map[money.Currency]quoted{
	"USD": {"1", 425, 0},
	"AED": {"3.6725", 420, 0},
	"AUD": {"1.5310", 410, 7},
	"BHD": {"0.37600", 500, 0},
	"BRL": {"5.4120", 1075, 17},
	"CAD": {"1.3725", 275, 3},
	"CHF": {"0.80450", 25, 5},
	"CNY": {"7.1850", 200, 1},
	"CZK": {"21.450", 350, 9},
	"DKK": {"6.4150", 190, 5},
	"EUR": {"0.86050", 200, 5},
	"GBP": {"0.74250", 400, 7},
	"HKD": {"7.8120", 350, 1},
	"HUF": {"343.20", 650, 11},
	"ILS": {"3.4050", 450, 9},
	"INR": {"86.450", 550, 3},
	"JPY": {"147.35", 50, 9},
	"KRW": {"1385.50", 250, 7},
	"KWD": {"0.30550", 375, 1},
	"MXN": {"18.740", 800, 13},
	"NOK": {"10.140", 425, 9},
	"NZD": {"1.6620", 325, 7},
	"PHP": {"56.750", 525, 3},
	"PLN": {"3.6550", 500, 9},
	"RUB": {"79.800", 1800, 19},
	"SAR": {"3.7510", 480, 0},
	"SEK": {"9.6400", 200, 9},
	"SGD": {"1.2830", 210, 3},
	"THB": {"32.450", 175, 5},
	"TRY": {"40.350", 4300, 17},
	"ZAR": {"17.750", 700, 13},
}

// farthest is how far a currency moves from its middle, in millionths.
const farthest = 1000

// step is how long a price stays.
const step = 10 * time.Second

// at returns what a dollar costs at a time.
func (q quoted) at(now time.Time) *big.Rat {
	place := q.pace * (now.Unix() / int64(step/time.Second)) % (4 * farthest)
	moved := place // there, back and beyond: 0 up to farthest, down to -farthest, up to 0
	switch {
	case place > 3*farthest:
		moved = place - 4*farthest
	case place > farthest:
		moved = 2*farthest - place
	}
	middle, ok := new(big.Rat).SetString(q.perDollar)
	if !ok {
		panic("sandbox: no rate: " + q.perDollar)
	}
	return middle.Mul(middle, big.NewRat(1_000_000+moved, 1_000_000))
}

// grown returns what a unit of money becomes in so many days, fewer than none before the spot date.
func (q quoted) grown(days int64) *big.Rat { return big.NewRat(360*10_000+q.interest*days, 360*10_000) }

// Price tells the price of a currency in another. It implements fx.Market.
func (Market) Price(_ context.Context, ask fx.Ask) (fx.Price, error) {
	sold, known := board[ask.Sell]
	bought, also := board[ask.Buy]
	if !ask.Sandbox || !known || !also {
		return fx.Price{}, fx.ErrNoPrice
	}
	days := int64(ask.Value.Sub(ask.Spot) / (24 * time.Hour))
	spot := new(big.Rat).Quo(bought.at(ask.At), sold.at(ask.At))
	forward := new(big.Rat).Mul(spot, bought.grown(days))
	forward.Quo(forward, sold.grown(days))
	return fx.Price{
		Spot: spot, Points: forward.Sub(forward, spot),
		Reference: fmt.Sprintf("SANDBOX-%s%s-%s", ask.Sell, ask.Buy,
			ask.At.UTC().Truncate(step).Format("20060102150405")),
	}, nil
}
