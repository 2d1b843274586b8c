package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
)

// load is the value of a relation for one parent: from the plan, or else from a loader that the first
// sibling to ask fills for all of them at once.
func load[T any, P comparable, V any](ctx context.Context, row *T, key P, r *relation[P, V]) (V, error) {
	o := operationOf(ctx)
	f := graphql.GetFieldContext(ctx).Field
	s := familyOf(o, row, key)
	s.mu.Lock()
	answer, planned := s.answers[f.Field]
	if !planned {
		answer = loader(ctx, o, s, f, r)
		s.answers[f.Field] = answer
	}
	s.mu.Unlock()
	if of, read := answer.(func(P) (V, error)); read {
		return of(key)
	}
	return answer.(*dataloader.Loader[P, V]).Load(ctx, key)()
}

// loader reads a relation for all siblings as soon as it has all their keys: it waits for their number, never for time.
func loader[P comparable, V any](ctx context.Context, o *operation, s *siblings, f graphql.CollectedField, r *relation[P, V]) *dataloader.Loader[P, V] {
	keys := s.keys.([]P)
	fetch := func(ctx context.Context, keys []P) []*dataloader.Result[V] {
		b := o.core.Batch()
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
		dataloader.WithBatchCapacity[P, V](len(keys)), dataloader.WithInputCapacity[P, V](len(keys)), dataloader.WithWait[P, V](time.Second))
	for _, key := range keys {
		l.Load(ctx, key) // the last one flushes
	}
	return l
}
