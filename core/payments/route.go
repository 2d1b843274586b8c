package payments

import (
	"strings"
	"time"

	"bankgraph/core/banks"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
)

// most is what each network carries in one payment, in cents (rest/CONTRACT.md, speeds).
var most = map[calendar.Service]int64{
	calendar.ACH: nacha.MostCents, calendar.SameDayACH: nacha.MostSameDayCents, calendar.FedNow: 500_000_00,
	calendar.RTP: 1_000_000_00, calendar.Wire: 9_999_999_999_99,
	calendar.SpotSWIFT: mostAbroad, calendar.SameDaySWIFT: mostAbroad, calendar.NextDaySWIFT: mostAbroad,
}

// mostAbroad is what a message of SWIFT has room for, in minor units.
const mostAbroad = 99_999_999_999_999

// service returns what a network does with a payment of a speed, in the words of the calendar.
func service(speed Speed, over rails.Rail) calendar.Service {
	switch over {
	case rails.ACH:
		if speed == EconomyPlus {
			return calendar.SameDayACH
		}
		return calendar.ACH
	case rails.FedNow:
		return calendar.FedNow
	case rails.RTP:
		return calendar.RTP
	case rails.Fedwire:
		return calendar.Wire
	case rails.SWIFT:
		return internationally[speed]
	}
	return calendar.Book
}

var internationally = map[Speed]calendar.Service{
	Spot: calendar.SpotSWIFT, SameDay: calendar.SameDaySWIFT, NextDay: calendar.NextDaySWIFT,
}

// reached are the columns that tell which networks reach a bank.
var reached = banks.Reaching

// sends reports whether an account may send over a network.
func (a *party) sends(over rails.Rail) bool {
	switch over {
	case rails.ACH:
		return a.ACH
	case rails.FedNow:
		return a.FedNow
	case rails.RTP:
		return a.RTP
	case rails.Fedwire:
		return a.Wires
	case rails.SWIFT:
		return a.WiresAbroad
	}
	return false
}

// route picks the network of a payment: the first one of those that it may go over which is switched on for
// the account, reaches the bank, and carries the amount. why says what kept the payment from those before.
func route(
	among []rails.Rail, speed Speed, sends func(rails.Rail) bool, to *banks.Bank, minor int64,
) (over rails.Rail, why string, err error) {
	var passed []string
	met := 0
next:
	for _, rail := range among {
		for i, c := range checks {
			if !c.passes(speed, rail, sends, to, minor) {
				passed, met = append(passed, string(rail)+" "+against(i, speed, rail)), max(met, i)
				continue next
			}
		}
		return rail, strings.Join(passed, "; "), nil
	}
	refused := checks[met].refused
	return "", "", refused.Saying(refused.Message + ": " + strings.Join(passed, "; "))
}

// checks are what a payment needs of a network, in the order in which they are made. If no network passes
// them all, the payment is refused for the last check that was reached.
var checks = []struct {
	refused      *fault.Fault
	pro, against string
	passes       func(
		speed Speed, over rails.Rail, sends func(rails.Rail) bool, to *banks.Bank, minor int64,
	) bool
}{
	{
		ErrRailOff, "is on for the account", "is off for the account",
		func(_ Speed, over rails.Rail, sends func(rails.Rail) bool, _ *banks.Bank, _ int64) bool {
			return sends(over)
		},
	},
	{
		ErrRoute, "reaches the bank", "does not reach the bank",
		func(_ Speed, over rails.Rail, _ func(rails.Rail) bool, to *banks.Bank, _ int64) bool {
			return to.Reached(over)
		},
	},
	{
		ErrNetworkLimit, "carries the amount", "carries less",
		func(speed Speed, over rails.Rail, _ func(rails.Rail) bool, _ *banks.Bank, minor int64) bool {
			return minor <= most[service(speed, over)]
		},
	},
}

// against returns why a network that does not pass the ith check does not carry the payment.
func against(i int, speed Speed, over rails.Rail) string {
	if checks[i].refused == ErrNetworkLimit && over != rails.SWIFT { // whose payments are in many currencies
		return "carries at most " + money.Of(most[service(speed, over)], "USD").String() + " USD"
	}
	return checks[i].against
}

// plan sets the day on which a payment over a network settles: the day that it has, or the next one that a
// payment which is ready now can still reach. It returns when the payment is sent for that. A book transfer
// keeps its day.
func (p *Payment) plan(ready time.Time) (send time.Time) {
	if p.Rail == rails.Book {
		return ready
	}
	slot := slotOf(p.Speed, p.Rail, p.pair(), ready, p.Date, p.Trade != 0)
	p.Date = slot.Settles
	return slot.Sent
}

// slotOf returns when a network takes a payment that is ready at an instant, and when the payment settles: on
// the wanted day or the next possible one. The currencies, and whether a trade fixes the day, count over
// SWIFT alone.
func slotOf(speed Speed, over rails.Rail, in pair, ready, wanted time.Time, fixed bool) calendar.Slot {
	if over == rails.SWIFT {
		return in.overSWIFT(speed, ready, wanted, fixed)
	}
	return calendar.Default().Plan(service(speed, over), ready, wanted)
}

// starts returns the day on which a payment leaves the account to move on its date: a regular entry of ACH
// leaves a banking day before, an international payment as long before as its speed says.
func (p *Payment) starts() time.Time {
	if p.Rail == rails.SWIFT {
		return fx.TradedBy(p.DebitedCurrency(), p.Currency, p.Date, tenors[p.Speed])
	}
	return calendar.Default().Starts(service(p.Speed, p.Rail), p.Date)
}

// grace is how long after the end of its window an entry still goes out in a file of that window.
const grace = 30 * time.Minute

// late reports whether a payment that is sent now cannot settle on its day. A request for payment that waits
// for no day of its network is never late: it has an end of its own.
func (p *Payment) late(now time.Time) bool {
	if p.Speed == Instant {
		return p.asks == nil && p.Date.Before(calendar.Today(now))
	}
	last := *p
	last.plan(now.Add(-grace))
	return !last.Date.Equal(p.Date)
}
