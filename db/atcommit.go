package db

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// generator writes statements with marked values (binding), as the connections expect them.
var generator = bunschema.NewQueryGen(newBinding())

// last holds what was left to the end of a transaction.
type last struct {
	statements []bound
	writers    []context.Context // whose writes these are too (WriteFor)
	ahead      chan error        // tells when the statements that were sent ahead have run; nil if none run
	wrote      bool              // statements before the end have changed rows
}

type lastKey struct{}

// AtCommit defers a statement to the end of the transaction of ctx. All deferred statements go to the server
// in order, in one round trip with COMMIT. Such a statement returns no result, nothing after it may depend on
// it, and callers do not learn why it failed. Outside InTx it runs at once.
func AtCommit(ctx context.Context, tx bun.IDB, statement bun.Query) error {
	text, err := statement.AppendQuery(generator, nil)
	if err != nil {
		return err
	}
	if l, inside := ctx.Value(lastKey{}).(*last); inside {
		return l.add(string(text))
	}
	_, err = tx.NewRaw("?", bun.Safe(text)).Exec(ctx)
	return err
}

// add defers a statement with marked values.
func (l *last) add(text string) error {
	statement, err := apart(text)
	if err == nil {
		l.statements = append(l.statements, statement)
	}
	return err
}

// WriteFor says that the transaction of ctx also writes for the caller of another context, who then reads
// what was written even where a replica lags.
func WriteFor(ctx, of context.Context) {
	if l, inside := ctx.Value(lastKey{}).(*last); inside {
		l.writers = append(l.writers, of)
	}
}

// mark defers the marks of those for whom the transaction writes, once for each.
func (l *last) mark(d *DB, ctx context.Context, tenant int64) {
	marked := map[string]bool{}
	for _, of := range append(l.writers, ctx) {
		for _, text := range d.mark(of, tenant) {
			if !marked[text] {
				marked[text] = true
				l.statements = append(l.statements, bound{text: text})
			}
		}
	}
}

// spend counts the deferred statements.
func (l *last) spend(ctx context.Context) error {
	if len(l.statements) == 0 {
		return nil
	}
	return meterOf(ctx).spend(len(l.statements), 1)
}

// SendAhead sends what was left to the end of the transaction of ctx so far, and does not wait for it: the
// server writes while the caller makes more. A long transaction so takes little longer than the slower of the
// two. Nothing that the transaction asks afterwards may depend on it. A failure ends the transaction, and is
// told by the next SendAhead or by InTx.
func SendAhead(ctx context.Context, tx bun.Tx) error {
	l, inside := ctx.Value(lastKey{}).(*last)
	if !inside {
		return errOutside
	}
	if err := l.awaitAhead(); err != nil || len(l.statements) == 0 {
		return err
	}
	if err := l.spend(ctx); err != nil {
		return err
	}
	batch := l.batch()
	l.statements, l.wrote, l.ahead = nil, true, make(chan error, 1)
	go func(told chan<- error) { told <- sendIn(ctx, tx, batch) }(l.ahead)
	return nil
}

// awaitAhead waits for the statements that were sent ahead.
func (l *last) awaitAhead() error {
	if l.ahead == nil {
		return nil
	}
	err := <-l.ahead
	l.ahead = nil
	return err
}

func (l *last) batch() *pgx.Batch {
	batch := new(pgx.Batch)
	for _, s := range l.statements {
		batch.Queue(s.text, s.values...)
	}
	return batch
}

// commit sends the deferred statements and COMMIT, in one round trip; if one fails, the server skips the
// rest. sent is false if nothing was deferred. The transaction's own Commit, which is called afterwards, then
// does nothing.
func (l *last) commit(ctx context.Context, tx bun.Tx) (sent bool, err error) {
	if len(l.statements) == 0 {
		return false, nil
	}
	batch := l.batch()
	batch.Queue(commit).Exec(didCommit)
	return true, sendIn(ctx, tx, batch)
}

// sendIn sends the statements of a batch in one round trip, on the connection of a transaction. database/sql
// passes the batch on as the one argument of a statement (Conn.ExecContext), and so guards the connection.
func sendIn(ctx context.Context, tx bun.Tx, batch *pgx.Batch) error {
	texts := make([]string, len(batch.QueuedQueries))
	for i, query := range batch.QueuedQueries {
		texts[i] = query.SQL
	}
	_, err := tx.Tx.ExecContext(ctx, strings.Join(texts, ";\n"), batch)
	return err
}
