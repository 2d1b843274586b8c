package limits

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

// PlanOf is customers.LimitPlanner: an update of a customer, or a new one, sets its limits in the same transaction. A
// limit that the customer does not have yet is set up. Faults blame the field limits of the draft.
func (s *Service) PlanOf(ctx context.Context, tx *changes.Tx, of customers.UID, ceilings []customers.Ceiling) (*customers.LimitPlan, error) {
	drafts := make([]Draft, len(ceilings))
	for i, c := range ceilings {
		drafts[i] = Draft{Code: c.Code, Value: c.Value, Application: c.Application}
	}
	plan, err := s.PlanTx(ctx, tx, of, drafts, true)
	if err != nil {
		return nil, fault.Within(err, "limits")
	}
	return &customers.LimitPlan{Before: plan.Before, After: plan.After, WriteTx: func(ctx context.Context, tx *changes.Tx) error {
		return s.WriteTx(ctx, tx, plan)
	}}, nil
}
