package waterfalls_test

import (
	"context"
	"fmt"
	"testing"

	"bankgraph/core/changes"
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
