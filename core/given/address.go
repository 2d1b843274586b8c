package given

import "bankgraph/core/postal"

// Address is a postal address that a request may give, in whole or in part.
type Address struct {
	Line1       Text `json:"addressLine1,omitzero"`
	Line2       Text `json:"addressLine2,omitzero"`
	City        Text `json:"city,omitzero"`
	State       Text `json:"state,omitzero"`
	PostalCode  Text `json:"postalCode,omitzero"`
	CountryCode Text `json:"countryCode,omitzero"`
	Country     Text `json:"country,omitzero"`
}

// Given tells whether any part was given.
func (a Address) Given() bool { return a != Address{} }

// To writes the parts that were given.
func (a Address) To(to *postal.Address) {
	a.Line1.To(&to.Line1)
	a.Line2.To(&to.Line2)
	a.City.To(&to.City)
	a.State.To(&to.State)
	a.PostalCode.To(&to.PostalCode)
	a.CountryCode.To(&to.CountryCode)
	a.Country.To(&to.Country)
}
