package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/changes"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
)

// mutations answers the fields of Mutation; their methods are in the files of their domains. A mutation calls
// core, then reads what its payload was asked for, as a query would. The change has been committed by then,
// so a field that cannot be read is null and has an error of its own.
type mutations struct{ core *core.Core }

func (r *Resolver) Mutation() generated.MutationResolver { return mutations{r.core} }

// payload makes the payload of a mutation. Its field for the object has the kind's name.
func (k *kind[K, T]) payload(
	ctx context.Context, key K, mark changes.Receipt, err error,
) (*model.Payload[T], error) {
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Object: k.changed(ctx, key), Approval: waiting(ctx, mark), Replayed: mark.Replayed},
		nil
}

// changed reads the object of a payload, if its field was asked for.
func (k *kind[K, T]) changed(ctx context.Context, key K) *T {
	asked := mergeFields(payloadFields(ctx, k.word()))
	if len(asked) == 0 {
		return nil
	}
	f := mergeAliases(asked)
	row, err := k.one(ctx, key, f)
	if err != nil {
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias)), err)
	}
	return row
}

// mergeAliases makes one field of several for the same row under other aliases.
func mergeAliases(asked []graphql.CollectedField) graphql.CollectedField {
	f := asked[0]
	for _, again := range asked[1:] {
		f.Selections = append(f.Selections[:len(f.Selections):len(f.Selections)], again.Selections...)
	}
	return f
}

// payloadFields returns the fields of this name that the current mutation's payload was asked for.
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

// waiting reads the approval of a payload. It is nil if the change does not wait for a second person.
func waiting(ctx context.Context, m changes.Receipt) *changes.Approval {
	if m.Approval == 0 {
		return nil
	}
	return approvalKind.changed(ctx, changes.UID(m.Approval))
}
