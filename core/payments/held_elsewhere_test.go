package payments_test

import (
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
)

// An older release repaired payments from another account than their own, and held that one's money. They are
// not sent, neither from the one nor from the other, and who cancels them releases it.
func TestAPaymentWhoseMoneyAnotherAccountHoldsIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := &sender{s.Bank, s.Account(s.Customer(), coretest.Holding(1_000_00, 0), coretest.Sends), s.to}
	made, beside := s.send(t, s.order("250.00", byWire)), s.send(t, s.order("400.00", byWire))
	s.holdElsewhere(other.from.UID, made.UID)
	s.run(t)
	if got := s.life(t, made.UID); got != "QUEUED" {
		t.Error(got)
	}
	other.has(t, 1_000_00, 250_00)
	if out, err := s.Payments.Cancel(s.Staff(), made.UID, changes.RequestOptions{}); err != nil ||
		out.Result.Status != payments.StatusCancelled {
		t.Errorf("%+v %v", out, err)
	}
	s.run(t)
	if got := s.life(t, beside.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.has(t, 99_600_00, 0)
	other.has(t, 1_000_00, 0)
	s.Prove()
}
