package limits

import (
	"context"
	"fmt"
	"strings"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

// PlanOf is the customers.LimitPlanner, by which a new or changed customer sets its limits in the same
// transaction. A limit that the customer does not have yet is set up. Faults name the limit's path in the
// request.
func (s *Service) PlanOf(
	ctx context.Context, tx *changes.Tx, of *customers.Customer, ceilings []customers.Ceiling,
) (*customers.LimitPlan, error) {
	// a new customer that is Pending has its limits from the start
	if of.Version > 1 || of.Status != customers.Pending {
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
