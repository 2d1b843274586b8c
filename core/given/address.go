package given

import "bankgraph/core/postal"

// Address is a postal address of which a request may give any part.
type Address struct {
	Line1       Text `json:"addressLine1,omitzero"`
	Line2       Text `json:"addressLine2,omitzero"`
	City        Text `json:"city,omitzero"`
	State       Text `json:"state,omitzero"`
	PostalCode  Text `json:"postalCode,omitzero"`
	CountryCode Text `json:"countryCode,omitzero"`
	Country     Text `json:"country,omitzero"`
}

// To writes the fields that were given.
func (a Address) To(address *postal.Address) {
	a.Line1.To(&address.Line1)
	a.Line2.To(&address.Line2)
	a.City.To(&address.City)
	a.State.To(&address.State)
	a.PostalCode.To(&address.PostalCode)
	a.CountryCode.To(&address.CountryCode)
	a.Country.To(&address.Country)
}

// Gives reports whether a field was given, by its name in requests.
func (a Address) Gives(part string) bool {
	return map[string]Text{
		"addressLine1": a.Line1, "addressLine2": a.Line2, "city": a.City, "state": a.State,
		"postalCode":  a.PostalCode,
		"countryCode": a.CountryCode, "country": a.Country,
	}[part].Given
}
