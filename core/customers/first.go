package customers

import (
	"context"

	"github.com/uptrace/bun"
)

// AddFirstTx adds the customer that represents a new bank itself, the legal entity of its own API keys and
// staff. If self.UID is 0, it gets the next number.
func AddFirstTx(ctx context.Context, tx bun.Tx, self Customer) (UID, error) {
	var number any = self.UID
	if self.UID == 0 {
		number = bun.Safe("DEFAULT")
	}
	err := tx.NewRaw(
		`INSERT INTO customers (tenant, uid, legal_name, short_name, type, relationship_type, status, created_at,
			updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING uid`,
		self.Tenant, number, self.LegalName, self.ShortName, ProcessingOrg, RelationSelf, Active,
		self.CreatedAt, self.CreatedAt).Scan(ctx, &self.UID)
	if err == nil {
		_, err = tx.ExecContext(ctx,
			`INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, 0, 0, 1)`, self.Tenant)
	}
	return self.UID, err
}
