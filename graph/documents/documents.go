// Package documents remembers what was worked out for documents, since clients send the same few again and
// again.
package documents

import (
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// most is the number of operations in memory.
const most = 500

// Memory remembers documents by their operations.
type Memory struct {
	known *lru.Cache[*ast.OperationDefinition, *Document]
}

// New makes an empty memory.
func New() *Memory {
	known, _ := lru.New[*ast.OperationDefinition, *Document](most)
	return &Memory{known}
}

// Document is what was worked out for one operation of a document. It serves every request with the same
// document; if variables decide which fields are asked for, it serves only one request.
type Document struct{ memo sync.Map }

// Of returns the memory of a request's operation, a new one if necessary.
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

// Remembered is the number of results in memory.
func (m *Memory) Remembered() (n int) {
	for _, d := range m.known.Values() {
		if d != nil {
			d.memo.Range(func(any, any) bool { n++; return true })
		}
	}
	return n
}

// conditional reports whether a document has directives, such as @skip and @include.
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

// place identifies a selection and a purpose. It uses the selection's first node in the document, because
// collecting fields makes a new list of the same nodes each time. Merged lists may begin with the same node;
// again tells them apart.
type place struct {
	first   ast.Selection
	n       int
	purpose string
	again   int
}

// worked is the result for a selection.
type worked struct {
	of     ast.SelectionSet
	result any
}

// Remember returns the result of work on a selection, which is done once for each purpose.
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
