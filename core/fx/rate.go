package fx

import (
	"math/big"
	"strings"

	"bankgraph/core/money"
)

// Rate is an exact exchange rate, or a part of one, in units of 0.0000000001: how much of the currency that
// is bought one unit of the currency that is sold brings.
type Rate int64

const (
	rateDecimals = 10
	// rateDigits is how many significant digits a rate has at most.
	rateDigits = 7
)

var rateUnit = new(big.Int).Exp(big.NewInt(10), big.NewInt(rateDecimals), nil)

// Rat returns the rate as a number.
func (r Rate) Rat() *big.Rat { return new(big.Rat).SetFrac(big.NewInt(int64(r)), rateUnit) }

// String returns the plain decimal, without zeros at its end: "0.9213".
func (r Rate) String() string {
	text := r.Rat().FloatString(rateDecimals)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// ParseRate reads the plain decimal that String writes.
func ParseRate(text string) (Rate, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if whole == "" || len(fraction) > rateDecimals || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	units := n.Mul(n, new(big.Rat).SetInt(rateUnit)).Num()
	return Rate(units.Int64()), units.IsInt64()
}

// Number is a rate as JSON has it: a number, never written as a float.
type Number Rate

// MarshalJSON writes the digits of Rate.String.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(Rate(n).String()), nil }

// rounding makes a whole number of another one.
type rounding func(*big.Rat) *big.Int

// rounded returns the rate that a number is: of seven digits, and of ten decimals at most. ok is false for a
// number that is too large for a rate, or too small.
func rounded(n *big.Rat, round rounding) (r Rate, ok bool) {
	decimals := 0
	for at := new(big.Rat).Set(n); decimals < rateDecimals && at.Cmp(fullRate) < 0; decimals++ {
		at.Mul(at, ten)
	}
	return fixed(n, decimals, round)
}

var (
	ten = big.NewRat(10, 1)
	// fullRate is the least number that has all digits of a rate before its point.
	fullRate = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(rateDigits-1), nil))
)

// fixed returns the rate of so many decimals that a number is.
func fixed(n *big.Rat, decimals int, round rounding) (r Rate, ok bool) {
	units := round(new(big.Rat).Mul(n, power(decimals)))
	units.Mul(units, power(rateDecimals-decimals).Num())
	return Rate(units.Int64()), units.IsInt64() && units.Sign() != 0
}

func power(of int) *big.Rat {
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(of, -of))), nil)
	if of < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), n)
	}
	return new(big.Rat).SetInt(n)
}

// halfEven returns the whole number that is nearest; of two that are, the even one.
func halfEven(n *big.Rat) *big.Int {
	whole, rest := new(big.Int).DivMod(n.Num(), n.Denom(), new(big.Int))
	switch half := rest.Lsh(rest, 1).Cmp(n.Denom()); {
	case half > 0, half == 0 && whole.Bit(0) == 1:
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}

// down returns the largest whole number that is not above a number.
func down(n *big.Rat) *big.Int { return new(big.Int).Div(n.Num(), n.Denom()) }

// up returns the least whole number that is not below a number.
func up(n *big.Rat) *big.Int {
	whole := down(new(big.Rat).Neg(n))
	return whole.Neg(whole)
}

// mostMinor bounds amounts, so that sums of them stay far from overflow.
const mostMinor = 1e17

// converted returns what an amount is in another currency, by a rate between the two. ok is false if that is
// nothing, or too much.
func converted(
	from money.Amount, rate *big.Rat, to money.Currency, round rounding,
) (amount money.Amount, ok bool) {
	n := new(big.Rat).SetInt64(from.Minor)
	minor := round(n.Mul(n, rate).Mul(n, power(to.Digits()-from.Currency.Digits())))
	if !minor.IsInt64() || minor.Int64() <= 0 || minor.Int64() > mostMinor {
		return money.Amount{}, false
	}
	return money.Of(minor.Int64(), to), true
}
