package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
)

// roots holds the functions that answer the fields of Query.
var roots = map[string]func(context.Context, graphql.CollectedField) (any, error){}

// query declares a field of Query.
func query[V any](field string, answer func(*operation, context.Context, graphql.CollectedField) (V, error)) {
	roots[field] = func(ctx context.Context, f graphql.CollectedField) (any, error) {
		return answer(operationOf(ctx), ctx, f)
	}
}

// under makes rows siblings and plans their relations.
func (k *kind[K, T]) under(
	ctx context.Context, o *operation, next *db.Batch, rows []*T, relations []graphql.CollectedField,
) []step {
	s := family(each(rows, func(row *T) (K, bool) { return k.key(row), true }))
	attachRows(o, s, rows)
	return o.children(ctx, next, k.objectType, s, relations)
}

// queue queues rows by their keys, together with the relations that need only the keys.
func (k *kind[K, T]) queue(
	ctx context.Context, o *operation, b *db.Batch, keys []K, selection ast.SelectionSet,
) (*db.Many[K, T], step) {
	want, relations := k.wants(ctx, selection)
	queued := b.Len()
	found := k.find(o.core)(ctx, b, keys, want)
	if len(relations) == 0 || found.Err != nil && b.Len() == queued { // a refused read has nothing below it
		return found, nil
	}
	s := family(keys)
	steps := o.children(ctx, b, k.objectType, s, relations)
	return found, func(ctx context.Context, next *db.Batch) []step {
		var rows []*T
		for _, key := range keys {
			rows = append(rows, found.Of[key]...)
		}
		attachRows(o, s, rows)
		var further []step
		for _, step := range steps {
			further = append(further, step(ctx, next)...)
		}
		return further
	}
}

// oneOf returns the row of a key, or nil if the caller has no such row.
func oneOf[K comparable, T any](found *db.Many[K, T], key K) (*T, error) {
	if found.Err != nil || len(found.Of[key]) == 0 {
		return nil, found.Err
	}
	return found.Of[key][0], nil
}

// one reads one object with all that its selection asks for.
func (k *kind[K, T]) one(ctx context.Context, key K, f graphql.CollectedField) (*T, error) {
	o := operationOf(ctx)
	b := o.batch()
	found, next := k.queue(ctx, o, b, []K{key}, f.Selections)
	if err := o.read(ctx, b, some(next)); err != nil {
		return nil, err
	}
	return oneOf(found, key)
}

var errOneOf = fault.Field("lookup", "by", fault.Malformed, "exactly one of the fields must be given")

// lookup reads the argument by, which must give exactly one field, and returns that field's name. Validation
// checks the number of fields in literals, not in variables.
func lookup[By any](ctx context.Context, f graphql.CollectedField) (by By, name string, err error) {
	a := argumentsOf(ctx, f)
	given, _ := a["by"].(map[string]any)
	if len(given) != 1 {
		return by, "", errOneOf
	}
	for name = range given {
		if given[name] == nil {
			return by, "", errOneOf
		}
	}
	by, err = decode[By](ctx, a, "by")
	return by, name, err
}

// order is an order in which a list can be read.
type order[T any] struct {
	name  string
	value func(*T) string // a cursor carries it beside the UID
	needs db.Columns      // the columns that value reads
}

// orders returns the order that the arguments ask for and sets it in the search.
type orders[T, F any] = func(a arguments, by *F) order[T]

// queryList declares a field of Query for a list of a kind, read by two methods of a service. Without orders
// the list is sorted by UID.
func queryList[K objectKey, T, F, S any](
	field string, k *kind[K, T], service func(*core.Core) S,
	rows func(S, context.Context, *db.Batch, F, db.Columns, window) *db.Rows[T],
	count func(S, context.Context, *db.Batch, F, int64) *db.Rows[db.Count],
	in orders[T, F],
) {
	query(field,
		func(o *operation, ctx context.Context, f graphql.CollectedField) (*model.Connection[T], error) {
			asked, err := askedList(ctx, f, k, in)
			if err != nil {
				return nil, err
			}
			b, s, by := o.batch(), service(o.core), asked.by
			found := rows(s, ctx, b, by, asked.want, asked.w)
			var counted *db.Rows[db.Count]
			if asked.count {
				counted = count(s, ctx, b, by, model.MostCounted+1)
			}
			if err := o.read(ctx, b, []step{k.arrival(o, found, asked.w, asked.further)}); err != nil {
				return nil, err
			}
			return &model.Connection[T]{
				Page: page.Cut(found.Items, asked.w), Window: asked.w, Cursor: asked.cursor,
				Count: func(context.Context) (int64, error) {
					n, err := counted.One()
					if err != nil {
						return 0, err
					}
					return n.N, nil
				},
			}, found.Err
		})
}

// listAsked is what a request asks of a list.
type listAsked[T, F any] struct {
	selected
	by     F
	w      window
	cursor func(*T) page.Cursor
}

func askedList[K objectKey, T, F any](
	ctx context.Context, f graphql.CollectedField, k *kind[K, T], in orders[T, F],
) (asked listAsked[T, F], err error) {
	a := argumentsOf(ctx, f)
	if asked.by, err = decode[F](ctx, a, "filter"); err != nil {
		return asked, err
	}
	by := order[T]{name: byUID}
	if in != nil {
		by = in(a, &asked.by)
	}
	named := k.orderOf(by.name)
	if asked.w, err = a.window(ctx, f, named); err != nil {
		return asked, err
	}
	asked.selected = inConnection(ctx, k.objectType, f.Selections)
	asked.want = asked.want.And(by.needs)
	asked.cursor = func(row *T) page.Cursor {
		at := page.Cursor{Order: named, UID: k.place(row)}
		if by.value != nil {
			at.Value = by.value(row)
		}
		return at
	}
	return asked, nil
}

// arrival returns the step that plans the relations of the rows of a page after they were read.
func (k *kind[K, T]) arrival(
	o *operation, rows *db.Rows[T], w window, relations []graphql.CollectedField,
) step {
	return func(ctx context.Context, next *db.Batch) []step {
		if len(relations) == 0 {
			return nil
		}
		return k.under(ctx, o, next, page.Cut(rows.Items, w).Items, relations)
	}
}

// arrivals is arrival for the rows of several parents, all of which are shown.
func arrivals[P comparable, K objectKey, T any](
	k *kind[K, T], o *operation, parents []P, rows *db.Many[P, T], relations []graphql.CollectedField,
) step {
	return func(ctx context.Context, next *db.Batch) []step {
		var all []*T
		for _, parent := range parents {
			all = append(all, rows.Of[parent]...)
		}
		if len(all) == 0 {
			return nil
		}
		return k.under(ctx, o, next, all, relations)
	}
}

// resolved is called by gqlgen's resolvers of fields of Query.
func resolved[V any](ctx context.Context) (V, error) {
	f := graphql.GetFieldContext(ctx).Field
	value, err := roots[f.Name](ctx, f)
	return as[V](value, err)
}

// as returns value as a V, or the zero value if it is not one.
func as[V any](value any, err error) (V, error) {
	v, _ := value.(V)
	return v, err
}
