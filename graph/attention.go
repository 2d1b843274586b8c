package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/attention"
	"bankgraph/core/fault"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

func init() {
	query("attention", (*operation).attention)
	prices["Query.attention"] = search
	listSizes["Attention.items"] = attention.MostItems
	listSizes["Attention.waiting"] = len(attention.Kinds)
}

// attention answers Query.attention.
func (o *operation) attention(ctx context.Context, f graphql.CollectedField) (*model.Attention, error) {
	a := argumentsOf(ctx, f)
	first, err := scalar.UnmarshalInt(a["first"])
	if err != nil {
		return nil, on("first", err)
	}
	by, err := decode[attention.Search](ctx, a, "filter")
	if err != nil {
		return nil, err
	}
	found, err := o.core.Attention.List(ctx, by, int(first))
	if wrong, is := fault.Of(err); is && wrong.Field == "first" {
		return nil, on("first", err)
	}
	if err != nil {
		return nil, err
	}
	return model.AttentionOf(found), nil
}
