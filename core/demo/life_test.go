package demo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/demo"
)

// A process that is killed while the bank lives is followed by one that goes on: nothing happens twice, and
// nothing is left out.
func TestTheDemoBankHasLived(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: demo.Fewest})
	operator := inNewYork(t, c, tenant)
	killed, kill := context.WithCancel(operator)
	err := demo.Live(killed, c, "demo-staff", true, func(done, _ int) {
		if done > 9 {
			kill()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	days := 0
	if err := demo.Live(operator, c, "demo-staff", false, func(int, int) { days++ }); err != nil {
		t.Fatal(err)
	}
	if days != 17 {
		t.Errorf("%d days were left", days)
	}
	ask := func(statement string) (answers []string) {
		t.Helper()
		err := c.DB.InTx(t.Context(), int64(tenant), func(ctx context.Context, tx bun.Tx) error {
			return tx.NewRaw(statement, tenant).Scan(ctx, &answers)
		})
		if err != nil {
			t.Fatal(err)
		}
		return answers
	}
	kinds := ask(`SELECT DISTINCT concat_ws(' ', rail, direction, state) FROM payments
		WHERE tenant = ? ORDER BY 1`)
	for _, kind := range []string{
		"ACH IN SETTLED", "ACH OUT RETURNED", "ACH OUT SETTLED", "BOOK OUT SETTLED", "FEDNOW IN SCREENING",
		"FEDNOW IN SETTLED", "FEDNOW OUT REJECTED", "FEDNOW OUT SCREENING", "FEDNOW OUT SETTLED",
		"FEDWIRE IN SETTLED", "FEDWIRE OUT PENDING_APPROVAL", "FEDWIRE OUT SETTLED", "RTP OUT SENT",
		"RTP OUT SETTLED", "SWIFT OUT SETTLED",
	} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no payment is %s", kind)
		}
	}
	if abroad := ask(`SELECT DISTINCT concat_ws(' ', ae.class, pd.bank_country, p.state) FROM payments AS p
		JOIN ach_entries AS ae ON ae.tenant = p.tenant AND ae.payment = p.uid
		JOIN payment_details AS pd ON pd.tenant = p.tenant AND pd.payment = p.uid
		WHERE p.tenant = ? AND pd.bank_country <> ''`); !slices.Contains(abroad, "IAT FR SETTLED") {
		t.Errorf("abroad over ACH: %s", abroad)
	}
	first := ask(`SELECT concat_ws(' ', uid, external_reference_id, state) FROM payments
		WHERE tenant = ? AND external_reference_id LIKE 'FIRST-%' ORDER BY uid`)
	if diff := cmp.Diff([]string{"511 FIRST-1 SETTLED", "512 FIRST-2 SETTLED"}, first); diff != "" {
		t.Error(diff)
	}
	notices := ask(`SELECT concat_ws(' ', pd.contact, n.code) FROM ach_notices AS n
		JOIN payment_details AS pd ON pd.tenant = n.tenant AND pd.payment = n.payment
		WHERE n.tenant = ? ORDER BY 1`)
	if diff := cmp.Diff([]string{"100000115 C01", "100001315 C01"}, notices); diff != "" {
		t.Error(diff)
	}
	if twice := ask(`SELECT external_reference_id FROM payments WHERE tenant = ? AND direction = 'OUT'
		AND recurrence IS NULL
		GROUP BY 1 HAVING count(*) > 1`); len(twice) > 0 {
		t.Errorf("made twice: %s", twice)
	}
	if wrong := ask(`SELECT concat_ws(' ', account, version)
		FROM (SELECT p.account, p.version, j.booked_at < lag(j.booked_at)
		OVER (PARTITION BY p.account ORDER BY p.version) AS back FROM postings p
		JOIN journals j ON j.tenant = p.tenant AND j.id = p.journal WHERE p.tenant = ?) AS s
		WHERE back`); len(wrong) > 0 {
		t.Errorf("booked before what was booked earlier: %s", wrong)
	}
	violations, err := c.Ledger.Prove(operator)
	if diff := cmp.Diff(violations[:0], violations); err != nil || diff != "" {
		t.Errorf("the books are wrong: %s %v", diff, err)
	}
	if clock, err := c.Clock.Read(operator); err != nil || clock.Behind || clock.Moved ||
		!clock.Now.Equal(start) {
		t.Errorf("the clock shows %+v, %v", clock, err)
	}
	before := dump(t, c)
	if err := demo.Live(operator, c, "demo-staff", false, func(int, int) {}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, dump(t, c)); diff != "" {
		t.Errorf("it lived again: %s", diff)
	}
}

// A demo bank can be made at any time: on holidays and weekends, after nights with another time, and in a new
// year.
func TestADemoBankCanLiveAtAnyTime(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{
		time.Date(2026, 11, 26, 4, 59, 0, 0, time.UTC), time.Date(2027, 1, 1, 17, 0, 0, 0, time.UTC),
		time.Date(2027, 3, 14, 7, 30, 0, 0, time.UTC), time.Date(2027, 7, 5, 22, 0, 0, 0, time.UTC),
	} {
		t.Run(now.Format(time.DateTime), func(t *testing.T) {
			t.Parallel()
			c, tenant := sandboxAt(t, now)
			if err := demo.Fill(t.Context(), c, tenant, demo.Options{Customers: demo.Fewest}); err != nil {
				t.Fatal(err)
			}
			if err := demo.Live(inNewYork(t, c, tenant), c, "demo-staff", true, func(int, int) {}); err != nil {
				t.Error(err)
			}
		})
	}
}

// inNewYork returns the context of the operator of a bank that knows the banks of the demo.
func inNewYork(t *testing.T, c *core.Core, tenant access.Tenant) context.Context {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), tenant, "sandbox", zone)
	if err := demo.Directory(operator, c); err != nil {
		t.Fatal(err)
	}
	return operator
}
