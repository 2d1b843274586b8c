// Package direct writes the answer of a query straight from the rows that were read ahead.
//
// gqlgen executes a query field by field, with a context, a closure and often a goroutine for each of them;
// for a bank's wide rows that costs more than reading them. Here each selection is collected once for an
// operation and written in one pass. What a field's value is comes from the table that generate writes from
// the same bindings that gqlgen uses; what a relation's value is, from the caller. Parsing, validation and
// variables stay gqlgen's. A test holds both ways of execution against each other.
package direct

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Field says how a field follows from its object alone: one of the four is set.
type Field struct {
	Leaf func(b []byte, o any) []byte                               // writes a scalar, an enum, a list of those behind b
	One  func(o any) any                                            // an object, or nil
	Each func(o any, yield func(any))                               // a list of objects
	Ask  func(ctx context.Context, b []byte, o any) ([]byte, error) // a scalar that takes work
}

// Schema is what there is to write.
type Schema struct {
	AST      *ast.Schema
	Plain    map[string]map[string]Field // by object type and field
	Types    map[reflect.Type]string     // the object type of a Go type
	Root     map[string]func(ctx context.Context, f graphql.CollectedField) (any, error)
	Relation func(ctx context.Context, object string, o any, f graphql.CollectedField) (any, error)

	known *lru.Cache[*ast.OperationDefinition, *Document]
}

// documents is how many documents the schema remembers what it worked out for.
const documents = 500

// New completes a schema.
func New(s Schema) *Schema {
	s.known, _ = lru.New[*ast.OperationDefinition, *Document](documents)
	return &s
}

// Document is what was worked out for an operation of a document. It serves every request that sends the
// same document, or, where variables decide which fields are asked for, one request.
type Document struct {
	memo sync.Map
	size atomic.Int64 // of the largest answer
}

// Document finds or starts what is remembered of the operation of a request.
func (s *Schema) Document(op *graphql.OperationContext) *Document {
	if known, ok := s.known.Get(op.Operation); ok {
		if known == nil {
			return &Document{}
		}
		return known
	}
	if conditional(op.Doc) {
		s.known.Add(op.Operation, nil)
		return &Document{}
	}
	d := &Document{}
	s.known.Add(op.Operation, d)
	return d
}

// Remembered is how many selections of documents something is remembered of.
func (s *Schema) Remembered() (n int) {
	for _, d := range s.known.Values() {
		if d != nil {
			d.memo.Range(func(any, any) bool { n++; return true })
		}
	}
	return n
}

// conditional tells whether a document skips or includes anything.
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
	return slices.ContainsFunc(doc.Operations, func(o *ast.OperationDefinition) bool { return in(o.SelectionSet) }) ||
		slices.ContainsFunc(doc.Fragments, func(f *ast.FragmentDefinition) bool { return in(f.SelectionSet) })
}

// place is a selection on an object type, as a key of what is remembered: by what stands in the document, since
// collecting its fields makes a new list of the same selections each time. Lists that are put together of several may
// begin alike: again tells those apart.
type place struct {
	first ast.Selection
	n     int
	as    string
	again int
}

// worked is what was worked out for a selection.
type worked struct {
	of     ast.SelectionSet
	result any
}

// Remember returns what was worked out for a selection, once for each purpose.
func Remember[T any](d *Document, purpose string, set ast.SelectionSet, work func() T) T {
	for key := (place{first: set[0], n: len(set), as: purpose}); ; key.again++ {
		known, ok := d.memo.Load(key)
		if !ok {
			known, _ = d.memo.LoadOrStore(key, worked{set, work()})
		}
		if w := known.(worked); slices.Equal(w.of, set) {
			return w.result.(T)
		}
	}
}

// Covers tells whether every root field of a query is one that can be written directly.
func (s *Schema) Covers(op *graphql.OperationContext) bool {
	if op.Operation.Operation != ast.Query {
		return false
	}
	for _, f := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query"}) {
		if f.Name != "__typename" && s.Root[f.Name] == nil {
			return false
		}
	}
	return true
}

// Execute answers a query that Covers. Errors go to the response of the context.
func (s *Schema) Execute(ctx context.Context) (data []byte) {
	w := &writer{Schema: s, op: graphql.GetOperationContext(ctx)}
	w.doc = s.Document(w.op)
	w.out = make([]byte, 0, max(1<<10, w.doc.size.Load()*5/4))
	defer func() {
		if panicked := recover(); panicked != nil {
			w.fail(ctx, w.op.Recover(ctx, panicked))
			data = []byte("null")
		}
	}()
	query := w.selection("Query", w.op.Operation.SelectionSet)
	values := w.roots(ctx, query)
	if !w.object(ctx, query, func(i int, f *field) bool {
		if f.Name == "__typename" {
			return w.typename("Query")
		}
		return w.checked(ctx, f, values[i].value, values[i].err)
	}) {
		return []byte("null")
	}
	if n := int64(len(w.out)); n > w.doc.size.Load() && n < mostRemembered {
		w.doc.size.Store(n)
	}
	return w.out
}

// mostRemembered bounds the room that is made at once for an answer.
const mostRemembered = 1 << 20

type answer struct {
	value any
	err   error
}

// roots reads the root fields, beside each other where there are several.
func (w *writer) roots(ctx context.Context, query *selection) []answer {
	values := make([]answer, len(query.fields))
	var running sync.WaitGroup
	for i := range query.fields {
		f := &query.fields[i]
		if f.Name == "__typename" {
			continue
		}
		read := func() {
			defer func() {
				if panicked := recover(); panicked != nil {
					values[i] = answer{err: w.op.Recover(ctx, panicked)}
				}
			}()
			at := graphql.WithPathContext(ctx, graphql.NewPathWithField(f.Alias))
			values[i].value, values[i].err = w.Root[f.Name](at, f.CollectedField)
		}
		if len(query.fields) == 1 {
			read()
			break
		}
		running.Go(read)
	}
	running.Wait()
	return values
}

// writer writes one answer.
type writer struct {
	*Schema
	op   *graphql.OperationContext
	doc  *Document
	out  []byte
	path ast.Path
}

// selection is what is asked of one object type at one place of the document.
type selection struct {
	object string
	fields []field
}

type field struct {
	graphql.CollectedField
	key    string          // with its quotes and colon
	step   ast.PathElement // of error paths
	typ    *ast.Type
	plain  Field
	isLeaf bool
	within atomic.Pointer[selection] // of the object type that was written here last: mostly there is one
}

// selection collects what is asked of an object type at a place of the document.
func (w *writer) selection(object string, set ast.SelectionSet) *selection {
	return Remember(w.doc, object, set, func() *selection {
		collected := graphql.CollectFields(w.op, set, append([]string{object}, w.AST.Types[object].Interfaces...))
		s := &selection{object: object, fields: make([]field, len(collected))}
		for i, c := range collected {
			f := &s.fields[i]
			f.CollectedField, f.key, f.step = c, strconv.Quote(c.Alias)+":", ast.PathName(c.Alias)
			if c.Name != "__typename" {
				f.typ = c.Definition.Type
				f.plain, f.isLeaf = w.Plain[object][c.Name]
			}
		}
		return s
	})
}

// within is what a field asks of an object type.
func (w *writer) within(f *field, object string) *selection {
	if last := f.within.Load(); last != nil && last.object == object {
		return last
	}
	s := w.selection(object, f.Selections)
	f.within.Store(s)
	return s
}

// object writes the fields of a selection; false where a field that must not be null is.
func (w *writer) object(ctx context.Context, s *selection, value func(int, *field) bool) bool {
	start, whole := len(w.out), true
	w.out = append(w.out, '{')
	for i := range s.fields {
		f := &s.fields[i]
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, f.key...)
		w.path = append(w.path, f.step)
		whole = value(i, f) && whole // the others go on: each failure is told
		w.path = w.path[:len(w.path)-1]
	}
	if !whole {
		w.out = w.out[:start]
		return false
	}
	w.out = append(w.out, '}')
	return true
}

func (w *writer) typename(object string) bool {
	w.out = append(append(append(w.out, '"'), object...), '"')
	return true
}

// one writes an object from its Go value.
func (w *writer) one(ctx context.Context, f *field, o any) bool {
	object := w.Types[reflect.TypeOf(o)]
	if object == "" {
		panic(fmt.Sprintf("direct: %T is no type of the schema", o))
	}
	return w.object(ctx, w.within(f, object), func(_ int, f *field) bool {
		switch {
		case f.Name == "__typename":
			return w.typename(object)
		case !f.isLeaf:
			value, err := w.Relation(ctx, object, o, f.CollectedField)
			return w.checked(ctx, f, value, err)
		case f.plain.Leaf != nil:
			start := len(w.out)
			w.out = f.plain.Leaf(w.out, o)
			return w.leaf(ctx, f, start)
		case f.plain.One != nil:
			return w.value(ctx, f, f.typ, f.plain.One(o))
		case f.plain.Each != nil:
			return w.list(ctx, f, f.typ, func(yield func(any)) { f.plain.Each(o, yield) })
		default:
			start := len(w.out)
			out, err := f.plain.Ask(ctx, w.out, o)
			if err != nil {
				return w.checked(ctx, f, nil, err)
			}
			w.out = out
			return w.leaf(ctx, f, start)
		}
	})
}

// leaf checks the scalar that was written from start on.
func (w *writer) leaf(ctx context.Context, f *field, start int) bool {
	if f.typ.NonNull && string(w.out[start:]) == "null" {
		w.fail(ctx, gqlerror.Errorf("must not be null"))
		return false
	}
	return true
}

// checked writes a value that may have failed.
func (w *writer) checked(ctx context.Context, f *field, value any, err error) bool {
	if err != nil {
		w.fail(ctx, err)
		w.out = append(w.out, "null"...)
		return !f.typ.NonNull
	}
	return w.value(ctx, f, f.typ, value)
}

// value writes an object, null, or a list of objects.
func (w *writer) value(ctx context.Context, f *field, typ *ast.Type, value any) bool {
	v := reflect.ValueOf(value)
	if value == nil || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil() {
		if typ.NonNull {
			w.fail(ctx, gqlerror.Errorf("must not be null"))
			return false
		}
		w.out = append(w.out, "null"...)
		return true
	}
	if typ.Elem != nil {
		return w.list(ctx, f, typ, func(yield func(any)) {
			for i := range v.Len() {
				yield(v.Index(i).Interface())
			}
		})
	}
	start := len(w.out)
	if w.one(ctx, f, value) {
		return true
	}
	w.out = append(w.out[:start], "null"...)
	return !typ.NonNull
}

func (w *writer) list(ctx context.Context, f *field, typ *ast.Type, each func(func(any))) bool {
	start, i, whole := len(w.out), 0, true
	w.out = append(w.out, '[')
	each(func(item any) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.path = append(w.path, ast.PathIndex(i))
		whole = w.value(ctx, f, typ.Elem, item) && whole
		w.path = w.path[:len(w.path)-1]
		i++
	})
	w.out = append(w.out, ']')
	if !whole {
		w.out = append(w.out[:start], "null"...)
		return !typ.NonNull
	}
	return true
}

// fail adds an error at the place that is being written.
func (w *writer) fail(ctx context.Context, err error) {
	graphql.AddError(ctx, &gqlerror.Error{Err: err, Message: err.Error(), Path: slices.Clone(w.path)})
}
