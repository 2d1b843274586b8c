package access

import (
	"slices"

	"github.com/google/uuid"

	"bankgraph/core/money"
)

// Limit bounds amounts in an application of the bank, as roles and users carry it. Without one there is no
// bound.
type Limit struct {
	Name     string         `json:"name"` // Daily_Payment_Limits
	Minor    int64          `json:"minor"`
	Currency money.Currency `json:"currency"` // the bank's
}

// Value is the amount.
func (l Limit) Value() money.Amount { return money.Of(l.Minor, l.Currency) }

// ApplicationLimits are the amounts that bound somebody in one application.
type ApplicationLimits struct {
	Name   string  `json:"name"` // Payments
	Limits []Limit `json:"limits"`
}

// Limit is what the caller may handle at most; nil where nothing bounds it: a program's amounts the
// customer's limits bound alone.
func (c Caller) Limit(application, name string) *Limit {
	for _, a := range c.Limits {
		at := slices.IndexFunc(a.Limits, func(l Limit) bool { return l.Name == name })
		if a.Name == application && at >= 0 {
			return &a.Limits[at]
		}
	}
	return nil
}

// Entitlement is one right as roles name it: some are permissions, others open doors of other programs.
type Entitlement struct{ Application, Name string }

// MayGrant tells whether the caller may give an entitlement to others: nobody grants what they do not have.
// Programs have permissions alone, so they grant what is none.
func (c Caller) MayGrant(e Entitlement) bool {
	if p := Permission(e.Name); slices.Contains(All, p) {
		return c.May(p)
	}
	return c.User == uuid.Nil || slices.Contains(c.Holds, e)
}
