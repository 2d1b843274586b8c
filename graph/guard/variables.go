package guard

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkEnums refuses variables whose enum values differ from the schema's in letter case. gqlparser accepts
// them, and gqlgen would then read them as absent: a filter by "Active" would find all customers.
func (g *Guard) checkEnums(operation *graphql.OperationContext) *gqlerror.Error {
	for _, variable := range operation.Operation.VariableDefinitions {
		if place := g.foreignEnum(variable.Type, operation.Variables[variable.Variable],
			variable.Variable); place != "" {
			return refused(errcode.ValidationFailed, "$"+place+" has a value that its enum does not have")
		}
	}
	return nil
}

// checkFlags refuses null as a condition of @skip or @include. A variable that may be null is allowed there
// if it has a default. Null instead of it is an error of the field, and gqlgen panics, after a mutation was
// carried out.
func (p *plan) checkFlags(given map[string]any) *gqlerror.Error {
	for _, name := range p.flags {
		if given[name] == nil {
			return refused(errcode.ValidationFailed,
				"$"+name+" must not be null: it is a condition of @skip or @include")
		}
	}
	return nil
}

// foreignEnum is the path of the first such value, or empty.
func (g *Guard) foreignEnum(typ *ast.Type, value any, place string) string {
	if typ.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return g.foreignEnum(typ.Elem, value, place) // a single value counts as a list of one
		}
		for i, item := range list {
			if found := g.foreignEnum(typ.Elem, item, place+"["+strconv.Itoa(i)+"]"); found != "" {
				return found
			}
		}
		return ""
	}
	def := g.schema.Types[typ.Name()]
	switch given := value.(type) {
	case string:
		if def.Kind == ast.Enum && def.EnumValues.ForName(given) == nil {
			return place
		}
	case map[string]any:
		for _, field := range def.Fields { // scalars have none
			if found := g.foreignEnum(field.Type, given[field.Name], place+"."+field.Name); found != "" {
				return found
			}
		}
	}
	return ""
}

// mostProblems is how many problems of variables are reported.
const mostProblems = 100

// checkVariables returns all problems of an operation's variables, with paths in gqlparser's form. gqlparser
// stops at the first, but users who fill in a form want to see all. A single problem is left to gqlparser,
// except for a number that is no Int, which it would show as 0.
func (g *Guard) checkVariables(operation *ast.OperationDefinition, given map[string]any) (all gqlerror.List) {
	if operation == nil {
		return nil
	}
	p := problems{schema: g.schema}
	for _, variable := range operation.VariableDefinitions {
		value, there := given[variable.Variable]
		at := ast.Path{ast.PathName("variable"), ast.PathName(variable.Variable)}
		if there || variable.DefaultValue == nil {
			p.value(variable.Type, value, at)
		}
	}
	if len(p.found) == 1 && !p.number {
		return nil
	}
	return p.found
}

type problems struct {
	schema *ast.Schema
	found  gqlerror.List
	number bool // one of them is a number that is none of Int's
}

func (p *problems) add(at ast.Path, message string) {
	if len(p.found) < mostProblems {
		p.found = append(p.found,
			&gqlerror.Error{
				Message: message, Path: slices.Clone(at), Extensions: map[string]any{"code": errcode.ValidationFailed},
			})
	}
}

func (p *problems) value(typ *ast.Type, value any, at ast.Path) {
	switch list, isList := value.([]any); {
	case value == nil && typ.NonNull:
		p.add(at, "must be defined")
	case value == nil:
	case typ.Elem != nil && isList:
		for i, item := range list {
			p.value(typ.Elem, item, append(at[:len(at):len(at)], ast.PathIndex(i)))
		}
	case typ.Elem != nil:
		p.value(typ.Elem, value, at)
	default:
		p.named(p.schema.Types[typ.Name()], value, at)
	}
}

func (p *problems) named(def *ast.Definition, value any, at ast.Path) {
	switch def.Kind {
	case ast.InputObject:
		fields, ok := value.(map[string]any)
		if !ok {
			p.add(at, "must be a "+def.Name)
			return
		}
		p.object(def, fields, at)
	case ast.Enum:
		if text, ok := value.(string); !ok || def.EnumValues.ForName(text) == nil {
			p.add(at, "has a value that its enum does not have")
		}
	case ast.Scalar:
		number, odd := value.(json.Number) // whole ones that fit have been read
		switch {
		case odd && def.Name == "Int":
			p.number = true
			p.add(at, "cannot use value "+shortened(number.String())+" as Int")
		case !fits(def.Name, value):
			p.add(at, "cannot be used as "+def.Name)
		}
	}
}

func (p *problems) object(def *ast.Definition, fields map[string]any, at ast.Path) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if def.Fields.ForName(name) == nil {
			p.add(append(at[:len(at):len(at)], ast.PathName(name)), "unknown field")
		}
	}
	for _, field := range def.Fields {
		value, there := fields[field.Name]
		if there || field.Type.NonNull && field.DefaultValue == nil {
			p.value(field.Type, value, append(at[:len(at):len(at)], ast.PathName(field.Name)))
		}
	}
}

// shortened is a number as messages may show it: callers can write long ones.
func shortened(number string) string {
	const most = 40
	if len(number) > most {
		return number[:most] + "…"
	}
	return number
}

// fits reports whether a scalar accepts this kind of value. The scalars check the rest themselves.
func fits(scalar string, value any) bool {
	text, flag := false, false
	switch value.(type) {
	case string:
		text = true
	case bool:
		flag = true
	case map[string]any, []any:
		return scalar != "String" && scalar != "Boolean" && scalar != "Int" && scalar != "ID"
	}
	switch scalar {
	case "String":
		return text
	case "Boolean":
		return flag
	case "Int":
		return !text && !flag
	case "ID":
		return !flag
	}
	return true
}
