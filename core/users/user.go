// Package users keeps the people of a bank and of its customers, and the roles of each, which say what they
// may do.
package users

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/roles"
	"bankgraph/core/states"
)

// UID is a user's UUID.
type UID struct{ uuid.UUID }

// ParseUID reads a UUID in its usual form.
func ParseUID(field, text string) (UID, error) {
	uid, err := uuid.Parse(text)
	if err != nil || len(text) != len("00000000-0000-0000-0000-000000000000") {
		return UID{}, fault.Field("user", field, fault.Malformed, "must be the UUID of a user")
	}
	return UID{uid}, nil
}

// Number orders users in lists.
type Number int64

// Status is the state of a user.
type Status string

const (
	Active    Status = "Active"
	Pending   Status = "Pending"
	Suspended Status = "Suspended"
	Locked    Status = "Locked"
)

// Statuses lists all statuses.
var Statuses = []Status{Active, Pending, Suspended, Locked}

// ParseStatus reads a status without regard to letter case.
func ParseStatus(field, text string) (Status, error) {
	if s, ok := ident.Word(text, Statuses...); ok {
		return s, nil
	}
	return "", fault.Field("user", field, fault.Malformed, "must be one of Active, Pending, Suspended, Locked")
}

// The allowed changes of status (rest/CONTRACT.md, user statuses).
var (
	suspending = states.Step[Status]{
		From: []Status{Active, Pending}, To: Suspended,
		Refused: map[Status]*fault.Fault{Locked: ErrLocked}, Else: ErrSuspended,
	}
	activating = states.Step[Status]{From: []Status{Suspended, Locked, Pending}, To: Active, Else: ErrActive}
)

var (
	// ErrWider is returned to who wants to activate a user whom somebody of wider reach suspended.
	ErrWider = fault.New(fault.Denied, "user.suspended_by_wider",
		"whom the bank suspended the bank alone can activate, and whom a partner suspended, that partner "+
			"or the bank")
	ErrSuspended = fault.New(fault.State, "user.suspended", "the user is suspended already")
	ErrLocked    = fault.New(fault.State, "user.locked", "the user is locked: a locked user cannot be suspended")
	ErrActive    = fault.New(fault.State, "user.active", "the user is active already")
)

// User is one person with a login (rest/CONTRACT.md, user answers).
type User struct {
	bun.BaseModel `bun:"table:users,alias:u" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	UID    UID           `bun:"uid,pk,type:uuid" json:"userId"`
	Number Number        `bun:"number" json:"-"`
	// the legal entity that the person belongs to
	Customer            customers.UID `bun:"customer" json:"-"`
	ExternalReferenceID string        `bun:"external_reference_id" json:"-"`
	LoginID             string        `bun:"login_id" json:"loginId"`
	FirstName           string        `bun:"first_name" json:"firstName"`
	LastName            string        `bun:"last_name" json:"lastName"`
	EmailAddress        string        `bun:"email_address" json:"email"`
	PhoneNumber         string        `bun:"phone_number" json:"phoneNumber"` // E.164
	Mobile              string        `bun:"mobile" json:"-"`                 // E.164
	Department          string        `bun:"department" json:"-"`
	Status              Status        `bun:"status" json:"status"`
	WasActive           bool          `bun:"was_active" json:"-"` // of a Suspended user: it was Active before
	// of who suspended a Suspended user; '' if that is not known
	SuspendedBy access.Reach `bun:"suspended_by" json:"-"`
	// the person's own limits; those of the roles count too
	Limits    []access.ApplicationLimits `bun:"limits,type:jsonb" json:"-"`
	CreatedAt time.Time                  `bun:"created_at" json:"-"`
	UpdatedAt time.Time                  `bun:"updated_at" json:"-"`
	Version   int32                      `bun:"version" json:"-"`
}

// RoleOf is one role that a user has.
type RoleOf struct {
	bun.BaseModel `bun:"table:user_roles,alias:h" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	Customer customers.UID `bun:"customer" json:"-"` // of the user and the role
	User     UID           `bun:"user_uid,pk,type:uuid" json:"-"`
	Role     roles.UID     `bun:"role_uid,pk,type:uuid" json:"-"`
}

// starts reports whether the user has never been Active.
func (u *User) starts() bool { return u.Status == Pending || u.Status == Suspended && !u.WasActive }

// Name returns the first and last name; the login id if there is none.
func (u *User) Name() string {
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" {
		return name
	}
	return u.LoginID
}

// Grant is what a person may do.
type Grant struct {
	Permissions []access.Permission
	// the smallest of the person's own limits and those of its roles
	Limits []access.ApplicationLimits
	Holds  []access.Entitlement
}

// granted combines roles: all their permissions, and the smallest of their limits.
func granted(own []access.ApplicationLimits, all []*roles.Role) (g Grant) {
	for _, r := range all {
		g.Holds = append(g.Holds, r.Entitlements()...)
		for _, p := range r.Permissions() {
			if !slices.Contains(g.Permissions, p) {
				g.Permissions = append(g.Permissions, p)
			}
		}
	}
	g.Limits = bounds(own, all)
	return g
}

// Bounds returns the limits of a person with these roles: the smallest of its own and theirs.
func (u *User) Bounds(held []*roles.Role) []access.ApplicationLimits {
	active := slices.DeleteFunc(slices.Clone(held), func(r *roles.Role) bool { return r.Status != roles.Active })
	return bounds(u.Limits, active)
}

func bounds(own []access.ApplicationLimits, all []*roles.Role) (found []access.ApplicationLimits) {
	for _, a := range roles.Applications {
		one := access.ApplicationLimits{Name: a.Name}
		for _, name := range a.Limits {
			if l := smallest(own, all, a.Name, name); l != nil {
				one.Limits = append(one.Limits, *l)
			}
		}
		if one.Limits != nil {
			found = append(found, one)
		}
	}
	return found
}

// smallest returns the smallest amount that is set for a limit; nil if there is none.
func smallest(
	own []access.ApplicationLimits, all []*roles.Role, application, name string,
) (least *access.Limit) {
	consider := func(l *access.Limit) {
		if l != nil && (least == nil || l.Minor < least.Minor) {
			least = l
		}
	}
	for _, r := range all {
		consider(r.Limit(application, name))
	}
	for _, a := range own {
		for _, l := range a.Limits {
			if a.Name == application && l.Name == name {
				consider(&l)
			}
		}
	}
	return least
}
