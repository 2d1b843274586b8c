package coretest

import (
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/ledger"
	"bankgraph/db/dbtest"
)

// Prove fails the test if this bank's books are wrong.
func (b *Bank) Prove() {
	b.t.Helper()
	for _, wrong := range b.broken() {
		b.t.Error(wrong)
	}
}

// broken is for any bank what Broken is for those in the shared database.
func (b *Bank) broken() []ledger.Violation {
	b.t.Helper()
	if b.opened == shared {
		return Broken(b.t, b.Ledger, b.Tenant)
	}
	violations, err := b.Ledger.Prove(access.Operator(b.t.Context(), b.Tenant, b.Code, nil))
	b.must(err)
	return violations
}

// Broken returns what is wrong with the books of a bank in the shared database. It asks what Ledger.Prove asks,
// with plans that all tests share.
func Broken(t testing.TB, books *ledger.Service, bank access.Tenant) (all []ledger.Violation) {
	t.Helper()
	invariants := books.Invariants()
	queries := make([]string, len(invariants))
	for i, one := range invariants {
		queries[i] = "SELECT subject, what FROM (" + strings.ReplaceAll(one.Query, "?0", "$1") + ") AS v"
	}
	for i, found := range dbtest.Planned[struct{ Subject, What string }](t, queries, bank) {
		for _, wrong := range found {
			all = append(all, ledger.Violation{
				Invariant: invariants[i].Name, Tenant: bank, Subject: wrong.Subject, What: wrong.What,
			})
		}
	}
	return all
}
