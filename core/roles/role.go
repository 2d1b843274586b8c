// Package roles keeps what the people of a bank and of its customers may do: roles of applications,
// entitlements and limits, each for the users of one legal entity.
package roles

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

// UID is a role's number in the world: a UUID.
type UID struct{ uuid.UUID }

// ParseUID reads a UUID in its usual form.
func ParseUID(field, text string) (UID, error) {
	uid, err := uuid.Parse(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") {
		return UID{}, fault.Field("role", field, fault.Malformed, "must be the UUID of a role")
	}
	return UID{uid}, nil
}

// Number is the place of a role in lists.
type Number int64

// Status is where a role is in its life.
type Status string

const (
	Active  Status = "Active"
	Pending Status = "Pending" // it waits for a second person and grants nothing
)

// Type says whose people a role is for.
type Type string

const (
	Customer Type = "CUSTOMER"
	Bank     Type = "BANK"
)

// Owner says who made a role.
type Owner string

const (
	OwnerBank     Owner = "Bank"
	OwnerCustomer Owner = "Customer"
)

// Role is a set of rights that users of its legal entity can have (rest/CONTRACT.md, role answers).
type Role struct {
	bun.BaseModel `bun:"table:roles,alias:r" json:"-"`

	Tenant              access.Tenant `bun:"tenant,pk" json:"-"`
	UID                 UID           `bun:"uid,pk,type:uuid" json:"id"`
	Number              Number        `bun:"number" json:"-"`
	Customer            customers.UID `bun:"customer" json:"leId"`
	ExternalReferenceID string        `bun:"external_reference_id" json:"-"`
	Name                string        `bun:"name" json:"name"`
	Description         string        `bun:"description" json:"description"`
	Type                Type          `bun:"type" json:"type"`
	Owner               Owner         `bun:"owner" json:"owner"`
	Status              Status        `bun:"status" json:"status"`
	Applications        []Grant       `bun:"applications,type:jsonb" json:"applications"`
	CreatedAt           time.Time     `bun:"created_at" json:"-"`
	UpdatedAt           time.Time     `bun:"updated_at" json:"-"`
	Version             int32         `bun:"version" json:"-"`
}

// Held is a role as one user has it.
type Held struct {
	Role   `bun:",extend"`
	Holder UID `bun:"holder,scanonly"` // the user's
}

// Grant is one application of a role.
type Grant struct {
	Name         string         `json:"name"`
	Entitlements []string       `json:"entitlements"`
	Limits       []access.Limit `json:"limits,omitempty"`
}

// Has tells whether a role opens an application.
func (r *Role) Has(application string) bool {
	return slices.ContainsFunc(r.Applications, func(g Grant) bool { return g.Name == application })
}

// Limit is what a role allows at most; nil where it sets no bound.
func (r *Role) Limit(application, name string) *access.Limit {
	for _, g := range r.Applications {
		for _, l := range g.Limits {
			if g.Name == application && l.Name == name {
				return &l
			}
		}
	}
	return nil
}

// Permissions are what a role lets its holders do here. A role of a customer's people never reaches what only
// the bank's may, whatever it holds.
func (r *Role) Permissions() (all []access.Permission) {
	for _, g := range r.Applications {
		for _, e := range g.Entitlements {
			if p, is := permission(e); is && (r.Type == Bank || slices.Contains(access.Partners, p)) &&
				!slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// Entitlements are all that a role holds.
func (r *Role) Entitlements() (all []access.Entitlement) {
	for _, g := range r.Applications {
		for _, e := range g.Entitlements {
			all = append(all, access.Entitlement{Application: g.Name, Name: e})
		}
	}
	return all
}

// Beyond tells whether a role holds what the caller may not grant.
func (r *Role) Beyond(caller access.Caller) bool {
	return slices.ContainsFunc(r.Entitlements(), func(e access.Entitlement) bool { return !caller.MayGrant(e) })
}

// Above tells whether a role lets its holders move more than the caller may, in an application that bounds
// the caller.
func (r *Role) Above(caller access.Caller) bool {
	for _, a := range caller.Limits {
		for _, most := range a.Limits {
			if len(r.Moves(a.Name)) > 0 && Looser(r.Limit(a.Name, most.Name), &most) {
				return true
			}
		}
	}
	return false
}

// Frees tells whether a role bounded amounts that it bounds no more, or less, where the caller may not move
// as much: whoever holds it beside others could move more than before.
func (r *Role) Frees(caller access.Caller, was *Role) bool {
	for _, a := range Applications {
		for _, name := range a.Limits {
			now := r.Limit(a.Name, name)
			if !Looser(now, was.Limit(a.Name, name)) {
				continue
			}
			if Looser(now, caller.Limit(a.Name, name)) ||
				!caller.MayGrant(access.Entitlement{Application: a.Name, Name: bounded(a.Name, name)}) {
				return true
			}
		}
	}
	return false
}

// bounded is the entitlement that a limit of an application bounds.
func bounded(application, limit string) string {
	switch {
	case application == "Foreign_Exchange":
		return "Create_Instruct_Trades"
	case strings.Contains(limit, "Approve"):
		return "Approve_Payments"
	}
	return "Initiate_Payments"
}

// Looser tells whether a bound allows more than another; nil bounds nothing.
func Looser(bound, other *access.Limit) bool {
	return other != nil && (bound == nil || bound.Minor > other.Minor)
}

// Moves are the entitlements of an application that let holders do more than look.
func (r *Role) Moves(application string) (all []string) {
	for _, g := range r.Applications {
		for _, e := range g.Entitlements {
			if g.Name == application && !strings.HasPrefix(e, "View_") {
				all = append(all, e)
			}
		}
	}
	return all
}

// Administrator is the role of a new bank's first user: everything. FoundTx gives it its number.
func Administrator(tenant access.Tenant, self customers.UID, at time.Time) *Role {
	return &Role{
		Tenant: tenant, UID: UID{uuid.New()}, Customer: self, Name: "Administrator",
		Description: "Everything in the bank", Type: Bank, Owner: OwnerBank, Status: Active,
		Applications: Everything(Bank), CreatedAt: at, UpdatedAt: at, Version: 1,
	}
}
