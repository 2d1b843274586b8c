package customers

import (
	"context"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/db"
)

var (
	// ErrOwns is returned when a partner that has customers is to become another type.
	ErrOwns = fault.New(fault.State, "customer.owns_customers",
		"the partner has customers: give them another partner first").On("customerType")
	// ErrParent is returned when a customer is to change its owner, but is the parent of others.
	ErrParent = fault.New(fault.State, "customer.parent_of_others",
		"the customer is the parent of others, which belong to the same owner: change those first")
)

// Change changes the fields that the draft gives, except the short name, which it ignores. Only the bank may
// change a suspended customer. If the settings of the customer or of the bank ask for dual approval, or the
// change would relax dual approval of anything, it waits for a second person.
func (s *Service) Change(
	ctx context.Context, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	draft.ShortName.Given, draft.ShortName.Value = false, ""
	if err := s.PreferCustomerFault(ctx, uid, draft.check(caller, false, caller.Is(int64(uid)))); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	draft.Oldest = false
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(uid)}, draft, options)
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	// its owner may change, see moveOwnerTx
	if draft.PartnerOrgShortName.Given || draft.ParentEntityShortName.Given {
		if err := tx.LockWaitingOf(ctx, at.Customer); err != nil {
			return Saved{}, err
		}
	}
	return s.modifyTx(ctx, tx, at, s.LockTx, draft.Limits,
		func(was, c *Customer) error { return s.redraftTx(ctx, tx, &draft, was, c) })
}

// modifyTx changes a customer and its limits, or proposes the change.
func (s *Service) modifyTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, hold Hold, ceilings []Ceiling,
	modify func(was, c *Customer) error,
) (Saved, error) {
	l, plan, moved := s.lifecycle(hold), new(LimitPlan), false
	l.Too = plan.too
	l.Write = func(ctx context.Context, tx *changes.Tx, was, c *Customer) error {
		if err := plan.writeTx(ctx, tx); err != nil || c.Owner == was.Owner {
			return err
		}
		moved = true
		return s.moveOwnerTx(ctx, tx, was, c)
	}
	c, err := l.Modify(ctx, tx, at, func(was, c *Customer) error {
		if err := modify(was, c); err != nil {
			return err
		}
		taken, err := CompanyTakenTx(ctx, tx, was.ACHCompanyID, c.ACHCompanyID)
		if err != nil {
			return err
		}
		// on its own people's part, on its prices, and on numbers that another has, the bank decides
		l.Reserved = taken || tx.Caller.Reach != access.OfBank &&
			(c.Access.leavesOut(was.Access) || c.Profile.FXMargin() < was.Profile.FXMargin())
		made, err := s.limits(ctx, tx, c, ceilings, false)
		if err == nil {
			*plan = *made
		}
		return err
	})
	if err == nil && moved { // now that its entry is written
		err = audit.LeaveToBankTx(ctx, tx, c.Tenant, int64(c.UID))
	}
	if err != nil {
		return Saved{}, err
	}
	return saved(c, tx.Waits()), nil
}

// moveOwnerTx makes a customer count among those of its new owner, leaves its approvals to the bank, decided
// ones too, and calls what later domains have added by OnLeaving. What else a move does stands where it
// belongs: the record in modifyTx, officers in keepOfficersTx, who reads of a former partner's people in
// access.SinceMove, and how sweeps and files go on in AskerTx (rest/CONTRACT.md, customers that move).
func (s *Service) moveOwnerTx(ctx context.Context, tx *changes.Tx, was, c *Customer) error {
	if err := tx.LeaveToBank(ctx, int64(c.UID)); err != nil {
		return err
	}
	if err := countTx(ctx, tx, was.Owner, c.UID, -1); err != nil {
		return err
	}
	if err := countTx(ctx, tx, c.Owner, c.UID, 1); err != nil {
		return err
	}
	if was.Owner == 0 || was.Owner == c.UID { // it left nobody: a partner is its own
		return nil
	}
	for _, leave := range s.leaving {
		if err := leave(ctx, tx, c, was.Owner); err != nil {
			return err
		}
	}
	return nil
}

// redraftTx writes the draft into the row of a customer.
func (s *Service) redraftTx(ctx context.Context, tx *changes.Tx, draft *Draft, was, c *Customer) (err error) {
	f := check.Of("customer")
	draft.clearsNothing(f, was)
	draft.to(c)
	if draft.RelationshipType != nil {
		c.RelationshipType = *draft.RelationshipType
	}
	if draft.TaxID = was.TaxID.Kept(f, "taxId", draft.TaxID); f.Err() != nil {
		return f.Err()
	}
	if draft.TaxID.Given {
		c.TaxID = s.keys.Replace(was.TaxID, draft.TaxID.Value, taxIDPlace(c))
	}
	if err := draft.addressesTo(c); err != nil {
		return err
	}
	if draft.AdditionalAttributes != nil {
		c.AdditionalAttributes, err = s.AttributesTx(ctx, tx, c.Tenant, ForCustomers, "additionalAttributes",
			was.AdditionalAttributes, draft.AdditionalAttributes)
		if err != nil {
			return err
		}
	}
	return s.renameTx(ctx, tx, draft, was, c)
}

// renameTx looks up the partner, parent and people that the draft names. The customer's owner may change with
// them.
func (s *Service) renameTx(ctx context.Context, tx *changes.Tx, draft *Draft, was, c *Customer) error {
	by := names{manager: draft.RelationshipManager.Value, officer: draft.OriginatingOfficer.Value}
	partner, parent := c.PartnerOrgShortName, c.ParentEntityShortName
	draft.PartnerOrgShortName.To(&partner)
	draft.ParentEntityShortName.To(&parent)
	if err := mayBecome(tx.Caller, was, c, partner, parent); err != nil {
		return err
	}
	moves := !same(partner, c.PartnerOrgShortName) || !same(parent, c.ParentEntityShortName) ||
		(c.Type == DownstreamPartner) != (was.Type == DownstreamPartner)
	if !moves && by == (names{}) {
		return nil
	}
	if moves {
		by.partner, by.parent = partner, parent
	}
	r, err := s.relatedTx(ctx, tx, by, false)
	if err != nil {
		return err
	}
	if err := r.found(by); err != nil {
		return err
	}
	if draft.RelationshipManager.Given {
		c.RelationshipManager = r.Manager
	}
	if draft.OriginatingOfficer.Given {
		c.OriginatingOfficer = r.Officer
	}
	if !moves {
		return nil
	}
	return s.moveTx(ctx, tx, r, was, c)
}

// mayBecome refuses forbidden changes. The bank's own customer stays that and no other becomes it; only the
// bank makes a customer a Downstream Partner or Processing Org, or takes that away.
func mayBecome(caller access.Caller, was, c *Customer, partner, parent string) error {
	f := check.Of("customer")
	self := was.RelationshipType == RelationSelf
	if self != (c.RelationshipType == RelationSelf) {
		f.Fail("relationshipType", fault.Forbidden, "only the bank itself is Self")
	}
	granted := func(t Type) bool { return t == DownstreamPartner || t == ProcessingOrg }
	if c.Type != was.Type && (self || caller.Reach != access.OfBank && (granted(c.Type) || granted(was.Type))) {
		f.Fail("customerType", fault.Forbidden, "cannot be changed")
	}
	if self && partner+parent != "" {
		f.Fail("parentEntityShortName", fault.Forbidden, "the bank itself belongs to nobody")
	}
	if c.RelationshipType == RelationThirdParty && was.RelationshipType != RelationThirdParty {
		f.Required("partnerOrgShortName", partner)
	}
	return f.Err()
}

// moveTx sets a customer's partner, parent and owner.
func (s *Service) moveTx(ctx context.Context, tx *changes.Tx, r *related, was, c *Customer) error {
	r.to(c)
	if err := r.own(c); err != nil {
		return err
	}
	if tx.Caller.Reach != access.OfBank && c.Owner != was.Owner {
		return fault.Field("customer", "partnerOrgShortName", fault.Forbidden,
			"a partner cannot give its customers away")
	}
	if r.Parent != 0 { // one move at a time: two that do not see each other could form a circle
		if err := db.ParentTree.WaitTx(ctx, tx, int64(c.Tenant)); err != nil {
			return err
		}
	}
	var is struct{ Owns, Parent, Circle bool }
	err := tx.NewRaw(`WITH RECURSIVE up AS (
			SELECT uid, parent FROM customers WHERE tenant = ?0 AND uid = ?2
			UNION SELECT c.uid, c.parent FROM customers AS c JOIN up ON c.tenant = ?0 AND c.uid = up.parent
		)
		SELECT EXISTS (SELECT FROM customers WHERE tenant = ?0 AND owner = ?1 AND uid <> ?1) AS owns,
		  EXISTS (SELECT FROM customers WHERE tenant = ?0 AND parent = ?1 AND owner <> ?3
		    AND (?3 <> 0 OR partner_org_short_name = '' AND type <> ?4)) AS parent,
		  EXISTS (SELECT FROM up WHERE uid = ?1) AS circle`,
		c.Tenant, c.UID, r.Parent, c.Owner, DownstreamPartner).
		Scan(ctx, &is)
	switch {
	case err != nil:
		return err
	case is.Circle:
		return fault.Field("customer", "parentEntityShortName", fault.NoMatch,
			"must not be the customer itself, or below it")
	case is.Owns && was.Type == DownstreamPartner && c.Type != DownstreamPartner:
		return ErrOwns
	case is.Parent && c.Owner != was.Owner:
		return ErrParent
	case c.Owner == was.Owner:
		return nil
	}
	c.MovedAt = &tx.Now
	return s.keepOfficersTx(ctx, tx, c)
}

// keepOfficersTx clears the officers of a customer with a new owner who belong neither to the bank nor to
// that owner: nobody sees another partner's people.
func (s *Service) keepOfficersTx(ctx context.Context, tx *changes.Tx, c *Customer) error {
	manager, officer := login(c.RelationshipManager), login(c.OriginatingOfficer)
	var kept []string
	err := tx.NewRaw(`SELECT lower(u.login_id COLLATE "C") FROM users AS u
		JOIN customers AS c ON c.tenant = u.tenant AND c.uid = u.customer
		WHERE u.tenant = ?0 AND c.tenant = ?0 AND lower(u.login_id COLLATE "C") IN (?1, ?2)
		  AND (c.relationship_type = 'Self' OR ?3 IN (c.owner, c.uid))`, c.Tenant, manager, officer, c.Owner).
		Scan(ctx, &kept)
	if err != nil {
		return err
	}
	if !slices.Contains(kept, manager) {
		c.RelationshipManager = ""
	}
	if !slices.Contains(kept, officer) {
		c.OriginatingOfficer = ""
	}
	return nil
}
