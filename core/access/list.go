package access

import (
	"slices"
	"strings"

	"bankgraph/db"
)

// List is a list of the whole bank, such as its payments. To go through the bank's rows in their order,
// leaving out what a caller does not see, would let one who sees little make the database read everything for
// an empty page. So for callers outside the bank a page is made of the first rows of each customer that they
// see: it costs no more than what they have. In the text $1 is the tenant and $2 Caller.ScopeCustomer.
type List struct {
	Table, Alias string        // payments, pay
	Key          string        // the column that the list is sorted by: uid
	Of           []string      // for each customer that a row may be of, the condition that it is seen.uid
	Seen         string        // the condition that a row is within the reach
	Where        db.Conditions // what is searched for
	Indexed      string        // more of it, for which there is an index, and one for each customer
	Named        *Named        // nil if the search does not name whose rows it wants
	Most         string        // how many rows are needed; '' for all
	After        string        // the condition that a row comes after the cursor; '' without one
	Newest       bool          // the rows with the highest keys are the first
}

// Named says that a search names whose rows it wants, so that they have an index.
type Named struct {
	Own    string   // the condition that the caller sees who is named; '' if each row is to tell
	Others string   // that it sees somebody beside whom they have rows; '' if it sees none of the rows then
	By     []string // the conditions that an index serves; none if it serves what is searched for as it stands
}

// Conditions returns the conditions of a page.
func (l List) Conditions(r Reach) db.Conditions {
	if r != OfBank && (l.Named == nil || l.Named.Others != "") {
		return db.Conditions{l.First(r)}
	}
	all := l.searched()
	if l.Named != nil {
		all = append(all, l.Named.Own)
	}
	return slices.DeleteFunc(append(all, l.After), func(condition string) bool { return condition == "" })
}

// Page returns the condition that a row is on a page of those that meet conditions. Where a row is shown with
// what is joined to it, that is then read for the rows of the page, and not for all that come before them.
func (l List) Page(meet db.Conditions, limit, offset string) db.Conditions {
	l.After = "" // it is one of the conditions
	return db.Conditions{l.key() + " = ANY(ARRAY(" + l.keys(meet...) + l.order() + " LIMIT " + limit +
		" OFFSET " + offset + "))"}
}

// First returns the condition that a row is one of the first of the list.
func (l List) First(r Reach) string {
	order, with, found := l.order(), "", l.found(r, l.order())
	if l.looksAround(r) {
		with, found = "WITH near AS MATERIALIZED ("+l.near(r)+") ", append(found, "(SELECT key FROM near)")
	}
	return l.key() + " = ANY(ARRAY(" + with + "SELECT key FROM (" + strings.Join(found, " UNION ") + ") AS r" +
		strings.Replace(order, l.key(), "key", 1) + l.limit() + "))"
}

// Count returns SQL that counts the rows, up to Most.
func (l List) Count(r Reach) string {
	return "SELECT count(*) AS n FROM (SELECT key FROM (" +
		strings.Join(l.found(r, ""), " UNION ") + ") AS every" +
		l.limit() + ") AS r"
}

// found returns SQL for each way to the rows.
func (l List) found(r Reach, order string) (ways []string) {
	gate := ""
	switch {
	case r == OfBank || l.Named != nil:
		if ways = l.direct(order); r == OfBank || l.Named.Others == "" {
			return ways
		}
		gate = " WHERE " + l.Named.Others
	case order != "" && l.looksAround(r):
		gate = " WHERE (SELECT count(*) FROM near) < " + l.Most
	}
	limit, all := l.limit(), ""
	if limit == "" {
		limit = " OFFSET 0" // lets no join be made of it
	}
	if order == "" {
		all = l.limit()
	}
	for _, of := range l.Of {
		rows := l.keys(of, l.Indexed, l.unindexed()) + order + limit
		ways = append(ways, "(SELECT one.key FROM "+r.seen()+" CROSS JOIN LATERAL ("+rows+
			") AS one"+gate+all+")")
	}
	return ways
}

// direct returns SQL that finds the rows by what is searched for.
func (l List) direct(order string) (ways []string) {
	own, by := "", []string{""}
	if l.Named != nil {
		own = l.Named.Own
		if len(l.Named.By) > 0 {
			by = l.Named.By
		}
	}
	for _, one := range by {
		ways = append(ways, "("+l.keys(append(l.searched(), own, one)...)+order+l.limit()+")")
	}
	return ways
}

// looksAround reports whether the rows are looked for among the first of the bank, too.
func (l List) looksAround(r Reach) bool { return r == OfPartner && l.Named == nil }

// near returns SQL that finds rows among the first of the bank, as many as the partner has customers: one who
// has a good part of the bank need not ask each of them, and nobody pays for it more than twice.
func (l List) near(r Reach) string {
	around := "(SELECT " + l.Alias + ".* FROM " + l.Table + " AS " + l.Alias +
		l.where(l.Indexed, l.After) + l.order() +
		" LIMIT (SELECT coalesce(sum(n.customers), 0)::bigint FROM customer_counts AS n WHERE n.tenant = $1 AND " +
		r.ScopeOfCustomers("n") + ")) AS " + l.Alias
	return "SELECT " + l.key() + " AS key FROM " + around + l.where(l.searched()...) + l.order() + l.limit()
}

// unindexed returns Where in a form that fits no index: other indexes than that of the customer lead to the
// rows of customers who are not seen.
func (l List) unindexed() string {
	if len(l.Where) == 0 {
		return ""
	}
	return "((" + strings.Join(l.Where, ") AND (") + ")) IS TRUE"
}

func (l List) searched() db.Conditions { return append(db.Conditions{l.Seen, l.Indexed}, l.Where...) }

func (l List) keys(conditions ...string) string {
	return "SELECT " + l.key() + " AS key FROM " + l.Table + " AS " + l.Alias +
		l.where(append(conditions, l.After)...)
}

func (l List) where(conditions ...string) string {
	text := " WHERE " + l.Alias + ".tenant = $1"
	for _, condition := range conditions {
		if condition != "" {
			text += " AND (" + condition + ")"
		}
	}
	return text
}

func (l List) key() string { return l.Alias + "." + l.Key }

func (l List) order() string {
	if l.Newest {
		return " ORDER BY " + l.key() + " DESC"
	}
	return " ORDER BY " + l.key()
}

func (l List) limit() string {
	if l.Most == "" {
		return ""
	}
	return " LIMIT " + l.Most
}

// seen returns a table of the customers within a reach that is not the bank's.
func (r Reach) seen() string {
	if r == OfPartner {
		return "(SELECT c.uid FROM customers AS c WHERE c.tenant = $1 AND " +
			r.ScopeOfCustomers("c") + ") AS seen"
	}
	return "(SELECT $2::bigint AS uid) AS seen"
}
