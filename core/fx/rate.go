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

// rounded returns the rate that is nearest to a number: of seven digits, and of ten decimals at most. ok is
// false for a number that is too large for a rate, or too small.
func rounded(n *big.Rat) (r Rate, ok bool) {
	decimals := 0
	for at := new(big.Rat).Set(n); decimals < rateDecimals && at.Cmp(fullRate) < 0; decimals++ {
		at.Mul(at, ten)
	}
	return fixed(n, decimals)
}

var (
	ten = big.NewRat(10, 1)
	// fullRate is the least number that has all digits of a rate before its point.
	fullRate = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(rateDigits-1), nil))
)

// fixed returns the rate of so many decimals that is nearest to a number.
func fixed(n *big.Rat, decimals int) (r Rate, ok bool) {
	units := halfEven(new(big.Rat).Mul(n, power(decimals)))
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

// mostMinor bounds amounts, so that sums of them stay far from overflow.
const mostMinor = 1e17

// exchanged returns the minor units that an amount is in another currency, by a rate between the two: the
// nearest, of two that are the even one.
func exchanged(from money.Amount, rate *big.Rat, to money.Currency) *big.Int {
	n := new(big.Rat).SetInt64(from.Minor)
	return halfEven(n.Mul(n, rate).Mul(n, power(to.Digits()-from.Currency.Digits())))
}

// converted returns what exchanged does as an amount. ok is false if that is nothing, or too much.
func converted(from money.Amount, rate *big.Rat, to money.Currency) (amount money.Amount, ok bool) {
	minor := exchanged(from, rate, to)
	if !minor.IsInt64() || minor.Int64() <= 0 || minor.Int64() > mostMinor {
		return money.Amount{}, false
	}
	return money.Of(minor.Int64(), to), true
}
