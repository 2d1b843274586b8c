package db

import (
	"context"
	"fmt"
)

// Skipped is how many numbers a restore leaves out: more than are given in a day on which a backup is made.
// Messages of a network have six digits for those of one day, of which this is less than a third, so that
// three restores of one day keep apart.
const Skipped = 300_000

// SkipNumbers leaves out numbers of every sequence. In a database that was restored from a backup they were
// given before, to things that are lost here and not out there: payments, transactions, fee tiers, messages
// to networks, deliveries of webhooks. Who answers, returns or drops as a copy must not mean another one.
// Which sequences others know is not asked: a number more costs nothing, one told twice does. Where the same
// backup was restored before, more were given after that: times says which restore of it this is. url is the
// owner's.
func SkipNumbers(ctx context.Context, url string, times int64) error {
	conn, err := asOwner(ctx, url)
	if err != nil {
		return fmt.Errorf("skip numbers: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass,
			least(coalesce(last_value, start_value) + $1::bigint, max_value))
		FROM pg_sequences WHERE schemaname = current_schema()`,
		times*Skipped); err != nil {
		return fmt.Errorf("skip numbers: %w", err)
	}
	return nil
}
