// Package changes is how everything in a bank is changed: in one transaction with its audit entry and its
// event, once for each idempotency key, and by two people where the customer's settings ask for a second.
package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables are those of this domain, and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"approvals", "idempotency_keys"},
	Reads: map[string]string{
		"tenant_settings": "who decides is a setting of the bank: tenants come after changes",
		"users":           "a person suspended meanwhile changes nothing: users come after changes",
	},
}

// Service carries out changes and keeps those that wait for a second person.
type Service struct {
	db    *db.DB
	keys  *seal.Keys
	audit *audit.Service
	now   func() time.Time
	known map[string]operation // by name
	gate  gate

	approving, refusing *Operation[decision, UID]
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, record *audit.Service, now func() time.Time) *Service {
	s := &Service{db: d, keys: keys, audit: record, now: now, known: map[string]operation{}}
	s.declare()
	return s
}

// Operations are the names of all that can be done to the bank.
func (s *Service) Operations() []string { return slices.Sorted(maps.Keys(s.known)) }

// RequestOptions are what a caller says about a change beside the change itself.
type RequestOptions struct {
	IdempotencyKey string // '' for none; 1 to 255 printable characters
	Version        int32  // of the object as the caller saw it; 0: whatever it is now
	Reason         string // why, for the record
}

// Target is what a change is about.
type Target struct {
	Customer int64  `json:"customer,omitempty"` // whose it is
	UID      string `json:"uid,omitempty"`      // '' for what is yet to be made
}

// Receipt is what there is to know about a change that was carried out, beside its result.
type Receipt struct {
	Replayed bool  // the same key came before; nothing happened this time
	Approval int64 // the number of the request that waits for a second person; 0: none does
	Version  int32 // of the object afterwards; 0 where it has none
}

// Outcome is the result of a change.
type Outcome[R any] struct {
	Result R
	Receipt
}

// Operation is one thing that can be done to the bank: its domain declares it once. D is what is asked for,
// R what is answered; both are kept as JSON, D sealed.
type Operation[D, R any] struct {
	operationName
	service *Service
	work    func(ctx context.Context, tx *Tx, at Target, draft D) (R, error)
}

type operationName struct {
	name   string // its GraphQL name: addSignatory
	object string // the kind of thing: signatory
	needs  access.Permission
}

// operation is what an approval needs of one, whatever it asks for and answers.
type operation interface {
	named() operationName
	again(ctx context.Context, tx *Tx, at Target, draft []byte) error
	settled(ctx context.Context, tx *Tx, at Target, approved bool) error
}

// Declare makes an operation known: its GraphQL name, the kind of object that it changes, the permission that
// it needs and a second person too, and the work. The work may run several times, and once more when a second
// person approves it.
func Declare[D, R any](s *Service, name, object string, needs access.Permission,
	work func(ctx context.Context, tx *Tx, at Target, draft D) (R, error),
) *Operation[D, R] {
	o := &Operation[D, R]{operationName: operationName{name, object, needs}, service: s, work: work}
	s.known[name] = changing[D, R]{o}
	return o
}

// Require is the first thing that the method of an operation asks: whether the caller has its permission. Of
// is the object that is to be changed; ” for what is yet to be made.
func (o *Operation[D, R]) Require(ctx context.Context, of string) (access.Caller, error) {
	return access.RequireTo(ctx, access.Attempt{Action: o.name, Object: o.object, UID: of}, o.needs)
}

// Settle says, for an operation that makes something, what becomes of it when a second person has decided:
// the work itself is done by then. Approved is what the second person saw: settle compares the version
// (Tx.CheckVersion).
func (o *Operation[D, R]) Settle(
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error,
) *Operation[D, R] {
	o.service.known[o.name] = making[D, R]{changing[D, R]{o}, settle}
	return o
}

type changing[D, R any] struct{ *Operation[D, R] }

func (o changing[D, R]) named() operationName { return o.operationName }

func (o changing[D, R]) again(ctx context.Context, tx *Tx, at Target, text []byte) error {
	var draft D
	if err := json.Unmarshal(text, &draft); err != nil {
		return fmt.Errorf("read the draft of %s: %w", o.name, err)
	}
	_, err := o.work(ctx, tx, at, draft)
	return err
}

func (o changing[D, R]) settled(context.Context, *Tx, Target, bool) error { return nil }

type making[D, R any] struct {
	changing[D, R]
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error
}

func (o making[D, R]) settled(ctx context.Context, tx *Tx, at Target, approved bool) error {
	return o.settle(ctx, tx, at, approved)
}

// Tx is the transaction of one change.
type Tx struct {
	bun.Tx
	Caller  access.Caller
	Now     time.Time // the bank's clock
	Options RequestOptions

	service  *Service
	name     operationName
	at       Target
	draft    []byte
	approved bool // a second person has agreed
	receipt  Receipt
}

// NewRaw is a statement whose values are bound, numbers too: db.Raw.
func (tx *Tx) NewRaw(text string, values ...any) *bun.RawQuery { return db.Raw(tx.Tx, text, values...) }

// Change is what was done to one object.
type Change struct {
	Action   string // by its GraphQL name; the operation's own where empty
	Object   string // the kind of thing; the operation's own where empty
	UID      fmt.Stringer
	Customer int64 // whose it is
	Version  int32 // of the object afterwards
	Before   any   // the row as it was; nil for one that was made
	After    any   // the row as it is; nil for one that is gone
}

// Record writes the audit entry, with only the fields that differ, and the event of what was just done.
func (tx *Tx) Record(ctx context.Context, done Change) error {
	before, after := audit.Diff(done.Before, done.After)
	tx.receipt.Version = done.Version
	action, object := tx.name.name, tx.name.object
	if done.Action != "" {
		action = done.Action
	}
	if done.Object != "" {
		object = done.Object
	}
	entry := audit.Entry{
		Action: action, Decision: audit.Done, Object: object, UID: done.UID.String(), Customer: &done.Customer,
		Before: before, After: after, Reason: tx.Options.Reason,
	}.By(tx.Caller)
	return events.RecordTx(ctx, tx.Tx, entry, events.Event{
		Tenant: tx.Caller.Tenant, Kind: action, Object: object, UID: done.UID.String(), Customer: &done.Customer,
		Version: done.Version,
	})
}

// CheckVersion compares the version that the caller saw with the one that there is. Call it with the row
// locked.
func (tx *Tx) CheckVersion(version int32) error {
	if tx.Options.Version != 0 && tx.Options.Version != version {
		return ErrStale
	}
	tx.receipt.Version = version
	return nil
}

var (
	// ErrStale is an object that somebody else has changed since the caller saw it.
	ErrStale = fault.New(fault.Conflict, "version.stale",
		"somebody else has changed it in the meantime: read it again")
	// ErrUnknown is a change of which nobody knows whether it was made.
	ErrUnknown = fault.New(fault.Unavailable, "change.unknown_outcome",
		"the connection was lost while the change was made: look whether it was; with an idempotency key it could be repeated safely")
	// ErrRefusals is a refusal too many: nothing was done, and the key does not remember it.
	ErrRefusals = fault.New(fault.TooMany, "change.refusals",
		"too many changes of this API key were refused: repeat it in a minute")
	// ErrRepeat is such a change that has an idempotency key.
	ErrRepeat = fault.New(fault.Unavailable, "change.repeat",
		"the connection was lost while the change was made: repeat it with the same idempotency key to learn whether it was")
)
