package payments_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
)

// The proof finds what a payment holds on an account that does not pay it.
func TestAHoldOfAPaymentOnAnotherAccountIsFound(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"on another account": `WITH moved AS (UPDATE holds SET account = $o WHERE tenant = $t RETURNING amount),
			less AS (UPDATE balances SET held = 0 WHERE tenant = $t AND account = $a)
			UPDATE balances SET held = amount FROM moved WHERE tenant = $t AND account = $o`,
		"of no payment": `WITH another AS (INSERT INTO holds (tenant, id, account, amount, currency, payment, state,
				placed_at)
			SELECT tenant, id + 1000000, account, amount, currency, 4711, state, placed_at FROM holds
			WHERE tenant = $t RETURNING amount)
			UPDATE balances SET held = held + amount FROM another WHERE tenant = $t AND account = $a`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.Alone(t)
			b.Directory()
			c := b.Customer()
			s := &sender{b, b.Account(c, coretest.Holding(1_000_00, 0), coretest.Sends), b.Contact(c)}
			other := b.Account(c, coretest.Holding(1_000_00, 0))
			s.send(t, s.order("250.00", instantly))
			s.has(t, 1_000_00, 250_00)
			s.Prove()
			replace := strings.NewReplacer("$t", fmt.Sprint(s.Tenant), "$a", s.from.UID.String(),
				"$o", other.UID.String())
			if _, err := s.Owner().ExecContext(t.Context(), replace.Replace(statement)); err != nil {
				t.Fatal(err)
			}
			found, err := s.Ledger.Prove(access.Operator(t.Context(), s.Tenant, s.Code, nil))
			if err != nil || len(found) != 1 ||
				!slices.ContainsFunc(found, func(v ledger.Violation) bool { return v.Invariant == "I12" }) {
				t.Errorf("%v %v", found, err)
			}
		})
	}
}
