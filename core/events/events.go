package events

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"events", "events_purged"},
	Reads: map[string]string{
		"audit_restores": "where the feed goes on after a restore",
		"audit_seals":    "events come in the order of the seals of their entries",
	},
}

// Service reads and purges the feed.
type Service struct{ db *db.DB }

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

// RecordTx writes an audit entry and its event, which share a number. The caller holds the lock of the
// object's row, so the events of one object are in order.
func RecordTx(ctx context.Context, tx bun.IDB, entry audit.Entry, event Event) error {
	if err := audit.WriteTx(ctx, tx, entry); err != nil {
		return err
	}
	// The event's column entry is the number of the session's last audit entry.
	err := db.AtCommit(ctx, tx,
		db.Raw(tx, `INSERT INTO events (tenant, kind, object, uid, customer, version) VALUES (?, ?, ?, ?, ?, ?)`,
			event.Tenant, event.Kind, event.Object, event.UID, event.Customer, event.Version))
	if err != nil {
		return fmt.Errorf("emit %s: %w", event.Kind, err)
	}
	return nil
}

// Recorded is a change as the record and the feed have it.
type Recorded struct {
	Entry audit.Entry
	Event *Event // nil: only the record has it, as a refusal
}

// RecordAllTx is RecordTx for many changes, whose entries have their IDs already (audit.TakeIDs).
func RecordAllTx(ctx context.Context, all []Recorded) error {
	entries := make([]*audit.Entry, len(all))
	var feed []*entered
	for i := range all {
		entries[i] = &all[i].Entry
		if all[i].Event != nil {
			feed = append(feed, &entered{*all[i].Event, all[i].Entry.ID})
		}
	}
	if err := audit.WriteAllTx(ctx, entries); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, feed); err != nil {
		return fmt.Errorf("emit %d events: %w", len(feed), err)
	}
	return nil
}

// entered is an event with the entry of its change.
type entered struct {
	Event `bun:",extend"`
	Entry audit.ID `bun:"entry"`
}

// Most is the largest number of events that After returns.
const Most = 1000

// After returns the next events of the caller's bank after a place, in the order of the bank's record, and so
// of one object in the order in which they happened. Each event has its place, for the next call: a reader
// that stores the place together with its own work misses none. Only workers read the feed, and they decide
// who may see which event.
//
// An event appears in the feed once its change has a number in the record; changes that commit later never
// get a lower one. A cursor survives a restore: one of an earlier epoch continues after the last entry that
// the restore brought along.
func (s *Service) After(ctx context.Context, cursor Cursor, limit int) ([]Placed, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > Most {
		return nil, fault.Field("list", "limit", fault.Malformed, fmt.Sprintf("must be 1 to %d", Most))
	}
	var events []Placed
	err = s.db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		func(ctx context.Context, tx bun.Tx) error {
			at, err := resume(ctx, tx, caller.Tenant, cursor)
			if err != nil {
				return err
			}
			err = db.Raw(tx, `SELECT v.tenant, v.id, v.at, v.kind, v.object, v.uid, v.customer, v.version, s.seq
			FROM audit_seals AS s JOIN events AS v ON v.tenant = s.tenant AND v.entry = s.entry
			WHERE s.tenant = ?0 AND v.tenant = ?0 AND s.seq > ?1 ORDER BY s.seq LIMIT ?2`,
				caller.Tenant, at.Seq, limit).Scan(ctx, &events)
			for i := range events {
				events[i].Cursor = Cursor{Epoch: at.Epoch, Seq: events[i].Seq}
			}
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read events after %s: %w", cursor, err)
	}
	return events, nil
}

// window is how many entries of the record one call of KindTx looks at, whether they are of the kind or not.
const window = 5000

// KindTx returns the next events of one kind of object after a place in a bank's feed, as After does, and the
// place that was looked up to: further than the last event where others follow it. more reports whether the
// feed goes on there. It joins a transaction, whose owner decides who may see which event.
func KindTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, object string, after Cursor, most int,
) (found []Placed, end Cursor, more bool, err error) {
	at, err := resume(ctx, tx, tenant, after)
	if err != nil {
		return nil, after, false, err
	}
	var last struct {
		Seq  int64 `bun:"seq"`
		Ends int64 `bun:"ends"`
	}
	err = db.Raw(tx, `SELECT coalesce((SELECT max(seq) FROM (SELECT seq FROM audit_seals
		WHERE tenant = ?0 AND seq > ?1
			ORDER BY seq LIMIT ?2) AS w), ?1) AS seq,
		coalesce((SELECT max(seq) FROM audit_seals WHERE tenant = ?0), 0) AS ends`, tenant, at.Seq, window).
		Scan(ctx, &last)
	if err != nil || last.Seq == at.Seq {
		return nil, at, false, err
	}
	err = db.Raw(tx, `SELECT v.tenant, v.id, v.at, v.kind, v.object, v.uid, v.customer, v.version, s.seq
		FROM audit_seals AS s JOIN events AS v ON v.tenant = s.tenant AND v.entry = s.entry
		WHERE s.tenant = ?0 AND v.tenant = ?0 AND s.seq > ?1 AND s.seq <= ?2 AND v.object = ?3 ORDER BY s.seq
		LIMIT ?4`, tenant, at.Seq, last.Seq, object, most).Scan(ctx, &found)
	if len(found) == most {
		last.Seq = found[most-1].Seq
	}
	for i := range found {
		found[i].Cursor = Cursor{Epoch: at.Epoch, Seq: found[i].Seq}
	}
	return found, Cursor{Epoch: at.Epoch, Seq: last.Seq}, last.Seq < last.Ends, err
}

// PlaceTx returns a place in a bank's feed as one of the present epoch.
func PlaceTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, cursor Cursor) (Cursor, error) {
	return resume(ctx, tx, tenant, cursor)
}

// LastTx returns the last number of a bank's record.
func LastTx(ctx context.Context, tx bun.IDB, tenant access.Tenant) (seq int64, err error) {
	err = db.Raw(tx, `SELECT coalesce(max(seq), 0) FROM audit_seals WHERE tenant = ?`, tenant).Scan(ctx, &seq)
	return seq, err
}

// resume returns where the feed continues after a cursor, in the present epoch.
func resume(ctx context.Context, tx bun.IDB, tenant access.Tenant, cursor Cursor) (Cursor, error) {
	var now struct {
		Epoch  int64 `bun:"epoch"`
		Last   int64 `bun:"last"`   // the last number of the record
		Kept   int64 `bun:"kept"`   // the last number that survived all restores since the cursor's epoch
		Purged int64 `bun:"purged"` // the last number whose event was removed
	}
	err := db.Raw(tx, `SELECT
		coalesce((SELECT max(epoch) FROM audit_restores WHERE tenant = ?0), 1) AS epoch,
		coalesce((SELECT max(seq) FROM audit_seals WHERE tenant = ?0), 0) AS last,
		coalesce((SELECT min(after) FROM audit_restores WHERE tenant = ?0 AND epoch > ?1), ?2) AS kept,
		coalesce((SELECT seq FROM events_purged WHERE tenant = ?0), 0) AS purged`,
		tenant, max(cursor.Epoch, 1), int64(math.MaxInt64)).Scan(ctx, &now)
	if err != nil {
		return Cursor{}, err
	}
	seq := min(cursor.Seq, now.Kept)
	switch {
	case cursor.Epoch > now.Epoch || seq > now.Last:
		return Cursor{}, ErrAhead
	case cursor == (Cursor{}): // before what was removed is nothing but entries to go through
		seq = min(now.Purged, now.Last)
	case seq < now.Purged:
		return Cursor{}, ErrPurged
	}
	return Cursor{Epoch: now.Epoch, Seq: seq}, nil
}

// purgedAtATime bounds the events that one call of Purge reads.
const purgedAtATime = 1000

// Purge removes some events of the caller's bank that are older than the given age, and returns how many.
// Their changes stay in the bank's record.
func (s *Service) Purge(ctx context.Context, olderThan time.Duration) (purged int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		var old []struct {
			ID  int64 `bun:"id"`
			Seq int64 `bun:"seq"`
		}
		err := db.Raw(tx, `SELECT v.id, coalesce(s.seq, 0) AS seq
			FROM (SELECT id, at, entry FROM events WHERE tenant = ?0 ORDER BY id LIMIT ?1) AS v
			LEFT JOIN audit_seals AS s ON s.tenant = ?0 AND s.entry = v.entry
			WHERE v.at < clock_timestamp() - ?2::interval AND (s.seq IS NOT NULL OR v.entry IS NULL)`,
			caller.Tenant, purgedAtATime, olderThan.String()).Scan(ctx, &old)
		if purged = len(old); err != nil || purged == 0 {
			return err
		}
		ids, last := make([]int64, len(old)), int64(0)
		for i := range old {
			ids[i], last = old[i].ID, max(last, old[i].Seq)
		}
		if _, err := db.Raw(tx, `DELETE FROM events WHERE tenant = ? AND id IN ?`, caller.Tenant, bun.Tuple(ids)).
			Exec(ctx); err != nil {
			return err
		}
		_, err = db.Raw(tx, `INSERT INTO events_purged (tenant, seq) VALUES (?, ?)
			ON CONFLICT (tenant) DO UPDATE SET seq = greatest(events_purged.seq, excluded.seq)`, caller.Tenant, last).
			Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", err)
	}
	return purged, nil
}
