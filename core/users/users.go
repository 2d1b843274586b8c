package users

import (
	"context"
	"strings"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Service keeps the users of every bank.
type Service struct{ db *db.DB }

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

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
