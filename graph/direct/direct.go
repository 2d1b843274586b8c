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

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Field says how a field follows from its object alone: one of the four is set.
type Field struct {
	Leaf func(o any) graphql.Marshaler                               // a scalar, an enum, a list of those
	One  func(o any) any                                             // an object, or nil
	Each func(o any, yield func(any))                                // a list of objects
	Ask  func(ctx context.Context, o any) (graphql.Marshaler, error) // a scalar that takes work
}

// Schema is what there is to write.
type Schema struct {
	AST      *ast.Schema
	Plain    map[string]map[string]Field // by object type and field
	Types    map[reflect.Type]string     // the object type of a Go type
	Root     map[string]func(ctx context.Context, f graphql.CollectedField) (any, error)
	Relation func(ctx context.Context, object string, o any, f graphql.CollectedField) (any, error)
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
	w := &writer{Schema: s, op: graphql.GetOperationContext(ctx), out: make([]byte, 0, 8<<10)}
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
	return w.out
}

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
	out  []byte
	path ast.Path
}

func (w *writer) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
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
	inner  map[string]*selection // by object type
}

func (w *writer) selection(object string, set ast.SelectionSet) *selection {
	definition := w.AST.Types[object]
	satisfies := append([]string{object}, definition.Interfaces...)
	collected := graphql.CollectFields(w.op, set, satisfies)
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
}

func (f *field) of(w *writer, object string) *selection {
	if s := f.inner[object]; s != nil {
		return s
	}
	if f.inner == nil {
		f.inner = make(map[string]*selection, 1)
	}
	s := w.selection(object, f.Selections)
	f.inner[object] = s
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
	return w.object(ctx, f.of(w, object), func(_ int, f *field) bool {
		switch {
		case f.Name == "__typename":
			return w.typename(object)
		case !f.isLeaf:
			value, err := w.Relation(ctx, object, o, f.CollectedField)
			return w.checked(ctx, f, value, err)
		case f.plain.Leaf != nil:
			return w.leaf(ctx, f, f.plain.Leaf(o))
		case f.plain.One != nil:
			return w.value(ctx, f, f.typ, f.plain.One(o))
		case f.plain.Each != nil:
			return w.list(ctx, f, f.typ, func(yield func(any)) { f.plain.Each(o, yield) })
		default:
			value, err := f.plain.Ask(ctx, o)
			if err != nil {
				return w.checked(ctx, f, nil, err)
			}
			return w.leaf(ctx, f, value)
		}
	})
}

func (w *writer) leaf(ctx context.Context, f *field, value graphql.Marshaler) bool {
	if value == graphql.Null && f.typ.NonNull {
		w.fail(ctx, gqlerror.Errorf("must not be null"))
		return false
	}
	value.MarshalGQL(w)
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
