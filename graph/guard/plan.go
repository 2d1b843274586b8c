package guard

import (
	"math"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// plan is what an operation of a valid document asks, as far as it is known without variables.
type plan struct {
	introspects bool
	price       price
	flags       []string // variables that say whether something is skipped or included
}

// planAll measures and prices every operation of a document. It refuses the document if any operation asks
// too much.
func planAll(doc *ast.QueryDocument, g *Guard) (map[*ast.OperationDefinition]*plan, *gqlerror.Error) {
	m := measurer{fragments: make(map[*ast.FragmentDefinition]measure, len(doc.Fragments))}
	plans := make(map[*ast.OperationDefinition]*plan, len(doc.Operations))
	for _, operation := range doc.Operations {
		measured := m.set(operation.SelectionSet)
		if err := measured.check(operation.Operation, g.limits); err != nil {
			return nil, err
		}
		plans[operation] = &plan{
			measured.introspects, pricer{g.options, g.schema}.operation(operation),
			flagsOf(operation.SelectionSet),
		}
	}
	return plans, nil
}

// flagsOf returns the variables that are conditions of @skip and @include in a set, each once.
func flagsOf(set ast.SelectionSet) (found []string) {
	walked := map[*ast.FragmentDefinition]bool{}
	note := func(all ast.DirectiveList) {
		for _, one := range all {
			on := one.Arguments.ForName("if")
			if on != nil && on.Value.Kind == ast.Variable && !slices.Contains(found, on.Value.Raw) {
				found = append(found, on.Value.Raw)
			}
		}
	}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				note(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.InlineFragment:
				note(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				note(selection.Directives)
				if !walked[selection.Definition] {
					walked[selection.Definition] = true
					walk(selection.Definition.SelectionSet)
				}
			}
		}
	}
	walk(set)
	return found
}

// measure is the size of a selection set with fragments expanded.
type measure struct {
	fields      int64 // at all depths
	direct      int64 // of the set itself
	depth       int64 // counts __schema and __type as leaves
	schemaDepth int64 // below __schema and __type
	introspects bool
}

func (m measure) check(operation ast.Operation, limits Limits) *gqlerror.Error {
	roots := limits.RootFields
	if operation == ast.Mutation {
		roots = limits.RootMutations
	}
	switch {
	case m.fields > int64(limits.Fields):
		return over(FieldLimit, "fields of the operation, with fragments expanded", m.fields, int64(limits.Fields))
	case m.depth > int64(limits.Depth):
		return over(DepthLimit, "depth of the operation", m.depth, int64(limits.Depth))
	case m.schemaDepth > int64(limits.IntrospectionDepth):
		return over(DepthLimit, "depth of introspection", m.schemaDepth, int64(limits.IntrospectionDepth))
	case m.direct > int64(roots):
		return over(RootFieldLimit, "root fields of the operation", m.direct, int64(roots))
	}
	return nil
}

// measurer walks each fragment once, however often it is spread: 26 fragments that each spread the next one
// twice expand to 67 million fields. Validation has excluded cycles.
type measurer struct {
	fragments map[*ast.FragmentDefinition]measure
}

func (m measurer) set(set ast.SelectionSet) measure {
	var total measure
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total = total.plus(m.field(selection))
		case *ast.InlineFragment:
			total = total.plus(m.set(selection.SelectionSet))
		case *ast.FragmentSpread:
			total = total.plus(m.fragment(selection.Definition))
		}
	}
	return total
}

func (m measurer) field(field *ast.Field) measure {
	one := m.set(field.SelectionSet)
	one.fields = add(one.fields, 1)
	one.direct = 1
	if introspection(field) {
		one.schemaDepth, one.depth, one.introspects = one.depth, 0, true
	}
	one.depth++
	return one
}

func (m measurer) fragment(fragment *ast.FragmentDefinition) measure {
	known, ok := m.fragments[fragment]
	if !ok {
		known = m.set(fragment.SelectionSet)
		m.fragments[fragment] = known
	}
	return known
}

func (m measure) plus(n measure) measure {
	return measure{
		fields:      add(m.fields, n.fields),
		direct:      add(m.direct, n.direct),
		depth:       max(m.depth, n.depth),
		schemaDepth: max(m.schemaDepth, n.schemaDepth),
		introspects: m.introspects || n.introspects,
	}
}

func introspection(field *ast.Field) bool {
	return field.Name == "__schema" || field.Name == "__type"
}

// Sums and products of sizes stop at the largest number instead of wrapping, so that an enormous document
// does not become cheap. No number here is negative.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
