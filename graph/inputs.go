package graph

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/fault"
	"bankgraph/graph/generated"
)

// gqlgen stops reading an input object at the first value that it cannot read. Users who fill in a form want
// to see all errors at once.

// mutationInput is the name of the one argument of every mutation. Errors leave it out of the paths of
// fields.
const mutationInput = "input"

// fieldPath is the name of a wrong argument or field in errors: first, filter.parent, limits[0].code.
func fieldPath(path ast.Path) string {
	if len(path) > 1 && path[0] == ast.PathName(mutationInput) {
		path = path[1:]
	}
	return path.String()
}

// malformed returns the faults of all values in an argument that cannot be read as its input object. first is
// the error that was met first; it is returned if reading again finds no more.
func malformed(
	ctx context.Context, argument string, value any, read func(context.Context, any) (any, error), first error,
) error {
	var all fault.Faults
	ctx = graphql.WithPathContext(ctx, graphql.NewPathWithField(argument))
	outside := len(graphql.GetPath(ctx)) - 1
	for rest := value; len(all) < mostErrors; {
		_, err := read(ctx, rest)
		var at *gqlerror.Error
		if !errors.As(err, &at) || len(at.Path) <= outside+1 {
			break
		}
		path := at.Path[outside:]
		less, cut := without(rest, path[1:])
		if !cut {
			break
		}
		rest = less
		all = append(all, faultAt(path, err))
	}
	if len(all) == 0 {
		return first
	}
	return all
}

// faultAt makes a fault for the value at a path that cannot be read.
func faultAt(path ast.Path, err error) *fault.Fault {
	if f, ok := fault.Of(err); ok && f.Field == "" {
		return f.On(fieldPath(path))
	}
	var at *gqlerror.Error
	message := err.Error()
	if errors.As(err, &at) {
		message = at.Message
	}
	return fault.Field("argument", fieldPath(path), fault.Malformed, message)
}

// without copies a value without the field at a path. If the path ends at an item of a list, the copy is
// without the list.
func without(value any, path ast.Path) (less any, cut bool) {
	switch given := value.(type) {
	case map[string]any:
		name, ok := path[0].(ast.PathName)
		inner, there := given[string(name)]
		if !ok || !there {
			return nil, false
		}
		given = maps.Clone(given)
		if changed, cut := withoutIn(inner, path[1:]); cut {
			given[string(name)] = changed
		} else {
			delete(given, string(name))
		}
		return given, true
	case []any:
		at, ok := path[0].(ast.PathIndex)
		if !ok || int(at) >= len(given) {
			return nil, false
		}
		changed, cut := withoutIn(given[at], path[1:])
		if !cut {
			return nil, false
		}
		given = slices.Clone(given)
		given[at] = changed
		return given, true
	}
	return nil, false
}

func withoutIn(value any, path ast.Path) (any, bool) {
	if len(path) == 0 {
		return nil, false
	}
	return without(value, path)
}

// malformedArgument finds the argument of the current field that an error of gqlgen is about.
func malformedArgument(ctx context.Context, path ast.Path, err error) error {
	field := graphql.GetFieldContext(ctx)
	name, ok := path[0].(ast.PathName)
	if field == nil || !ok || len(path) < 2 {
		return faultAt(path, err)
	}
	definition := field.Field.Definition.Arguments.ForName(string(name))
	if definition == nil || definition.Type.Elem != nil {
		return faultAt(path, err)
	}
	read, known := generated.InputsByName[definition.Type.Name()]
	if !known {
		return faultAt(path, err)
	}
	value := field.Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)[string(name)]
	return malformed(ctx, string(name), value, read, faultAt(path, err))
}

// variableField is the name of a place in a variable in errors. It begins with the argument that the variable
// fills as a whole; it is empty if there is none.
func variableField(ctx context.Context, place ast.Path) string {
	operation := graphql.GetOperationContext(ctx)
	if operation.Doc == nil {
		return ""
	}
	argument := ""
	var in func(ast.SelectionSet)
	in = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch at := selection.(type) {
			case *ast.Field:
				for _, given := range at.Arguments {
					if given.Value.Kind == ast.Variable && ast.PathName(given.Value.Raw) == place[0] {
						argument = given.Name
					}
				}
				in(at.SelectionSet)
			case *ast.InlineFragment:
				in(at.SelectionSet)
			}
		}
	}
	for _, o := range operation.Doc.Operations {
		in(o.SelectionSet)
	}
	for _, f := range operation.Doc.Fragments {
		in(f.SelectionSet)
	}
	if argument == "" {
		return ""
	}
	return fieldPath(append(ast.Path{ast.PathName(argument)}, place[1:]...))
}
