package graph

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/generated"
	"bankgraph/graph/scalar"
)

// defaultPage is the size of a page where neither first nor last is given.
const defaultPage = 20

// arguments are the arguments of a field, as the document and the variables give them.
type arguments map[string]any

func argumentsOf(ctx context.Context, f graphql.CollectedField) arguments {
	return f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
}

// decode reads an input object as gqlgen would for a resolver. If it is malformed, the fault names the field
// by its path in the argument.
func decode[T any](ctx context.Context, a arguments, name string) (value T, err error) {
	if a[name] == nil {
		return value, nil
	}
	if err := longest(name, a[name]); err != nil {
		return value, err
	}
	if err := numbers(name, a[name]); err != nil {
		return value, err
	}
	reader := generated.Inputs[reflect.TypeFor[T]()]
	read, err := reader(ctx, a[name])
	if err != nil {
		return value,
			malformed(ctx, name, a[name], reader, fault.Field("argument", name, fault.Malformed, err.Error()))
	}
	return read.(T), nil
}

// mostText is the most characters of a text in a filter, as over REST: a search does work for each of its
// words.
const mostText = 255

// longest refuses an argument that contains a text of more than mostText characters.
func longest(name string, argument any) error {
	fields, _ := argument.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if text, _ := fields[field].(string); utf8.RuneCountInString(text) > mostText {
			return fault.Field("argument", name+"."+field, fault.Max,
				"must have at most "+strconv.Itoa(mostText)+" characters")
		}
	}
	return nil
}

// numbers refuses an argument whose account number is none, such as a masked one: nothing would ever be
// found. Spaces in a number do not count.
func numbers(name string, argument any) error {
	fields, _ := argument.(map[string]any)
	c := check.Of("argument")
	for _, field := range []string{"number", "accountNumber"} {
		text, _ := fields[field].(string)
		c.In(name).AccountNumber(field, strings.ReplaceAll(text, " ", ""))
	}
	return c.Err()
}

// on names the argument in the fault of an input that could not be read.
func on(argument string, err error) error {
	if f, ok := fault.Of(err); ok {
		return f.On(argument)
	}
	return err
}

// size reads the argument first or last, from 1 to page.Most.
func (a arguments) size(name string) (int, error) {
	n, err := scalar.UnmarshalInt(a[name])
	if err != nil {
		return 0, on(name, err)
	}
	if n < 1 || n > page.Most {
		return 0, fault.Field("list", name, fault.Malformed, "must be 1 to 200")
	}
	return int(n), nil
}

// window reads first, after, last and before. A page counts from one end of the list, not from both. The
// default value of first gives way to last.
func (a arguments) window(
	ctx context.Context, f graphql.CollectedField, order string,
) (w page.Window, err error) {
	variables := graphql.GetOperationContext(ctx).Variables
	var cursor string
	switch {
	case a["last"] != nil:
		if a["first"] != nil && written(f, "first", variables) {
			return w, fault.Field("list", "last", fault.Forbidden, "give first or last, not both")
		}
		if a["after"] != nil {
			return w, fault.Field("list", "after", fault.Forbidden, "after goes with first, before with last")
		}
		w.Backward, cursor = true, "before"
		w.Size, err = a.size("last")
	case a["before"] != nil:
		return w, fault.Field("list", "before", fault.Forbidden, "after goes with first, before with last")
	default:
		cursor = "after"
		if w.Size = defaultPage; a["first"] != nil {
			w.Size, err = a.size("first")
		}
	}
	if text, _ := a[cursor].(string); err == nil && a[cursor] != nil {
		w.Cursor, err = page.ParseCursor(cursor, text, order)
	}
	return w, err
}

// written reports whether the caller gave an argument: in the document, or by a variable that was sent.
func written(f graphql.CollectedField, name string, variables map[string]any) bool {
	argument := f.Arguments.ForName(name)
	if argument == nil || argument.Value.Kind != ast.Variable {
		return argument != nil
	}
	_, sent := variables[argument.Value.Raw]
	return sent
}

// selected is what a selection of a connection asks for.
type selected struct {
	want    db.Columns
	further []graphql.CollectedField // relations of the rows
	count   bool
}

// inConnection returns what a selection asks of the rows, through edges or nodes, and whether it asks for the
// count.
func inConnection(ctx context.Context, t *objectType, selection ast.SelectionSet) selected {
	return remember(ctx, "rows of "+t.name, selection, func() selected { return inRows(ctx, t, selection) })
}

func inRows(ctx context.Context, t *objectType, selection ast.SelectionSet) (s selected) {
	op := graphql.GetOperationContext(ctx)
	rows := func(selection ast.SelectionSet) {
		want, further := t.wants(ctx, selection)
		s.want, s.further = s.want.And(want), append(s.further, further...)
	}
	for _, f := range graphql.CollectFields(op, selection, []string{t.name + "Connection"}) {
		switch f.Name {
		case "nodes":
			rows(f.Selections)
		case "edges":
			for _, edge := range graphql.CollectFields(op, f.Selections, []string{t.name + "Edge"}) {
				if edge.Name == "node" {
					rows(edge.Selections)
				}
			}
		case "totalCount", "totalCountIsExact":
			s.count = true
		}
	}
	s.further = mergeFields(s.further)
	return s
}

// byUID names the order of the lists under an object.
const byUID = "uid"

// window is the part of a list that a connection shows.
type window = page.Window
