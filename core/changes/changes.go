// Package changes makes every change to a bank's data: in one transaction with its audit entry and its event,
// once for each idempotency key, and with a second person's approval where the settings ask for it.
package changes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/clock"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"approvals", "idempotency_keys"},
	Reads: map[string]string{
		"customers": "whose a customer is decides for whom its open changes count: customers come " +
			"after changes",
		"clients": "what a disabled API key asked for is not approved: clients come after changes",
		"issuers": "what people of a disabled identity provider asked for is not approved: issuers come " +
			"after changes",
		"tenant_settings": "who decides is a setting of the bank: tenants come after changes",
		"users":           "a person suspended meanwhile changes nothing: users come after changes",
	},
}

// Service carries out changes and keeps those that wait for a second person.
type Service struct {
	db    *db.DB
	keys  *seal.Keys
	audit *audit.Service
	now   clock.Now
	known map[string]*operation // by name
	gate  gate

	approving, refusing *Operation[decision, UID]
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, record *audit.Service, now clock.Now) *Service {
	s := &Service{db: d, keys: keys, audit: record, now: now, known: map[string]*operation{}}
	s.declare()
	return s
}

// Operations returns the names of all declared operations, sorted.
func (s *Service) Operations() []string { return slices.Sorted(maps.Keys(s.known)) }

// RequestOptions are what a request says beside the change itself.
type RequestOptions struct {
	IdempotencyKey string // '' for none; 1 to 255 printable characters
	Version        int32  // the object's version that the caller read; 0: any version will do
	Reason         string // for the audit record; at most 255 characters
}

// Target names the object of a change.
type Target struct {
	Customer int64  `json:"customer,omitempty"` // whose it is
	UID      string `json:"uid,omitempty"`      // '' for an object that is yet to be created
}

// Receipt is what an answer says of a change, beside its result.
type Receipt struct {
	Replayed bool  // the answer is the one kept for the idempotency key; nothing was changed this time
	Approval int64 // the UID of the approval that the change waits for; 0 if it does not wait
	Version  int32 // of the object afterwards; 0 if it has none
}

// Outcome is the result of a change.
type Outcome[R any] struct {
	Result R
	Receipt
}

// Tx is the transaction of one change.
type Tx struct {
	bun.Tx
	Caller  access.Caller
	Now     time.Time // the bank's clock
	Options RequestOptions

	operation *operation
	at        Target
	draft     []byte
	approvers int32 // how many people beside who asked have to approve it, where one of them does; else 0
	roomy     bool  // HasRoom has found room for it, of this party
	party     int64
	receipt   Receipt
	record    func(context.Context, audit.Entry, events.Event) error // nil: events.RecordTx
}

// As returns the transaction as that of another operation, by which the change makes something else: the
// record of that, and the approval that it may need, are of that operation.
func As[D, R any](tx *Tx, o *Operation[D, R]) *Tx {
	other := *tx
	other.operation, other.draft, other.receipt = o.is, []byte("{}"), Receipt{}
	return &other
}

// NewRaw makes a statement whose values are all bound, numbers too (db.Raw).
func (tx *Tx) NewRaw(text string, values ...any) *bun.RawQuery { return db.Raw(tx.Tx, text, values...) }

// Change describes what was done to one object.
type Change struct {
	Action   string // by its GraphQL name; if empty, the operation's name
	Object   string // the kind of object; if empty, the operation's
	UID      fmt.Stringer
	Customer int64 // whose it is
	Version  int32 // of the object afterwards
	Before   any   // the row before; nil if it was created
	After    any   // the row afterwards; nil if it was deleted
}

// Recorded returns the change as the record and the feed have it, with only the fields that differ.
func (done Change) Recorded(by access.Caller, reason string) events.Recorded {
	before, after := audit.Diff(done.Before, done.After)
	entry := audit.Entry{
		Action: done.Action, Decision: audit.Done, Object: done.Object, UID: done.UID.String(),
		Customer: &done.Customer, Before: before, After: after, Reason: reason,
	}.By(by)
	return events.Recorded{Entry: entry, Event: &events.Event{
		Tenant: by.Tenant, Kind: done.Action, Object: done.Object, UID: done.UID.String(), Customer: &done.Customer,
		Version: done.Version,
	}}
}

// Record writes the audit entry of a change and its event.
func (tx *Tx) Record(ctx context.Context, done Change) error {
	tx.receipt.Version = done.Version
	done.Action, done.Object = cmp.Or(done.Action, tx.operation.name), cmp.Or(done.Object, tx.operation.object)
	recorded := done.Recorded(tx.Caller, tx.Options.Reason)
	return tx.enter(ctx, recorded.Entry, *recorded.Event)
}

// RecordAll writes the audit entries of changes that are made beside that of the transaction, and their
// events, in one statement for each table.
func (tx *Tx) RecordAll(ctx context.Context, all []Change) error {
	if len(all) == 0 {
		return nil
	}
	b := db.TxBatch(tx.Tx)
	ids := audit.TakeIDs(b, len(all))
	if err := b.Send(ctx); err != nil {
		return err
	}
	record := make([]events.Recorded, len(all))
	for i, done := range all {
		record[i] = done.Recorded(tx.Caller, tx.Options.Reason)
		record[i].Entry.ID = ids.Items[i].ID
	}
	return events.RecordAllTx(ctx, record)
}

// enter writes an audit entry and its event.
func (tx *Tx) enter(ctx context.Context, entry audit.Entry, event events.Event) error {
	if tx.record != nil {
		return tx.record(ctx, entry, event)
	}
	return events.RecordTx(ctx, tx.Tx, entry, event)
}

// CheckVersion returns ErrStale if the request names a version other than the row's present one. Call it with
// the row locked.
func (tx *Tx) CheckVersion(version int32) error {
	if tx.Options.Version != 0 && tx.Options.Version != version {
		return ErrStale
	}
	tx.receipt.Version = version
	return nil
}

var (
	// ErrStale is returned when somebody else has changed the object since the caller read it.
	ErrStale = fault.New(fault.Conflict, "version.stale",
		"somebody else has changed it in the meantime: read it again")
	// ErrUnknown is returned when the connection was lost at COMMIT and the request has no idempotency key:
	// the change may have been made.
	ErrUnknown = fault.New(fault.Unavailable, "change.unknown_outcome",
		"the connection was lost while the change was made: check whether it was; with an idempotency key it "+
			"could be repeated safely")
	// ErrRefusals is returned when too many changes of a caller were refused. The idempotency key keeps no
	// answer.
	ErrRefusals = fault.New(fault.TooMany, "change.refusals",
		"too many changes of this API key were refused: repeat it in a minute")
	// ErrRepeat is ErrUnknown for a request with an idempotency key.
	ErrRepeat = fault.New(fault.Unavailable, "change.repeat",
		"the connection was lost while the change was made: repeat it with the same idempotency "+
			"key to learn whether it was")
)
