// Package documents remembers what was worked out for the documents that clients send: the same few, again
// and again.
package documents

import (
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// most is how many documents something is remembered of.
const most = 500

// Memory is what is remembered, by operation.
type Memory struct {
	known *lru.Cache[*ast.OperationDefinition, *Document]
}

// New makes an empty memory.
func New() *Memory {
	known, _ := lru.New[*ast.OperationDefinition, *Document](most)
	return &Memory{known}
}

// Document is what was worked out for an operation of a document. It serves every request that sends the
// same document, or, where variables decide which fields are asked for, one request.
type Document struct{ memo sync.Map }

// Of finds or starts what is remembered of the operation of a request.
func (m *Memory) Of(op *graphql.OperationContext) *Document {
	if known, ok := m.known.Get(op.Operation); ok {
		if known == nil {
			return &Document{}
		}
		return known
	}
	if conditional(op.Doc) {
		m.known.Add(op.Operation, nil)
		return &Document{}
	}
	d := &Document{}
	m.known.Add(op.Operation, d)
	return d
}

// Remembered is how many selections of documents something is remembered of.
func (m *Memory) Remembered() (n int) {
	for _, d := range m.known.Values() {
		if d != nil {
			d.memo.Range(func(any, any) bool { n++; return true })
		}
	}
	return n
}

// conditional reports whether a document skips or includes anything.
func conditional(doc *ast.QueryDocument) bool {
	var in func(ast.SelectionSet) bool
	in = func(set ast.SelectionSet) bool {
		return slices.ContainsFunc(set, func(selection ast.Selection) bool {
			switch at := selection.(type) {
			case *ast.Field:
				return len(at.Directives) > 0 || in(at.SelectionSet)
			case *ast.InlineFragment:
				return len(at.Directives) > 0 || in(at.SelectionSet)
			case *ast.FragmentSpread:
				return len(at.Directives) > 0
			}
			return true
		})
	}
	return slices.ContainsFunc(doc.Operations,
		func(o *ast.OperationDefinition) bool { return in(o.SelectionSet) }) ||
		slices.ContainsFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return in(f.SelectionSet) })
}

// place is a selection for a purpose, as a key of what is remembered: by what stands in the document, since
// collecting its fields makes a new list of the same selections each time. Lists that are put together of
// several may begin alike: again tells those apart.
type place struct {
	first   ast.Selection
	n       int
	purpose string
	again   int
}

// worked is what was worked out for a selection.
type worked struct {
	of     ast.SelectionSet
	result any
}

// Remember returns what was worked out for a selection, once for each purpose.
func (d *Document) Remember(purpose string, set ast.SelectionSet, work func() any) any {
	for key := (place{first: set[0], n: len(set), purpose: purpose}); ; key.again++ {
		known, ok := d.memo.Load(key)
		if !ok {
			known, _ = d.memo.LoadOrStore(key, worked{set, work()})
		}
		if w := known.(worked); slices.Equal(w.of, set) {
			return w.result
		}
	}
}
