package guard

import (
	"github.com/vektah/gqlparser/v2/ast"
)

// asked is the price of a field apart from its objects: its own price and that of the inputs in its
// arguments.
func (p pricer) asked(field *ast.Field) price {
	total := price{fixed: p.options.Prices[nameOf(field)]}
	order := orderOf(field)
	for _, argument := range field.Arguments {
		definition := field.Definition.Arguments.ForName(argument.Name)
		input := p.schema.Types[definition.Type.Name()]
		if input.Kind != ast.InputObject || !p.priced(input) {
			continue
		}
		one := pricedInput{
			times: 1, input: input, value: argument.Value, prices: p.options.Prices, ordered: p.options.Ordered,
			order: order,
		}
		if hasVariable(argument.Value) || order.given != nil && hasVariable(order.given) {
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

// order is the argument orderBy of a field.
type order struct{ given, own *ast.Value }

func orderOf(field *ast.Field) order {
	const name = "orderBy"
	given := field.Arguments.ForName(name)
	if given == nil {
		return order{}
	}
	return order{given.Value, field.Definition.Arguments.ForName(name).DefaultValue}
}

// other reports whether the list is asked for in another order than its own.
func (o order) other(variables map[string]any) bool {
	switch {
	case o.given == nil || o.own == nil:
		return o.given != nil
	case o.given.Kind == ast.Variable:
		value, is := variables[o.given.Raw]
		return is && value != o.own.Raw
	}
	return o.given.Raw != o.own.Raw
}

// pricedInput is an input object whose fields have prices. Variables may decide which fields are pricedInput.
type pricedInput struct {
	times  int64
	input  *ast.Definition
	value  *ast.Value
	prices map[string]int64

	ordered map[string]int64 // prices that hold instead where order is another one than the list's own
	order   order
}

// of is the price of the fields that are given and not null.
func (g pricedInput) of(variables map[string]any) (total int64) {
	other := g.order.other(variables)
	cost := func(field string) {
		name := g.input.Name + "." + field
		price := g.prices[name]
		if instead, is := g.ordered[name]; is && other {
			price = instead
		}
		total = add(total, price)
	}
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
