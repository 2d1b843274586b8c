package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// Operation is one kind of change, which its domain declares once. D is the draft, R the result; both are
// kept as JSON, D sealed.
//
// It has few methods and no parts that know D or R: every package that names a service compiles the methods
// of all its operations anew.
type Operation[D, R any] struct{ is *operation }

// operation is an Operation whatever its draft and result: a draft is a D, a result an R.
type operation struct {
	name    string // in the record: addSignatory, as its mutation but for exceptions and files
	object  string // the kind of thing: signatory
	needs   access.Permission
	decides access.Permission // what the checker needs
	service *Service
	work    func(ctx context.Context, tx *Tx, at Target, draft any) (result any, err error)
	lane    *lane // nil: each request has a transaction of its own

	draft  func(text []byte) (any, error) // reads one
	result func(text []byte) (any, error)
	// what happens to a new object that waited; nil for operations that create none
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error
	agree  func(ctx context.Context, tx *Tx, at Target) (version int32, err error)
	takes  Takes // nil: as many people as when it was asked for
}

// Takes returns how many people beside the maker have to agree to an object that waits, and the least reach
// that they need, by the settings of now.
type Takes func(ctx context.Context, tx *Tx, at Target) (people int32, by access.Reach, err error)

// Declare registers an operation: its GraphQL name, the kind of object that it changes, the permission that
// maker and checker need, and the work. The work may run several times, and once more when a second person
// approves it.
func Declare[D, R any](s *Service, name, object string, needs access.Permission,
	work func(ctx context.Context, tx *Tx, at Target, draft D) (R, error),
) *Operation[D, R] {
	is := &operation{
		name: name, object: object, needs: needs, decides: needs, service: s, draft: parse[D], result: parse[R],
		work: func(ctx context.Context, tx *Tx, at Target, draft any) (any, error) {
			return work(ctx, tx, at, draft.(D))
		},
	}
	s.known[name] = is
	return &Operation[D, R]{is}
}

func parse[T any](text []byte) (any, error) {
	var value T
	err := json.Unmarshal(text, &value)
	return value, err
}

// Require returns the caller if it has the operation's permission; every method of a service calls it first.
// of is the UID of the object to be changed, empty for one that is yet to be created.
func (o *Operation[D, R]) Require(ctx context.Context, of string) (access.Caller, error) {
	return access.RequireTo(ctx, access.Attempt{Action: o.is.name, Object: o.is.object, UID: of}, o.is.needs)
}

// Do carries out a change. The permission and the form of the draft have been checked.
//
// If the work returns a fault, its transaction is rolled back, and the refusal is recorded and kept as the
// answer for the idempotency key. If the connection is lost at COMMIT, Do finds the outcome by the key;
// without a key it returns ErrUnknown.
func (o *Operation[D, R]) Do(
	ctx context.Context, caller access.Caller, at Target, draft D, options RequestOptions,
) (out Outcome[R], err error) {
	result, receipt, err := o.is.do(ctx, caller, at, draft, options)
	out.Receipt = receipt
	out.Result, _ = result.(R) // a refusal has none
	return out, err
}

// Settle sets what happens to an object that the operation created, once a second person has decided; the
// work is not run again. An approval holds only for the version that the checker saw, so settle must call
// Tx.CheckVersion.
func (o *Operation[D, R]) Settle(
	settle func(ctx context.Context, tx *Tx, at Target, approved bool) error,
) *Operation[D, R] {
	o.is.settle = settle
	return o
}

// Partly sets what happens to an object that needs two people (Proposal.Approvers), once the first of them
// has agreed: partly returns the object's version from then on.
func (o *Operation[D, R]) Partly(
	partly func(ctx context.Context, tx *Tx, at Target) (version int32, err error),
) *Operation[D, R] {
	o.is.agree = partly
	return o
}

// ByNow sets what finds out how many people an object takes when they approve it: if settings ask for more
// than when it was asked for, or for the bank's own, so does its approval.
func (o *Operation[D, R]) ByNow(takes Takes) *Operation[D, R] {
	o.is.takes = takes
	return o
}

// DecidedWith sets the permission that the checker needs, if it is another than the maker's.
func (o *Operation[D, R]) DecidedWith(decides access.Permission) *Operation[D, R] {
	o.is.decides = decides
	return o
}

// ProposeTx keeps an object that the operation has created for the decision of a second person (Settle), for
// work that finds out later than the request whether one has to agree. The maker is who made the request. It
// returns the approval, or ErrOpen if too many wait: work that cannot take that asks RoomTx before.
func (o *Operation[D, R]) ProposeTx(
	ctx context.Context, inner bun.Tx, maker access.Caller, now time.Time, draft D, p Proposal,
) (UID, error) {
	text, err := json.Marshal(draft)
	if err != nil {
		return 0, err
	}
	tx := &Tx{
		Tx: inner, Caller: maker, Now: now, operation: o.is,
		at: Target{Customer: p.Customer, UID: p.UID.String()}, draft: text,
	}
	err = tx.Propose(ctx, p)
	return UID(tx.receipt.Approval), err
}

// again carries out what a second person has approved.
func (o *operation) again(ctx context.Context, tx *Tx, at Target, text []byte) error {
	draft, err := o.draft(text)
	if err != nil {
		return fmt.Errorf("read the draft of %s: %w", o.name, err)
	}
	_, err = o.work(ctx, tx, at, draft)
	return err
}

func (o *operation) settled(ctx context.Context, tx *Tx, at Target, approved bool) error {
	if o.settle == nil {
		return nil
	}
	return o.settle(ctx, tx, at, approved)
}

func (o *operation) partly(ctx context.Context, tx *Tx, at Target) (int32, error) {
	if o.agree == nil {
		return 0, fmt.Errorf("%s does not need two people", o.name)
	}
	return o.agree(ctx, tx, at)
}
