package check_test

import (
	"errors"
	"strings"
	"testing"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/postal"
)

func TestAnAddressNamesWhatItLacks(t *testing.T) {
	t.Parallel()
	c := check.Of("customer")
	c.Address("legalAddress",
		postal.Address{Line2: "back\nyard", State: strings.Repeat("x", 256), CountryCode: "ZZ"},
		"addressLine1", "city", "postalCode", "countryCode")
	var all fault.Faults
	errors.As(c.Err(), &all)
	got := ""
	for _, f := range all {
		got += f.Field + " " + string(f.Problem) + "\n"
	}
	want := `legalAddress.addressLine1 REQUIRED
legalAddress.addressLine2 INVALID
legalAddress.city REQUIRED
legalAddress.state MAX
legalAddress.postalCode REQUIRED
legalAddress.countryCode INVALID
`
	if got != want {
		t.Error(got)
	}
	c = check.Of("customer")
	if c.Address("mailingAddress", postal.Address{}); c.Err() != nil {
		t.Error(c.Err())
	}
}

func TestAnAddressIsStoredWithItsCountry(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ code, country, wantCode, wantCountry, blamed string }{
		{"usa", "", "US", "United States", ""},
		{"US", "United States of America", "US", "United States", ""},
		{"KR", "Republic of Korea (South)", "KR", "South Korea", ""},
		{"", "germany", "DE", "Germany", ""},
		{"", "", "", "", ""},
		{"DE", "France", "DE", "Germany", "a.country"},
		{"", "Atlantis", "", "", "a.country"},
		{"QQ", "France", "", "", "a.countryCode"},
	} {
		c := check.Of("customer")
		got := c.Address("a", postal.Address{City: "X", CountryCode: of.code, Country: of.country})
		blamed := ""
		if f, ok := fault.Of(c.Err()); ok {
			blamed = f.Field
		}
		if got.CountryCode != of.wantCode || got.Country != of.wantCountry || got.City != "X" ||
			blamed != of.blamed {
			t.Errorf("%+v: %+v %s", of, got, blamed)
		}
	}
}
