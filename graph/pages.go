package graph

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/direct"
	"bankgraph/graph/generated"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// defaultPage is the size of a page where neither first nor last is given.
const defaultPage = 20

// arguments are those of a connection as the document gives them.
type arguments map[string]any

func argumentsOf(ctx context.Context, f graphql.CollectedField) arguments {
	return f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
}

// decode reads an input object the way that gqlgen would for a resolver. Where it is malformed, the fault
// names the field by its path in the argument.
func decode[T any](ctx context.Context, a arguments, name string) (value T, err error) {
	if a[name] == nil {
		return value, nil
	}
	if err := longest(name, a[name]); err != nil {
		return value, err
	}
	reader := generated.Inputs[reflect.TypeFor[T]()]
	read, err := reader(ctx, a[name])
	if err != nil {
		return value, malformed(ctx, name, a[name], reader, fault.Field("argument", name, fault.Malformed, err.Error()))
	}
	return read.(T), nil
}

// mostText is how many characters a text that narrows a list may have, as over REST: a search works for each word of it.
const mostText = 255

// longest refuses an argument with a longer text in it.
func longest(name string, argument any) error {
	fields, _ := argument.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if text, _ := fields[field].(string); utf8.RuneCountInString(text) > mostText {
			return fault.Field("argument", name+"."+field, fault.Max, "must have at most "+strconv.Itoa(mostText)+" characters")
		}
	}
	return nil
}

// on blames an argument for an input that could not be read.
func on(argument string, err error) error {
	if f, ok := fault.Of(err); ok {
		return f.On(argument)
	}
	return err
}

// size reads first or last: 1 to page.Most.
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

// window reads first, after, last and before. Either end of the list, not both. The default of first
// gives way to last.
func (a arguments) window(ctx context.Context, f graphql.CollectedField, order string) (w page.Window, err error) {
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

// written tells whether the caller gave an argument: in the document, or by a variable that was sent.
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

// inConnection looks through edges and nodes at what the rows themselves must show.
func inConnection(ctx context.Context, k *kind, selection ast.SelectionSet) selected {
	return direct.Remember(operationOf(ctx).document, "rows of "+k.name, selection, func() selected { return inRows(ctx, k, selection) })
}

func inRows(ctx context.Context, k *kind, selection ast.SelectionSet) (s selected) {
	op := graphql.GetOperationContext(ctx)
	rows := func(selection ast.SelectionSet) {
		want, further := k.wants(ctx, selection)
		s.want, s.further = s.want.And(want), append(s.further, further...)
	}
	for _, f := range graphql.CollectFields(op, selection, []string{k.name + "Connection"}) {
		switch f.Name {
		case "nodes":
			rows(f.Selections)
		case "edges":
			for _, edge := range graphql.CollectFields(op, f.Selections, []string{k.name + "Edge"}) {
				if edge.Name == "node" {
					rows(edge.Selections)
				}
			}
		case "totalCount", "totalCountIsExact":
			s.count = true
		}
	}
	s.further = together(s.further)
	return s
}

// orderOf names a list and its order in cursors: those of another list do not fit.
func (k *kind) orderOf(order string) string { return k.name + "." + order }

// byUID is the order in which the lists under an object stand.
const byUID = "uid"

// window is the part of a list that a connection shows.
type window = page.Window

// list is a relation to many rows, of which each parent gets a page.
type list[P, K comparable, T any, F any] struct {
	rows  func(ctx context.Context, o *operation, b *db.Batch, of []P, by F, want db.Columns, w window) *db.Many[P, T]
	count func(ctx context.Context, o *operation, b *db.Batch, of []P, by F) *db.Many[P, db.Count]
	key   func(*T) K
	place func(*T) int64 // in the list; the key itself where it is a number
	kind  func() *kind
}

// of makes the list a relation of its parents.
func of[O any, P comparable, K ~int64, T any, F any](key func(*O) P, l list[P, K, T, F]) *relation[O, P, *model.Connection[T]] {
	l.place = func(row *T) int64 { return int64(l.key(row)) }
	return placed(key, l)
}

// placed is of for rows whose keys are no numbers.
func placed[O any, P, K comparable, T any, F any](key func(*O) P, l list[P, K, T, F]) *relation[O, P, *model.Connection[T]] {
	return &relation[O, P, *model.Connection[T]]{key: key, queue: l.queue}
}

func (l list[P, K, T, F]) queue(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (func(P) (*model.Connection[T], error), step) {
	a := argumentsOf(ctx, f)
	order := l.kind().orderOf(byUID)
	w, err := a.window(ctx, f, order)
	by, bad := decode[F](ctx, a, "filter")
	if err = errors.Join(err, bad); err != nil {
		return func(P) (*model.Connection[T], error) { return nil, err }, nil
	}
	parents := s.keys.([]P)
	asked := inConnection(ctx, l.kind(), f.Selections)
	rows := l.rows(ctx, o, b, parents, by, asked.want, w)
	var counts *db.Many[P, db.Count]
	if asked.count {
		counts = l.count(ctx, o, b, parents, by)
	}
	of := func(parent P) (*model.Connection[T], error) {
		if rows.Err != nil {
			return nil, rows.Err
		}
		return &model.Connection[T]{
			Page: page.Cut(rows.Of[parent], w), Window: w,
			Cursor: func(row *T) page.Cursor { return page.Cursor{Order: order, UID: l.place(row)} },
			Count:  func(context.Context) (int64, error) { return countOf(counts, parent) },
		}, nil
	}
	if len(asked.further) == 0 {
		return of, nil
	}
	return of, func(ctx context.Context, next *db.Batch) []step {
		var shown []*T
		for _, parent := range parents {
			shown = append(shown, page.Cut(rows.Of[parent], w).Items...)
		}
		return under(ctx, o, next, l.kind(), shown, each(shown, func(row *T) (K, bool) { return l.key(row), true }), asked.further)
	}
}

func countOf[P comparable](counts *db.Many[P, db.Count], parent P) (int64, error) {
	if counts.Err != nil {
		return 0, counts.Err
	}
	if rows := counts.Of[parent]; len(rows) > 0 {
		return rows[0].N, nil
	}
	return 0, nil
}
