package customers

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// A customer names its partner and its parent by short name, and the users who look after it by login id. For
// a partner's caller everything is absent but its own customers and users, and the bank's own people.

// related is what a customer's names lead to, and what else a change needs to read.
type related struct {
	Next UID    // the UID for a new customer
	Bank string // the short name of the bank itself
	Dual bool   // the bank's settings ask for a second person
	kin
	Manager string // the login id as stored; '' if there is none
	Officer string
}

// kin are the customers that a customer names.
type kin struct {
	Partner     UID    `bun:"partner"`      // 0: there is none of this name
	PartnerName string `bun:"partner_name"` // as stored
	PartnerIs   Status `bun:"partner_is"`
	Parent      UID    `bun:"parent"` // 0: there is none of this name
	ParentName  string `bun:"parent_name"`
	ParentOwner UID    `bun:"parent_owner"`
}

// names are the names to look up. A partner's caller that names no partner for a new customer means itself.
type names struct{ partner, parent, manager, officer string }

// relatedTx looks up the names.
func (s *Service) relatedTx(
	ctx context.Context, tx *changes.Tx, by names, making bool,
) (r *related, err error) {
	r = new(related)
	if by.partner != "" || by.parent != "" || making && tx.Caller.Reach != access.OfBank {
		if r.kin, err = s.kinTx(ctx, tx, by, making); err != nil {
			return nil, err
		}
	}
	err = tx.NewRaw(`WITH people AS (
			SELECT u.login_id FROM users AS u WHERE u.tenant = ?0 AND lower(u.login_id COLLATE "C") IN (?2, ?3)
			  AND u.status = 'Active' AND
			  (?1 = 0 OR EXISTS (SELECT FROM customers AS c WHERE c.tenant = ?0 AND c.uid = u.customer
			  	AND (?1 IN (c.owner, c.uid) OR c.relationship_type = 'Self')))
		)
		SELECT CASE WHEN ?4 THEN nextval('customer_uids') ELSE 0 END AS next,
		  coalesce(self.short_name, '') AS bank, coalesce(self.access_customer_dual_approval, false) AS dual,
		  coalesce((SELECT login_id FROM people WHERE lower(login_id COLLATE "C") = ?2), '') AS manager,
		  coalesce((SELECT login_id FROM people WHERE lower(login_id COLLATE "C") = ?3), '') AS officer
		FROM (VALUES (1)) AS one LEFT JOIN customers AS self ON self.tenant = ?0
		AND self.relationship_type = 'Self'`, tx.Caller.Tenant, tx.Caller.ScopeCustomer(), login(by.manager),
		login(by.officer), making).
		Scan(ctx, &r.Next, &r.Bank, &r.Dual, &r.Manager, &r.Officer)
	return r, err
}

// kinTx reads and locks partner and parent. They are found by name first and then locked by UID, because a
// locking read by name would scan every customer of the bank (db.InTx).
func (s *Service) kinTx(ctx context.Context, tx *changes.Tx, by names, making bool) (k kin, err error) {
	turn := db.CustomersTurns.InTurn("uid", true)
	err = tx.NewRaw(`WITH partner AS (
			SELECT uid, short_name, status FROM customers WHERE tenant = ?0 AND type = ?2
			AND uid = (SELECT uid FROM customers WHERE tenant = ?0 AND
			  CASE WHEN ?3 = 0 THEN lower(short_name COLLATE "C") = ?1
			  ELSE uid = ?3 AND (?5 AND ?1 = '' OR lower(short_name COLLATE "C") = ?1) END) AND `+turn+` FOR SHARE
		), parent AS (
			SELECT uid, short_name, owner FROM customers WHERE tenant = ?0 AND (?3 = 0 OR owner = ?3)
			  AND uid = (SELECT uid FROM customers WHERE tenant = ?0 AND lower(short_name COLLATE "C") = ?4)
			  AND `+turn+` FOR SHARE
		)
		SELECT coalesce(partner.uid, 0) AS partner, coalesce(partner.short_name, '') AS partner_name,
		coalesce(partner.status, '') AS partner_is, coalesce(parent.uid, 0) AS parent,
			coalesce(parent.short_name, '') AS parent_name, coalesce(parent.owner, 0) AS parent_owner
		FROM (VALUES (1)) AS one LEFT JOIN partner ON true LEFT JOIN parent ON true`,
		tx.Caller.Tenant, ident.Fold(by.partner), DownstreamPartner, tx.Caller.ScopeCustomer(),
		ident.Fold(by.parent), making).Scan(ctx, &k)
	return k, err
}

// found refuses names that lead to nothing.
func (r *related) found(by names) error {
	c := check.Of("customer")
	for _, one := range []struct{ field, asked, found, message string }{
		{"partnerOrgShortName", by.partner, r.PartnerName, "must be the short name of a Downstream Partner"},
		{"parentEntityShortName", by.parent, r.ParentName, "must be the short name of a customer"},
		{"relationshipManager", by.manager, r.Manager, "must be the login id of an active user"},
		{"originatingOfficer", by.officer, r.Officer, "must be the login id of an active user"},
	} {
		if one.asked != "" && one.found == "" {
			c.Fail(one.field, fault.Unknown, one.message)
		}
	}
	return c.Err()
}

// to writes partner and parent into a customer.
func (r *related) to(c *Customer) {
	c.PartnerOrgShortName, c.ParentEntityShortName, c.Parent = r.PartnerName, r.ParentName, nil
	if r.Parent != 0 {
		c.Parent = &r.Parent
	}
}

// own sets the customer's owner: a partner owns itself; any other customer belongs to the partner that it
// names, or else to its parent's owner. The parent must not belong to another partner.
func (r *related) own(to *Customer) error {
	c := check.Of("customer")
	switch {
	case to.Type == DownstreamPartner:
		to.Owner = to.UID
		if r.Partner != 0 || to.RelationshipType == RelationThirdParty {
			c.Fail("partnerOrgShortName", fault.Forbidden, "a Downstream Partner belongs to no other")
		}
	case r.Partner != 0:
		to.Owner = r.Partner
	default:
		to.Owner = r.ParentOwner
	}
	if to.RelationshipType == RelationThirdParty && to.PartnerOrgShortName == "" {
		c.Fail("partnerOrgShortName", fault.Required, "is required for a third party")
	}
	if r.ParentOwner != 0 && r.ParentOwner != to.Owner {
		c.Fail("parentEntityShortName", fault.NoMatch, "must not belong to another partner")
	}
	return c.Err()
}

// countTx adds to the stored number of customers of an owner.
func countTx(ctx context.Context, tx *changes.Tx, owner, uid UID, by int) error {
	return db.AtCommit(ctx, tx,
		tx.NewRaw(`INSERT INTO customer_counts AS n (tenant, owner, shard, customers) VALUES (?0, ?1, ?2, ?3)
		ON CONFLICT (tenant, owner, shard) DO UPDATE SET customers = n.customers + ?3`,
			tx.Caller.Tenant, owner, uid%4, by))
}

// login returns a login id as it is compared, or, if the text cannot be one, the empty string, which nobody
// has.
func login(text string) string {
	folded, _ := ident.Login(text)
	return folded
}

// same reports whether two short names are equal.
func same(a, b string) bool { return ident.Same(a, b) }
