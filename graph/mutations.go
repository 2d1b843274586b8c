package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/db"
)

// A mutation calls core, and then reads what its payload was asked for as a query would: the change stands by then,
// so what cannot be read is null with an error of its own.

// changed is the object of a payload, read where the payload's field of this name is asked for.
func changed[K comparable, T any](ctx context.Context, k *kind, name string, key K, many func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]) *T {
	asked := together(payload(ctx, name))
	if len(asked) == 0 {
		return nil
	}
	f := asked[0]
	for _, again := range asked[1:] { // the same field under other names shows the same row
		f.Selections = append(f.Selections[:len(f.Selections):len(f.Selections)], again.Selections...)
	}
	row, err := root(ctx, k, key, f, many)
	if err != nil {
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias)), err)
	}
	return row
}

// payload are the fields of this name in what the mutation that is being answered was asked for.
func payload(ctx context.Context, name string) (asked []graphql.CollectedField) {
	f := graphql.GetFieldContext(ctx).Field
	for _, field := range graphql.CollectFields(graphql.GetOperationContext(ctx), f.Selections, []string{f.Definition.Type.Name()}) {
		if field.Name == name {
			asked = append(asked, field)
		}
	}
	return asked
}

// waiting is the approval of a payload: what waits for a second person, where anything does.
func (r *mutationResolver) waiting(ctx context.Context, m changes.Mark) *changes.Approval {
	if m.Approval == 0 {
		return nil
	}
	return changed(ctx, approvalKind, "approval", changes.UID(m.Approval), r.core.Changes.FindMany)
}

// sweep is the one of a payload, where it is asked for and there.
func (r *mutationResolver) sweep(ctx context.Context, name accounts.SweepName) *accounts.Sweep {
	if len(payload(ctx, "sweep")) == 0 {
		return nil
	}
	found, err := r.core.Accounts.FindSweep(ctx, 0, name)
	if err != nil && !errors.Is(err, accounts.ErrNoSweep) {
		graphql.AddError(ctx, err)
	}
	return found
}

// changedTier is the fee tier of a payload, from those of its customer.
func (r *mutationResolver) changedTier(ctx context.Context, saved fees.Saved) *fees.Tier {
	if len(payload(ctx, "feeTier")) == 0 {
		return nil
	}
	b := r.core.Fresh()
	held := r.core.Fees.OfCustomers(ctx, b, []customers.UID{saved.Customer})
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
