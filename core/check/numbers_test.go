package check_test

import (
	"strings"
	"testing"

	"bankgraph/core/check"
	"bankgraph/core/fault"
)

func TestNumbersAreMadeOfDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).Digits, []string{"0", "0123"},
		map[string]fault.Problem{"-1": fault.Number, "1.5": fault.Number, "١": fault.Number, "1 ": fault.Number})
	expect(t, (*check.Fields).NotAllZeros, []string{"01"},
		map[string]fault.Problem{"0": fault.AllZero, "000": fault.AllZero})
	expect(t, (*check.Fields).Alphanumeric, []string{"Cedar1"},
		map[string]fault.Problem{"Cedar 1": fault.Malformed, "Zürich": fault.Malformed})
	expect(t, (*check.Fields).Words, []string{"Operating Checking 2", "A"},
		map[string]fault.Problem{
			"Tom's": fault.Malformed, " A": fault.Malformed, "A ": fault.Malformed, "A  B": fault.Malformed,
			"A_B": fault.Malformed,
		})
}

func TestADecimalHasItsDigits(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.Decimal(field, value, 12, 2) },
		[]string{"0", "-1", "999999999999.99", "000999999999999", "12.5"},
		map[string]fault.Problem{
			"1000000000000": fault.Malformed, "1.234": fault.Malformed, "1e3": fault.Malformed, "+1": fault.Malformed,
			".5": fault.Malformed,
			"5.": fault.Malformed, "1,000": fault.Malformed, "NaN": fault.Malformed, "0x10": fault.Malformed,
			"1/2": fault.Malformed,
		})
}

func TestANumberStaysBetweenItsBounds(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.Between(field, value, "0.0001", "1") },
		[]string{"0.0001", "1", "1.000", "0.5"},
		map[string]fault.Problem{
			"0": fault.Min, "0.00009999": fault.Min, "-1": fault.Min, "1.0000001": fault.Max, "2": fault.Max,
			"half": fault.Malformed,
			"1e-2": fault.Malformed, strings.Repeat("1", 65): fault.Malformed,
		})
	expect(t, (*check.Fields).NotNegative, []string{"0", "-0", "999999999999999"},
		map[string]fault.Problem{"-0.01": fault.Min, "x": fault.Malformed})
}

func TestAWholeNumberStaysInItsRange(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]fault.Problem{-1: fault.Min, 0: "", 2: "", 3: fault.Max} {
		if got := problem(t, func(c *check.Fields) { c.Range("field", &n, 0, 2) }); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := problem(t, func(c *check.Fields) { c.Range("field", nil, 1, 2) }); got != "" {
		t.Error(got)
	}
}

func TestAnAmountIsExact(t *testing.T) {
	t.Parallel()
	c := check.Of("thing")
	if got := c.Amount("field", "12.5",
		"USD"); got == nil || got.Minor != 1250 || got.Currency != "USD" ||
		c.Amount("absent", "", "USD") != nil ||
		c.Err() != nil {
		t.Errorf("%v %v", got, c.Err())
	}
	expect(t, func(c *check.Fields, field, value string) { c.Amount(field, value, "JPY") },
		[]string{"1250", "-1"},
		map[string]fault.Problem{
			"12.5": fault.Malformed, "1e3": fault.Malformed, "1000000000000000": fault.Malformed,
		})
	if c := check.Of("thing"); c.Amount("field", "1.234", "USD") != nil {
		t.Error("a wrong amount is returned")
	}
	c = check.Of("thing")
	c.Between("field", "11", "0", "10")
	if c.Amount("field", "11", "USD") != nil {
		t.Error("an amount out of bounds is returned")
	}
}

func TestACurrencyIsOneOfISO4217(t *testing.T) {
	t.Parallel()
	if got := check.Of("thing").Currency("field", "usd"); got != "USD" {
		t.Error(got)
	}
	expect(t, func(c *check.Fields, field, value string) { c.Currency(field, value) }, []string{"EUR"},
		map[string]fault.Problem{"ZZZ": fault.Malformed, "US": fault.Malformed})
}

func TestADateIsADayOfTheCalendar(t *testing.T) {
	t.Parallel()
	if got := check.Of("thing").Date("field",
		"2026-11-21"); got.Format("2006-01-02T15:04:05Z07:00") != "2026-11-21T00:00:00Z" {
		t.Error(got)
	}
	expect(t, func(c *check.Fields, field, value string) { c.Date(field, value) }, []string{"2028-02-29"},
		map[string]fault.Problem{
			"2026-02-29": fault.Malformed, "11-21-2026": fault.Malformed, "2026-1-2": fault.Malformed,
			"0000-01-01": fault.Malformed, "2026-11-21T00:00:00Z": fault.Malformed,
		})
}
