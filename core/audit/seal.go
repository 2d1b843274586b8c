package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// signEvery is how long the chain's end stays unsigned while it grows.
const signEvery = time.Minute

// Tail is what is to be done about the end of one bank's chain.
type Tail struct {
	Tenant  access.Tenant `bun:"tenant"`
	Code    string        `bun:"code"`
	Waiting float64       `bun:"waiting"` // for how many seconds the oldest entry has waited to be sealed; 0: none does
	Unsaid  bool          `bun:"unsaid"`  // it is time for a checkpoint
}

// Tails are the banks where anything is to be done. Workers ask every second.
func (s *Service) Tails(ctx context.Context) ([]Tail, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	var tails []Tail
	err := s.db.NewRaw(`SELECT t.id AS tenant, t.code, coalesce(u.waiting, 0) AS waiting, h.seq IS NOT NULL AND NOT c.enough AS unsaid
		FROM tenants AS t
		LEFT JOIN LATERAL (SELECT seq, tx, entry FROM audit_seals WHERE tenant = t.id ORDER BY seq DESC LIMIT 1) AS h ON true
		LEFT JOIN LATERAL (
			SELECT greatest(extract(epoch FROM clock_timestamp() - at), 0.001)::float8 AS waiting FROM audit_entries
			WHERE tenant = t.id AND (tx, id) > (coalesce(h.tx, '0'), coalesce(h.entry, 0)) ORDER BY tx, id LIMIT 1) AS u ON true
		CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM audit_checkpoints
			WHERE tenant = t.id AND (seq >= h.seq OR at > clock_timestamp() - ?::interval)) AS enough) AS c
		WHERE u.waiting > 0 OR h.seq IS NOT NULL AND NOT c.enough ORDER BY t.id`, signEvery.String()).Scan(ctx, &tails)
	if err != nil {
		return nil, fmt.Errorf("look for audit entries that wait: %w", err)
	}
	return tails, nil
}

// seal is a row of audit_seals.
type seal struct {
	bun.BaseModel `bun:"table:audit_seals"`

	Tenant access.Tenant `bun:"tenant"`
	Seq    int64         `bun:"seq"`
	Entry  int64         `bun:"entry"`
	Tx     string        `bun:"tx"`
	Hash   Hash          `bun:"hash,type:bytea"`
}

// batch is how many entries are sealed in one transaction.
const batch = 1000

// Seal seals what the caller's bank has written and committed, and returns how many entries that were. Where
// another one is at it, that one does. Each batch is one transaction, so a kill leaves a shorter chain, never a wrong one.
//
// An entry is sealed once every transaction up to its own has ended: only then is its place known, because none can
// come to stand before it (reliability 3.6).
func (s *Service) Seal(ctx context.Context) (sealed int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	for {
		n, err := s.sealSome(ctx, caller.Tenant)
		if sealed += n; err != nil {
			return sealed, fmt.Errorf("seal audit entries of bank %d: %w", caller.Tenant, err)
		}
		if n < batch {
			return sealed, nil
		}
	}
}

func (s *Service) sealSome(ctx context.Context, tenant access.Tenant) (sealed int, err error) {
	err = s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		sealed = 0
		held, err := db.AuditChain.TryTx(ctx, tx, int64(tenant))
		if err != nil || !held {
			return err
		}
		head, err := headOf(ctx, tx, tenant)
		if err != nil {
			return err
		}
		var entries []Text
		err = tx.NewRaw(`SELECT `+texts+` FROM audit_entries AS e
			WHERE e.tenant = ?0 AND (e.tx, e.id) > (?1::xid8, ?2) AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
			ORDER BY e.tx, e.id LIMIT ?3`, tenant, head.Tx, head.Entry, batch).Scan(ctx, &entries)
		if err != nil || len(entries) == 0 {
			return err
		}
		seals := make([]seal, len(entries))
		end := chain{seq: head.Seq, hash: [32]byte(head.Hash)}
		for i := range entries {
			end.add(&entries[i])
			hash := end.hash
			seals[i] = seal{Tenant: tenant, Seq: end.seq, Entry: entries[i].ID, Tx: entries[i].Tx, Hash: hash[:]}
		}
		sealed = len(seals)
		_, err = tx.NewInsert().Model(&seals).Returning("NULL").Exec(ctx)
		return err
	})
	return sealed, err
}

// headOf is the last seal of a bank; before the first one, a place before everything.
func headOf(ctx context.Context, tx bun.IDB, tenant access.Tenant) (seal, error) {
	head := seal{Tx: "0", Hash: make(Hash, 32)}
	err := tx.NewRaw(`SELECT seq, entry, tx::text AS tx, hash FROM audit_seals WHERE tenant = ? ORDER BY seq DESC LIMIT 1`, tenant).Scan(ctx, &head)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return head, err
}
