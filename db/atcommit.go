package db

import (
	"context"
	"strings"

	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// generator writes statements with marked values (binding), as the connections expect them.
var generator = bunschema.NewQueryGen(newBinding())

// last holds the statements that AtCommit left to the end of a transaction.
type last struct {
	texts []string
	wrote bool // others have changed rows
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
		l.texts = append(l.texts, string(text))
		return nil
	}
	_, err = tx.NewRaw("?", bun.Safe(text)).Exec(ctx)
	return err
}

// spend counts the deferred statements.
func (l *last) spend(ctx context.Context) error {
	if len(l.texts) == 0 {
		return nil
	}
	return meterOf(ctx).spend(len(l.texts), 1)
}

// commit sends the deferred statements and COMMIT, in one round trip; if one fails, the server skips the
// rest. sent is false if nothing was deferred. The transaction's own Commit, which is called afterwards, then
// does nothing.
func (l *last) commit(ctx context.Context, tx bun.Tx) (sent bool, err error) {
	if len(l.texts) == 0 {
		return false, nil
	}
	_, err = tx.Tx.ExecContext(ctx, strings.Join(l.texts, separator)+separator+commit)
	return true, err
}
