package payments

import (
	"strings"
	"time"

	"bankgraph/core/banks"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// most is what each network carries in one payment, in cents (rest/CONTRACT.md, speeds).
var most = map[rails.Rail]int64{rails.FedNow: 500_000_00, rails.RTP: 1_000_000_00, rails.Fedwire: 9_999_999_999_99}

// services are the networks in the words of the calendar.
var services = map[rails.Rail]calendar.Service{
	rails.FedNow: calendar.FedNow, rails.RTP: calendar.RTP, rails.Fedwire: calendar.Wire,
}

// reached are the columns that tell which networks reach a bank.
var reached = banks.Reaching

// sends reports whether an account may send over a network.
func (a *party) sends(over rails.Rail) bool {
	switch over {
	case rails.FedNow:
		return a.FedNow
	case rails.RTP:
		return a.RTP
	case rails.Fedwire:
		return a.Wires
	}
	return false
}

// route picks the network of a payment: the first one of its speed that is switched on for the account, reaches
// the bank, and carries the amount. why says what kept the payment from those before.
func route(speed Speed, from *party, to *banks.Bank, minor int64) (over rails.Rail, why string, err error) {
	var passed []string
	none := []*fault.Fault{ErrRailOff, ErrRoute, ErrNetworkLimit} // the last one that was met tells the most
	met := 0
	for _, rail := range networks[speed] {
		switch {
		case !from.sends(rail):
			passed = append(passed, string(rail)+" is off for the account")
		case !to.Reached(rail):
			passed, met = append(passed, string(rail)+" does not reach the bank"), max(met, 1)
		case minor > most[rail]:
			passed, met = append(passed, string(rail)+" carries less"), 2
		default:
			return rail, strings.Join(passed, "; "), nil
		}
	}
	refused := none[met]
	return "", "", refused.Saying(refused.Message + ": " + strings.Join(passed, "; "))
}

// plan sets the day on which a payment over a network settles: that which it has, or the next one on which the
// network settles what is ready now. A book transfer keeps its day.
func (p *Payment) plan(ready time.Time) {
	if service, is := services[p.Rail]; is {
		p.Date = calendar.Default().Plan(service, ready, p.Date).Settles
	}
}
