package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// request is one call of Operation.Do.
type request struct {
	caller  access.Caller
	at      Target
	draft   any
	text    []byte // the draft as JSON
	options RequestOptions
	once    once
}

// do is Operation.Do.
func (o *operation) do(
	ctx context.Context, caller access.Caller, at Target, draft any, options RequestOptions,
) (result any, receipt Receipt, err error) {
	if err := options.check(); err != nil {
		return nil, receipt, err
	}
	text, err := json.Marshal(draft)
	if err != nil {
		return nil, receipt, fmt.Errorf("write the draft of %s: %w", o.name, err)
	}
	r := request{caller, at, draft, text, options, o.service.once(o.name, caller, at, text, options)}
	leave, err := o.service.gate.enter(ctx, r.once)
	if err != nil {
		return nil, receipt, err
	}
	answered := false
	defer func() { leave(answered) }()
	said, err := o.answer(ctx, r)
	if err != nil {
		return nil, receipt, err
	}
	answered = true
	return said.result, said.receipt, said.refusal
}

// longestLook bounds the search for the outcome of a lost COMMIT.
const longestLook = 10 * time.Second

// answer tries until the outcome is known. After a lost COMMIT it reads the row of the key on a fresh
// connection, once the lost transaction has ended. If that was rolled back, the work is done again.
func (o *operation) answer(ctx context.Context, r request) (reply, error) {
	said, unsure, err := o.attempt(ctx, r)
	if !unsure {
		return said, err
	}
	if r.once.key == "" {
		return said, errors.Join(ErrUnknown, err)
	}
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		select {
		case <-ctx.Done():
			return reply{}, errors.Join(ErrRepeat, err)
		case <-time.After(pause):
		}
		said, unsure, err = o.attempt(ctx, r)
		// the lost transaction may still be running
		away := db.IsUnavailable(err) || db.IsTimeout(err) || errors.Is(err, ErrInFlight)
		if !unsure && !away {
			return said, err
		}
	}
}

// attempt makes the change or refuses it. unsure means that a COMMIT was lost: nobody knows what was written.
func (o *operation) attempt(ctx context.Context, r request) (said reply, unsure bool, err error) {
	said, err = o.try(ctx, r)
	doubt := true
	if f, refused := fault.Of(err); refused && f.Kind != fault.Internal && !ofTheKey(err) {
		said, err = o.refuse(ctx, r, f.Kind, err)
		doubt = r.once.key != "" // without a key only the record of the refusal can be in doubt
	}
	if err == nil || ofTheKey(err) {
		return said, false, err
	}
	return said, doubt && errors.Is(err, db.ErrUnknownOutcome), fmt.Errorf("%s: %w", o.name, err)
}

// ofTheKey reports whether err is a fault of the idempotency key, not a refusal of the work.
func ofTheKey(err error) bool { return errors.Is(err, ErrKeyReused) || errors.Is(err, ErrInFlight) }

// try makes the change in one transaction, or in that of a lane.
func (o *operation) try(ctx context.Context, r request) (said reply, err error) {
	if o.lane != nil {
		return o.lane.join(ctx, r)
	}
	now, err := o.service.now(ctx, r.caller.Tenant)
	if err != nil {
		return said, err
	}
	err = o.service.db.InTx(ctx, int64(r.caller.Tenant), func(ctx context.Context, inner bun.Tx) error {
		said = reply{}
		earlier, err := r.once.claim(ctx, inner)
		if err != nil {
			return err
		}
		if earlier != nil {
			said, err = o.replay(earlier)
			return err
		}
		if err := active(ctx, inner, r.caller); err != nil {
			return err
		}
		tx := &Tx{
			Tx: inner, Caller: r.caller, Now: now, Options: r.options, operation: o, at: r.at, draft: r.text,
		}
		result, err := o.work(ctx, tx, r.at, r.draft)
		if err != nil {
			return err
		}
		said.result, said.receipt = result, tx.receipt
		return r.once.keep(ctx, inner, answer{Result: result, Receipt: tx.receipt})
	})
	return said, err
}

// active returns access.ErrDenied if the caller is a person who is no longer active. A verified token is
// remembered for some seconds, and a suspended person must not change anything in that time.
func active(ctx context.Context, tx bun.Tx, caller access.Caller) error {
	if caller.User == uuid.Nil {
		return nil
	}
	var is bool
	err := db.Raw(tx, `SELECT EXISTS (SELECT FROM users WHERE tenant = ? AND uid = ? AND status = 'Active')`,
		caller.Tenant, caller.User.String()).Scan(ctx, &is)
	if err == nil && !is {
		return access.ErrDenied
	}
	return err
}

// refuse records a refusal of the work and keeps it for the key, in a transaction of its own. If a copy of
// the request was quicker, its answer counts. A refusal that would flood the record is only counted
// (audit.Service.Refuse); one that would flood the keys too becomes ErrRefusals.
func (o *operation) refuse(
	ctx context.Context, r request, kind fault.Kind, refusal error,
) (said reply, err error) {
	counted, keep := o.service.audit.Refuse(r.caller), lasting[kind] && r.once.key != ""
	switch {
	case keep && !counted.Keep:
		return reply{refusal: ErrRefusals}, nil
	case !keep && !counted.Record:
		return reply{refusal: refusal}, nil
	}
	err = o.service.db.InTx(ctx, int64(r.caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		said = reply{refusal: refusal}
		if keep {
			earlier, err := r.once.claim(ctx, tx)
			if err != nil {
				return err
			}
			if earlier != nil {
				said, err = o.replay(earlier)
				return err
			}
		}
		if counted.Record {
			if err := audit.WriteTx(ctx, tx, o.refusal(r, kind, refusal)); err != nil {
				return err
			}
		}
		if !keep {
			return nil
		}
		return r.once.keep(ctx, tx, answer{Refusal: words(refusal)})
	})
	return said, err
}

// refusal makes the audit entry of a refusal.
func (o *operation) refusal(r request, kind fault.Kind, why error) audit.Entry {
	entry := audit.Entry{
		Action: o.name, Decision: audit.Refused, Object: o.object, UID: r.at.UID, Reason: why.Error(),
	}.By(r.caller)
	if r.at.Customer != 0 {
		entry.Customer = &r.at.Customer
		if kind == fault.Denied { // the customer must not learn who else tried; the bank does
			entry.Customer, entry.After = nil, fmt.Appendf(nil, `{"customer":"%d"}`, r.at.Customer)
		}
	}
	return entry
}
