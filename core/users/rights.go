package users

import (
	"context"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/roles"
)

// furnishTx writes a draft into a person, and checks that the caller may grant the resulting rights.
func (s *Service) furnishTx(ctx context.Context, tx *changes.Tx, p *person, draft Draft) error {
	if (draft.RoleNames.Given || draft.Limits.Given) && tx.Caller.Accountable().Person == p.UID.UUID {
		return ErrOwnRights
	}
	was := &person{User: p.User, Roles: p.Roles, roles: p.roles}
	if draft.RoleNames.Given {
		all, err := s.roles.NamedTx(ctx, tx, p.Customer, draft.RoleNames.Value)
		if err != nil {
			return err
		}
		p.take(all)
		uids := make([]roles.UID, len(all))
		for i, r := range all {
			uids[i] = r.UID
		}
		if tx.Approved() && !slices.Equal(uids, draft.Roles) { // another role has a name by now
			return changes.ErrStale
		}
		draft.Roles = uids
		if err := tx.Keep(draft); err != nil {
			return err
		}
		for _, r := range all {
			if !slices.Contains(was.Roles, r.Name) && r.Beyond(tx.Caller) {
				return ErrBeyond
			}
		}
	}
	var in money.Currency
	if err := tx.NewRaw(`SELECT currency FROM tenants WHERE id = ?`, p.Tenant).Scan(ctx, &in); err != nil {
		return err
	}
	if err := draft.to(&p.User, in); err != nil {
		return err
	}
	if !draft.RoleNames.Given && !draft.Limits.Given {
		return nil
	}
	if p.looser(tx.Caller, was) {
		return ErrBeyond
	}
	return p.fit()
}

// looser reports whether a person could move more money than before, and more than the caller may grant.
func (p *person) looser(caller access.Caller, was *person) bool {
	for _, a := range roles.Applications {
		moves := p.moves(a.Name)
		more := !within(moves, was.moves(a.Name))
		grants := !slices.ContainsFunc(moves, func(e string) bool {
			return !caller.MayGrant(access.Entitlement{Application: a.Name, Name: e})
		})
		for _, name := range a.Limits {
			now := smallest(p.Limits, p.roles, a.Name, name)
			if len(moves) == 0 || !more && !roles.Looser(now, smallest(was.Limits, was.roles, a.Name, name)) {
				continue
			}
			if !grants || roles.Looser(now, caller.Limit(a.Name, name)) {
				return true
			}
		}
	}
	return false
}

// beyond reports whether a person holds a right that the caller may not grant, or could move more money.
func (p *person) beyond(caller access.Caller) bool {
	return p.looser(caller, new(person)) ||
		slices.ContainsFunc(p.roles, func(r *roles.Role) bool { return r.Beyond(caller) })
}

// moves returns the person's entitlements of an application that do more than view.
func (p *person) moves(application string) (all []string) {
	for _, r := range p.roles {
		all = append(all, r.Moves(application)...)
	}
	return all
}

// within reports whether all of some are among others.
func within(some, others []string) bool {
	return !slices.ContainsFunc(some, func(word string) bool { return !slices.Contains(others, word) })
}

func (p *person) take(all []*roles.Role) {
	p.roles, p.Roles = all, nil
	for _, r := range all {
		p.Roles = append(p.Roles, r.Name)
	}
}

// fit demands that a person's own limits belong to applications that its roles open, and are not above the
// limits of those (rest/CONTRACT.md, user bodies: must fit the roles).
func (p *person) fit() error {
	for _, a := range p.Limits {
		if !slices.ContainsFunc(p.roles, func(r *roles.Role) bool { return r.Has(a.Name) }) {
			return fault.Field("user", "applicationLimits", fault.NoMatch,
				"must be of applications that the roles open")
		}
		for _, l := range a.Limits {
			if most := smallest(nil, p.roles, a.Name, l.Name); most != nil && l.Minor > most.Minor {
				return fault.Field("user", "applicationLimits", fault.NoMatch,
					"must not be above what the roles allow")
			}
		}
	}
	return nil
}
