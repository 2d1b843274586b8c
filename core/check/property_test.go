package check_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bankgraph/core/check"
	"bankgraph/core/given"
	"bankgraph/core/postal"
)

// every runs all checks, each on a field of its own, and returns their results as text.
func every(c *check.Fields, value string) map[string]string {
	form := regexp.MustCompile(`^x$`)
	c.Required("required", value)
	c.Given("given", given.Of(value), true)
	c.Plain("plain", value)
	c.AtMost("atMost", value, 5)
	c.AtLeast("atLeast", value, 2)
	c.Pattern("pattern", value, form, "must be x")
	c.Digits("digits", value)
	c.NotAllZeros("notAllZeros", value)
	c.Alphanumeric("alphanumeric", value)
	c.Words("words", value)
	c.Decimal("decimal", value, 12, 2)
	c.Between("between", value, "0", "10")
	c.NotNegative("notNegative", value)
	c.Name("name", value)
	c.LoginID("loginId", value)
	c.Email("email", value)
	c.URL("url", value)
	c.AccountNumber("accountNumber", value)
	c.TaxID("taxId", value, 10)
	c.ACHCompanyID("achCompanyId", value)
	c.LEI("lei", value)
	c.Routing("routing", value)
	address := c.Address("address", postal.Address{CountryCode: value})
	return map[string]string{
		"oneOf": check.OneOf(c, "oneOf", value, "One", "Two"), "phone": c.Phone("phone", value, "US"),
		"userPhone": c.UserPhone("userPhone", value),
		"bic":       c.BIC("bic", value), "iban": c.IBAN("iban", value), "secCode": c.SECCode("secCode", value),
		"country": c.Country("country", value), "countryName": c.CountryName("countryName", value).Code,
		"currency": string(c.Currency("currency", value)), "address.countryCode": address.CountryCode,
	}
}

var anything = rapid.OneOf(
	rapid.String(),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.StringMatching(`[A-Z0-9 +().@/:;=#x'-]{0,60}`),
	rapid.StringMatching(`(GB|DE|US|XK)[0-9]{0,40}`),
	rapid.StringMatching(`\+[0-9]{1,16}(;ext=[0-9]{0,9})?`),
	rapid.StringMatching(`-?[0-9]{0,70}(\.[0-9]{0,70})?(e[0-9]{1,9})?`),
	rapid.Map(rapid.StringMatching(`[(+0-9@.-]{1,4}`),
		func(part string) string { return strings.Repeat(part, 5000) }),
)

func TestNoCheckPanicsAndAWrongValueIsNeverReturned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := anything.Draw(t, "value")
		c := check.Of("thing")
		for field, stored := range every(c, value) {
			if value != "" && c.Failed(field) != (stored == "") {
				t.Errorf("%s of %q is %q, blamed: %v", field, value, stored, c.Failed(field))
			}
		}
	})
}

func TestWhatIsStoredPassesAgainAndStaysTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.StringMatching(`(\+1 )?\(?(614|512|202)\)?[ .-]?555[ .-]?01[0-9]{2}( ?x[0-9]{1,5})?`),
			rapid.StringMatching(`[a-z]{4}(us|DE|Gb)[a-z0-9]{2}([a-z0-9]{3})?`),
			rapid.SampledFrom([]string{"usd", "deu", "ccd", "ONE", "iceland"})).Draw(t, "value")
		for field, stored := range every(check.Of("thing"), value) {
			if again := every(check.Of("thing"), stored)[field]; again != stored && field != "userPhone" {
				t.Errorf("%s of %q is %q, and of that %q", field, value, stored, again)
			}
		}
	})
}

// passes reports whether a value passes one check.
func passes(ask func(c *check.Fields, field, value string), value string) bool {
	c := check.Of("thing")
	ask(c, "field", value)
	return c.Err() == nil
}

// mistaken changes one character of a text to another of the same kind.
func mistaken(t *rapid.T, text string) string {
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	kind := "0123456789"
	if text[at] >= 'A' {
		kind = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	}
	other := rapid.SampledFrom([]byte(strings.ReplaceAll(kind, text[at:at+1], ""))).Draw(t, "other")
	return text[:at] + string(other) + text[at+1:]
}

// remainder97 replaces letters by numbers and divides the whole, as ISO 7064 describes it.
func remainder97(text string) int64 {
	var digits strings.Builder
	for _, r := range text {
		value, _ := strconv.ParseInt(string(r), 36, 64)
		fmt.Fprint(&digits, value)
	}
	n, _ := new(big.Int).SetString(digits.String(), 10)
	return n.Mod(n, big.NewInt(97)).Int64()
}

func TestAnyWrongDigitOfARoutingNumberIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.StringMatching(`(0[1-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)[0-9]{6}`).
			Draw(t, "first")
		right := 0
		number := ""
		for last := range 10 { // exactly one last digit is correct
			if passes((*check.Fields).Routing, first+fmt.Sprint(last)) {
				right, number = right+1, first+fmt.Sprint(last)
			}
		}
		if right != 1 {
			t.Fatalf("%d check digits fit %s", right, first)
		}
		if wrong := mistaken(t, number); passes((*check.Fields).Routing, wrong) {
			t.Errorf("%s passes like %s", wrong, number)
		}
	})
}

func TestAnyWrongPlaceOfALEIIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.StringMatching(`[A-Z0-9]{4}00[A-Z0-9]{12}`).Draw(t, "base")
		number := base + fmt.Sprintf("%02d", 98-remainder97(base+"00"))
		if !passes((*check.Fields).LEI, number) {
			t.Fatalf("%s is refused", number)
		}
		if wrong := mistaken(t, number); passes((*check.Fields).LEI, wrong) {
			t.Errorf("%s passes like %s", wrong, number)
		}
		at := rapid.IntRange(6, 16).Draw(t, "swap")
		swapped := number[:at] + number[at+1:at+2] + number[at:at+1] + number[at+2:]
		// B1 and 1B both become 111, so only swaps of characters of one kind are certain to be found.
		if swapped != number && (number[at] < 'A') == (number[at+1] < 'A') &&
			passes((*check.Fields).LEI, swapped) {
			t.Errorf("%s passes like %s", swapped, number)
		}
	})
}

func TestAnyWrongPlaceOfAnIBANIsFound(t *testing.T) {
	t.Parallel()
	iban := func(c *check.Fields, field, value string) { c.IBAN(field, value) }
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`GB[A-Z]{4}[0-9]{14}`), rapid.StringMatching(`DE[0-9]{18}`),
			rapid.StringMatching(`MT[A-Z]{4}[0-9]{5}[A-Z0-9]{18}`),
			rapid.StringMatching(`NO[0-9]{11}`), rapid.StringMatching(`BR[0-9]{23}[A-Z][A-Z0-9]`)).
			Draw(t, "text")
		country, rest := text[:2], text[2:]
		number := country + fmt.Sprintf("%02d", 98-remainder97(rest+country+"00")) + rest
		if !passes(iban, number) {
			t.Fatalf("%s is refused", number)
		}
		if wrong := mistaken(t, number); passes(iban, wrong) {
			t.Errorf("%s passes like %s", wrong, number)
		}
		if passes(iban, number+"0") || passes(iban, number[:len(number)-1]) {
			t.Errorf("%s passes with another length", number)
		}
	})
}
