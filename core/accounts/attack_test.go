package accounts_test

import (
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/given"
)

// The bank's people confirm wires above a bound, and only they say that they do not.
func TestAPartnerEndsNoCallbacksAlone(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of, bound := b.Customer(coretest.OwnedBy(partner)), int64(50_00)
	for name, features := range map[string]accounts.FeaturesDraft{
		"off":     {Callbacks: given.Of(false)},
		"no more": {CallbackLimit: given.Of("50.01")},
		"no wire": {Wires: given.Of(false)},
	} {
		a := b.Account(of, coretest.Sends,
			func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &bound })
		change := func(features accounts.FeaturesDraft) changes.Outcome[accounts.Saved] {
			t.Helper()
			out, err := b.Accounts.Change(b.Partner(partner), of.UID, a.UID, accounts.Draft{Features: features},
				changes.RequestOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return out
		}
		if out := change(accounts.FeaturesDraft{CallbackLimit: given.Of("49")}); out.Approval != 0 {
			t.Errorf("%s: less waits for somebody", name)
		}
		out := change(features)
		if out.Approval == 0 {
			t.Errorf("%s: wires go out unconfirmed now", name)
			continue
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
