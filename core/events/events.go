package events

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Service reads what happened.
type Service struct{ db *db.DB }

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

// EmitTx writes an event with the change that it tells of.
//
// Who holds an object's row emits its events, so they happen one after the other. Numbers of transactions need not
// come in that order: one that began to write earlier may have waited for the row. The event then takes the number of
// the object's event before it. A number above its own transaction's is safe: nobody reads past it while that runs.
func EmitTx(ctx context.Context, tx bun.IDB, event Event) error {
	err := db.Last(ctx, tx, tx.NewRaw(`INSERT INTO events (tenant, tx, kind, object, uid, customer, version)
		VALUES (?0, greatest(pg_current_xact_id(), (SELECT tx FROM events WHERE tenant = ?0 AND object = ?2 AND uid = ?3 ORDER BY id DESC LIMIT 1)), ?1, ?2, ?3, ?4, ?5)`,
		event.Tenant, event.Kind, event.Object, event.UID, event.Customer, event.Version))
	if err != nil {
		return fmt.Errorf("emit %s: %w", event.Kind, err)
	}
	return nil
}

// Most is how many events After returns at most.
const Most = 1000

// After returns the caller's bank's next events after a place, in the order in which they were committed, those of
// one object in the order in which they happened. Each says where it stands, for the next call: who stores that place
// with what it made of the event misses none. Workers read; who may hear of which event, they decide.
//
// An event is shown once every transaction up to its own has ended: none can then come to stand before it.
func (s *Service) After(ctx context.Context, place Cursor, limit int) ([]Placed, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > Most {
		return nil, fault.Field("list", "limit", fault.Malformed, fmt.Sprintf("must be 1 to %d", Most))
	}
	var events []Placed
	err = s.db.NewRaw(`SELECT v.tenant, v.id, v.at, v.kind, v.object, v.uid, v.customer, v.version, v.tx::text AS cursor_tx, v.id AS cursor_id FROM events AS v
		WHERE v.tenant = ?0 AND (v.tx, v.id) > (?1::text::xid8, ?2) AND v.tx < pg_snapshot_xmin(pg_current_snapshot())
		ORDER BY v.tx, v.id LIMIT ?3`, caller.Tenant, fmt.Sprint(place.Tx), place.ID, limit).Scan(ctx, &events)
	if err != nil {
		return nil, fmt.Errorf("read events after %s: %w", place, err)
	}
	return events, nil
}
