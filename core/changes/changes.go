// Package changes makes every change to a bank's data: in one transaction with its audit entry and its event,
// once for each idempotency key, and with a second person's approval where the settings ask for it.
package changes

import (
	"cmp"
	"context"
	"encoding/json"
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
		"clients":         "what a disabled API key asked for is not approved: clients come after changes",
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
	known map[string]operation // by name
	gate  gate

	approving, refusing *Operation[decision, UID]
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, record *audit.Service, now clock.Now) *Service {
	s := &Service{db: d, keys: keys, audit: record, now: now, known: map[string]operation{}}
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

// Operation is one kind of change, which its domain declares once. D is the draft, R the result; both are
// kept as JSON, D sealed.
type Operation[D, R any] struct {
	operationName
	service *Service
	work    func(ctx context.Context, tx *Tx, at Target, draft D) (R, error)
	lane    *lane[D, R] // nil: each request has a transaction of its own
}

type operationName struct {
	name    string // its GraphQL name: addSignatory
	object  string // the kind of thing: signatory
	needs   access.Permission
	decides access.Permission // what the checker needs
}

// operation is what an approval needs of an Operation, whatever its draft and result.
type operation interface {
	named() operationName
	again(ctx context.Context, tx *Tx, at Target, draft []byte) error
	settled(ctx context.Context, tx *Tx, at Target, approved bool) error
	partly(ctx context.Context, tx *Tx, at Target) (version int32, err error)
}

// Declare registers an operation: its GraphQL name, the kind of object that it changes, the permission that
// maker and checker need, and the work. The work may run several times, and once more when a second person
// approves it.
func Declare[D, R any](s *Service, name, object string, needs access.Permission,
	work func(ctx context.Context, tx *Tx, at Target, draft D) (R, error),
) *Operation[D, R] {
	o := &Operation[D, R]{operationName: operationName{name, object, needs, needs}, service: s, work: work}
	s.known[name] = changing[D, R]{o}
	return o
}

// Require returns the caller if it has the operation's permission; every method of a service calls it first.
// of is the UID of the object to be changed, empty for one that is yet to be created.
func (o *Operation[D, R]) Require(ctx context.Context, of string) (access.Caller, error) {
	return access.RequireTo(ctx, access.Attempt{Action: o.name, Object: o.object, UID: of}, o.needs)
}

// Settle sets what happens to an object that the operation created, once a second person has decided; the
// work is not run again. An approval holds only for the version that the checker saw, so settle must call
// Tx.CheckVersion.
func (o *Operation[D, R]) Settle(
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error,
) *Operation[D, R] {
	o.service.known[o.name] = making[D, R]{changing[D, R]{o}, settle, nil}
	return o
}

// Partly sets what happens to an object that needs two people (Proposal.Approvers), once the first of them has
// agreed: partly returns the object's version from then on. It follows Settle, if the operation has one.
func (o *Operation[D, R]) Partly(
	partly func(ctx context.Context, tx *Tx, at Target) (version int32, err error),
) *Operation[D, R] {
	made, is := o.service.known[o.name].(making[D, R])
	if !is {
		made = making[D, R]{changing[D, R]{o}, changing[D, R]{o}.settled, nil}
	}
	made.agree = partly
	o.service.known[o.name] = made
	return o
}

// DecidedWith sets the permission that the checker needs, if it is another than the maker's.
func (o *Operation[D, R]) DecidedWith(decides access.Permission) *Operation[D, R] {
	o.decides = decides
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

func (o changing[D, R]) partly(context.Context, *Tx, Target) (int32, error) {
	return 0, fmt.Errorf("%s does not need two people", o.name)
}

type making[D, R any] struct {
	changing[D, R]
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error
	agree  func(ctx context.Context, tx *Tx, at Target) (version int32, err error)
}

func (o making[D, R]) partly(ctx context.Context, tx *Tx, at Target) (int32, error) {
	if o.agree == nil {
		return o.changing.partly(ctx, tx, at)
	}
	return o.agree(ctx, tx, at)
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
	approved bool // a second person has approved the change
	receipt  Receipt
	record   func(context.Context, audit.Entry, events.Event) error // nil: events.RecordTx
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
		Action: done.Action, Decision: audit.Done, Object: done.Object, UID: done.UID.String(), Customer: &done.Customer,
		Before: before, After: after, Reason: reason,
	}.By(by)
	return events.Recorded{Entry: entry, Event: &events.Event{
		Tenant: by.Tenant, Kind: done.Action, Object: done.Object, UID: done.UID.String(), Customer: &done.Customer,
		Version: done.Version,
	}}
}

// Record writes the audit entry of a change and its event.
func (tx *Tx) Record(ctx context.Context, done Change) error {
	tx.receipt.Version = done.Version
	done.Action, done.Object = cmp.Or(done.Action, tx.name.name), cmp.Or(done.Object, tx.name.object)
	recorded := done.Recorded(tx.Caller, tx.Options.Reason)
	return tx.enter(ctx, recorded.Entry, *recorded.Event)
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
		"the connection was lost while the change was made: check whether it was; with an idempotency key it could be repeated safely")
	// ErrRefusals is returned when too many changes of a caller were refused. The idempotency key keeps no
	// answer.
	ErrRefusals = fault.New(fault.TooMany, "change.refusals",
		"too many changes of this API key were refused: repeat it in a minute")
	// ErrRepeat is ErrUnknown for a request with an idempotency key.
	ErrRepeat = fault.New(fault.Unavailable, "change.repeat",
		"the connection was lost while the change was made: repeat it with the same idempotency key to learn whether it was")
)
