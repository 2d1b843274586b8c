package check

import (
	"slices"
	"strings"

	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/postal"
)

// Address reads the postal address in a field, of which these fields are required (rest/CONTRACT.md,
// addresses: addressLine1, city, countryCode, and postalCode but in the first generation). No part has more
// than 255 characters. It is returned with the country's code of two letters and the name that goes with it;
// without a code the name gives it.
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

// GivenAddress is Address for what a request gives of one. Who gives the country's code or its name has given
// both.
func (c *Fields) GivenAddress(object string, a given.Address, required ...string) given.Address {
	var whole postal.Address
	a.To(&whole)
	whole = c.Address(object, whole, required...)
	if a.CountryCode.Given || a.Country.Given {
		a.CountryCode, a.Country = given.Of(whole.CountryCode), given.Of(whole.Country)
	}
	return a
}

// ChangedAddress is GivenAddress for a change of an address, which must keep these fields: what is given of
// them is not blank.
func (c *Fields) ChangedAddress(object string, a given.Address, kept ...string) given.Address {
	return c.GivenAddress(object, a,
		slices.DeleteFunc(slices.Clone(kept), func(part string) bool { return !a.Gives(part) })...)
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
