package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
)

// load returns the value of a relation for one parent. It comes from the plan or, if the relation was not
// planned, from a loader, which reads it once for all siblings.
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

// value is load for callers that do not know the type of the row.
func (r *relation[T, P, V]) value(ctx context.Context, row any, f graphql.CollectedField) (any, error) {
	return r.load(ctx, row.(*T), f)
}

// related is called by gqlgen's resolvers of relations.
func related[V any](ctx context.Context, row any) (V, error) {
	at := graphql.GetFieldContext(ctx)
	value, err := objectTypes[at.Object].relations[at.Field.Name].value(ctx, row, at.Field)
	return as[V](value, err)
}

// loader reads a relation for all siblings together. It waits until it has the keys of all of them, not for a
// time.
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
