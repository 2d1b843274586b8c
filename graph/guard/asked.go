package guard

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// asked is the price of a field apart from its objects: its own price and that of the inputs in its
// arguments.
func (p pricer) asked(field *ast.Field) price {
	total := price{fixed: p.options.Prices[nameOf(field)]}
	for _, argument := range field.Arguments {
		definition := field.Definition.Arguments.ForName(argument.Name)
		input := p.schema.Types[definition.Type.Name()]
		if input.Kind != ast.InputObject || !p.priced(input) {
			continue
		}
		one := pricedInput{times: 1, input: input, value: argument.Value, prices: p.options.Prices}
		if hasVariable(argument.Value) {
			total.given = append(total.given, one)
		} else {
			total.fixed = add(total.fixed, one.of(nil))
		}
	}
	return total
}

// priced reports whether any field of an input object has a price.
func (p pricer) priced(input *ast.Definition) bool {
	for _, field := range input.Fields {
		if p.options.Prices[input.Name+"."+field.Name] != 0 {
			return true
		}
	}
	return false
}

func hasVariable(value *ast.Value) bool {
	if value.Kind == ast.Variable {
		return true
	}
	for _, child := range value.Children {
		if hasVariable(child.Value) {
			return true
		}
	}
	return false
}

// pricedInput is an input object whose fields have prices. Variables may decide which fields are pricedInput.
type pricedInput struct {
	times  int64
	input  *ast.Definition
	value  *ast.Value
	prices map[string]int64
}

// of is the price of the fields that are given and not null.
func (g pricedInput) of(variables map[string]any) (total int64) {
	cost := func(field string) { total = add(total, g.prices[g.input.Name+"."+field]) }
	if g.value.Kind == ast.Variable {
		fields, _ := variables[g.value.Raw].(map[string]any)
		for name, value := range fields {
			if value != nil {
				cost(name)
			}
		}
		return total
	}
	for _, child := range g.value.Children {
		switch {
		case child.Value.Kind == ast.NullValue:
		case child.Value.Kind == ast.Variable && variables[child.Value.Raw] == nil:
		default:
			cost(child.Name)
		}
	}
	return total
}

// items is how many items a list argument gives. A single value counts as a list of one.
func items(value *ast.Value, variables map[string]any) int64 {
	switch value.Kind {
	case ast.NullValue:
		return 0
	case ast.ListValue:
		return int64(len(value.Children))
	case ast.Variable:
		switch given := variables[value.Raw].(type) {
		case nil:
			return 0
		case []any:
			return int64(len(given))
		}
	}
	return 1
}
