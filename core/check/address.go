package check

import (
	"slices"
	"strings"

	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/postal"
)

// Address reads the postal address in a field, of which these fields are required (contract, customers 3.4:
// addressLine1, city, countryCode, and postalCode but in the first generation). No part has more than 255
// characters. It is returned with the country's code of two letters and the name that goes with it; without
// a code the name gives it.
func (c *Fields) Address(object string, a postal.Address, required ...string) postal.Address {
	c = c.In(object)
	parts := []struct{ field, value string }{
		{"addressLine1", a.Line1},
		{"addressLine2", a.Line2},
		{"city", a.City},
		{"state", a.State},
		{"postalCode", a.PostalCode},
		{"countryCode", a.CountryCode},
		{"country", a.Country},
	}
	for _, part := range parts {
		for _, field := range required {
			if field == part.field {
				c.Required(field, part.value)
			}
		}
		c.AtMost(part.field, part.value, 255)
	}
	a.CountryCode, a.Country = c.countryOf(a)
	return a
}

// countryOf goes by the code. Names are written in many ways, so one that is not known beside a code does
// no harm, but one of another country does.
func (c *Fields) countryOf(a postal.Address) (code, name string) {
	if a.CountryCode == "" {
		country := c.CountryName("country", a.Country)
		return country.Code, country.Name
	}
	code = c.Country("countryCode", a.CountryCode)
	country, _ := CountryOf(code)
	named, known := CountryOf(strings.TrimSpace(a.Country))
	if code != "" && known && named != country {
		c.Fail("country", fault.NoMatch, "does not fit the country code")
	}
	return code, country.Name
}

// GivenAddress checks an address that a request may give in part. Of one that is made all required parts must be
// there; one that exists must not lose any. It is left in the form in which it is stored: code and name of the country
// go together, so either brings the other along.
func (c *Fields) GivenAddress(object string, a *given.Address, making bool, required ...string) {
	var whole postal.Address
	a.To(&whole)
	for _, part := range []struct {
		field string
		value given.Text
	}{
		{"addressLine1", a.Line1}, {"city", a.City}, {"state", a.State}, {"postalCode", a.PostalCode}, {"countryCode", a.CountryCode},
	} {
		named := part.field == "countryCode" && a.Country.Value != "" // the name gives the code
		if slices.Contains(required, part.field) && !named {
			c.In(object).Given(part.field, part.value, making)
		}
	}
	stored := c.Address(object, whole)
	if a.CountryCode.Given || a.Country.Given {
		a.CountryCode, a.Country = given.Of(stored.CountryCode), given.Of(stored.Country)
	}
}
