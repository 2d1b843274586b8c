package check_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"bankgraph/core/check"
)

// hostile are texts that each check is tried with.
var hostile = []string{
	"", " ", "\x00", "\ufeff", "\xff", "'; --", "=1+1", "ＤＥ", "ı", strings.Repeat("9", 2000),
	strings.Repeat("A", 2000), "DE", "0",
}

// stable fails unless what is stored of a text is stored of itself, and is plain and no longer than the text.
func stable(t *testing.T, text, what, stored string, read func(c *check.Fields, text string) string) {
	t.Helper()
	if stored == "" {
		return
	}
	c := check.Of("bank")
	if again := read(c, stored); again != stored || c.Err() != nil || !check.IsPlain(stored) ||
		len(stored) > len(text) {
		t.Fatalf("%s of %q is %q, and of that %q (%v)", what, text, stored, again, c.Err())
	}
}

// An account number has one form. An IBAN has the check digits of ISO 7064, worked out here in another way,
// and its country and bank.
func FuzzAccountNumbers(f *testing.F) {
	for _, text := range append([]string{
		"DE89370400440532013000", "de89 3704 0044 0532 0130 00",
		"DE88370400440532013000", "GB29NWBK60161331926819",
		"NO9386011117947", "MU17BOMM0101101030300200000MUR", "FR1420041010050500013M02606",
		"123456789", "0000", "12**34",
	}, hostile...) {
		for _, country := range []string{"DE", "US", "GB", ""} {
			f.Add(country, text)
		}
	}
	f.Fuzz(func(t *testing.T, country, text string) {
		c := check.Of("bank")
		iban := c.IBAN("iban", text)
		stable(t, text, "IBAN", iban, func(c *check.Fields, text string) string { return c.IBAN("iban", text) })
		stable(t, text, "account number", c.AccountNumberAt(country, "number", text),
			func(c *check.Fields, text string) string {
				return c.AccountNumberAt(country, "number", text)
			})
		at, code, ok := check.BankOfIBAN(text)
		if ok != (iban != "") || ok && (at != iban[:2] || !strings.Contains(iban[4:], code) || code == "") {
			t.Fatalf("%q is %q, at %q %q (%v)", text, iban, at, code, ok)
		}
		if iban == "" {
			return
		}
		digits := ""
		for _, letter := range iban[4:] + iban[:4] {
			if letter > '9' {
				letter -= 'A' - 10
				digits += string('0' + letter/10)
				letter = '0' + letter%10
			}
			digits += string(letter)
		}
		n, _ := new(big.Int).SetString(digits, 10)
		if n.Mod(n, big.NewInt(97)).Int64() != 1 || len(iban) > 34 {
			t.Fatalf("%q is taken for an IBAN", iban)
		}
	})
}

// A BIC and a routing number have one form, and a routing number the check digit of its weights.
func FuzzBankNumbers(f *testing.F) {
	for _, text := range append([]string{
		"RHNUDEF0", "rhnudef0xxx", "RHNUZZF0", "611090001", "611090002", "000000000", "021000021", "91000019",
	}, hostile...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := check.Of("bank")
		bic := c.BIC("bic", text)
		stable(t, text, "BIC", bic, func(c *check.Fields, text string) string { return c.BIC("bic", text) })
		if bic != "" && len(bic) != 8 && len(bic) != 11 {
			t.Fatalf("%q is taken for a BIC", bic)
		}
		c.Routing("routing", text)
		if text == "" || c.Failed("routing") {
			return
		}
		sum := 0
		for i, digit := range text {
			sum += []int{3, 7, 1}[i%3] * int(digit-'0')
		}
		if len(text) != 9 || sum%10 != 0 {
			t.Fatalf("%q is taken for a routing number", text)
		}
	})
}

// A day is read of one text alone, and a decimal is the number that its text is.
func FuzzDatesAndDecimals(f *testing.F) {
	for _, text := range append([]string{
		"2026-11-23", "2026-02-30", "0000-01-01", "2026-1-1", "2026-11-23T00:00:00Z", "12.50", "-0.001",
		"1e3", "1.", "007",
	}, hostile...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := check.Of("bank")
		if day := c.Date("day", text); !day.IsZero() && day.Format(time.DateOnly) != text {
			t.Fatalf("%q is read as %s", text, day)
		}
		c.Decimal("number", text, 12, 2)
		c.Between("between", text, "-10", "10")
		if text == "" {
			return
		}
		n, ok := new(big.Rat).SetString(text)
		if !c.Failed("number") && (!ok || n.Cmp(big.NewRat(1e12, 1)) >= 0 || !new(big.Rat).
			Mul(n, big.NewRat(100, 1)).IsInt()) ||
			!c.Failed("between") && (!ok || n.Cmp(big.NewRat(10, 1)) > 0 || n.Cmp(big.NewRat(-10, 1)) < 0) {
			t.Fatalf("%q is taken: %v", text, c.Err())
		}
	})
}
