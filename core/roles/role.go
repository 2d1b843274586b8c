// Package roles keeps the roles of a bank and of its customers. A role holds applications, entitlements and
// limits, for users of one legal entity.
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

// UID is a role's UUID.
type UID struct{ uuid.UUID }

// ParseUID reads a UUID in its usual form.
func ParseUID(field, text string) (UID, error) {
	uid, err := uuid.Parse(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") {
		return UID{}, fault.Field("role", field, fault.Malformed, "must be the UUID of a role")
	}
	return UID{uid}, nil
}

// Number orders roles in lists.
type Number int64

// Status is the state of a role.
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

// Role is a set of rights for users of its legal entity (rest/CONTRACT.md, role answers).
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

// Held is a role together with a user who has it.
type Held struct {
	Role   `bun:",extend"`
	Holder UID `bun:"holder,scanonly"` // the user's
}

// Grant is one application of a role, with the rights in it.
type Grant struct {
	Name         string         `json:"name"`
	Entitlements []string       `json:"entitlements"`
	Limits       []access.Limit `json:"limits,omitempty"`
}

// Has reports whether the role gives access to an application.
func (r *Role) Has(application string) bool {
	return slices.ContainsFunc(r.Applications, func(g Grant) bool { return g.Name == application })
}

// Limit returns the role's limit; nil if it sets none.
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

// Permissions returns the permissions that the role gives. A role for a customer's people never gives one
// that is for the bank's people only.
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

// Entitlements returns all entitlements of the role.
func (r *Role) Entitlements() (all []access.Entitlement) {
	for _, g := range r.Applications {
		for _, e := range g.Entitlements {
			all = append(all, access.Entitlement{Application: g.Name, Name: e})
		}
	}
	return all
}

// Beyond reports whether the role holds an entitlement that the caller may not grant.
func (r *Role) Beyond(caller access.Caller) bool {
	return slices.ContainsFunc(r.Entitlements(), func(e access.Entitlement) bool { return !caller.MayGrant(e) })
}

// Above reports whether the role lets its holders move more money than the caller may, in an application in
// which the caller has a limit.
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

// Frees reports whether the role raises or drops a limit that was set before, beyond what the caller may
// move: people who also hold other roles could then move more money.
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

// bounded returns the entitlement whose amounts a limit of an application bounds.
func bounded(application, limit string) string {
	switch {
	case application == "Foreign_Exchange":
		return "Create_Instruct_Trades"
	case strings.Contains(limit, "Approve"):
		return "Approve_Payments"
	}
	return "Initiate_Payments"
}

// Looser reports whether a limit allows more than another; nil is no limit.
func Looser(bound, other *access.Limit) bool {
	return other != nil && (bound == nil || bound.Minor > other.Minor)
}

// Moves returns the role's entitlements of an application that do more than view.
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

// Administrator returns the role of a new bank's first user, which holds everything.
func Administrator(tenant access.Tenant, self customers.UID, at time.Time) *Role {
	return &Role{
		Tenant: tenant, UID: UID{uuid.New()}, Customer: self, Name: "Administrator",
		Description: "Everything in the bank", Type: Bank, Owner: OwnerBank, Status: Active,
		Applications: Everything(Bank), CreatedAt: at, UpdatedAt: at, Version: 1,
	}
}
