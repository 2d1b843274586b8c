// Package users keeps the people of a bank and of its customers.
package users

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// Status is where a user is in its life.
type Status string

const (
	Active    Status = "Active"
	Pending   Status = "Pending"
	Suspended Status = "Suspended"
	Locked    Status = "Locked"
)

// User is one person with a login.
type User struct {
	bun.BaseModel `bun:"table:users,alias:u" json:"-"`

	Tenant       access.Tenant `bun:"tenant,pk" json:"-"`
	UID          uuid.UUID     `bun:"uid,pk,type:uuid" json:"-"`
	Customer     int64         `bun:"customer" json:"-"` // the legal entity that the person belongs to
	LoginID      string        `bun:"login_id" json:"-"`
	FirstName    string        `bun:"first_name" json:"-"`
	LastName     string        `bun:"last_name" json:"-"`
	EmailAddress string        `bun:"email_address" json:"-"`
	Status       Status        `bun:"status" json:"-"`
	CreatedAt    time.Time     `bun:"created_at" json:"-"`
}

// Name is how people read it: first and last name, or the login id without them.
func (u *User) Name() string {
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" {
		return name
	}
	return u.LoginID
}
