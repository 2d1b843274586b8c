package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/signatories"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var signatoryKind = numbered("Signatory", kind[signatories.UID, signatories.Signatory]{
	prefix:  scalar.SignatoryPrefix,
	find:    func(c *core.Core) finder[signatories.UID, signatories.Signatory] { return c.Signatories.FindMany },
	key:     func(g *signatories.Signatory) signatories.UID { return g.UID },
	columns: columns{"approvalLimit": {"LimitMinor", "Currency"}},
})

func init() {
	hasCustomer(signatoryKind, "customer", func(g *signatories.Signatory) *customers.UID { return &g.Customer })
	hasMany(customerKind, "signatories", signatoryKind, signatoriesOfCustomers)
	prices["SignatoryConnection.totalCount"] = countOne
	subjects["signatory"] = subject{codes: codes{fault.NotFound: "SIG_SIGNATORYNOTFOUND"}}
}

var signatoriesOfCustomers = list[customers.UID, signatories.Signatory, struct{}]{
	rows: func(
		c *core.Core, ctx context.Context, b *db.Batch, of []customers.UID, _ struct{}, want db.Columns, w window,
	) *db.Many[customers.UID, signatories.Signatory] {
		return c.Signatories.OfCustomers(ctx, b, of, want, w)
	},
	count: func(
		c *core.Core, ctx context.Context, b *db.Batch, of []customers.UID, _ struct{},
	) *db.Many[customers.UID, db.Count] {
		return c.Signatories.CountOfCustomers(ctx, b, of)
	},
}

func (m mutations) AddSignatory(
	ctx context.Context, in model.SignatoryDraft,
) (*model.SignatoryPayload, error) {
	done, err := m.core.Signatories.Add(ctx, in.Customer, in.Draft, in.RequestOptions)
	return signatoryKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeSignatory(
	ctx context.Context, in model.SignatoryDraft,
) (*model.SignatoryPayload, error) {
	done, err := m.core.Signatories.Change(ctx, in.Customer, in.UID, in.Draft, in.RequestOptions)
	return signatoryKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) RemoveSignatory(
	ctx context.Context, in model.SignatoryDraft,
) (*model.RemoveSignatoryPayload, error) {
	done, err := m.core.Signatories.Remove(ctx, in.Customer, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.RemoveSignatoryPayload{
		UID: int64(done.Result.UID), Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
