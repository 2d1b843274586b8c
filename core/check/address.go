package check

import (
	"slices"
	"strings"

	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/postal"
)

// Address checks the postal address in the field object, of which the fields in required must be given
// (rest/CONTRACT.md, addresses: addressLine1, city, countryCode, and postalCode but in the first generation).
// No field may have more than 255 characters. It returns the address with the country's code of two letters
// and its name; without a code, the name decides.
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

// GivenAddress is Address for the fields that a request gives. If it gives the country's code or name, both
// count as given.
func (c *Fields) GivenAddress(object string, a given.Address, required ...string) given.Address {
	var whole postal.Address
	a.To(&whole)
	whole = c.Address(object, whole, required...)
	if a.CountryCode.Given || a.Country.Given {
		a.CountryCode, a.Country = given.Of(whole.CountryCode), given.Of(whole.Country)
	}
	return a
}

// ChangedAddress is GivenAddress for a change of an address that must keep the fields in kept: if given, they
// must not be blank.
func (c *Fields) ChangedAddress(object string, a given.Address, kept ...string) given.Address {
	return c.GivenAddress(object, a,
		slices.DeleteFunc(slices.Clone(kept), func(part string) bool { return !a.Gives(part) })...)
}

// countryOf returns the country by its code. Beside a code an unknown name is ignored, as names are written
// in many ways, but the name of another country is a fault.
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
