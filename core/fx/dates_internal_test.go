package fx

import (
	"math/big"
	"testing"
	"time"
	_ "time/tzdata" // the zone is known on machines without a zone database

	"pgregory.net/rapid"

	"bankgraph/core/money"
)

func day(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestATenorLeadsToItsDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pair  pair
		today string
		tenor Tenor
		want  string
	}{
		{pair{"EUR", "USD"}, "2026-11-18", "SPOT", "2026-11-20"}, // a Wednesday
		{pair{"EUR", "USD"}, "2026-11-18", "ON", "2026-11-18"},
		{pair{"EUR", "USD"}, "2026-11-18", "TN", "2026-11-19"},
		{pair{"USD", "CAD"}, "2026-11-18", "SPOT", "2026-11-19"},
		{pair{"TRY", "USD"}, "2026-11-18", "SPOT", "2026-11-19"},
		{pair{"PHP", "USD"}, "2026-11-20", "SPOT", "2026-11-23"}, // over a weekend
		{pair{"EUR", "CAD"}, "2026-11-18", "SPOT", "2026-11-20"}, // no dollars
		{pair{"EUR", "USD"}, "2026-11-24", "SPOT", "2026-11-27"}, // Thanksgiving is the 26th
		{pair{"EUR", "GBP"}, "2026-11-24", "SPOT", "2026-11-26"},
		{pair{"EUR", "USD"}, "2026-11-21", "ON", "2026-11-23"}, // a Saturday
		{pair{"EUR", "USD"}, "2026-11-18", "1W", "2026-11-27"},
		{pair{"EUR", "USD"}, "2026-11-17", "1W", "2026-11-27"}, // of the 19th it is the 26th, a holiday
		{pair{"EUR", "USD"}, "2026-11-18", "1M", "2026-12-21"}, // the 20th is a Sunday
		{pair{"EUR", "USD"}, "2026-11-18", "3M", "2027-02-22"}, // the 20th is a Saturday
		{pair{"EUR", "USD"}, "2026-11-18", "1Y", "2027-11-22"}, // the 20th is a Saturday
		{pair{"EUR", "GBP"}, "2026-11-26", "1M", "2026-12-31"}, // from the end of a month to the end of a month
		{pair{"EUR", "GBP"}, "2026-12-29", "2M", "2027-02-26"}, // from the 31st: the end of February is a Sunday
		{pair{"EUR", "GBP"}, "2026-10-28", "1M", "2026-11-30"}, // from the 30th, a Friday and the last business day
		{pair{"EUR", "GBP"}, "2026-07-28", "1M", "2026-08-31"}, // the 30th is a Sunday
		{pair{"EUR", "GBP"}, "2027-04-28", "1M", "2027-05-31"},
		{pair{"EUR", "GBP"}, "2027-01-27", "1M", "2027-02-26"}, // the end of January, a Friday
	} {
		if got := c.pair.valueDate(day(t, c.today), c.tenor); !got.Equal(day(t, c.want)) {
			t.Errorf("%s of %v on %s is %s, want %s", c.tenor, c.pair, c.today,
				got.Format(time.DateOnly), c.want)
		}
	}
}

func TestAValueDateIsABusinessDayAndNeverBeforeTheTrade(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pair{
			rapid.SampledFrom([]money.Currency{"USD", "EUR"}).Draw(t, "sell"),
			rapid.SampledFrom([]money.Currency{"CAD", "JPY"}).Draw(t, "buy"),
		}
		today := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).
			AddDate(0, 0, rapid.IntRange(0, 4000).Draw(t, "day"))
		before := today
		for _, tenor := range []Tenor{"ON", "TN", "SPOT", "1W", "2W", "1M", "2M", "3M", "1Y", "2Y"} {
			got := p.valueDate(today, tenor)
			if !p.open(got) || got.Before(before) {
				t.Fatalf("%s of %v on %s is %s", tenor, p, today.Format(time.DateOnly), got.Format(time.DateOnly))
			}
			before = got
		}
	})
}

func TestNumbersBecomeWholeOnes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0.5": 0, "1.5": 2, "2.5": 2, "2.500001": 3, "2.4999": 2, "-0.5": 0, "-1.5": -2, "-2.5": -2, "-2.6": -3,
		"7": 7, "0": 0,
	} {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		if got := halfEven(n); got.Int64() != want {
			t.Errorf("%s becomes %s, want %d", text, got, want)
		}
		less, more := new(big.Rat).SetInt(down(n)), new(big.Rat).SetInt(up(n))
		gap := new(big.Rat).Sub(more, less)
		if less.Cmp(n) > 0 || more.Cmp(n) < 0 || n.IsInt() != (gap.Sign() == 0) ||
			gap.Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("%s is between %s and %s", text, less, more)
		}
	}
}

func TestARateHasSevenDigitsAndTenDecimalsAtMost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0.86050": "0.8605", "147.3512345": "147.3512", "0.00001234567": "0.0000123457", "1234567.5": "1234568",
		"1": "1", "12345678": "12345678", "0.92345675": "0.9234568", "0.92345665": "0.9234566",
	} {
		n, _ := new(big.Rat).SetString(text)
		r, ok := rounded(n, halfEven)
		if !ok || r.String() != want {
			t.Errorf("%s becomes %s, want %s", text, r, want)
		}
		if again, ok := ParseRate(r.String()); !ok || again != r {
			t.Errorf("%s is read as %s", r, again)
		}
	}
	for _, text := range []string{"0", "0.00000000004", "1000000000"} {
		n, _ := new(big.Rat).SetString(text)
		if r, ok := rounded(n, halfEven); ok {
			t.Errorf("%s becomes %s", text, r)
		}
	}
	for _, text := range []string{"", ".", "1e3", "0x1", "1/3", "1.00000000001", "99999999999", "+1"} {
		if r, ok := ParseRate(text); ok {
			t.Errorf("%q is read as %s", text, r)
		}
	}
}
