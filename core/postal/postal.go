// Package postal has the address type that customers, contacts and banks share.
package postal

// Address is a postal address (rest/CONTRACT.md, addresses).
type Address struct {
	Line1       string `bun:"line1" json:"addressLine1"`
	Line2       string `bun:"line2" json:"addressLine2"`
	City        string `bun:"city" json:"city"`
	State       string `bun:"state" json:"state"`
	PostalCode  string `bun:"postal_code" json:"postalCode"`
	CountryCode string `bun:"country_code" json:"countryCode"` // ISO 3166-1, two letters
	Country     string `bun:"country" json:"country"`          // the country's name
}
