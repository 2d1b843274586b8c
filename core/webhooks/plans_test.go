package webhooks_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/db/dbtest/faults"
)

// What waits for a receiver that is away must not cost the others theirs: a claim looks at the first of each
// webhook, whatever the server guesses of how many there are.
func TestAClaimDoesNotReadAllThatWaits(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	bank := line.Bank()
	line.Break(0, faults.Fault{})
	if _, err := bank.Webhooks.Claim(access.Operator(t.Context(), bank.Tenant, bank.Code, nil),
		room(10, 10)); err != nil {
		t.Fatal(err)
	}
	sent := line.Statements()
	at := slices.IndexFunc(sent, func(text string) bool { return strings.Contains(text, "webhook_deliveries AS e") })
	if at < 0 {
		t.Fatal("nobody asks what can be posted")
	}
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw("EXPLAIN "+sent[at]).Scan(ctx, &lines)
	})
	// The join with its customer is another one.
	if plan := strings.Join(lines, "\n"); err != nil || strings.Contains(plan, "Anti Join") ||
		!regexp.MustCompile(`_due on webhook_deliveries d .*\n *Index Cond: .*webhook = w\.uid`).
			MatchString(plan) ||
		!regexp.MustCompile(`Index Cond: .*payment = d\.payment`).MatchString(plan) {
		t.Errorf("a claim reads all that waits, %v:\n%s", err, plan)
	}
}
