package check

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// Digits demands only the digits 0 to 9.
func (c *Fields) Digits(field, value string) {
	c.demand(allDigits(value), field, value, fault.Number, "must be made of digits")
}

// NotAllZeros refuses 0, 00 and so on, which are no numbers of a bank.
func (c *Fields) NotAllZeros(field, value string) {
	c.demand(strings.Trim(value, "0") != "", field, value, fault.AllZero, "must not be all zeros")
}

// Alphanumeric demands only A to Z, a to z and 0 to 9 (rest/CONTRACT.md, templateName).
func (c *Fields) Alphanumeric(field, value string) {
	c.demand(alphanumeric(value), field, value, fault.Malformed,
		"must be made of letters from A to Z and digits")
}

var spaced = regexp.MustCompile(`^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$`)

// Words demands letters and digits of ASCII, with single spaces between them, as in names of accounts and
// roles (rest/CONTRACT.md, account bodies; role bodies).
func (c *Fields) Words(field, value string) {
	c.Pattern(field, value, spaced, "must be made of letters from A to Z, digits and single spaces "+
		"between them")
}

var plainNumber = regexp.MustCompile(`^-?([0-9]+)(?:\.([0-9]+))?$`)

// Decimal demands a plain decimal number, such as 12.50 or -3, with at most whole digits before the point,
// leading zeros not counted, and at most decimals after it (rest/CONTRACT.md, signatory bodies: approvalLimit
// has 12 and 2).
func (c *Fields) Decimal(field, value string, whole, decimals int) {
	c.decimal(field, value, whole, decimals, "must have at most "+strconv.Itoa(decimals)+" decimals")
}

// BankAmount is Decimal for an amount in the bank's currency, as far as the request alone can tell: how many
// decimals that has is asked where the bank is known.
func (c *Fields) BankAmount(field, value string, whole int) {
	c.decimal(field, value, whole, money.FinestDigits, "must have no more decimals than the bank's currency has")
}

func (c *Fields) decimal(field, value string, whole, decimals int, tooFine string) {
	part := plainNumber.FindStringSubmatch(value)
	if part == nil {
		part = make([]string, 3)
		c.demand(false, field, value, fault.Malformed, "must be a number")
	}
	c.demand(len(strings.TrimLeft(part[1], "0")) <= whole, field, value, fault.Malformed,
		"must have at most "+strconv.Itoa(whole)+" digits before the point")
	c.demand(len(part[2]) <= decimals, field, value, fault.Malformed, tooFine)
}

// longest bounds the length of texts that are read as numbers.
const longest = 64

// Between demands a plain decimal number from least to most, both included. The bounds are decimal text; an
// empty one does not bound. Below least is a Min problem, above most a Max problem.
func (c *Fields) Between(field, value, least, most string) {
	if !c.open(field, value) {
		return
	}
	if len(value) > longest || !plainNumber.MatchString(value) {
		c.Fail(field, fault.Malformed, "must be a number")
		return
	}
	n := rational(value)
	if least != "" && n.Cmp(rational(least)) < 0 {
		c.Fail(field, fault.Min, "must be at least "+least)
	}
	if most != "" && n.Cmp(rational(most)) > 0 {
		c.Fail(field, fault.Max, "must be at most "+most)
	}
}

func rational(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("check: " + text + " is no bound") // the bounds are constants of the program
	}
	return n
}

// NotNegative demands a plain decimal number of at least 0 (rest/CONTRACT.md, limit update:
// entityLimitValue).
func (c *Fields) NotNegative(field, value string) { c.Between(field, value, "0", "") }

// Range demands a whole number from least to most, both included. nil is absent.
func (c *Fields) Range(field string, value *int, least, most int) {
	switch {
	case value == nil:
	case *value < least:
		c.Fail(field, fault.Min, "must be at least "+strconv.Itoa(least))
	case *value > most:
		c.Fail(field, fault.Max, "must be at most "+strconv.Itoa(most))
	}
}

// Amount reads an exact amount: plain decimal text with no more decimals than the currency has. It returns
// nil if the value is absent or wrong.
func (c *Fields) Amount(field, value string, in money.Currency) *money.Amount {
	amount, err := money.Parse(value, in)
	c.demand(err == nil, field, value, fault.Malformed,
		"must be an amount of "+string(in)+" with at most "+strconv.Itoa(in.Digits())+" decimals")
	if value == "" {
		return nil
	}
	return right(c, field, &amount)
}

// Currency reads an ISO 4217 code in any letter case.
func (c *Fields) Currency(field, value string) money.Currency {
	code, err := money.ParseCurrency(value)
	c.demand(err == nil, field, value, fault.Malformed, "must be an ISO 4217 currency code")
	return right(c, field, code)
}

// Date reads YYYY-MM-DD as midnight UTC of that day. It returns the zero time if the value is absent or
// wrong. Year 0 is refused, as PostgreSQL has none.
func (c *Fields) Date(field, value string) time.Time {
	day, err := time.Parse(time.DateOnly, value)
	c.demand(err == nil && day.Year() > 0, field, value, fault.Malformed,
		"must be a date in the form YYYY-MM-DD")
	return right(c, field, day)
}

func allDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

func alphanumeric(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
