package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/graph/model"
)

// mostNodes is how many ids one nodes field may give.
const mostNodes = 100

// nodes reads objects of all kinds by their global ids: one statement for each kind, all in one round trip.
// An id that is malformed, absent or not the caller's to see gives nil.
func (o *operation) nodes(ctx context.Context, f graphql.CollectedField) ([]model.Node, error) {
	ids, err := decodeIDs(argumentsOf(ctx, f)["ids"])
	if err != nil {
		return nil, err
	}
	found, errs, err := o.byID(ctx, f, ids)
	if err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			graphql.AddError(ctx,
				&gqlerror.Error{Err: err, Message: err.Error(), Path: ast.Path{ast.PathName(f.Alias), ast.PathIndex(i)}})
		}
	}
	return found, nil
}

// node reads one object by its global id, as nodes does.
func (o *operation) node(ctx context.Context, f graphql.CollectedField) (model.Node, error) {
	id, err := graphql.UnmarshalID(argumentsOf(ctx, f)["id"])
	if err != nil {
		return nil, err
	}
	found, errs, err := o.byID(ctx, f, []string{id})
	if err != nil {
		return nil, err
	}
	return found[0], errs[0]
}

func decodeIDs(value any) ([]string, error) {
	list := graphql.CoerceList(value)
	ids := make([]string, len(list))
	for i, item := range list {
		var err error
		if ids[i], err = graphql.UnmarshalID(item); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// byID gives each id its object or its own error.
func (o *operation) byID(
	ctx context.Context, f graphql.CollectedField, ids []string,
) ([]model.Node, []error, error) {
	if len(ids) > mostNodes {
		return nil, nil, fault.Field("node", "ids", fault.Max, "at most 100 ids")
	}
	b := o.batch()
	readers := make([]reader, len(kinds))
	for i, k := range kinds {
		readers[i] = k.reader(o)
	}
	var steps []step
	for i := range readers {
		steps = append(steps, some(readers[i].queue(ctx, b, f, ids))...)
	}
	if err := o.read(ctx, b, steps); err != nil {
		return nil, nil, err
	}
	found, errs := make([]model.Node, len(ids)), make([]error, len(ids))
	for i, id := range ids {
		for _, r := range readers {
			if strings.HasPrefix(id, r.prefix) {
				found[i], errs[i] = r.node(id)
			}
		}
	}
	return found, errs, nil
}

// reader reads the objects of one kind.
type reader struct {
	prefix string
	queue  func(ctx context.Context, b *db.Batch, f graphql.CollectedField, ids []string) step
	node   func(id string) (model.Node, error)
}

func (k *kind[K, T]) reader(o *operation) reader {
	var found *db.Many[K, T]
	return reader{
		prefix: k.prefix,
		queue: func(ctx context.Context, b *db.Batch, f graphql.CollectedField, ids []string) (next step) {
			var keys []K
			for _, id := range ids {
				key, err := k.parse(strings.TrimPrefix(id, k.prefix))
				if err == nil && strings.HasPrefix(id, k.prefix) && !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
			if len(keys) > 0 {
				found, next = k.queue(ctx, o, b, keys, f.Selections)
			}
			return next
		},
		node: func(id string) (model.Node, error) {
			key, malformed := k.parse(strings.TrimPrefix(id, k.prefix))
			if malformed == nil && found != nil {
				row, err := oneOf(found, key)
				if row != nil {
					return row, nil
				}
				return nil, err
			}
			return nil, nil
		},
	}
}
