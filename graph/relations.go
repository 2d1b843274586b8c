package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// queue adds the reads of a relation to a batch. After the batch was sent, of returns each parent's value,
// and next queues what the values' own fields need.
type queue[P comparable, V any] = func(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (of func(P) (V, error), next step)

// relation is a field of T whose value is read from the database for a set of parents at once.
type relation[T any, P comparable, V any] struct {
	key   func(*T) P
	queue queue[P, V]
	// late relations need the parents' rows, not only their keys, and are queued one round trip later.
	late bool
}

func (r *relation[T, P, V]) plan(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) step {
	if r.late && s.rows == nil {
		return func(ctx context.Context, next *db.Batch) []step {
			return some(r.queueFor(ctx, o, next, s, f))
		}
	}
	return r.queueFor(ctx, o, b, s, f)
}

func (r *relation[T, P, V]) queueFor(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) step {
	of, next := r.queue(ctx, o, b, s, f)
	s.answers[f.Field] = of
	return next
}

// has declares a relation of a kind. It is read ahead by the plan, or else by a loader.
func has[P objectKey, T, V any](k *kind[P, T], field string, q queue[P, V]) *relation[T, P, V] {
	r := &relation[T, P, V]{key: k.key, queue: q}
	k.relations[field] = r
	return r
}

// hasCustomer declares the relation from a row to the customer that it names. names returns nil if there is
// none.
func hasCustomer[P objectKey, T any](k *kind[P, T], field string, names func(*T) *customers.UID) {
	hasOne(k, field, customerKind, names)
}

// hasOne declares the relation from a row to the object of another kind that it names. It is null if the row
// names none, or one that the caller may not see.
func hasOne[P, K objectKey, T, V any](k *kind[P, T], field string, other *kind[K, V], names func(*T) *K) {
	type of = func(P) (*V, error)
	has(k, field,
		func(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (of, step) {
			named := map[P]K{}
			keys := each(s.rows.([]*T), func(row *T) (key K, ok bool) {
				one := names(row)
				if one == nil {
					return key, false
				}
				named[k.key(row)] = *one
				return *one, true
			})
			if len(keys) == 0 {
				return func(P) (*V, error) { return nil, nil }, nil
			}
			found, next := other.queue(ctx, o, b, keys, f.Selections)
			return func(key P) (*V, error) { return oneOf(found, named[key]) }, next
		}).late = true
}

// named returns the key that a row names; nil if it is 0, which names none.
func named[K ~int64](key *K) *K {
	if *key == 0 {
		return nil
	}
	return key
}

// hasAll declares a relation to a short list of things that are not a kind. Every parent shows all of its
// things.
func hasAll[P objectKey, T, V, S any](
	k *kind[P, T], field string, service func(*core.Core) S,
	read func(S, context.Context, *db.Batch, []P) *db.Many[P, V],
) {
	type of = func(P) ([]*V, error)
	has(k, field,
		func(ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField) (of, step) {
			all := read(service(o.core), ctx, b, s.keys.([]P))
			return func(key P) ([]*V, error) { return append([]*V{}, all.Of[key]...), all.Err }, nil
		})
}

// hasSome is hasAll for a list of which a field's argument says how many are read, up to most.
func hasSome[P objectKey, T, V, S any](
	k *kind[P, T], field, argument string, most int, service func(*core.Core) S,
	read func(S, context.Context, *db.Batch, []P, int) *db.Many[P, V],
) {
	type of = func(P) ([]*V, error)
	has(k, field,
		func(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (of, step) {
			n, err := howMany(ctx, f, argument, most)
			if err != nil {
				return func(P) ([]*V, error) { return nil, err }, nil
			}
			all := read(service(o.core), ctx, b, s.keys.([]P), n)
			return func(key P) ([]*V, error) { return append([]*V{}, all.Of[key]...), all.Err }, nil
		})
}

// howMany reads how many of a list are asked for, up to most, from an argument of its field.
func howMany(ctx context.Context, f graphql.CollectedField, argument string, most int) (int, error) {
	n, err := scalar.UnmarshalInt(argumentsOf(ctx, f)[argument])
	if err == nil && (n < 1 || int(n) > most) {
		err = fault.Field("list", argument, fault.Max, fmt.Sprintf("must be from 1 to %d", most))
	}
	if err != nil {
		return 0, on(argument, err)
	}
	return int(n), nil
}

// hasPart declares a relation to one thing that is not a kind; null if the parent has none.
func hasPart[P objectKey, T, V, S any](
	k *kind[P, T], field string, service func(*core.Core) S,
	read func(S, context.Context, *db.Batch, []P) *db.Many[P, V],
) {
	type of = func(P) (*V, error)
	has(k, field,
		func(ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField) (of, step) {
			found := read(service(o.core), ctx, b, s.keys.([]P))
			return func(key P) (*V, error) { return oneOf(found, key) }, nil
		})
}

// group is a field of T that shows a group of its columns as an object with relations of its own. It is
// planned as soon as the rows of T are there; values are those of the object's relations.
type group[T, G any, P comparable] struct {
	*objectType
	of  func(*T) *G
	key func(*G) P
}

// asks reports whether a selection asks for a relation of the group.
func (g group[T, G, P]) asks(op *graphql.OperationContext, f graphql.CollectedField) bool {
	return slices.ContainsFunc(graphql.CollectFields(op, f.Selections, g.satisfies),
		func(f graphql.CollectedField) bool { return g.relations[f.Name] != nil })
}

func (g group[T, G, P]) plan(
	ctx context.Context, o *operation, _ *db.Batch, s *siblings, f graphql.CollectedField,
) step {
	_, relations := g.wants(ctx, f.Selections)
	return func(ctx context.Context, next *db.Batch) []step {
		rows, _ := s.rows.([]*T)
		groups := each(rows, func(row *T) (*G, bool) { return g.of(row), true })
		if len(groups) == 0 {
			return nil
		}
		return o.children(ctx, next, g.objectType, g.familyOf(o, groups), relations)
	}
}

// familyOf makes groups siblings, once for all fields that show them. gqlgen copies a group before it asks
// for the group's relations; the copy is found by its key.
func (g group[T, G, P]) familyOf(o *operation, groups []*G) *siblings {
	o.mu.Lock()
	known := o.families[groups[0]]
	o.mu.Unlock()
	if known != nil {
		return known
	}
	s := family(each(groups, func(group *G) (P, bool) { return g.key(group), true }))
	attachRows(o, s, groups)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, group := range groups {
		o.families[copied[G, P]{g.key(group)}] = s
	}
	return s
}

// copied is the key of a copy of a group.
type copied[G any, P comparable] struct{ key P }

func (g group[T, G, P]) value(context.Context, any, graphql.CollectedField) (any, error) {
	panic("graph: " + g.name + " is a part of its object, not read by itself")
}

// list reads a relation to many rows, one page for each parent.
type list[P comparable, T any, F any] struct {
	rows func(c *core.Core, ctx context.Context, b *db.Batch, of []P, by F, want db.Columns,
		w window) *db.Many[P, T]
	count func(c *core.Core, ctx context.Context, b *db.Batch, of []P, by F) *db.Many[P, db.Count]
}

// pages makes a list from two methods of a service.
func pages[P comparable, T, F, S any](
	service func(*core.Core) S,
	rows func(S, context.Context, *db.Batch, []P, F, db.Columns, window) *db.Many[P, T],
	count func(S, context.Context, *db.Batch, []P, F) *db.Many[P, db.Count],
) list[P, T, F] {
	return list[P, T, F]{
		rows: func(c *core.Core, ctx context.Context, b *db.Batch, of []P, by F, want db.Columns,
			w window,
		) *db.Many[P, T] {
			return rows(service(c), ctx, b, of, by, want, w)
		},
		count: func(c *core.Core, ctx context.Context, b *db.Batch, of []P, by F) *db.Many[P, db.Count] {
			return count(service(c), ctx, b, of, by)
		},
	}
}

// capped passes model.MostCounted + 1 to count as the limit of counting.
func capped[P comparable, F, S any](
	count func(S, context.Context, *db.Batch, []P, F, int64) *db.Many[P, db.Count],
) func(S, context.Context, *db.Batch, []P, F) *db.Many[P, db.Count] {
	return func(s S, ctx context.Context, b *db.Batch, of []P, by F) *db.Many[P, db.Count] {
		return count(s, ctx, b, of, by, model.MostCounted+1)
	}
}

// hasMany declares a relation to a list of rows of a kind.
func hasMany[P, K objectKey, O, T, F any](parent *kind[P, O], field string, k *kind[K, T], l list[P, T, F]) {
	type of = func(P) (*model.Connection[T], error)
	has(parent, field,
		func(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (of, step) {
			return pagesOf(ctx, o, b, s.keys.([]P), f, k, l)
		})
}

// pagesOf queues a page of a list for each parent.
func pagesOf[P, K objectKey, T, F any](
	ctx context.Context, o *operation, b *db.Batch, parents []P, f graphql.CollectedField, k *kind[K, T],
	l list[P, T, F],
) (func(P) (*model.Connection[T], error), step) {
	a := argumentsOf(ctx, f)
	w, err := a.window(ctx, f, k.orderOf(byUID))
	by, bad := decode[F](ctx, a, "filter")
	if err = errors.Join(err, bad); err != nil {
		return func(P) (*model.Connection[T], error) { return nil, err }, nil
	}
	asked := inConnection(ctx, k.objectType, f.Selections)
	rows := l.rows(o.core, ctx, b, parents, by, asked.want, w)
	var counts *db.Many[P, db.Count]
	if asked.count {
		counts = l.count(o.core, ctx, b, parents, by)
	}
	of := func(parent P) (*model.Connection[T], error) {
		if rows.Err != nil {
			return nil, rows.Err
		}
		return &model.Connection[T]{
			Page: page.Cut(rows.Of[parent], w), Window: w, Cursor: k.cursor,
			Count: func(context.Context) (int64, error) { return countOf(counts, parent) },
		}, nil
	}
	if len(asked.further) == 0 {
		return of, nil
	}
	return of, func(ctx context.Context, next *db.Batch) []step {
		var shown []*T
		for _, parent := range parents {
			shown = append(shown, page.Cut(rows.Of[parent], w).Items...)
		}
		return k.under(ctx, o, next, shown, asked.further)
	}
}

func countOf[P comparable](counts *db.Many[P, db.Count], parent P) (int64, error) {
	if counts.Err != nil {
		return 0, counts.Err
	}
	if rows := counts.Of[parent]; len(rows) > 0 {
		return rows[0].N, nil
	}
	return 0, nil
}
