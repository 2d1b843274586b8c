package webhooks_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/given"
	"bankgraph/core/webhooks"
	"bankgraph/db/dbtest/faults"
)

// What waits for a receiver that is away must not cost the others theirs: a claim looks at the first of each
// webhook, whatever the server guesses of how many there are.
func TestAClaimDoesNotReadAllThatWaits(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	bank := line.Bank()
	fill(t, bank)
	bank.Exec(`UPDATE webhook_deliveries SET state = 'WAITING', done_at = NULL WHERE tenant = ?
		AND uid = (SELECT min(uid) FROM webhook_deliveries WHERE tenant = ?)`, bank.Tenant, bank.Tenant)
	line.Break(0, faults.Fault{})
	if _, err := bank.Webhooks.Claim(access.Operator(t.Context(), bank.Tenant, bank.Code, nil),
		room(10, 10)); err != nil {
		t.Fatal(err)
	}
	sent := line.Statements()
	at := slices.IndexFunc(sent,
		func(text string) bool { return strings.Contains(text, "webhook_deliveries AS e") })
	if at < 0 {
		t.Fatal("nobody asks what can be posted")
	}
	fill(t, bank)
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw("EXPLAIN "+sent[at]).Scan(ctx, &lines)
	})
	// The join with its customer is another one.
	if plan := strings.Join(lines, "\n"); err != nil || strings.Contains(plan, "Anti Join") ||
		!regexp.MustCompile(`_due on webhook_deliveries d .*\n *Index Cond: .*webhook = w_1\.uid`).
			MatchString(plan) ||
		!regexp.MustCompile(`Index Cond: .*payment = d\.payment`).MatchString(plan) {
		t.Errorf("a claim reads all that waits, %v:\n%s", err, plan)
	}
}

// A partner may have any number of customers, each with webhooks. Those for which nothing waits are not read
// in search of what is due, nor is what has arrived.
func TestAClaimLooksOnlyForWhatWaits(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	fill(t, bank)
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, set := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx)
		_, prepared := tx.NewRaw("PREPARE waiting (bigint) AS " + webhooks.WaitingText).Exec(ctx)
		if err := errors.Join(set, prepared); err != nil {
			return err
		}
		err := tx.NewRaw("EXPLAIN EXECUTE waiting (1, 0, now(), now(), now())").Scan(ctx, &lines)
		_, ended := tx.NewRaw("DEALLOCATE waiting").Exec(ctx)
		return errors.Join(err, ended)
	})
	plan := strings.Join(lines, "\n")
	found := regexp.MustCompile(`using webhook_deliveries_(?:due|leased) on .*\n *`+
		`Index Cond: .*webhook (>|=) `).FindAllString(plan, -1)
	if err != nil || len(found) < 2 || len(found) != strings.Count(plan, "on webhook") ||
		strings.Contains(plan, "Aggregate") || strings.Contains(plan, "Sort") {
		t.Errorf("%v:\n%s", err, plan)
	}
}

// fill gives a bank a webhook with many deliveries that have arrived, and tells the server so, which else may
// know the table as an empty one.
func fill(t *testing.T, bank *coretest.Bank) {
	t.Helper()
	hook, _, err := bank.Webhooks.Create(bank.Staff(), bank.Customer().UID, webhooks.Draft{
		Name: given.Of("Ledger"), Target: given.Of("https://receiver.example"),
	}, changes.RequestOptions{})
	if err == nil {
		_, err = bank.Owner().ExecContext(t.Context(), `INSERT INTO webhook_deliveries
			(tenant, webhook, customer, state, due_at, created_at, done_at)
			SELECT tenant, uid, customer, 'DELIVERED', created_at, created_at, created_at
			FROM webhooks, generate_series(1, 2000) WHERE tenant = ? AND uid = ?`, bank.Tenant, hook.Result.UID)
	}
	if err == nil {
		_, err = bank.Owner().ExecContext(t.Context(), `ANALYZE webhook_deliveries`)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A partner may have any number of customers, each with webhooks. None of them is read for an event that it
// is not told of, or that was deleted, or one partner's webhooks would stop those of the whole bank.
func TestAnEventReadsNoWebhookThatItIsNotFor(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	for name, c := range map[string]struct{ text, values string }{
		"payments":     {webhooks.DeliverNew, "$1, '{}', '{}', '{}', '{}', now(), '{}', '{}', '{}'"},
		"transactions": {webhooks.TransactNew, "$1, '{}', '{}', '{}', '{}', now(), '{}'"},
	} {
		var lines []string
		err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx); err != nil {
				return err
			}
			if _, err := tx.NewRaw("PREPARE told AS " + c.text).Exec(ctx); err != nil {
				return err
			}
			values := strings.Replace(c.values, "$1", strconv.FormatInt(int64(bank.Tenant), 10), 1)
			err := tx.NewRaw("EXPLAIN EXECUTE told ("+values+")").Scan(ctx, &lines)
			_, ended := tx.NewRaw("DEALLOCATE told").Exec(ctx)
			return errors.Join(err, ended)
		})
		if err != nil {
			t.Fatal(name, err)
		}
		plan := strings.Join(lines, "\n")
		scans := regexp.MustCompile(`Scan .*on webhooks.*(\n *(Index Cond|Recheck Cond|Filter): .*)*`)
		found := scans.FindAllString(plan, -1)
		if len(found) == 0 {
			t.Errorf("%s: no webhook is read:\n%s", name, plan)
		}
		for _, scan := range found {
			if strings.Contains(scan, "webhooks_pkey on webhooks b") { // of those that were told
				continue
			}
			if !strings.Contains(scan, "webhooks_active_of_bank") &&
				(!strings.Contains(scan, "webhooks_active_of_customer") ||
					!strings.Contains(scan, "(customer = ")) {
				t.Errorf("%s: all webhooks are read, or those that were deleted:\n%s\n%s", name, scan, plan)
			}
		}
	}
}
