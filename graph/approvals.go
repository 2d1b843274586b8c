package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/changes"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
)

// approvals answers Query.approvals.
func (o *operation) approvals(ctx context.Context, f graphql.CollectedField) (*model.ApprovalConnection, error) {
	a := argumentsOf(ctx, f)
	by, err := decode[changes.Search](ctx, a, "filter")
	if err != nil {
		return nil, err
	}
	named := approvalKind.orderOf("uid")
	w, err := a.window(ctx, f, named)
	if err != nil {
		return nil, err
	}
	asked := inConnection(ctx, approvalKind, f.Selections)
	b := o.batch()
	rows := o.core.Changes.List(ctx, b, by, asked.want, w)
	var count *db.Rows[db.Count]
	if asked.count {
		count = o.core.Changes.CountUpTo(ctx, b, by, model.MostCounted+1)
	}
	err = o.read(ctx, b, []step{func(ctx context.Context, next *db.Batch) []step {
		shown := page.Cut(rows.Items, w).Items
		return under(ctx, o, next, approvalKind, shown, each(shown, func(a *changes.Approval) (changes.UID, bool) { return a.UID, true }), asked.further)
	}})
	if err != nil {
		return nil, err
	}
	return &model.ApprovalConnection{
		Page: page.Cut(rows.Items, w), Window: w,
		Cursor: func(a *changes.Approval) page.Cursor { return page.Cursor{Order: named, UID: int64(a.UID)} },
		Count: func(context.Context) (int64, error) {
			n, err := count.One()
			if err != nil {
				return 0, err
			}
			return n.N, nil
		},
	}, rows.Err
}
