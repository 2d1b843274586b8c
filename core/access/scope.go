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

// OfPeople returns a column that says who did something, such as a login, as the caller reads it: the bank's
// own people and programs, as whose tells, the bank alone reads.
func (r Reach) OfPeople(column, whose string) string {
	if r == OfBank {
		return column
	}
	return "CASE WHEN " + whose + " IN ('" + string(OfPartner) + "', '" + string(OfCustomer) +
		"') THEN " + column +
		" ELSE '' END"
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
