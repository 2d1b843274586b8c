package waterfalls_test

import (
	"context"
	"fmt"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/ledger"
	"bankgraph/core/waterfalls"
)

func TestABatchStopsOnceWhoAskedForItIsSuspended(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	out, err := h.Waterfalls.Run(h.Someone("clerk"), waterfalls.Draft{
		ExternalReferenceID: "A-1", Payments: []waterfalls.Transfer{h.moves(1, "10", 0, 1)},
	}, changes.RequestOptions{})
	h.must(err)
	h.Exec(`UPDATE users SET status = 'Suspended' WHERE tenant = ? AND login_id = 'clerk'`, h.Tenant)
	h.work()
	h.is(out.Result.UID, "STOPPED 1:FAILED(STATUS ) 10000 0 0")
}

// Who asks for many batches keeps nobody else's from going on.
func TestWhoAsksForManyBatchesKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ask := func(as context.Context, reference string) {
		_, err := h.Waterfalls.Run(as, waterfalls.Draft{
			ExternalReferenceID: reference,
			Payments: []waterfalls.Transfer{
				h.moves(1, "0.01", 0, 1), h.moves(2, "0.01", 0, 1), h.moves(3, "0.01", 0, 1),
			},
		}, changes.RequestOptions{})
		h.must(err)
	}
	busy, other := h.Someone("clerk"), h.Staff()
	for i := range 8 {
		ask(busy, fmt.Sprintf("A-%d", i))
	}
	ask(other, "B")
	h.work()
	before := h.count(`SELECT count(*) FROM payments WHERE tenant = ? AND external_reference_id LIKE 'A-%'
		AND uid < (SELECT max(b.uid) FROM payments AS b
			WHERE b.tenant = payments.tenant AND b.external_reference_id = 'B')`)
	if before > 3 {
		t.Errorf("%d payments of the other's batches came first", before)
	}
	if n := h.count(`SELECT count(*) FROM payments WHERE tenant = ?`); n != 27 {
		t.Errorf("%d payments of 27", n)
	}
}

// The steps of a batch go on between the accounts that were looked at when it was accepted, whoever has their
// numbers by then.
func TestABatchMovesMoneyBetweenTheAccountsThatWereAccepted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	out, err := h.run("B-1", "", h.moves(1, "10", 0, 1), h.moves(2, "20", 0, 1))
	h.must(err)
	h.work()
	h.is(out.Result.UID, "PENDING_APPROVAL 1:PENDING_APPROVAL 2:WAITING 10000 0 0")
	for i, was := range h.accounts[:2] {
		stranger := h.Account(h.Customer(), coretest.Holding(500_00, 0))
		number := coretest.AccountNumber(was.UID)
		for _, c := range []struct {
			uid    accounts.UID
			number string
		}{{was.UID, fmt.Sprintf("777000111%d", i)}, {stranger.UID, number}} {
			_, err := h.Accounts.Change(h.Staff(), 0, c.uid, accounts.Draft{Number: given.Of(c.number)},
				changes.RequestOptions{})
			h.must(err)
		}
		defer func() {
			var b ledger.Balance
			h.must(h.DB.NewSelect().Model(&b).Where("b.tenant = ? AND b.account = ?", h.Tenant, stranger.UID).
				Scan(t.Context()))
			if b.Ledger != 500_00 {
				t.Errorf("who has the number of account %s by now has %d", was.UID, b.Ledger)
			}
		}()
	}
	for range 2 {
		approval := h.count(`SELECT max(uid) FROM approvals WHERE tenant = ? AND status = 'Open'`)
		_, err := h.Changes.Approve(h.Checker(), changes.UID(approval), changes.RequestOptions{})
		h.must(err)
		h.work()
		h.work()
	}
	h.is(out.Result.UID, "PROCESSED 1:MADE 2:MADE 7000 3000 0")
	h.Prove()
}
