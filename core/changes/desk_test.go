package changes_test

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
)

// note is the draft of the operations of these tests.
type note struct {
	Text string `json:"text"`
}

// work is what an operation does before it writes its audit entry and event.
type work func(ctx context.Context, tx *changes.Tx) error

// desk is a bank with operations that take notes.
type desk struct {
	*coretest.Bank
	t    *testing.T
	take *changes.Operation[note, string]
	does work
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return deskAt(t, coretest.New(t))
}

func deskAt(t *testing.T, b *coretest.Bank) *desk {
	t.Helper()
	d := &desk{Bank: b, t: t, does: func(context.Context, *changes.Tx) error { return nil }}
	d.take = d.declare(b.Core, "takeNote")
	return d
}

func (d *desk) declare(on *core.Core, name string) *changes.Operation[note, string] {
	return changes.Declare(on.Changes, name, "note", access.ManageCustomers,
		func(ctx context.Context, tx *changes.Tx, at changes.Target, n note) (string, error) {
			if err := d.does(ctx, tx); err != nil {
				return "", err
			}
			return "took " + n.Text,
				tx.Record(ctx,
					changes.Change{UID: changes.UID(7), Customer: at.Customer, Version: 3, After: &noted{Text: n.Text}})
		})
}

type noted struct {
	bun.BaseModel `bun:"table:notes"`
	Text          string `bun:"text"`
}

func (d *desk) ask(key string) (changes.Outcome[string], error) {
	return d.askAs(d.Staff(), key)
}

func (d *desk) askAs(ctx context.Context, key string) (changes.Outcome[string], error) {
	return d.say(ctx, d.take, changes.Target{}, "hello", changes.RequestOptions{IdempotencyKey: key})
}

func (d *desk) say(
	ctx context.Context, o *changes.Operation[note, string], at changes.Target, text string,
	options changes.RequestOptions,
) (changes.Outcome[string], error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return changes.Outcome[string]{}, err
	}
	return o.Do(ctx, caller, at, note{text}, options)
}

// entries counts the audit entries of a decision.
func (d *desk) entries(decision string) (n int) {
	d.t.Helper()
	d.must(d.DB.NewRaw(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND decision = ?`, d.Tenant,
		decision).Scan(d.t.Context(), &n))
	return n
}

// wrote fails the test unless the record has these numbers of changes and refusals, each change with its
// event.
func (d *desk) wrote(done, refused int) {
	d.t.Helper()
	var events int
	d.must(d.DB.NewRaw(`SELECT count(*) FROM events WHERE tenant = ?`, d.Tenant).Scan(d.t.Context(), &events))
	if d.entries("done") != done || events != done || d.entries("refused") != refused {
		d.t.Errorf("%d changes, %d events, %d refusals; want %d and %d", d.entries("done"), events,
			d.entries("refused"), done, refused)
	}
}

// byHand changes rows of the bank without the core.
func (d *desk) byHand(statement string, values ...any) {
	d.t.Helper()
	d.must(d.DB.InTx(d.t.Context(), int64(d.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(statement, values...).Exec(ctx)
		return err
	}))
}

func (d *desk) keys() (n int) {
	d.t.Helper()
	d.must(d.DB.NewRaw(`SELECT count(*) FROM idempotency_keys WHERE tenant = ?`, d.Tenant).Scan(d.t.Context(),
		&n))
	return n
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// fresh fails the test unless the operation was carried out just now.
func (d *desk) fresh(what string, out changes.Outcome[string], err error) {
	d.t.Helper()
	if err != nil || out.Replayed || out.Result != "took hello" || out.Version != 3 {
		d.t.Errorf("%s: %+v %v", what, out, err)
	}
}

// replayed fails the test unless the answer is an earlier one.
func (d *desk) replayed(what string, out changes.Outcome[string], err error) {
	d.t.Helper()
	if err != nil || !out.Replayed || out.Result != "took hello" || out.Version != 3 {
		d.t.Errorf("%s: %+v %v", what, out, err)
	}
}

// as returns the context of a caller of the bank with this API key, login and permissions.
func as(ctx context.Context, client, login string, permissions ...access.Permission) context.Context {
	return changed(ctx, func(c *access.Caller) {
		if c.Client, c.LoginID = client, login; permissions != nil {
			c.Permissions = permissions
		}
	})
}

// changed returns the context with its caller modified.
func changed(ctx context.Context, by func(*access.Caller)) context.Context {
	caller, _ := access.Require(ctx)
	by(&caller)
	return access.With(ctx, caller)
}

var (
	errFull   = fault.New(fault.State, "note.full", "the notebook is full")
	errNoNote = fault.New(fault.NotFound, "note.not_found", "no such note")
)

// wait receives from a channel, and fails the test if nothing comes in time.
func wait[T any](t *testing.T, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing came", what)
	}
	return got
}

func is(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// hexOf is how PostgreSQL writes bytes.
func hexOf(text string) string { return hex.EncodeToString([]byte(text)) }
