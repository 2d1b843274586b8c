package waterfalls_test

import (
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
