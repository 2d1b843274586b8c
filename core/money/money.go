// Package money has exact amounts: whole minor units with their currency, never a float.
package money

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"bankgraph/core/ident"
)

// Currency is an ISO 4217 code of three upper-case letters, such as USD.
type Currency string

// Digits returns how many decimals the currency has: 2 for USD, 0 for JPY, and 2 for a code that ISO 4217
// does not list.
func (c Currency) Digits() int {
	if c == Things {
		return 0
	}
	digits, ok := currency.GetDigits(string(c))
	if !ok {
		return 2
	}
	return int(digits)
}

// WithDigits returns the codes of the currencies that have so many decimals.
func WithDigits(digits int) []string {
	return slices.DeleteFunc(slices.Clone(currency.GetCurrencyCodes()),
		func(code string) bool { return Currency(code).Digits() != digits })
}

// Units that are counted like money but are no currencies.
const (
	Things     Currency = "things"     // whole numbers, such as how many payments a day may have
	Hundredths Currency = "hundredths" // two decimals, of a currency that is given elsewhere
)

// Finest has FinestDigits decimals, the most of any currency: a text that is no amount of Finest is no amount
// of any currency.
const (
	Finest       Currency = "CLF"
	FinestDigits int      = 4
)

// ErrCurrency is returned for a code that ISO 4217 does not list.
var ErrCurrency = errors.New("unknown currency")

// ParseCurrency reads an ISO 4217 code in any letter case.
func ParseCurrency(text string) (Currency, error) {
	code := ident.Upper(text)
	if code == "" || !currency.IsValid(code) { // the library takes the empty code for valid
		return "", ErrCurrency
	}
	return Currency(code), nil
}

// Amount is an exact amount of money.
type Amount struct {
	Minor    int64 // whole minor units: cents for USD
	Currency Currency
}

// Of makes an amount from minor units.
func Of(minor int64, in Currency) Amount { return Amount{Minor: minor, Currency: in} }

// String returns the decimal text with exactly the currency's decimals: "12.50", "-0.05", "1250" for JPY.
func (a Amount) String() string { return string(a.Append(make([]byte, 0, 24))) }

// MarshalJSON writes a JSON number with exactly the currency's decimals.
func (a Amount) MarshalJSON() ([]byte, error) { return a.Append(make([]byte, 0, 24)), nil }

// Append appends the text of String.
func (a Amount) Append(to []byte) []byte {
	digits := a.Currency.Digits()
	if digits == 0 {
		return strconv.AppendInt(to, a.Minor, 10)
	}
	magnitude := uint64(a.Minor)
	if a.Minor < 0 {
		to = append(to, '-')
		magnitude = -magnitude
	}
	start := len(to)
	to = strconv.AppendUint(to, magnitude, 10)
	for len(to)-start <= digits { // at least one digit before the point
		to = slices.Insert(to, start, '0')
	}
	point := len(to) - digits
	to = append(to, 0)
	copy(to[point+1:], to[point:])
	to[point] = '.'
	return to
}

// AtMost reports whether an amount is at most another one, as numbers: their currencies may have different
// decimals.
func AtMost(a, most Amount) bool {
	scaled := func(of, other Amount) *big.Int {
		n := big.NewInt(of.Minor)
		for range max(0, other.Currency.Digits()-of.Currency.Digits()) {
			n.Mul(n, big.NewInt(10))
		}
		return n
	}
	return scaled(a, most).Cmp(scaled(most, a)) <= 0
}

// ErrAmount is returned for text that is not an exact amount of the currency.
var ErrAmount = errors.New("not an exact amount")

// integerDigits bounds the whole units of an amount, so that sums stay far from overflow.
const integerDigits = 15

// Parse reads plain decimal text ("12.5", "-3", "0.05"): no exponent, no sign but a minus,
// at most 15 integer digits and no more decimals than the currency has.
func Parse(text string, in Currency) (Amount, error) {
	digits := in.Digits()
	unsigned, negative := strings.CutPrefix(text, "-")
	whole, fraction, pointed := strings.Cut(unsigned, ".")
	if whole == "" || len(strings.TrimLeft(whole, "0")) > integerDigits || !numeric(whole) ||
		!numeric(fraction) ||
		pointed && fraction == "" || len(fraction) > digits {
		return Amount{},
			fmt.Errorf("%w of %s: at most %d integer digits and %d decimals", ErrAmount, in, integerDigits, digits)
	}
	minor, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return Amount{}, fmt.Errorf("%w of %s: out of range", ErrAmount, in)
	}
	if negative {
		minor = -minor
	}
	return Of(minor, in), nil
}

func numeric(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
