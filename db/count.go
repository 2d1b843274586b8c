package db

import "github.com/uptrace/bun"

// Counting a long list reads all of it. Callers for whom "at least this many" is enough bound the count.

// CountText returns SQL that counts the rows of a query, up to the value of the placeholder most; "" means
// all.
func CountText(rows *bun.SelectQuery, most string) string {
	return "SELECT count(*) AS n FROM (" + bounded(rows, most) + ") AS r"
}

// CountEachText is CountText for each of several parents. parents is a FROM item that ends in an alias with
// columns, such as p(parent), to which rows refers.
func CountEachText(parents string, of string, rows *bun.SelectQuery, most string) string {
	return "SELECT " + of + " AS of, r.n FROM " + parents + " CROSS JOIN LATERAL (" + CountText(rows, most) +
		") AS r"
}

func bounded(rows *bun.SelectQuery, most string) string {
	if most == "" {
		return rows.String()
	}
	return rows.String() + " LIMIT " + most + "::bigint"
}

// Up adds the bound of a count and returns its placeholder; "" if most is 0, for no bound.
func (p *Params) Up(most int64) string {
	if most == 0 {
		return ""
	}
	return p.Add(most)
}
