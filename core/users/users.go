package users

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Service keeps the users of every bank.
type Service struct {
	db      *db.DB
	granted Granted
}

// Granted are the permissions that a user's roles grant.
type Granted func(ctx context.Context, tenant access.Tenant, user uuid.UUID) ([]access.Permission, error)

// New makes the service. Without granted, nobody's roles grant anything.
func New(d *db.DB, granted Granted) *Service {
	if granted == nil {
		granted = func(context.Context, access.Tenant, uuid.UUID) ([]access.Permission, error) { return nil, nil }
	}
	return &Service{db: d, granted: granted}
}

var named = db.NewText[User](`SELECT login_id, first_name, last_name FROM users WHERE tenant = $1 AND lower(login_id) = ANY($2)`)

// Named reads the names of the people with these login ids: a customer's officers are shown by name.
func (s *Service) Named(ctx context.Context, b *db.Batch, logins []string) *db.Many[string, User] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[string, User](err)
	}
	lower := make([]string, len(logins))
	for i, login := range logins {
		lower[i] = strings.ToLower(login)
	}
	return db.QueueMany(b, named, func(u *User) string { return strings.ToLower(u.LoginID) }, caller.Tenant, lower)
}
