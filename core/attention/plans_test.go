package attention_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/attention"
	"bankgraph/core/coretest"
)

// What one customer can fill is found customer by customer, by an index of what waits that has it in the
// order of the list: whoever has a hundred thousand failures costs what others do.
func TestWhatWaitsIsFoundByCustomer(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, set := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx)
		_, prepared := tx.NewRaw("PREPARE listed AS " + attention.Listed()).Exec(ctx)
		if err := errors.Join(set, prepared); err != nil {
			return err
		}
		err := tx.NewRaw("EXPLAIN EXECUTE listed (1, now(), now(), now(), now(), 200, 1000)").
			Scan(ctx, &lines)
		_, ended := tx.NewRaw("DEALLOCATE listed").Exec(ctx)
		return errors.Join(err, ended)
	})
	plan := strings.Join(lines, "\n")
	for _, index := range []string{
		"positive_pay_exceptions_in_turn", "payments_screening_in_turn", "payments_repair_in_turn",
		"payments_failed_in_turn", "sweeps_failed_in_turn", "approvals_in_turn",
	} {
		if err != nil || strings.Count(plan, index) < 2 { // to find customers, and what each has
			t.Errorf("%s is not used, %v:\n%s", index, err, plan)
		}
	}
}
