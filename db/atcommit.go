package db

import (
	"context"
	"strings"

	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// generator writes texts with marked values, as the connections send them.
var generator = bunschema.NewQueryGen(newBinding())

// last are the statements that a transaction is to end with.
type last struct{ texts []string }

type lastKey struct{}

// AtCommit leaves a statement to the end of the transaction of ctx: all that are left there go to the server
// together, in one round trip, in their order. Such a statement answers nothing, nothing that follows may
// depend on it, and no caller hears why it failed. Outside of InTx it is carried out at once.
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

// spend counts what was left to the end.
func (l *last) spend(ctx context.Context) error {
	if len(l.texts) == 0 {
		return nil
	}
	return meterOf(ctx).spend(len(l.texts), 1)
}

// commit sends what was left to the end and COMMIT behind it, in one round trip: where one of them fails, the
// server skips the rest. sent is false where nothing was left. The transaction itself is ended by its own
// Commit, which then finds nothing to do.
func (l *last) commit(ctx context.Context, tx bun.Tx) (sent bool, err error) {
	if len(l.texts) == 0 {
		return false, nil
	}
	_, err = tx.Tx.ExecContext(ctx, strings.Join(l.texts, separator)+separator+commit)
	return true, err
}
