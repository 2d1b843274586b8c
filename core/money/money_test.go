package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bankgraph/core/money"
)

// currencies have 0, 2 or 3 decimals; XXQ is not in ISO 4217, and counts as 2.
var currencies = rapid.SampledFrom([]money.Currency{"USD", "EUR", "JPY", "KRW", "BHD", "KWD", "XXQ"})

func TestWhatIsPrintedParsesToTheSameAmount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := currencies.Draw(t, "currency")
		most := int64(1e15) - 1 // Parse takes at most 15 integer digits
		want := money.Of(rapid.Int64Range(-most, most).Draw(t, "minor"), in)
		got, err := money.Parse(want.String(), in)
		if err != nil || got != want {
			t.Fatalf("%s became %v (%v)", want, got, err)
		}
	})
}

func TestAPrintedAmountHasExactlyTheCurrencysDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := currencies.Draw(t, "currency")
		minor := rapid.Int64().Draw(t, "minor") // the whole range, as sums are printed too
		text := money.Of(minor, in).String()
		whole, fraction, _ := strings.Cut(text, ".")
		if len(fraction) != in.Digits() || !regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`).MatchString(whole) {
			t.Fatalf("%d of %s prints as %s", minor, in, text)
		}
		value, ok := new(big.Int).SetString(strings.Replace(text, ".", "", 1), 10)
		if !ok || value.Cmp(big.NewInt(minor)) != 0 {
			t.Fatalf("%d of %s prints as %s", minor, in, text)
		}
		if encoded, err := json.Marshal(money.Of(minor, in)); err != nil || string(encoded) != text {
			t.Fatalf("as JSON %s", encoded)
		}
	})
}

func TestParsingTakesNothingButExactDecimals(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("0123456789.-+eE ,_x\x00")), 0, 24, -1).
			Draw(t, "text")
		got, err := money.Parse(text, "USD")
		if err != nil {
			if !errors.Is(err, money.ErrAmount) {
				t.Fatalf("%q: %v is not ErrAmount", text, err)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !shape.MatchString(text) || !ok || want.Cmp(big.NewRat(got.Minor, 100)) != 0 {
			t.Fatalf("%q was read as %s", text, got)
		}
	})
}

func TestAmountsThatAreNotExactAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "-.5", "+1", "--1", "1e2",
		"0x10", "1_000", "1,000", " 1", "1 ", "NaN", "Inf",
		"1.2.3", "1.001", "1.000",
		"１", "1\x00", strings.Repeat("9", 16), "9223372036854775808",
	} {
		if got, err := money.Parse(text, "USD"); !errors.Is(err, money.ErrAmount) {
			t.Errorf("%q was read as %s (%v)", text, got, err)
		}
	}
	if _, err := money.Parse("1.5", "JPY"); err == nil {
		t.Error("a yen has no decimals")
	}
}

func TestEdgesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.00": 0, "-0.01": -1, "00012.5": 12_50, "999999999999999.99": 99_999_999_999_999_999,
		"-999999999999999.99":         -99_999_999_999_999_999,
		strings.Repeat("0", 30) + "7": 7_00,
	} {
		if got, err := money.Parse(text, "USD"); err != nil || got.Minor != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	if got := money.Of(math.MinInt64, "USD").String(); got != "-92233720368547758.08" {
		t.Errorf("the least of all amounts prints as %s", got)
	}
}

func TestACurrencyIsReadInAnyCaseAndOnlyIfItExists(t *testing.T) {
	t.Parallel()
	if got, err := money.ParseCurrency("eur"); err != nil || got != "EUR" {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"", "US", "USDX", "ZZZ", "U$D", "usd ", "u\u017fd"} {
		if _, err := money.ParseCurrency(text); !errors.Is(err, money.ErrCurrency) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
