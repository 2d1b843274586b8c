// Package direct writes the answer of a query straight from the rows that were read ahead.
//
// gqlgen executes a query field by field, with a context, a closure and often a goroutine for each field. For
// a bank's wide rows that costs more than reading them. This package collects each selection once for an
// operation and writes it in one pass. The values of plain fields come from a table made of the same bindings
// that gqlgen uses; the caller supplies the values of relations. gqlgen still parses, validates and reads
// variables.
//
// The package knows no schema and imports nothing else of this module, so that it can be moved out.
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
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Field says how to get a field's value from its object alone. Exactly one of its functions is set.
type Field struct {
	// Leaf appends a scalar, an enum, or a list of scalars or enums to b.
	Leaf func(b []byte, o any) []byte
	One  func(o any) any                                            // an object, or nil
	Each func(o any, yield func(any))                               // a list of objects
	Ask  func(ctx context.Context, b []byte, o any) ([]byte, error) // a scalar that takes work or can fail
}

// Schema holds the types of a schema and the functions that give their values.
type Schema struct {
	AST      *ast.Schema
	Plain    map[string]map[string]Field // by object type and field
	Types    map[reflect.Type]string     // the object type of a Go type
	Root     map[string]func(ctx context.Context, f graphql.CollectedField) (any, error)
	Relation func(ctx context.Context, object string, o any, f graphql.CollectedField) (any, error)

	// Memory gives what the operation of a context remembers of its selections; where it is nil, nothing is
	// kept.
	Memory func(context.Context) Memory
}

// Memory keeps the results of work on the selections of a document, one for each selection and purpose.
type Memory interface {
	Remember(purpose string, set ast.SelectionSet, work func() any) any
}

// Covers reports whether every root field of the operation can be written directly.
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

// Execute answers a query for which Covers is true. It adds errors to the response in the context.
func (s *Schema) Execute(ctx context.Context) []byte {
	return s.write(ctx, "Query", func(w *writer, query *selection) []answer { return w.roots(ctx, query) })
}

// Event answers a subscription to one event; payload is the value of its one field.
func (s *Schema) Event(ctx context.Context, payload any) []byte {
	return s.write(ctx, "Subscription", func(_ *writer, asked *selection) []answer {
		values := make([]answer, len(asked.fields))
		for i := range values {
			values[i].value = payload
		}
		return values
	})
}

// write answers an operation on the values of its root fields.
func (s *Schema) write(
	ctx context.Context, root string, read func(*writer, *selection) []answer,
) (data []byte) {
	w := &writer{Schema: s, op: graphql.GetOperationContext(ctx)}
	if s.Memory != nil {
		w.memory = s.Memory(ctx)
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			w.fail(ctx, w.op.Recover(ctx, panicked))
			data = []byte("null")
		}
	}()
	query := w.selection(root, w.op.Operation.SelectionSet)
	w.out = make([]byte, 0, max(1<<10, query.size.Load()*5/4))
	values := read(w, query)
	if !w.object(ctx, query, func(i int, f *field) bool {
		if f.Name == "__typename" {
			return w.typename(root)
		}
		return w.checked(ctx, f, values[i].value, values[i].err)
	}) {
		return []byte("null")
	}
	if n := int64(len(w.out)); n > query.size.Load() && n < mostRemembered {
		query.size.Store(n)
	}
	return w.out
}

// mostRemembered is the largest size, in bytes, that is remembered to allocate the next answer at once.
const mostRemembered = 1 << 20

type answer struct {
	value any
	err   error
}

// roots reads the root fields, concurrently where there are several.
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
	op     *graphql.OperationContext
	memory Memory
	out    []byte
	path   ast.Path
}

// selection is what is asked of one object type at one place of the document.
type selection struct {
	object string
	fields []field
	size   atomic.Int64 // bytes of the largest answer so far; only of the root
}

type field struct {
	graphql.CollectedField
	key    string          // with its quotes and colon
	step   ast.PathElement // of error paths
	typ    *ast.Type
	plain  Field
	isLeaf bool
	within atomic.Pointer[selection] // for the object type last written here
}

// selection returns what the document asks of an object type at one place.
func (w *writer) selection(object string, set ast.SelectionSet) *selection {
	if w.memory == nil {
		return w.collect(object, set)
	}
	return w.memory.Remember(object, set, func() any { return w.collect(object, set) }).(*selection)
}

func (w *writer) collect(object string, set ast.SelectionSet) *selection {
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
}

// within returns what a field asks of an object type.
func (w *writer) within(f *field, object string) *selection {
	if last := f.within.Load(); last != nil && last.object == object {
		return last
	}
	s := w.selection(object, f.Selections)
	f.within.Store(s)
	return s
}

// object writes the fields of a selection. It returns false if a field that must not be null is null.
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
		whole = value(i, f) && whole // go on, to report every failure
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

// leaf checks the scalar that begins at start. Absent text is empty where the schema has no null for it.
func (w *writer) leaf(ctx context.Context, f *field, start int) bool {
	if f.typ.NonNull && string(w.out[start:]) == "null" {
		if f.typ.NamedType == "String" {
			w.out = append(w.out[:start], `""`...)
			return true
		}
		w.fail(ctx, gqlerror.Errorf("must not be null"))
		return false
	}
	return true
}

// checked writes value, or reports err and writes null.
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
