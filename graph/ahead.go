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
// each level in one round trip. Where a parent's key is known before its row, its children are read together
// with it. Resolvers then find their rows here. What was not planned goes through a loader (loaders.go),
// which calls the same method of core, so a gap in the plan costs time but gives no wrong answer.

// operation holds what one GraphQL operation has read.
type operation struct {
	core     *core.Core
	fresh    bool                // read only from the primary
	document *documents.Document // what is remembered of the document
	mu       sync.Mutex
	families map[any]*siblings // by pointer to a row, or by what was copied from one
}

// batch starts a round trip. A mutation reads from the primary, and so does a subscription: a replica may not
// have the change yet.
func (o *operation) batch() *db.Batch {
	if o.fresh {
		return o.core.PrimaryBatch()
	}
	return o.core.Batch()
}

// operationKey is the key of the operation among the extensions of gqlgen's operation context.
const operationKey = "bankgraph.operation"

func operationOf(ctx context.Context) *operation {
	return graphql.GetOperationContext(ctx).Stats.GetExtension(operationKey).(*operation)
}

// begin adds an empty operation to the context.
func begin(ctx context.Context, c *core.Core, memory *documents.Memory) {
	op := graphql.GetOperationContext(ctx)
	op.Stats.SetExtension(operationKey, &operation{
		core: c, fresh: op.Operation.Operation != ast.Query, document: memory.Of(op),
		families: map[any]*siblings{},
	})
}

// step is what remains to do after a batch was sent: hand out the rows, and queue what their own fields need
// on the next batch.
type step func(ctx context.Context, next *db.Batch) []step

// read sends a batch and runs the steps, level by level, until nothing more is asked for.
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

// planner plans one relation of a set of parents.
type planner interface {
	plan(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) step
	value(ctx context.Context, row any, f graphql.CollectedField) (any, error)
}

// of returns the columns that a field with this selection needs.
func (n need) of(op *graphql.OperationContext, selection ast.SelectionSet) (columns db.Columns) {
	if n.within == nil {
		return n.columns
	}
	for _, f := range graphql.CollectFields(op, selection, []string{n.object}) {
		columns = columns.And(n.within[f.Name].of(op, f.Selections))
	}
	return columns
}

// remember returns the result of work on a selection of the document, which is done once for each purpose.
func remember[T any](ctx context.Context, purpose string, selection ast.SelectionSet, work func() T) T {
	return operationOf(ctx).document.Remember(purpose, selection, func() any { return work() }).(T)
}

// wanted is what a selection of a kind needs.
type wanted struct {
	columns   db.Columns
	relations []graphql.CollectedField
}

// wants returns the columns that a selection of the kind needs, and the relations that it asks for.
func (t *objectType) wants(
	ctx context.Context, selection ast.SelectionSet,
) (db.Columns, []graphql.CollectedField) {
	w := remember(ctx, "wants "+t.name, selection, func() (w wanted) {
		op := graphql.GetOperationContext(ctx)
		for _, f := range graphql.CollectFields(op, selection, t.satisfies) {
			w.columns = w.columns.And(t.needs[f.Name].of(op, f.Selections))
			within, part := t.relations[f.Name].(interface {
				asks(*graphql.OperationContext, graphql.CollectedField) bool
			})
			if t.relations[f.Name] != nil && (!part || within.asks(op, f)) {
				w.relations = append(w.relations, f)
			}
		}
		w.relations = slices.Clip(w.relations) // shared: appending to it must copy
		return w
	})
	return w.columns, w.relations
}

// children queues the relations of a set of parents. It returns what remains to do after the batch was sent.
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

// siblings are the parents that came from one list, or a single parent. What is read for one is read for all.
type siblings struct {
	keys    any // []P; known before the rows if the document names them
	rows    any // []*T; nil until they are read
	mu      sync.Mutex
	answers map[*ast.Field]any // func(P) (V, error) if planned, else a loader
}

func family[P comparable](keys []P) *siblings {
	return &siblings{keys: keys, answers: map[*ast.Field]any{}}
}

// attachRows gives the siblings their rows, so that resolvers find the siblings of a row.
func attachRows[T any](o *operation, s *siblings, rows []*T) {
	s.rows = rows
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, row := range rows {
		o.families[row] = s
	}
}

// familyOf finds the siblings of a row. A row that was not planned has no siblings but itself.
func familyOf[P comparable, T any](o *operation, row *T, key P) *siblings {
	o.mu.Lock()
	s, known := o.families[row]
	if !known {
		s, known = o.families[copied[T, P]{key}]
	}
	o.mu.Unlock()
	if !known {
		s = family([]P{key})
		attachRows(o, s, []*T{row})
	}
	return s
}

// mergeFields merges fields that are one text of the document, such as a fragment, spread in several places.
// The merged field has the selections of all of them.
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

// each returns the distinct values of rows, in their order.
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
