package fx

import (
	"bankgraph/core/access"
	"bankgraph/db"
)

// usedBy finds the payment that uses the trade ft of the bank ?0. One that moved nothing uses it no more.
const usedBy = `SELECT FROM payments AS pay WHERE pay.tenant = ?0 AND pay.trade = ft.uid
	AND pay.state NOT IN ('REJECTED', 'INVALID', 'CANCELLED')`

// Used is a trade that a payment uses.
type Used struct {
	UID TradeUID `bun:"trade"`
}

var (
	lookingAtTrades = db.NewQuery[Trade](db.Select[Trade](db.Columns{}, nil).Where("ft.tenant = $1").
			Where("ft.uid = ANY($2::bigint[])").OrderExpr("ft.uid").String())
	lockingTrades = db.NewQuery[Trade](db.Select[Trade](db.Columns{}, nil).Where("ft.tenant = $1").
			Where("ft.uid = ANY($2::bigint[])").OrderExpr("ft.uid").String() + " FOR NO KEY UPDATE")
	findingUsed = db.NewQuery[Used](`SELECT trade FROM payments
		WHERE tenant = $1 AND trade = ANY($2::bigint[])
		AND state NOT IN ('REJECTED', 'INVALID', 'CANCELLED')`)
)

// Lock reads and locks trades by which payments are exchanged, when the batch is sent. Whether a payment uses
// them is for UsedOf, in a later batch.
func Lock(b *db.Batch, tenant access.Tenant, uids []TradeUID) *db.Rows[Trade] {
	return db.Queue(b, lockingTrades, tenant, uids)
}

// Look is Lock for payments that are never made.
func Look(b *db.Batch, tenant access.Tenant, uids []TradeUID) *db.Rows[Trade] {
	return db.Queue(b, lookingAtTrades, tenant, uids)
}

// UsedOf finds which of some trades payments use.
func UsedOf(b *db.Batch, tenant access.Tenant, uids []TradeUID) *db.Rows[Used] {
	return db.Queue(b, findingUsed, tenant, uids)
}
