package sweeps_test

import (
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/sweeps"
	"bankgraph/db/dbtest/faults"
)

// Wherever a run is broken, it is made once in the end; and what the bank itself cannot do is a run that
// failed, which holds up none of the others.
func TestARunThatIsBrokenAtAnyStatementIsMadeOnce(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	run := func(k int, f faults.Fault) *house {
		t.Helper()
		b := line.Bank()
		b.Directory()
		h := furnished(t, b, 1_000_00)
		h.set(accounts.Out, h.out("300", accounts.ACHCredit))
		h.Clock.Set(coretest.Start.AddDate(0, 0, 1))
		_, err := h.Core.Clock.Now(t.Context(), h.Tenant)
		h.must(err)
		line.Break(k, f)
		_, err = h.Sweeps.Work(h.operator)
		if k > 0 && f.Cut && !line.Struck() {
			t.Fatalf("%s at %d did not happen: %v", f, k, err)
		}
		return h
	}
	run(0, faults.Fault{})
	statements := line.Statements()
	if len(statements) < 8 {
		t.Fatalf("%d statements", len(statements))
	}
	for k := range statements {
		for _, f := range []faults.Fault{
			{Cut: true, Never: true}, {Cut: true, Ran: true}, {State: "40001"}, {State: "XX000"},
		} {
			h := run(k+1, f)
			line.Break(0, faults.Fault{})
			again := func() int {
				_, err := h.Sweeps.Work(h.operator)
				h.must(err)
				return len(h.runs())
			}
			// what a lost connection has locked the server lets go when it notices
			for began := time.Now(); again() == 0 && time.Since(began) < 10*time.Second; {
				time.Sleep(20 * time.Millisecond)
			}
			again()
			all := h.runs()
			if len(all) != 1 {
				t.Fatalf("%s at %d: %d runs", f, k+1, len(all))
			}
			made := h.count(`SELECT count(*) FROM payments WHERE tenant = ?`)
			if r := all[0]; r.Outcome == sweeps.Paid && made != 1 || r.Outcome != sweeps.Paid &&
				(f.State != "XX000" || made != 0 || r.Reason != "the bank could not make the payment") {
				t.Errorf("%s at %d, %.60s: %+v, %d payments", f, k+1, statements[k], all[0], made)
			}
			h.Prove()
		}
	}
}

// What the bank itself cannot do is a run of that sweep that failed, and not of the one whose turn it is by
// then.
func TestASweepThatCannotBeRunFailsNoOther(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	b := line.Bank()
	b.Directory()
	swept := func(broken bool) *house {
		h := furnished(t, b, 1_000_00)
		h.set(accounts.Out, h.out("300", accounts.ACHCredit))
		if broken {
			b.Exec(`UPDATE contacts SET bank_account_number_sealed = 'garbage'::bytea
				WHERE tenant = ? AND uid = ?`, b.Tenant, h.contact.UID)
		}
		return h
	}
	first, bad, good := swept(true), swept(true), swept(false)
	b.Clock.Set(coretest.Start.AddDate(0, 0, 1))
	_, err := b.Core.Clock.Now(t.Context(), b.Tenant)
	good.must(err)
	work := func() { _, _ = b.Sweeps.Work(first.operator) }
	line.Elsewhere(line.Begins(3, work), b, // the first transaction plans
		`UPDATE sweeps SET next_date = next_date - 1 WHERE tenant = ? AND account = ?`,
		b.Tenant, good.account.UID)
	for range 4 {
		work()
	}
	for h, want := range map[*house]sweeps.RunOutcome{
		first: sweeps.Failed, bad: sweeps.Failed, good: sweeps.Paid,
	} {
		if all := h.runs(); len(all) != 1 || all[0].Outcome != want {
			t.Errorf("%+v, want %s", all, want)
		}
	}
}
