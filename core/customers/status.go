package customers

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/states"
)

var (
	// The changes of status that the bank's staff can make. A new customer that waits for a second person is
	// Pending until that decision.
	activating = states.Step[Status]{From: []Status{StatusNew, Pending, Suspended}, To: Active, Else: ErrStatus}
	suspending = states.Step[Status]{From: []Status{Active, StatusNew, Pending}, To: Suspended, Else: ErrStatus}

	// ErrStatus is returned when the customer's present status does not lead to the requested one.
	ErrStatus = fault.New(fault.State, "customer.status", "the customer's status does not allow this")
	// ErrSelf is returned when the bank's own customer is to be suspended or activated.
	ErrSelf = fault.New(fault.State, "customer.bank_itself", "the bank itself is always active")
)

// Suspend stops a customer at once; it never waits for a second person. It is for the bank's staff.
func (s *Service) Suspend(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.suspend.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.suspend.Do(ctx, caller, changes.Target{Customer: int64(uid)}, struct{}{}, options)
}

// Activate makes a customer active, again or for the first time. It is for the bank's staff.
func (s *Service) Activate(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.activate.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.activate.Do(ctx, caller, changes.Target{Customer: int64(uid)}, struct{}{}, options)
}

// suspendTx does not wait for open approvals, whose changes are stale afterwards. But a new customer that is
// Pending cannot be suspended before the decision.
func (s *Service) suspendTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	l := s.lifecycle(s.lockAnyTx)
	l.Asks = nil
	c, err := l.Modify(ctx, tx, at, func(was, c *Customer) error {
		if err := c.become(tx.Caller, suspending); err != nil || was.Status != Pending {
			return err
		}
		return tx.RequireNoOpenApproval(ctx, c.UID)
	})
	if err != nil {
		return Saved{}, err
	}
	return saved(c, false), nil
}

func (s *Service) activateTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return s.modifyTx(ctx, tx, at, s.lockAnyTx, nil,
		func(_, c *Customer) error { return c.become(tx.Caller, activating) })
}

// become moves a customer to another status, if the step is allowed and the caller may take it.
func (c *Customer) become(caller access.Caller, step states.Step[Status]) (err error) {
	switch {
	case caller.Reach != access.OfBank:
		return access.ErrDenied
	case c.RelationshipType == RelationSelf:
		return ErrSelf
	}
	c.Status, err = step.Take(c.Status)
	return err
}
