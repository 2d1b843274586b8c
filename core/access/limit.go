package access

import (
	"slices"

	"github.com/google/uuid"

	"bankgraph/core/money"
)

// Limit is the largest amount that a role or user allows in an application of the bank.
type Limit struct {
	Name     string         `json:"name"` // Daily_Payment_Limits
	Minor    int64          `json:"minor"`
	Currency money.Currency `json:"currency"` // the bank's
}

// Value is the amount.
func (l Limit) Value() money.Amount { return money.Of(l.Minor, l.Currency) }

// ApplicationLimits are somebody's limits in one application.
type ApplicationLimits struct {
	Name   string  `json:"name"` // Payments
	Limits []Limit `json:"limits"`
}

// Limit returns the caller's own limit; nil if there is none. Programs have none: only the customer's limits
// bound their amounts.
func (c Caller) Limit(application, name string) *Limit {
	for _, a := range c.Limits {
		at := slices.IndexFunc(a.Limits, func(l Limit) bool { return l.Name == name })
		if a.Name == application && at >= 0 {
			return &a.Limits[at]
		}
	}
	return nil
}

// Entitlement is one right as roles name it. Some are permissions here, others belong to other programs.
type Entitlement struct{ Application, Name string }

// MayGrant reports whether the caller may give an entitlement to others. People grant only what they have.
// Programs grant the permissions that they have, and any entitlement that is no permission here.
func (c Caller) MayGrant(e Entitlement) bool {
	if p := Permission(e.Name); slices.Contains(All, p) {
		return c.May(p)
	}
	return c.User == uuid.Nil || slices.Contains(c.Holds, e)
}
