package changes

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// The faults of idempotency keys (rest/CONTRACT.md, idempotency).
var (
	ErrKey = fault.Field("request", "Idempotency-Key", fault.Malformed,
		"an idempotency key is 1 to 255 printable characters")
	ErrKeyReused = fault.New(fault.Conflict, "idempotency.key_reused",
		"the idempotency key was used for another request")
	ErrInFlight = fault.New(fault.Conflict, "idempotency.in_flight",
		"the request with this idempotency key is still being worked on: repeat it in a moment")
)

// check validates the options, which REST and GraphQL pass on unchecked.
func (t RequestOptions) check() error {
	if len(t.IdempotencyKey) > 255 || t.IdempotencyKey != "" && spelled(t.IdempotencyKey) == "" ||
		strings.ContainsFunc(t.IdempotencyKey, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ErrKey
	}
	if t.Version < 0 {
		return fault.Field("request", "version", fault.Min, "must be the version that was read")
	}
	// the reason is shown in the audit record, where control or bidirectional characters could disguise it
	if !check.IsPlain(t.Reason) {
		return fault.Field("request", "reason", fault.Malformed, "must be plain text")
	}
	if utf8.RuneCountInString(t.Reason) > 255 {
		return fault.Field("request", "reason", fault.Max, "must have at most 255 characters")
	}
	return nil
}

// spelled returns an idempotency key as it is kept: spaces around it are lost on the way over HTTP, and a
// UUID is the same in either letter case (rest/CONTRACT.md, idempotency).
func spelled(key string) string {
	key = strings.Trim(key, " ")
	if len(key) == len(uuid.UUID{}.String()) && uuid.Validate(key) == nil {
		return strings.ToLower(key)
	}
	return key
}

// once is the idempotency key of one change, with the hash of its request. A key lives for seven days by the
// database's clock.
type once struct {
	tenant         access.Tenant
	client         string
	operation, key string
	request        []byte // keyed hash: a request may hold account numbers, which no column may show
}

func (s *Service) once(
	operation string, caller access.Caller, at Target, draft []byte, options RequestOptions,
) once {
	if options.IdempotencyKey == "" {
		return once{}
	}
	asked, _ := json.Marshal([]any{at, json.RawMessage(draft), options.Version, options.Reason})
	return once{
		tenant: caller.Tenant, client: caller.Party(), operation: operation, key: spelled(options.IdempotencyKey),
		request: s.keys.Secret(fmt.Sprintf("idempotency/%d", caller.Tenant), string(asked)),
	}
}

// claim takes the key for this transaction and returns nil, or returns the answer that is kept for it. A
// second copy waits here until the first transaction ends. Reading an answer neither locks nor writes, so
// copies can read it at the same time.
func (o once) claim(ctx context.Context, tx bun.Tx) (earlier []byte, err error) {
	if o.key == "" {
		return nil, nil
	}
	taken, err := db.Raw(tx,
		`INSERT INTO idempotency_keys (tenant, client, operation, key, request) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`, o.tenant, o.client, o.operation, o.key, o.request).Exec(ctx)
	if mine, err := o.mine(taken, err); mine || err != nil {
		return nil, err
	}
	var there struct {
		Request []byte `bun:"request"`
		Outcome []byte `bun:"outcome"`
		Old     bool   `bun:"old"`
	}
	err = db.Raw(tx,
		`SELECT request, outcome, created_at < clock_timestamp() - interval '7 days' AS old FROM idempotency_keys
		WHERE tenant = ? AND client = ? AND operation = ? AND key = ?`, o.tenant, o.client, o.operation, o.key).
		Scan(ctx, &there)
	if err != nil {
		return nil, err
	}
	if there.Old {
		return nil, o.renew(ctx, tx)
	}
	if !seal.SameSecret(there.Request, o.request) {
		return nil, ErrKeyReused
	}
	if there.Outcome == nil { // impossible: a key is taken and answered in one transaction
		return nil, fmt.Errorf("the idempotency key of %s has no answer", o.operation)
	}
	return there.Outcome, nil
}

// renew takes an expired key. It returns ErrInFlight if another request has just done so.
func (o once) renew(ctx context.Context, tx bun.Tx) error {
	renewed, err := db.Raw(tx,
		`UPDATE idempotency_keys SET request = ?, outcome = NULL, created_at = clock_timestamp()
		WHERE tenant = ? AND client = ? AND operation = ? AND key = ?
			  AND created_at < clock_timestamp() - interval '7 days'`,
		o.request, o.tenant, o.client, o.operation, o.key).Exec(ctx)
	mine, err := o.mine(renewed, err)
	if err == nil && !mine {
		err = ErrInFlight
	}
	return err
}

// mine reports whether a statement took the key. A lock timeout means that a copy of the request holds it:
// ErrInFlight.
func (o once) mine(taken sql.Result, err error) (bool, error) {
	if db.IsLockTimeout(err) {
		return false, ErrInFlight
	}
	if err != nil {
		return false, err
	}
	n, err := taken.RowsAffected()
	return n > 0, err
}

// keep stores the answer for the key, in the transaction of the work.
func (o once) keep(ctx context.Context, tx bun.Tx, answer any) error {
	if o.key == "" {
		return nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return db.AtCommit(ctx, tx,
		db.Raw(tx,
			`UPDATE idempotency_keys SET outcome = ? WHERE tenant = ? AND client = ?
				AND operation = ? AND key = ?`, string(text), o.tenant, o.client, o.operation, o.key))
}

// answer is what is kept for a key: a result or a refusal.
type answer struct {
	Result  any          `json:"result,omitempty"`
	Receipt Receipt      `json:"mark"`              // the name under which it has always been kept
	Refusal []fault.Kept `json:"refusal,omitempty"` // one fault or several
}

// reply is what the caller is told: a result or a refusal.
type reply struct {
	result  any
	receipt Receipt
	refusal error
}

// replay reads the answer that was kept for a key.
func (o *operation) replay(text []byte) (r reply, err error) {
	var result json.RawMessage
	kept := answer{Result: &result}
	if err = json.Unmarshal(text, &kept); err == nil && result != nil {
		r.result, err = o.result(result)
	}
	if err != nil {
		return reply{}, fmt.Errorf("read the answer of an idempotency key: %w", err)
	}
	r.receipt, r.refusal = kept.Receipt, again(kept.Refusal)
	r.receipt.Replayed = true
	return r, nil
}

// lasting lists the kinds of refusals that are kept as the answer of a key. Others may differ next time.
var lasting = map[fault.Kind]bool{
	fault.Invalid: true, fault.NotFound: true, fault.State: true, fault.Conflict: true,
}

// words turns a refusal into its stored form, with all its faults, so that a replay reads the same.
func words(refusal error) (kept []fault.Kept) {
	var several fault.Faults
	if f, one := fault.Of(refusal); !errors.As(refusal, &several) && one {
		several = fault.Faults{f}
	}
	for _, f := range several {
		kept = append(kept, f.Keep())
	}
	return kept
}

// again restores a stored refusal. It returns nil if there was none.
func again(kept []fault.Kept) error {
	if len(kept) == 0 {
		return nil
	}
	if len(kept) == 1 {
		return kept[0].Again()
	}
	var several fault.Faults
	for _, words := range kept {
		several = append(several, words.Again())
	}
	return several
}
