package graph

import (
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core"
	"bankgraph/db"
	"bankgraph/graph/documents"
)

// Reading ahead: the root of an operation looks at what the document asks for and reads it level by level,
// everything of a level in one round trip. Where a parent's key is known before its row, its children are
// read beside it. Resolvers then find their rows here. What was not planned goes through a loader
// (loaders.go), which calls the same method of core, so correctness does not hang on the plan.

// operation holds what one GraphQL operation has read.
type operation struct {
	core     *core.Core
	fresh    bool                // nothing is read from a replica
	document *documents.Document // what is remembered of the document
	mu       sync.Mutex
	families map[any]*siblings // by the pointer of each row
}

// batch is a round trip: a mutation reads what it just wrote, which a replica may not have yet.
func (o *operation) batch() *db.Batch {
	if o.fresh {
		return o.core.PrimaryBatch()
	}
	return o.core.Batch()
}

// operationKey is where an operation keeps itself: with gqlgen's own state of it.
const operationKey = "bankgraph.operation"

func operationOf(ctx context.Context) *operation {
	return graphql.GetOperationContext(ctx).Stats.GetExtension(operationKey).(*operation)
}

// begin gives the operation of this context its empty state.
func begin(ctx context.Context, c *core.Core, memory *documents.Memory) {
	op := graphql.GetOperationContext(ctx)
	op.Stats.SetExtension(operationKey, &operation{
		core: c, fresh: op.Operation.Operation == ast.Mutation, document: memory.Of(op),
		families: map[any]*siblings{},
	})
}

// step is what remains to do once a batch was sent: hand out the rows, and queue what their own fields
// need on the next batch.
type step func(ctx context.Context, next *db.Batch) []step

// read sends a batch, and goes on level by level until nothing more is asked for.
func (o *operation) read(ctx context.Context, b *db.Batch, steps []step) error {
	for b.Len() > 0 || len(steps) > 0 {
		if err := b.Send(ctx); err != nil {
			return err
		}
		b = o.batch()
		var further []step
		for _, s := range steps {
			further = append(further, s(ctx, b)...)
		}
		steps = further
	}
	return nil
}

// planner plans one relation for a set of parents.
type planner interface {
	plan(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) step
	value(ctx context.Context, row any, f graphql.CollectedField) (any, error)
}

// of are the columns for what is asked of a field.
func (n need) of(op *graphql.OperationContext, selection ast.SelectionSet) (columns db.Columns) {
	if n.within == nil {
		return n.columns
	}
	for _, f := range graphql.CollectFields(op, selection, []string{n.object}) {
		columns = columns.And(n.within[f.Name].of(op, f.Selections))
	}
	return columns
}

// remember returns what was worked out for a selection of the document, once for each purpose.
func remember[T any](ctx context.Context, purpose string, selection ast.SelectionSet, work func() T) T {
	return operationOf(ctx).document.Remember(purpose, selection, func() any { return work() }).(T)
}

// wanted is what a selection of a kind needs: columns, and relations.
type wanted struct {
	columns   db.Columns
	relations []graphql.CollectedField
}

// wants tells which columns the selection of a kind needs, and which relations it asks for.
func (t *objectType) wants(
	ctx context.Context, selection ast.SelectionSet,
) (db.Columns, []graphql.CollectedField) {
	w := remember(ctx, "wants "+t.name, selection, func() (w wanted) {
		op := graphql.GetOperationContext(ctx)
		for _, f := range graphql.CollectFields(op, selection, t.satisfies) {
			w.columns = w.columns.And(t.needs[f.Name].of(op, f.Selections))
			if t.relations[f.Name] != nil {
				w.relations = append(w.relations, f)
			}
		}
		w.relations = slices.Clip(w.relations) // shared: whoever appends gets a slice of its own
		return w
	})
	return w.columns, w.relations
}

// children queues the relations of a set of parents and returns what remains to do after the batch was sent.
func (o *operation) children(
	ctx context.Context, b *db.Batch, t *objectType, s *siblings, relations []graphql.CollectedField,
) []step {
	var steps []step
	for _, f := range relations {
		if next := t.relations[f.Name].plan(ctx, o, b, s, f); next != nil {
			steps = append(steps, next)
		}
	}
	return steps
}

// siblings are parents that came from one list, or a single one. What is read for one of them is read for
// all.
type siblings struct {
	keys    any // []P, known before the rows where the document names them
	rows    any // []*T, once they were read
	mu      sync.Mutex
	answers map[*ast.Field]any // func(P) (V, error) where the plan has read it, a loader where it has not
}

func family[P comparable](keys []P) *siblings {
	return &siblings{keys: keys, answers: map[*ast.Field]any{}}
}

// attachRows gives the siblings their rows, so that resolvers find the family of the object that they have.
func attachRows[T any](o *operation, s *siblings, rows []*T) {
	s.rows = rows
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, row := range rows {
		o.families[row] = s
	}
}

// familyOf finds the siblings of a row; one that no plan has read is alone.
func familyOf[P comparable, T any](o *operation, row *T, key P) *siblings {
	o.mu.Lock()
	s, known := o.families[row]
	o.mu.Unlock()
	if !known {
		s = family([]P{key})
		attachRows(o, s, []*T{row})
	}
	return s
}

// mergeFields makes one of fields that are the same text asked in several places, as those of a fragment are:
// for it is read what any of the places needs.
func mergeFields(fields []graphql.CollectedField) []graphql.CollectedField {
	distinct, at := make([]graphql.CollectedField, 0, len(fields)), map[*ast.Field]int{}
	for _, f := range fields {
		if i, known := at[f.Field]; known {
			distinct[i].Selections = slices.Concat(distinct[i].Selections, f.Selections)
			continue
		}
		at[f.Field] = len(distinct)
		distinct = append(distinct, f)
	}
	return distinct
}

func some(next step) []step {
	if next == nil {
		return nil
	}
	return []step{next}
}

// each are the distinct values of rows, in their order.
func each[T any, K comparable](rows []*T, value func(*T) (K, bool)) []K {
	values := make([]K, 0, len(rows))
	seen := make(map[K]bool, len(rows))
	for _, row := range rows {
		if v, ok := value(row); ok && !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}
