package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
)

// load is the value of a relation for one parent: from the plan, or else from a loader that the first
// sibling to ask fills for all of them at once.
func (r *relation[T, P, V]) load(ctx context.Context, row *T, f graphql.CollectedField) (V, error) {
	o, key := operationOf(ctx), r.key(row)
	s := familyOf(o, row, key)
	s.mu.Lock()
	answer, planned := s.answers[f.Field]
	if !planned {
		answer = r.loader(ctx, o, s, f)
		s.answers[f.Field] = answer
	}
	s.mu.Unlock()
	if of, read := answer.(func(P) (V, error)); read {
		return of(key)
	}
	return answer.(*dataloader.Loader[P, V]).Load(ctx, key)()
}

// value is load for a row whose type is known only here.
func (r *relation[T, P, V]) value(ctx context.Context, row any, f graphql.CollectedField) (any, error) {
	return r.load(ctx, row.(*T), f)
}

// related is what gqlgen's resolver of a relation answers with.
func related[V any](ctx context.Context, row any) (V, error) {
	at := graphql.GetFieldContext(ctx)
	value, err := objectTypes[at.Object].relations[at.Field.Name].value(ctx, row, at.Field)
	return as[V](value, err)
}

// loader reads a relation for all siblings as soon as it has all their keys: it waits for their number, never
// for time.
func (r *relation[T, P, V]) loader(
	ctx context.Context, o *operation, s *siblings, f graphql.CollectedField,
) *dataloader.Loader[P, V] {
	keys := s.keys.([]P)
	fetch := func(ctx context.Context, keys []P) []*dataloader.Result[V] {
		b := o.batch()
		of, next := r.queue(ctx, o, b, s, f)
		err := o.read(ctx, b, some(next))
		results := make([]*dataloader.Result[V], len(keys))
		for i, key := range keys {
			results[i] = &dataloader.Result[V]{Error: err}
			if err == nil {
				results[i].Data, results[i].Error = of(key)
			}
		}
		return results
	}
	l := dataloader.NewBatchedLoader(fetch,
		dataloader.WithBatchCapacity[P, V](len(keys)), dataloader.WithInputCapacity[P, V](len(keys)),
		dataloader.WithWait[P, V](time.Second))
	for _, key := range keys {
		l.Load(ctx, key) // the last one flushes
	}
	return l
}
