package db

import "github.com/uptrace/bun"

// Counting a long list reads all of it. Who can do with "at least so many" says how far to count.

// CountText counts the rows of a query, and no further than the placeholder most says; "" counts all.
func CountText(rows *bun.SelectQuery, most string) string {
	return "SELECT count(*) AS n FROM (" + bounded(rows, most) + ") AS r"
}

// CountEachText is CountText for each of several parents, as a query that ends in p(parent) names them: the
// rows refer to p.parent.
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

// Up is the placeholder of how far to count; "" for no bound, 0.
func (p *Params) Up(most int64) string {
	if most == 0 {
		return ""
	}
	return p.Add(most)
}
