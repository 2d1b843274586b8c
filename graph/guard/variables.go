package guard

import (
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkEnums refuses variables whose enum values differ from the schema's in letter case. gqlparser lets them
// through, and gqlgen would then read them as nothing: a filter by "Active" would find everybody.
func (g *Guard) checkEnums(operation *graphql.OperationContext) *gqlerror.Error {
	for _, variable := range operation.Operation.VariableDefinitions {
		if place := g.foreignEnum(variable.Type, operation.Variables[variable.Variable], variable.Variable); place != "" {
			return refused(errcode.ValidationFailed, "$"+place+" has a value that its enum does not have")
		}
	}
	return nil
}

// foreignEnum is the place of the first such value, and empty without one.
func (g *Guard) foreignEnum(typ *ast.Type, value any, place string) string {
	if typ.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return g.foreignEnum(typ.Elem, value, place) // one value may stand for a list of one
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
		for _, field := range def.Fields { // of a scalar there are none
			if found := g.foreignEnum(field.Type, given[field.Name], place+"."+field.Name); found != "" {
				return found
			}
		}
	}
	return ""
}
