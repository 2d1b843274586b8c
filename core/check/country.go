package check

import "bankgraph/core/fault"

// Country reads a country's ISO 3166-1 code of two or three letters, in any letter case, and returns the two
// letters (rest/CONTRACT.md, countries: samples have both).
func (c *Fields) Country(field, value string) string {
	country, ok := CountryOf(value)
	ok = ok && len(value) <= 3
	c.demand(ok, field, value, fault.Malformed, "must be an ISO 3166-1 country code of two or three letters")
	return right(c, field, country.Code)
}

// CountryName reads a country's name in English, or its code, and returns the country (rest/CONTRACT.md,
// countries: contactBank.country).
func (c *Fields) CountryName(field, value string) Country {
	country, ok := CountryOf(value)
	c.demand(ok, field, value, fault.Malformed, "must be the name of a country")
	return right(c, field, country)
}
