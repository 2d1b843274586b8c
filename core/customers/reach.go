package customers

import (
	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// How far a caller sees stands here once: as the condition of every read, and of a row that has been read.

// within limits a query on customers to those that a caller of this reach may see. $2 is Caller.Within.
func within(q *bun.SelectQuery, reach access.Reach) *bun.SelectQuery {
	switch reach {
	case access.OfBank:
		return q.Where("$2 = 0::bigint")
	case access.OfPartner:
		return q.Where("c.owner = $2")
	}
	return q.Where("c.uid = $2")
}

// Within limits a query on what customers have to that of customers that a caller of this reach may see. The table has
// the alias; a partner's text joins the customers as c. $2 is Caller.Within.
func Within(q *bun.SelectQuery, alias string, reach access.Reach) *bun.SelectQuery {
	switch reach {
	case access.OfBank:
		return q.Where("$2 = 0::bigint")
	case access.OfPartner:
		return q.Join("JOIN customers AS c ON c.tenant = " + alias + ".tenant AND c.uid = " + alias + ".customer").Where("c.owner = $2")
	}
	return q.Where(alias + ".customer = $2")
}

// seenBy tells the same of a customer that has been read.
func (c *Customer) seenBy(caller access.Caller) bool {
	switch caller.Reach {
	case access.OfBank:
		return true
	case access.OfPartner:
		return c.Owner == UID(caller.Entity)
	}
	return c.UID == UID(caller.Entity)
}
