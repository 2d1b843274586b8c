package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{
		"audit_checkpoints", "audit_entries", "audit_former",
		"audit_restores", "audit_seals", "audit_unsealed",
	},
	Reads: map[string]string{
		"tenants": "whether a database was restored is asked of every bank before its services are there",
	},
}

// Service reads, seals and verifies the record.
type Service struct {
	db      *db.DB
	now     func() time.Time
	refused *refusedBefore
}

// New makes the service.
func New(d *db.DB, now func() time.Time) *Service {
	return &Service{db: d, now: now, refused: newRefusedBefore()}
}

// WriteTx writes an entry in the transaction of its change. The entry gets its number in the record when it
// is sealed.
func WriteTx(ctx context.Context, tx bun.IDB, entry Entry) error {
	if entry.Before == nil {
		entry.Before = []byte("{}")
	}
	if entry.After == nil {
		entry.After = []byte("{}")
	}
	if err := db.AtCommit(ctx, tx, tx.NewInsert().Model(&entry).Returning("NULL")); err != nil {
		return fmt.Errorf("write the audit entry of %s: %w", entry.Action, err)
	}
	if err := db.AtCommit(ctx, tx, db.Raw(tx, unsealed, entry.Tenant)); err != nil {
		return fmt.Errorf("leave the audit entry of %s to be sealed: %w", entry.Action, err)
	}
	return nil
}

// WriteAllTx is WriteTx for many entries, which have their IDs (TakeIDs) already.
func WriteAllTx(ctx context.Context, entries []*Entry) error {
	waiting := make([]*entryToSeal, len(entries))
	for i, entry := range entries {
		if entry.Before == nil {
			entry.Before = []byte("{}")
		}
		if entry.After == nil {
			entry.After = []byte("{}")
		}
		waiting[i] = &entryToSeal{Tenant: entry.Tenant, Entry: entry.ID}
	}
	if err := db.InsertAtCommit(ctx, entries); err != nil {
		return fmt.Errorf("write %d audit entries: %w", len(entries), err)
	}
	if err := db.InsertAtCommit(ctx, waiting); err != nil {
		return fmt.Errorf("leave %d audit entries to be sealed: %w", len(entries), err)
	}
	return nil
}

type entryToSeal struct {
	bun.BaseModel `bun:"table:audit_unsealed"`

	Tenant access.Tenant `bun:"tenant,pk"`
	Entry  ID            `bun:"entry,pk"`
}

// TakeIDs takes the numbers of entries that are to be written.
func TakeIDs(b *db.Batch, entries int) *db.Rows[TakenID] {
	return db.Queue(b, takingIDs, entries)
}

// TakenID is the number of an entry that is to be written.
type TakenID struct {
	ID ID `bun:"id"`
}

var takingIDs = db.NewQuery[TakenID](`SELECT nextval('audit_ids') AS id FROM generate_series(1, $1::bigint)`)

// unsealed marks the session's last entry as one that is to be sealed.
const unsealed = `INSERT INTO audit_unsealed (tenant, entry) VALUES (?, currval('audit_ids'))`

// LeaveToBankTx leaves to the bank what was recorded about a customer, up to the transaction's last entry. It
// is called when the customer moves to another partner, which must not read what the former one did.
func LeaveToBankTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, customer int64) error {
	return db.AtCommit(ctx, tx, db.Raw(tx, former, tenant, customer))
}

const former = `INSERT INTO audit_former (tenant, customer, entry) VALUES (?, ?, currval('audit_ids'))
	ON CONFLICT (tenant, customer) DO UPDATE SET entry = excluded.entry`
