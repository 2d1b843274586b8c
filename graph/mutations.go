package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/changes"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
)

// mutations carries out the fields of Mutation, which each domain's file has its own of. A mutation calls
// core, and then reads what its payload was asked for as a query would: the change stands by then, so what
// cannot be read is null with an error of its own.
type mutations struct{ core *core.Core }

func (r *Resolver) Mutation() generated.MutationResolver { return mutations{r.core} }

// payload is what a mutation of an object answers, whose field for the object is called like the kind.
func (k *kind[K, T]) payload(
	ctx context.Context, key K, mark changes.Receipt, err error,
) (*model.Payload[T], error) {
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Object: k.changed(ctx, key), Approval: waiting(ctx, mark), Replayed: mark.Replayed},
		nil
}

// changed is the object of a payload, read where the payload's field for it is asked for.
func (k *kind[K, T]) changed(ctx context.Context, key K) *T {
	asked := mergeFields(payloadFields(ctx, k.word()))
	if len(asked) == 0 {
		return nil
	}
	f := asked[0]
	for _, again := range asked[1:] { // the same field under other names shows the same row
		f.Selections = append(f.Selections[:len(f.Selections):len(f.Selections)], again.Selections...)
	}
	row, err := k.one(ctx, key, f)
	if err != nil {
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias)), err)
	}
	return row
}

// payloadFields are the fields of this name in what the mutation that is being answered was asked for.
func payloadFields(ctx context.Context, name string) (asked []graphql.CollectedField) {
	f := graphql.GetFieldContext(ctx).Field
	payload := []string{f.Definition.Type.Name()}
	for _, field := range graphql.CollectFields(graphql.GetOperationContext(ctx), f.Selections, payload) {
		if field.Name == name {
			asked = append(asked, field)
		}
	}
	return asked
}

// waiting is the approval of a payload: what waits for a second person, where anything does.
func waiting(ctx context.Context, m changes.Receipt) *changes.Approval {
	if m.Approval == 0 {
		return nil
	}
	return approvalKind.changed(ctx, changes.UID(m.Approval))
}
