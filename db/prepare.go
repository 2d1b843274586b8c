package db

import (
	"context"
	"errors"
	"hash/maphash"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// A statement whose values are all bound always has the same text, so the server need not parse and plan it
// each time. In writing transactions, connections prepare the statements that are repeated; not behind a
// pooler, which may give each transaction another connection.

const (
	comesAgain   = 3    // how often a statement is sent before it is prepared
	textsCounted = 4096 // statements that are counted; beyond that counting starts again
	// prepared statements of a connection; beyond that it forgets all, as callers can cause any number of
	// them
	writesPrepared = 100
)

// repeats counts the statements that the connections of a pool send.
type repeats struct {
	seed maphash.Seed
	mu   sync.Mutex
	sent map[uint64]int // by the text's hash
}

func newRepeats() *repeats { return &repeats{seed: maphash.MakeSeed(), sent: map[uint64]int{}} }

// again counts a statement, and reports whether it is repeated often enough to be prepared.
func (r *repeats) again(text string) bool {
	hash := maphash.String(r.seed, text)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.sent[hash] + 1
	if n > comesAgain {
		return true
	}
	if len(r.sent) >= textsCounted {
		clear(r.sent)
	}
	r.sent[hash] = n
	return false
}

// prepare prepares a statement that is repeated often enough, in a writing transaction. The driver then finds
// the prepared statement by its text. If it turns out to be outdated, the transaction is retried.
func (c *Conn) prepare(ctx context.Context, s bound) error {
	if c.outdated && c.Idle() {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	if !c.writes || c.repeats == nil || len(s.values) == 0 || c.prepared[s.text] || !c.repeats.again(s.text) {
		return nil
	}
	if c.Conn().PgConn().TxStatus() == 'E' { // a failed transaction: nothing can be prepared or deallocated
		return nil
	}
	if len(c.prepared) >= writesPrepared {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	if _, err := c.Conn().Prepare(ctx, s.text, s.text); err != nil {
		return err
	}
	if c.prepared == nil {
		c.prepared = map[string]bool{}
	}
	c.prepared[s.text] = true
	return nil
}

// forget deallocates all prepared statements.
func (c *Conn) forget(ctx context.Context) error {
	c.prepared, c.outdated = nil, false
	return c.Conn().DeallocateAll(ctx)
}

// learn notes an error that means that prepared statements no longer fit the tables, because of a migration.
// The transaction is lost, and retried (IsRetryable).
func (c *Conn) learn(err error) error {
	c.outdated = c.outdated || outdated(err)
	return err
}

func outdated(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "0A000" &&
		strings.Contains(refused.Routine, "RevalidateCachedQuery")
}

// Raw is tx.NewRaw with numbers bound too, for frequent statements. Each number is a bigint to the server.
func Raw(tx bun.IDB, text string, values ...any) *bun.RawQuery {
	for i, value := range values {
		if v := reflect.ValueOf(value); v.IsValid() && v.CanInt() {
			values[i] = Number(v.Int())
		}
	}
	return tx.NewRaw(text, values...)
}

// Number is a number that is bound in a statement of Bun's builder too, as in Raw. With the number of the
// bank in the text, what jobs look for would be another statement for each bank.
type Number int64

// AppendQuery implements Bun's QueryAppender. Under any other dialect the number is in the text.
func (n Number) AppendQuery(gen bunschema.QueryGen, b []byte) ([]byte, error) {
	if _, binds := gen.Dialect().(*binding); !binds {
		return strconv.AppendInt(b, int64(n), 10), nil
	}
	return markedNumber(b, strconv.FormatInt(int64(n), 10)), nil
}
