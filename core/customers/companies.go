package customers

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// CompanyTakenTx reports whether a caller outside the bank gives a customer or an account, which had the
// number was, an ACH company number that another party has, and its own has not yet. Other banks take entries
// under it for that party's. A party is a partner with all its customers, or another customer. What waits for
// the bank counts for nobody, and of the caller's own neither does a customer that was refused. Of two who
// take one number at the same time, the second waits until the first has it.
func CompanyTakenTx(ctx context.Context, tx *changes.Tx, was, number string) (taken bool, err error) {
	if tx.Caller.Reach == access.OfBank || number == "" || number == was {
		return false, nil
	}
	hash := sha256.Sum256(fmt.Appendf(nil, "%d %s", tx.Caller.Tenant, ident.Fold(number)))
	if err := db.WaitTx(ctx, tx, db.CompanyNumbers, [][]byte{hash[:]}); err != nil {
		return false, err
	}
	err = tx.NewRaw(`SELECT coalesce(bool_or(NOT own) AND NOT bool_or(own AND working), false) FROM (
		  SELECT ?1 IN (c.owner, c.uid) AS own, c.status IN (?3) AS working FROM customers AS c
		  WHERE c.tenant = ?0 AND c.ach_company_id = ?2 AND c.ach_company_id <> '' AND c.status <> 'Pending'
		  UNION ALL SELECT ?1 IN (c.owner, c.uid), c.status IN (?3)
		  FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
		  WHERE a.tenant = ?0 AND c.tenant = ?0 AND lower(a.ach_company_id COLLATE "C") = ?2
		    AND a.ach_company_id <> '' AND a.deleted_at IS NULL AND a.status <> 'Pending') AS has`,
		tx.Caller.Tenant, tx.Caller.Entity, ident.Fold(number), bun.List(Working)).Scan(ctx, &taken)
	if err != nil {
		return false, fmt.Errorf("look whose an ACH company number is: %w", err)
	}
	return taken, nil
}
