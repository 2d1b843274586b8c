package fees

import (
	"strings"

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

// A tier that names the account counts before one that counts for all accounts of the customer. Both are
// looked up for each account by the index fee_tiers_charged, however many tiers other accounts of the
// customer have; that the customer is the account's is compared afterwards. OFFSET keeps the planner from
// beginning with the tiers of the whole bank.
const chargingText = `SELECT a.uid AS account, c.fee_name, c.fee_tier, c.price, c.currency
	FROM (
	  SELECT uid, customer, currency FROM accounts WHERE tenant = $1 AND uid = ANY($2::bigint[])
	  AND deleted_at IS NULL
	  UNION
	  SELECT uid, customer, currency FROM accounts WHERE tenant = $1 AND number_hash = ANY($3::bytea[])
	  AND deleted_at IS NULL
	) AS a CROSS JOIN LATERAL (
	  SELECT f.account, f.id, f.fee_name, f.fee_tier, k.price, k.currency
	  FROM unnest(ARRAY[a.uid, -a.customer]) AS held(by) CROSS JOIN LATERAL (
	    SELECT account, customer, id, application, product, fee_name, fee_tier FROM fee_tiers
	    WHERE tenant = $1 AND coalesce(account, -customer) = held.by AND status = 'Active'
	      AND lower(application COLLATE "C") = 'payments' AND lower(fee_name COLLATE "C") = ANY($4::text[])
	    OFFSET 0
	  ) AS f JOIN fee_catalogue AS k ON lower(k.application COLLATE "C") = lower(f.application COLLATE "C")
	    AND lower(k.product COLLATE "C") = lower(f.product COLLATE "C")
	    AND lower(k.fee_name COLLATE "C") = lower(f.fee_name COLLATE "C")
	    AND lower(k.fee_tier COLLATE "C") = lower(f.fee_tier COLLATE "C")
	    AND k.currency = a.currency
	  WHERE k.tenant = $1 AND f.customer = a.customer
	  OFFSET 0
	) AS c
	ORDER BY c.account NULLS LAST, c.id`

var charging = db.NewQuery[Charge](chargingText)

// ChargesOf reads what kinds of payments cost accounts, which are named by UID or by the hash of their
// number. Only the first charge of an account and a fee name counts (rest/CONTRACT.md, fees of payments).
func ChargesOf(
	b *db.Batch, tenant access.Tenant, of []accounts.UID, numbered [][]byte, feeNames ...string,
) *db.Many[accounts.UID, Charge] {
	names := make([]string, len(feeNames))
	for i, name := range feeNames {
		names[i] = strings.ToLower(name)
	}
	return db.QueueMany(b, charging, func(c *Charge) accounts.UID { return c.Account }, tenant,
		of, numbered, names)
}
