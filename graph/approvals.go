package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// approvalKind is a change that waits for a second person.
var approvalKind = numbered("Approval", kind[changes.UID, changes.Approval]{
	prefix:  scalar.ApprovalPrefix,
	find:    func(c *core.Core) finder[changes.UID, changes.Approval] { return c.Changes.FindMany },
	key:     func(a *changes.Approval) changes.UID { return a.UID },
	columns: columns{"changes": {"Before", "After"}},
})

func init() {
	queryList("approvals", approvalKind, func(c *core.Core) *changes.Service { return c.Changes },
		(*changes.Service).List, (*changes.Service).CountUpTo, nil)
	hasCustomer(approvalKind, "customer", func(a *changes.Approval) *customers.UID {
		return (*customers.UID)(&a.Customer)
	})
	listSizes["Approval.changes"] = 20
	prices["ApprovalConnection.totalCount"] = countMany
	prices["ApprovalConnection.totalCountIsExact"] = countMany
}

func (m mutations) ApproveChange(
	ctx context.Context, in model.Decision,
) (*model.ApproveChangePayload, error) {
	done, err := m.core.Changes.Approve(ctx, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.ApproveChangePayload{
		Approval: approvalKind.changed(ctx, done.Result),
		Replayed: done.Replayed,
	}, nil
}

func (m mutations) RefuseChange(ctx context.Context, in model.Decision) (*model.RefuseChangePayload, error) {
	done, err := m.core.Changes.Refuse(ctx, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.RefuseChangePayload{Approval: approvalKind.changed(ctx, done.Result), Replayed: done.Replayed},
		nil
}
