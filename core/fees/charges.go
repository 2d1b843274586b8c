package fees

import (
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Charge is what one kind of payment costs an account: the price of a tier that its customer holds.
type Charge struct {
	Account  accounts.UID   `bun:"account"`
	FeeName  string         `bun:"fee_name"`
	FeeTier  string         `bun:"fee_tier"`
	Price    int64          `bun:"price"` // minor units
	Currency money.Currency `bun:"currency"`
}

// A tier that names the account counts before one that counts for all accounts of the customer.
var charging = db.NewQuery[Charge](`SELECT a.uid AS account, f.fee_name, f.fee_tier, k.price, k.currency
	FROM accounts AS a
	JOIN fee_tiers AS f ON f.tenant = a.tenant AND f.customer = a.customer AND f.status = 'Active'
	  AND (f.account IS NULL OR f.account = a.uid)
	JOIN fee_catalogue AS k ON k.tenant = f.tenant AND lower(k.application) = lower(f.application)
	  AND lower(k.product) = lower(f.product) AND lower(k.fee_name) = lower(f.fee_name) AND lower(k.fee_tier) = lower(f.fee_tier)
	  AND k.currency = a.currency
	WHERE a.tenant = $1 AND f.tenant = $1 AND k.tenant = $1 AND (a.uid = ANY($2::bigint[]) OR a.number_hash = ANY($3::bytea[]))
	  AND a.deleted_at IS NULL AND lower(f.application) = 'payments' AND lower(f.fee_name) = lower($4::text)
	ORDER BY f.account NULLS LAST, f.id`)

// ChargesOf reads what a kind of payment costs accounts, which are named by UID or by the hash of their
// number. Only the first charge of an account counts (rest/CONTRACT.md, fees of payments).
func ChargesOf(
	b *db.Batch, tenant access.Tenant, of []accounts.UID, numbered [][]byte, feeName string,
) *db.Many[accounts.UID, Charge] {
	return db.QueueMany(b, charging, func(c *Charge) accounts.UID { return c.Account }, tenant, of, numbered, feeName)
}
