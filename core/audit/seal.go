package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// signEvery is the time between two checkpoints of a growing chain.
const signEvery = time.Minute

// Tail describes the end of a bank's chain and the entries that wait to be sealed.
type Tail struct {
	Unsealed int64   `bun:"unsealed"` // entries that wait to be sealed; counted up to MostCounted
	Waiting  float64 `bun:"waiting"`  // how many seconds the oldest of them has waited; 0 if none waits
	Unsigned bool    `bun:"unsigned"` // a checkpoint is due
}

// MostCounted bounds the count of entries that wait.
const MostCounted = 100_000

// Tail reads the end of the chain of the caller's bank. A checkpoint with a time in the future, signed while
// the clock was ahead, does not delay the next one.
func (s *Service) Tail(ctx context.Context) (Tail, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return Tail{}, err
	}
	tails, err := db.ReadPrimary(ctx, s.db, readingTail, caller.Tenant, MostCounted, signEvery.Seconds())
	if err != nil {
		return Tail{}, fmt.Errorf("look at the end of the audit chain of bank %d: %w", caller.Tenant, err)
	}
	return *tails[0], nil
}

var readingTail = db.NewQuery[Tail](`SELECT
	(SELECT count(*) FROM (SELECT FROM audit_unsealed WHERE tenant = $1 LIMIT $2) AS u) AS unsealed,
	coalesce((SELECT greatest(extract(epoch FROM clock_timestamp() - e.at), 0.001)::float8
		FROM audit_unsealed AS u JOIN audit_entries AS e ON e.tenant = u.tenant AND e.id = u.entry
		WHERE u.tenant = $1 AND e.tenant = $1 ORDER BY u.entry LIMIT 1), 0) AS waiting,
	h.seq IS NOT NULL AND coalesce(c.seq < h.seq AND c.at NOT BETWEEN clock_timestamp() -
		make_interval(secs => $3) AND clock_timestamp(), true) AS unsigned
	FROM (SELECT max(seq) AS seq FROM audit_seals WHERE tenant = $1) AS h LEFT JOIN LATERAL (
	  SELECT seq, at FROM audit_checkpoints WHERE tenant = $1 ORDER BY seq DESC LIMIT 1) AS c ON true`)

// seal is a row of audit_seals. Its number is the entry's place in the bank's record, which the chain,
// checkpoints and the feed of events use.
type seal struct {
	bun.BaseModel `bun:"table:audit_seals"`

	Tenant access.Tenant `bun:"tenant"`
	Seq    int64         `bun:"seq"`
	Entry  int64         `bun:"entry"`
	Hash   []byte        `bun:"hash"`
}

// batch is how many entries are sealed in one transaction.
const batch = 1000

// Seal numbers and seals the committed entries of the caller's bank, and returns how many. While another
// worker does so, it does nothing. Each batch is one transaction, so a kill leaves a shorter chain, never a
// wrong one. If the record was moved to another database, Seal returns ErrMoved until Resume has noted that.
//
// Every visible entry without a number gets the next one; an entry that is not visible yet gets a later one.
// So nothing depends on transaction numbers, which start again in a new cluster. Entries of one object come
// in the order of its changes: a change locks the object's row, so the earlier entry becomes visible first,
// or both are visible and the earlier one has the smaller id.
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

// unsealedEntry is an entry that waits to be sealed. It may be sealed already, by a program of the previous
// release, which does not remove it from the waiting ones.
type unsealedEntry struct {
	EntryText `bun:",extend"`
	Sealed    bool `bun:"sealed"`
}

func (s *Service) sealSome(ctx context.Context, tenant access.Tenant) (done int, err error) {
	err = s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		done = 0
		held, err := db.AuditChain.TryTx(ctx, tx, int64(tenant))
		if err != nil || !held {
			return err
		}
		var entries []unsealedEntry
		// Not EXISTS: for it, PostgreSQL may read the seals of all time.
		err = tx.NewRaw(`SELECT `+texts+
			`, (SELECT true FROM audit_seals AS s WHERE s.tenant = ?0 AND s.entry = e.id LIMIT 1) IS NOT NULL AS sealed
			FROM audit_unsealed AS u JOIN audit_entries AS e ON e.tenant = u.tenant AND e.id = u.entry
			WHERE u.tenant = ?0 AND e.tenant = ?0 ORDER BY u.entry LIMIT ?1`, tenant, batch).
			Scan(ctx, &entries)
		if err != nil || len(entries) == 0 {
			return err
		}
		place, err := placeOf(ctx, tx, tenant)
		if err != nil {
			return err
		}
		if place.moved() {
			return ErrMoved
		}
		done = len(entries)
		return sealTx(ctx, tenant, place, entries)
	})
	return done, err
}

// sealTx seals entries under the next numbers.
func sealTx(ctx context.Context, tenant access.Tenant, place place, entries []unsealedEntry) error {
	seals, ids := make([]*seal, 0, len(entries)), make([]int64, len(entries))
	end := chain{seq: place.Seq, hash: [32]byte(place.Hash)}
	for i := range entries {
		ids[i] = entries[i].ID
		if entries[i].Sealed {
			continue
		}
		end.add(&entries[i].EntryText)
		hash := end.hash
		seals = append(seals, &seal{Tenant: tenant, Seq: end.seq, Entry: entries[i].ID, Hash: hash[:]})
	}
	if err := db.InsertAtCommit(ctx, seals); err != nil {
		return err
	}
	return db.ExecAtCommit(ctx,
		`DELETE FROM audit_unsealed WHERE tenant = $1 AND entry = ANY($2::bigint[])`, tenant, ids)
}

// Sweep finds entries of the caller's bank, written within the given time, that neither have a seal nor wait
// for one. It lets them wait, and returns how many it found. A program of the previous release writes such
// entries.
func (s *Service) Sweep(ctx context.Context, within time.Duration) (found int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var missed []struct {
			bun.BaseModel `bun:"table:audit_unsealed"`
			Tenant        access.Tenant `bun:"tenant"`
			Entry         int64         `bun:"entry"`
		}
		err := tx.NewRaw(`SELECT e.tenant, e.id AS entry FROM audit_entries AS e
			WHERE e.tenant = ?0 AND e.at > clock_timestamp() - ?1::interval
			AND NOT EXISTS (SELECT FROM audit_seals AS s WHERE s.tenant = ?0 AND s.entry = e.id)
			AND NOT EXISTS (SELECT FROM audit_unsealed AS u WHERE u.tenant = ?0 AND u.entry = e.id)
			ORDER BY e.id LIMIT ?2`, caller.Tenant, within.String(), batch).Scan(ctx, &missed)
		if found = len(missed); err != nil || found == 0 {
			return err
		}
		_, err = tx.NewInsert().Model(&missed).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("look for audit entries of bank %d that nobody seals: %w", caller.Tenant, err)
	}
	return found, nil
}

// place is the end of a bank's record, and the database that it is in.
type place struct {
	Seq   int64     `bun:"seq"`
	Hash  Hash      `bun:"hash,type:bytea"`
	Epoch int64     `bun:"epoch"`
	Noted string    `bun:"noted"` // the database of the last signature; empty if unknown
	Here  string    `bun:"here"`  // the present database
	Says  bool      `bun:"says"`  // whether the server tells its cluster's system identifier
	Now   time.Time `bun:"now"`   // by the database's clock
}

// moved reports whether the record is in another database than that of its last signature.
func (p place) moved() bool { return p.Noted != "" && p.Here != "" && p.Noted != p.Here }

// placeOf reads the end of a bank's record. Every checkpoint holds the name of its database, so copied rows
// still name the one that they come from.
func placeOf(ctx context.Context, tx bun.IDB, tenant access.Tenant) (place, error) {
	p := place{Epoch: 1}
	err := tx.NewRaw(`SELECT coalesce(s.seq, 0) AS seq, s.hash, `+says+` AS says FROM (SELECT) AS one
		LEFT JOIN LATERAL (SELECT seq, hash FROM audit_seals WHERE tenant = ? ORDER BY seq DESC LIMIT 1) AS s
		ON true`, tenant).Scan(ctx, &p)
	if err != nil {
		return p, err
	}
	if p.Seq == 0 {
		p.Hash = make(Hash, 32)
	}
	err = tx.NewRaw(`SELECT coalesce(r.epoch, 1) AS epoch, `+here(p.Says)+` AS here, clock_timestamp() AS now,
		CASE WHEN r.epoch > coalesce(c.epoch, 0) THEN r.is ELSE coalesce(c.database, '') END AS noted
		FROM (SELECT) AS one
		LEFT JOIN LATERAL (SELECT epoch, "is" FROM audit_restores WHERE tenant = ?0
			ORDER BY epoch DESC LIMIT 1) AS r ON true
		LEFT JOIN LATERAL (SELECT epoch, database FROM audit_checkpoints WHERE tenant = ?0
			ORDER BY seq DESC LIMIT 1) AS c ON true`, tenant).Scan(ctx, &p)
	return p, err
}

// says asks whether the server tells its cluster's system identifier. It is asked first, because PostgreSQL
// checks the right to a function before any condition.
const says = `has_function_privilege('pg_control_system()', 'EXECUTE')`

// here returns the SQL for the name of the database: the cluster's system identifier, if the server tells it,
// its timeline (which a point-in-time recovery or the promotion of a replica changes), and the OIDs of the
// database and of a table (which change when a dump is restored).
func here(says bool) string {
	cluster := "NULL"
	if says {
		cluster = "(SELECT system_identifier::text FROM pg_control_system())"
	}
	return `coalesce(concat_ws('/', ` + cluster + `,
		CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
		(SELECT oid::text FROM pg_database WHERE datname = current_database()),
		'audit_seals'::regclass::oid::text), '')`
}
