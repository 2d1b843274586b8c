package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/db"
)

// bank is a bank with entries, and its operator.
type bank struct {
	*coretest.Bank
	testing.TB
	operator context.Context
	owner    *db.DB
	kept     []audit.Checkpoint // checkpoints that are kept outside the database
}

func newBank(t testing.TB) *bank {
	t.Helper()
	return of(t, coretest.New(t))
}

func of(t testing.TB, b *coretest.Bank) *bank {
	t.Helper()
	return &bank{Bank: b, TB: t, operator: access.Operator(context.Background(), b.Tenant, b.Code, nil)}
}

// write writes this many entries, each in a transaction of its own.
func (b *bank) write(entries int) {
	b.Helper()
	caller, err := access.Require(b.Staff())
	if err != nil {
		b.Fatal(err)
	}
	for n := range entries {
		err := b.DB.InTx(context.Background(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			return audit.WriteTx(ctx, tx, entry(n).By(caller))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func entry(n int) audit.Entry {
	customer := int64(1_000_000 + n%7)
	return audit.Entry{
		Action: "changeSignatory", Decision: audit.Done, Object: "signatory", UID: fmt.Sprint(n),
		Customer: &customer, Before: []byte(`{"title":"Clerk"}`),
		After: []byte(`{"title":"Treasurer \u00e9 é <b>"}`), Reason: "promoted, \"at last\"\n",
	}
}

// seal seals everything, and returns how many entries. The lock of a sealer that was cut off may last a
// moment.
func (b *bank) seal() (sealed int) {
	b.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		n, err := b.Audit.Seal(b.operator)
		if err != nil {
			b.Fatal(err)
		}
		sealed += n
		tail, err := b.Audit.Tail(b.operator)
		if err != nil || time.Now().After(deadline) {
			b.Fatalf("entries wait to be sealed: %+v, %v", tail, err)
		}
		if tail.Unsealed == 0 {
			return sealed
		}
	}
}

// insert writes this many entries at once, by hand.
func (b *bank) insert(entries int) {
	b.Helper()
	b.exec(`WITH e AS (
		INSERT INTO audit_entries (tenant, client, login_id, entity, action, decision, object, uid, customer,
		  before, after, reason, request)
		SELECT ?, 'staff-portal', 'jane.doe', 1000000, 'changeSignatory', 'done', 'signatory', n::text,
			1000000 + n % 100, '{"emailAddress":"grace.whitfield@mail.example","title":"Clerk"}',
			  '{"emailAddress":"grace@mail.example","title":"Treasurer"}', 'promoted', 'b1946ac92492d234'
		FROM generate_series(1, ?) AS n RETURNING tenant, id)
		INSERT INTO audit_unsealed (tenant, entry) SELECT tenant, id FROM e`, b.Tenant, entries)
}

func (b *bank) keep(line audit.Line) error {
	if line.Checkpoint != nil {
		b.kept = append(b.kept, *line.Checkpoint)
	}
	return nil
}

func (b *bank) sign() error { return b.Audit.Sign(b.operator, b.Clients.Sign, b.keep) }

// chain reads the chain from the database.
func (b *bank) chain(since time.Time) iter.Seq2[audit.Line, error] {
	b.Helper()
	keys, err := b.Clients.EverSigned(b.operator)
	if err != nil {
		b.Fatal(err)
	}
	chain, err := b.Audit.Chain(b.operator, since, keys, func(int, int) {})
	if err != nil {
		b.Fatal(err)
	}
	return chain
}

// export returns the chain as a file.
func (b *bank) export(since time.Time) []byte {
	b.Helper()
	var file bytes.Buffer
	if err := audit.Write(&file, b.chain(since)); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

// holds fails the test if the chain in the database does not verify.
func (b *bank) holds() audit.Report {
	b.Helper()
	report, err := audit.Verify(b.chain(time.Time{}), audit.Pins{Unsigned: true, Checkpoints: b.kept})
	if err != nil {
		b.Fatal(err)
	}
	return report
}

// exec changes rows by hand, as the owner of the tables.
func (b *bank) exec(statement string, values ...any) {
	b.Helper()
	if b.owner == nil {
		b.owner = b.Owner()
	}
	if _, err := b.owner.NewRaw(statement, values...).Exec(context.Background()); err != nil {
		b.Fatalf("%s: %v", statement, err)
	}
}

// brokenAt returns the first row that Verify found wrong; 0 if none.
func brokenAt(t testing.TB, err error) int64 {
	t.Helper()
	var broken *audit.Broken
	if errors.As(err, &broken) {
		return broken.Seq
	}
	if err != nil {
		t.Errorf("error = %v", err)
	}
	return 0
}
