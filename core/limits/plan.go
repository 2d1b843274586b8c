package limits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// PlanOf is the customers.LimitPlanner, by which a new or changed customer sets its limits in the same
// transaction. A limit that the customer does not have yet is set up. Faults name the limit's path in the
// request. Of a customer that a partner creates it has each limit of the partner that the request does not
// name: without any, a partner would pay through it whatever the bank lets it pay itself.
func (s *Service) PlanOf(
	ctx context.Context, tx *changes.Tx, of *customers.Customer, ceilings []customers.Ceiling, created bool,
) (*customers.LimitPlan, error) {
	if created && tx.Caller.Reach == access.OfPartner {
		inherited, err := s.inheritedTx(ctx, tx, ceilings)
		if err != nil {
			return nil, err
		}
		ceilings = append(slices.Clone(ceilings), inherited...)
	}
	if len(ceilings) == 0 {
		return new(customers.LimitPlan), nil
	}
	// a new customer that is Pending has its limits from the start
	if !created || of.Status != customers.Pending {
		if err := changeable(of); err != nil {
			return nil, err
		}
	}
	names := map[string]string{}
	for i, c := range ceilings {
		place := fmt.Sprintf("[%d]", i)
		at, code := c.At, ".key"
		group := at[:max(0, strings.LastIndexByte(at, '.'))] // the path of the application that the limit is in
		if at == "" {
			at, code, group = "limits"+place, ".code", "limits"+place
		}
		names[place+".entityLimitId"], names[place+".entityLimitValue"], names[place+".appName"] = at+code,
			at+".value", group+".appName"
	}
	plan, err := s.PlanTx(ctx, tx, of.UID, ceilings, true)
	if err != nil {
		return nil, fault.Called(err, names)
	}
	return &customers.LimitPlan{
		Before: plan.Before, After: plan.After, WriteTx: func(ctx context.Context, tx *changes.Tx) error {
			return s.WriteTx(ctx, tx, plan)
		},
	}, nil
}

// inheritedTx returns the limits of the partner that calls, but for those that are named.
func (s *Service) inheritedTx(
	ctx context.Context, tx *changes.Tx, named []customers.Ceiling,
) (all []customers.Ceiling, err error) {
	own, _, err := s.ownTx(ctx, tx, customers.UID(tx.Caller.Entity))
	if err != nil {
		return nil, fmt.Errorf("read the limits of partner %d: %w", tx.Caller.Entity, err)
	}
	for _, code := range slices.Sorted(maps.Keys(own)) {
		if !slices.ContainsFunc(named, func(c customers.Ceiling) bool { return ident.Upper(c.Code) == code }) {
			all = append(all, customers.Ceiling{Code: code, Value: own[code].Value()})
		}
	}
	return all, nil
}
