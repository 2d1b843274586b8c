package access

import "bankgraph/db"

// Tables lists the tables of other domains that are read here (core/README.md, Tables).
var Tables = db.Tables{
	Reads: map[string]string{
		"customers":       "whose a customer is decides who sees what it has: the condition is part of every text",
		"customer_counts": "how many customers a partner has decides how its lists are looked for",
	},
}

// What a caller sees is decided here, in SQL and for rows that have been read. Each reach has a condition of
// its own, in which $1 is the tenant and $2 is Caller.ScopeCustomer.

// Scope returns the SQL condition that a customer is within the reach; customer is an expression such as
// "k.customer". Every list of what customers have includes it, so that nothing depends on an earlier check of
// the customer.
func (r Reach) Scope(customer string) string { return r.scope(customer, "$1", "$2") }

// ScopeTx is Scope for a Bun query. Its arguments are the tenant and Caller.ScopeCustomer.
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

// ScopeOfCustomers is Scope for the customers table itself, under an alias.
func (r Reach) ScopeOfCustomers(alias string) string { return r.scopeOfCustomers(alias, "$1", "$2") }

// ScopeOfCustomersTx is ScopeOfCustomers for a Bun query, with the arguments of ScopeTx.
func (r Reach) ScopeOfCustomersTx(alias string) string { return r.scopeOfCustomers(alias, "?0", "?1") }

func (r Reach) scopeOfCustomers(alias, tenant, within string) string {
	if r == OfPartner {
		return alias + ".owner = " + within + "::bigint"
	}
	return r.scope(alias+".uid", tenant, within)
}

// OfPeople returns a column that says who did something of a customer at a time, such as a login, as the
// caller reads it. The reach of who did it, whose, tells for whom that is to read: the bank alone reads of
// its own people and programs, and of those of a partner once the customer has left it (SinceMove).
func (r Reach) OfPeople(column, whose, customer, at string) string {
	if r == OfBank {
		return column
	}
	return "CASE " + whose + " WHEN '" + string(OfCustomer) + "' THEN " + column + " WHEN '" +
		string(OfPartner) +
		"' THEN " + r.SinceMove(column, customer, at) + " ELSE '' END"
}

// SinceMove returns a column as the caller reads it of what was done of a customer at a time: outside the
// bank, it is empty if the customer has left the partner that it had then.
func (r Reach) SinceMove(column, customer, at string) string {
	if r == OfBank {
		return column
	}
	return "CASE WHEN EXISTS (SELECT FROM customers AS mover WHERE mover.tenant = $1 AND mover.uid = " +
		customer +
		" AND mover.moved_at >= " + at + ") THEN '' ELSE " + column + " END"
}

// Sees reports whether a customer is within the caller's reach; owner is the partner that it belongs to, or
// 0.
func (c Caller) Sees(customer, owner int64) bool {
	switch c.Reach {
	case OfBank:
		return true
	case OfPartner:
		return owner == c.Entity
	}
	return customer == c.Entity
}
