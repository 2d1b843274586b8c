package sweeps_test

import (
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
)

// Who may arrange accounts and not pay sets no sweep up: it would pay.
func TestWhoMayNotPaySetsNoSweepUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 1_000_00)
	_, err := h.Accounts.SetSweep(h.As(access.ManageAccounts), 0, h.name(accounts.Out),
		h.out("0", accounts.ACHCredit), changes.RequestOptions{})
	if err == nil {
		t.Error("who may not pay has set up a sweep that empties the account")
	}
}
