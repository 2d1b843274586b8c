package banks

import (
	"context"
	"errors"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/page"
)

// IDType is the kind of number that names a bank in a lookup.
type IDType string

const (
	NID  IDType = "NID"  // a national id of nine digits: in the United States the ABA routing number
	BIC  IDType = "BIC"  // a BIC of 8 or 11 characters
	IBAN IDType = "IBAN" // the number of an account at the bank
)

// Lookup asks for one bank (rest/CONTRACT.md, bank rules).
type Lookup struct {
	ID      string
	Type    string
	Country string // required for an IBAN
}

// Look finds the bank that a lookup asks for. It returns ErrNotFound if the directory does not have it.
func (s *Service) Look(ctx context.Context, asked Lookup) (*Bank, error) {
	if _, err := access.Require(ctx); err != nil {
		return nil, err
	}
	refs, err := asked.Refs()
	if err != nil {
		return nil, err
	}
	bank, err := s.first(ctx, refs...)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrNotFound.On("bankId")
	}
	return bank, err
}

// Refs returns the names by which the bank may be found, the most precise first. The checks have the order of
// the published rules, and only the first fault counts.
func (l Lookup) Refs() ([]Ref, error) {
	c := check.Of("bank")
	c.Required("bankId", l.ID)
	c.Required("bankIdType", l.Type)
	kind := check.OneOf(c, "bankIdType", l.Type, NID, BIC, IBAN)
	if kind == IBAN {
		c.Required("countryCode", l.Country)
	}
	country := ident.Upper(l.Country)
	if len(country) != 2 && country != "" || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		c.Fail("countryCode", fault.Exact, "must be exactly two letters")
	}
	if err := firstOf(c); err != nil {
		return nil, err
	}
	refs, fits := kind.refs(l.ID, country)
	if !fits {
		return nil, fault.Field("bank", "bankId", fault.NoMatch, forms[kind])
	}
	return refs, nil
}

// forms are the rules of each type, as they are told (rest/CONTRACT.md, bank rules).
var forms = map[IDType]string{
	NID: "of the type NID must be nine digits, not all zeros",
	BIC: "of the type BIC must have 8 or 11 letters and digits with an existing country, " +
		"that of countryCode if there is one",
	IBAN: "of the type IBAN must be one of countryCode with right check digits",
}

// refs returns the names of an id of this type; fits is false where the id breaks the rules of its type.
func (t IDType) refs(id, country string) (refs []Ref, fits bool) {
	c := check.Of("bank")
	switch t {
	case NID:
		c.NotAllZeros("id", id)
		c.Digits("id", id)
		if country == "" {
			country = "US"
		}
		return []Ref{National(country, id)}, c.Err() == nil && len(id) == 9
	case BIC:
		code := c.BIC("id", id)
		c.NotAllZeros("id", id)
		return []Ref{Coded(code)}, c.Err() == nil && (country == "" || code[4:6] == country)
	case IBAN:
		return OfIBAN(id, country)
	}
	return nil, false
}

// OfIBAN returns the names of the bank that an IBAN leads to: by the national code in it and, where that is
// the beginning of a BIC, by this. A country, if one is given, must be the IBAN's own.
func OfIBAN(iban, country string) (refs []Ref, valid bool) {
	at, code, valid := check.BankOfIBAN(iban)
	if !valid || country != "" && at != country {
		return nil, false
	}
	refs = []Ref{National(at, code)}
	if len(code) == 4 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		refs = append(refs, Ref(code+at))
	}
	return refs, true
}

// RefsOfIBAN is Lookup.Refs for an IBAN that itself says which country it is of.
func RefsOfIBAN(iban string) ([]Ref, error) {
	return Lookup{ID: iban, Type: string(IBAN), Country: iban[:min(2, len(iban))]}.Refs()
}

// NationalID is a national id with its country.
type NationalID struct {
	CountryCode string
	ID          string
}

// Refs returns the name of the bank with this id.
func (n NationalID) Refs() ([]Ref, error) {
	c := check.Of("bank")
	c.Required("countryCode", n.CountryCode)
	country := c.Country("countryCode", n.CountryCode)
	c.Required("id", n.ID)
	c.Alphanumeric("id", n.ID)
	c.AtMost("id", n.ID, 34)
	return []Ref{National(country, n.ID)}, firstOf(c)
}

// firstOf returns the first fault alone.
func firstOf(c *check.Fields) error {
	if f, ok := fault.Of(c.Err()); ok {
		return f
	}
	return nil
}

// ParseRouting reads a routing number of exactly nine digits, not all zeros. Its check digit is not asked
// for: the directory has no number with a wrong one (rest/CONTRACT.md, bank rules).
func ParseRouting(field, text string) (string, error) {
	c := check.Of("bank")
	c.Required(field, text)
	c.Digits(field, text)
	c.NotAllZeros(field, text)
	if len(text) != 9 {
		c.Fail(field, fault.Exact, "must have exactly 9 digits")
	}
	return text, firstOf(c)
}

// ParseRoutingPrefix reads the first three to nine digits of a routing number.
func ParseRoutingPrefix(field, text string) (string, error) {
	c := check.Of("bank")
	c.Required(field, text)
	c.Digits(field, text)
	if len(text) < 3 || len(text) > 9 {
		c.Fail(field, fault.Exact, "must have 3 to 9 digits")
	}
	return text, firstOf(c)
}

// Routed finds the bank with a routing number, or returns ErrNotFound.
func (s *Service) Routed(ctx context.Context, number string) (*Bank, error) {
	if _, err := access.Require(ctx); err != nil {
		return nil, err
	}
	return s.first(ctx, Routing(number))
}

// MostFound is how many banks a search by the beginning of a routing number finds (rest/CONTRACT.md, bank
// rules).
const MostFound = 100

// Beginning finds the banks whose routing numbers begin so, in the order of the numbers. It returns
// ErrNotFound if there are none.
func (s *Service) Beginning(ctx context.Context, prefix string) ([]*Bank, error) {
	b := s.db.Batch()
	found := s.List(ctx, b, Search{RoutingNumberPrefix: prefix}, all, page.First(MostFound))
	if found.Err != nil && b.Len() == 0 {
		return nil, found.Err
	}
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, ErrNotFound
	}
	return page.Cut(found.Items, page.First(MostFound)).Items, nil
}
