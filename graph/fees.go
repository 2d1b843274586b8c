package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/graph/model"
)

func init() {
	query("feeCatalogue",
		func(o *operation, ctx context.Context, _ graphql.CollectedField) ([]*fees.Fee, error) {
			return o.core.Fees.Catalogue(ctx)
		})
	hasAll(customerKind, "fees", func(c *core.Core) *fees.Service { return c.Fees },
		(*fees.Service).OfCustomers)
	listSizes["Customer.fees"], listSizes["Query.feeCatalogue"] = 10, 40 // a customer has few
	subjects["feeTier"] = subject{fields: map[string]string{"feeTier": "tier", "feeName": "name"}}
}

func (m mutations) AddFeeTier(ctx context.Context, in model.FeeTierDraft) (*model.FeeTierPayload, error) {
	done, err := m.core.Fees.Add(ctx, in.Customer, in.Draft, in.RequestOptions)
	return m.feeTier(ctx, done, err)
}

func (m mutations) ChangeFeeTier(ctx context.Context, in model.FeeTierDraft) (*model.FeeTierPayload, error) {
	done, err := m.core.Fees.Change(ctx, in.Customer, in.UID, in.Draft, in.RequestOptions)
	return m.feeTier(ctx, done, err)
}

// feeTier makes the payload of a changed fee tier.
func (m mutations) feeTier(
	ctx context.Context, done changes.Outcome[fees.Saved], err error,
) (*model.FeeTierPayload, error) {
	if err != nil {
		return nil, err
	}
	return &model.FeeTierPayload{
		Object: m.changedTier(ctx, done.Result), Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}

// changedTier reads the fee tier of a payload from those of its customer.
func (m mutations) changedTier(ctx context.Context, saved fees.Saved) *fees.Tier {
	if len(payloadFields(ctx, "feeTier")) == 0 {
		return nil
	}
	b := m.core.PrimaryBatch()
	held := m.core.Fees.OfCustomers(ctx, b, []customers.UID{saved.Customer})
	err := b.Send(ctx)
	if err == nil {
		err = held.Err
	}
	if err != nil {
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField("feeTier")), err)
	}
	for _, tier := range held.Of[saved.Customer] {
		if tier.ID == saved.ID {
			return tier
		}
	}
	return nil
}
