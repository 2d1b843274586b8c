package fx

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
)

// Tenor says how far ahead a trade is settled: ON, TN, SPOT, or so many weeks, months or years after the spot
// date, as in 1W, 3M and 1Y.
type Tenor string

const (
	Overnight    Tenor = "ON" // on the trade date
	TomorrowNext Tenor = "TN" // on the next day
	Spot         Tenor = "SPOT"
)

var tenors = regexp.MustCompile(`^(?:ON|TN|SPOT|[1-9][0-9]{0,2}[WMY])$`)

// ParseTenor reads a tenor without regard to letter case.
func ParseTenor(field, text string) (Tenor, error) {
	if t := ident.Upper(text); tenors.MatchString(t) {
		return Tenor(t), nil
	}
	return "", fault.Field("quote", field, fault.Malformed,
		"must be SPOT, ON, TN, or a number with W, M or Y, such as 3M")
}

// Forward reports whether a tenor leads beyond the spot date.
func (t Tenor) Forward() bool { return t != Overnight && t != TomorrowNext && t != Spot }

// pair is two currencies whose calendars count together.
type pair [2]money.Currency

// nextDay are the currencies that are exchanged for US dollars one business day after the trade.
const nextDay = "CAD TRY RUB PHP"

// lag returns how many business days the spot date is after the trade.
func (p pair) lag() int {
	for i, c := range p {
		if c == "USD" && strings.Contains(nextDay, string(p[1-i])) {
			return 1
		}
	}
	return 2
}

// open reports whether a day is a business day of both currencies: Monday to Friday; of the US dollar, but
// for the holidays of the Federal Reserve (rest/CONTRACT.md, value dates).
func (p pair) open(day time.Time) bool {
	if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		return false
	}
	return p[0] != "USD" && p[1] != "USD" || calendar.IsBankingDay(day)
}

// after returns the nth business day after a day; with n = 0 the day itself, or the first business day after
// it.
func (p pair) after(day time.Time, n int) time.Time {
	for ; !p.open(day); day = day.AddDate(0, 0, 1) {
	}
	for ; n > 0; n-- {
		for day = day.AddDate(0, 0, 1); !p.open(day); day = day.AddDate(0, 0, 1) {
		}
	}
	return day
}

// spot returns the spot date of a trade that is made on a day.
func (p pair) spot(today time.Time) time.Time { return p.after(today, p.lag()) }

// valueDate returns the day to which a tenor leads from a day on which a trade is made.
func (p pair) valueDate(today time.Time, t Tenor) time.Time {
	switch t {
	case Overnight:
		return p.after(today, 0)
	case TomorrowNext:
		return p.after(today, 1)
	case Spot:
		return p.spot(today)
	}
	n, _ := strconv.Atoi(string(t[:len(t)-1])) // ParseTenor has read it
	switch spot := p.spot(today); t[len(t)-1] {
	case 'W':
		return p.after(spot.AddDate(0, 0, 7*n), 0)
	case 'M':
		return p.months(spot, n)
	default:
		return p.months(spot, 12*n)
	}
}

// months returns the business day so many months after the spot date: from the last one of a month to the
// last one of a month, and never beyond the end of a month.
func (p pair) months(spot time.Time, n int) time.Time {
	first := time.Date(spot.Year(), spot.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	end := first.AddDate(0, 1, -1)
	if p.after(spot, 1).Month() == spot.Month() {
		if day := p.after(first.AddDate(0, 0, min(spot.Day(), end.Day())-1), 0); day.Month() == first.Month() {
			return day
		}
	}
	for ; !p.open(end); end = end.AddDate(0, 0, -1) {
	}
	return end
}

// ValueDate returns the day on which two currencies are exchanged that were traded on a day.
func ValueDate(sell, buy money.Currency, traded time.Time, t Tenor) time.Time {
	return pair{sell, buy}.valueDate(traded, t)
}

// NextDay returns the first business day of two currencies from a day on.
func NextDay(sell, buy money.Currency, day time.Time) time.Time { return pair{sell, buy}.after(day, 0) }

// TradedBy returns the last day on which a trade of a tenor is settled by a value date.
func TradedBy(sell, buy money.Currency, value time.Time, t Tenor) time.Time {
	day := value
	for p := (pair{sell, buy}); p.valueDate(day, t).After(value) || !p.open(day); day = day.AddDate(0, 0, -1) {
	}
	return day
}

// tenorOf returns the short tenor that leads to a day; "" if none does.
func (p pair) tenorOf(today, day time.Time) Tenor {
	for _, t := range []Tenor{Spot, Overnight, TomorrowNext} {
		if p.valueDate(today, t).Equal(day) {
			return t
		}
	}
	return ""
}
