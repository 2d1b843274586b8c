package customers

import (
	"context"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
)

// next are the ways from one status to another that the bank's staff can go. A new customer waits as Pending while a
// second person has to approve it: that decision ends it.
var next = map[Status][]Status{
	Active: {Suspended}, StatusNew: {Active, Suspended}, Pending: {Active, Suspended}, Suspended: {Active},
}

var (
	// ErrStatus is a customer whose status has no way to the one that is wanted.
	ErrStatus = fault.New(fault.State, "customer", "the customer's status does not allow this")
	// ErrSelf is the bank itself, which cannot be suspended.
	ErrSelf = fault.New(fault.State, "customer", "the bank itself is always active")
)

// Suspend stops a customer. It is for the bank's staff.
func (s *Service) Suspend(ctx context.Context, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.suspend.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.suspend.Do(ctx, caller, changes.Target{Customer: int64(uid)}, struct{}{}, terms)
}

// Activate lets a customer act, again or for the first time. It is for the bank's staff.
func (s *Service) Activate(ctx context.Context, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.activate.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.activate.Do(ctx, caller, changes.Target{Customer: int64(uid)}, struct{}{}, terms)
}

func (s *Service) suspendTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	return s.goTx(ctx, tx, at, Suspended)
}

func (s *Service) activateTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	return s.goTx(ctx, tx, at, Active)
}

func (s *Service) goTx(ctx context.Context, tx *changes.Tx, at changes.Target, to Status) (Saved, error) {
	if tx.Caller.Reach != access.OfBank {
		return Saved{}, access.ErrDenied
	}
	return s.modifyTx(ctx, tx, at, s.lockAnyTx, nil, func(was, c *Customer) error {
		if was.RelationshipType == RelationSelf {
			return ErrSelf
		}
		if !slices.Contains(next[was.Status], to) {
			return ErrStatus
		}
		c.Status = to
		return nil
	})
}
