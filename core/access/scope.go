package access

import "bankgraph/db"

// Tables are what is read of other domains (core/README.md, Tables).
var Tables = db.Tables{
	Reads: map[string]string{
		"customers": "whose a customer is decides who sees what it has: the condition is part of every text",
	},
}

// What a caller sees is decided here, for a row that has been read and for SQL. In SQL the reach is part of
// the text, so that each reach has a plan of its own; $1 is the tenant, and $2 is Caller.ScopeCustomer.

// Scope is the condition that a customer is within the reach: an expression such as "k.customer" says which
// one. Whatever lists what customers have carries it, so that nothing depends on somebody having checked the
// customer before.
func (r Reach) Scope(customer string) string { return r.scope(customer, "$1", "$2") }

// ScopeTx is Scope for a query whose arguments follow: the tenant, and Caller.ScopeCustomer.
func (r Reach) ScopeTx(customer string) string { return r.scope(customer, "?0", "?1") }

func (r Reach) scope(customer, tenant, within string) string {
	switch r {
	case OfBank:
		return within + " = 0::bigint"
	case OfPartner:
		return "EXISTS (SELECT FROM customers AS seen WHERE seen.tenant = " + tenant + " AND seen.uid = " +
			customer +
			" AND seen.owner = " + within + "::bigint)"
	}
	return customer + " = " + within + "::bigint"
}

// ScopeOfCustomers is Scope for customers themselves, in a table with the columns uid and owner.
func (r Reach) ScopeOfCustomers(alias string) string {
	if r == OfPartner {
		return alias + ".owner = $2::bigint"
	}
	return r.Scope(alias + ".uid")
}

// Sees reports whether a customer that belongs to owner (0: to nobody) is within the caller's reach.
func (c Caller) Sees(customer, owner int64) bool {
	switch c.Reach {
	case OfBank:
		return true
	case OfPartner:
		return owner == c.Entity
	}
	return customer == c.Entity
}
