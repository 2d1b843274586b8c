package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// Actor is a user as a caller, on whose behalf an access token was issued.
type Actor struct {
	UID     uuid.UUID
	LoginID string
	Name    string
	Entity  int64        // the customer that the user belongs to
	Reach   access.Reach // the reach that follows from that customer
	Partner int64        // the partner that the customer belongs to; the bank itself for its own customers
	Grant                // what the user's roles grant
}

// ErrNoActor is returned for a login id, subject or number that no active user has.
var ErrNoActor = fault.New(fault.NotFound, "user.no_actor", "the bank has no active user with this login id")

// ErrUnserved is returned for an active user of a customer that is not active, for which only the bank may
// act.
var ErrUnserved = fault.New(fault.State, "user.unserved",
	"the customer that the user belongs to is not active")

// IsNoActor reports whether err is ErrNoActor or ErrUnserved.
func IsNoActor(err error) bool { return errors.Is(err, ErrNoActor) || errors.Is(err, ErrUnserved) }

// acting reads an active user with what decides its reach. The bank's own customer is unique, and found by an
// index of its own.
const acting = `SELECT u.uid, u.login_id, u.first_name, u.last_name, u.customer, c.relationship_type = 'Self',
		c.owner = c.uid, coalesce(nullif(c.owner, 0), self.uid, 0), c.status = 'Active'
		  OR c.relationship_type = 'Self'
	FROM users AS u JOIN customers AS c ON c.tenant = u.tenant AND c.uid = u.customer
		LEFT JOIN customers AS self ON self.tenant = u.tenant AND self.relationship_type = 'Self'
	WHERE u.tenant = ? AND u.status = 'Active' AND `

// ActorNamed finds the active user with this login id, without regard to letter case, or returns ErrNoActor,
// as it does for any text that cannot be a login id.
func (s *Service) ActorNamed(ctx context.Context, tenant access.Tenant, login string) (*Actor, error) {
	folded, ok := ident.Login(login)
	if !ok {
		return nil, ErrNoActor
	}
	return s.actor(ctx, tenant, s.db.NewRaw(acting+`lower(u.login_id COLLATE "C") = ?`, tenant, folded))
}

// ActorLinked finds the active user to whom staff linked a subject of an issuer, or returns ErrNoActor.
func (s *Service) ActorLinked(ctx context.Context, tenant access.Tenant, link Subject) (*Actor, error) {
	return s.actor(ctx, tenant, s.db.NewRaw(acting+`u.uid = (SELECT user_uid FROM subjects
		WHERE tenant = ? AND url = ? AND audience = ? AND claim = ? AND subject = ?)`,
		tenant, tenant, link.URL, link.Audience, link.Claim, link.Subject))
}

// Actor finds the active user with this UUID, or returns ErrNoActor.
func (s *Service) Actor(ctx context.Context, tenant access.Tenant, user uuid.UUID) (*Actor, error) {
	return s.actor(ctx, tenant, s.db.NewRaw(acting+`u.uid = ?`, tenant, user.String()))
}

func (s *Service) actor(ctx context.Context, tenant access.Tenant, row *bun.RawQuery) (*Actor, error) {
	found, person := new(Actor), new(User)
	var bank, partner, served bool
	err := row.Scan(ctx, &found.UID, &person.LoginID, &person.FirstName, &person.LastName,
		&found.Entity, &bank, &partner, &found.Partner, &served)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoActor
	}
	if err != nil {
		return nil, fmt.Errorf("find the user that a caller speaks for: %w", err)
	}
	if !served {
		return nil, ErrUnserved
	}
	found.LoginID, found.Name = person.LoginID, person.Name()
	switch {
	case bank:
		found.Reach = access.OfBank
	case partner:
		found.Reach = access.OfPartner
	default:
		found.Reach = access.OfCustomer
	}
	if found.Grant, err = s.granted(ctx, tenant, found.UID); err != nil {
		return nil, fmt.Errorf("find what user %s may do: %w", found.UID, err)
	}
	found.Permissions = slices.DeleteFunc(found.Permissions, func(p access.Permission) bool {
		return !slices.Contains(access.All, p) // no user has an operator's permission
	})
	return found, nil
}
