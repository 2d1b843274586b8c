package demo_test

import (
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/demo"
	networks "bankgraph/core/sandbox"
)

// When the clock of the demo bank moves over a week, the sweeps of each day and of Monday run, none of them
// in vain, and the books are right.
func TestTheSweepsOfTheDemoBankRun(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	if err := demo.Directory(access.Operator(t.Context(), 0, "", nil), c); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), tenant, "", nil)
	if _, err := c.Sandbox.MoveClock(staff(t.Context(), tenant), networks.Move{Minutes: 7 * 24 * 60},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	for {
		reading, err := c.Clock.Read(operator)
		if err != nil {
			t.Fatal(err)
		}
		if reading.Target == nil {
			break
		}
		if _, err := c.AdvanceClock(operator); err != nil {
			t.Fatal(err)
		}
	}
	swept := count(t, c, `SELECT count(*) FROM sweeps WHERE tenant = ? AND frequency <> 'Monthly'`, tenant)
	if ran := count(t, c, `SELECT count(DISTINCT account) FROM sweep_runs WHERE tenant = ?`,
		tenant); swept < 8 || ran < swept {
		t.Errorf("%d of %d sweeps ran", ran, swept)
	}
	if paid := count(t, c, `SELECT count(*) FROM sweep_runs WHERE tenant = ? AND outcome = 'PAID'`,
		tenant); paid < 6 {
		t.Errorf("%d paid", paid)
	}
	var failed []string
	if err := c.DB.NewRaw(`SELECT account || ': ' || reason || ', ' || count(*) FROM sweep_runs
		WHERE tenant = ? AND outcome = 'FAILED'
		GROUP BY account, reason`, tenant).Scan(t.Context(), &failed); err != nil {
		t.Fatal(err)
	}
	for _, why := range failed {
		t.Error(why)
	}
	violations, err := c.Ledger.Prove(operator)
	if err != nil || len(violations) > 0 {
		t.Error(violations, err)
	}
}
