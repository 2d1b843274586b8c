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

// A statement whose values are all bound has the same text each time, so the server need not read and plan it
// each time: in transactions that write, connections prepare the texts that come again. Not behind a pooler,
// which may lend each transaction another connection.

const (
	comesAgain   = 3    // how often a text is sent before it is prepared
	textsCounted = 4096 // at a time; beyond that counting starts anew
	// by a connection; beyond that it starts anew: which fields are given, callers think up
	writesPrepared = 100
)

// repeats counts the texts that the connections of a pool send.
type repeats struct {
	seed maphash.Seed
	mu   sync.Mutex
	sent map[uint64]int // by the text's hash
}

func newRepeats() *repeats { return &repeats{seed: maphash.MakeSeed(), sent: map[uint64]int{}} }

// again counts a text, and reports whether it has come often enough to be prepared.
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

// prepare prepares a text that came often enough, in a transaction that writes, which is tried again where it
// turns out to be outdated. The driver then uses what is prepared under its text.
func (c *Conn) prepare(ctx context.Context, s bound) error {
	if c.outdated && c.Idle() {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	if !c.writes || c.repeats == nil || len(s.values) == 0 || c.prepared[s.text] || !c.repeats.again(s.text) {
		return nil
	}
	if c.Conn().PgConn().TxStatus() == 'E' { // nothing can be prepared, nor forgotten
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

// forget ends all that is prepared.
func (c *Conn) forget(ctx context.Context) error {
	c.prepared, c.outdated = nil, false
	return c.Conn().DeallocateAll(ctx)
}

// learn notes an error that says that what is prepared no longer fits the tables, which a migration changed.
// The transaction is lost, and tried again (IsRetryable).
func (c *Conn) learn(err error) error {
	c.outdated = c.outdated || outdated(err)
	return err
}

func outdated(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "0A000" &&
		strings.Contains(refused.Routine, "RevalidateCachedQuery")
}

// Raw is tx.NewRaw with numbers bound too, for statements that are carried out often. Each number is a bigint
// to the server.
func Raw(tx bun.IDB, text string, values ...any) *bun.RawQuery {
	for i, value := range values {
		if v := reflect.ValueOf(value); v.IsValid() && v.CanInt() {
			values[i] = number(v.Int())
		}
	}
	return tx.NewRaw(text, values...)
}

// number is one that is bound.
type number int64

// AppendQuery is for Bun. Statements for any other dialect have it in their text.
func (n number) AppendQuery(gen bunschema.QueryGen, b []byte) ([]byte, error) {
	if _, binds := gen.Dialect().(*binding); !binds {
		return strconv.AppendInt(b, int64(n), 10), nil
	}
	return markedNumber(b, strconv.FormatInt(int64(n), 10)), nil
}
