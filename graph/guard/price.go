package guard

import (
	"encoding/json"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// The price list. A scalar is free and an object costs 1. Options.Prices has prices for other work of the
// database. All are multiplied by the lengths of the lists around them.
const (
	objectPrice        = 1
	mutationPrice      = 10 // in addition to the object
	introspectionPrice = 50 // for each __schema or __type, whatever its selection
)

// price is a sum. Only the parts that depend on variables are left open: the sizes of pages and the contents
// of inputs. The rest is worked out when a document is first seen, so that pricing it again costs a few
// multiplications.
type price struct {
	fixed int64
	pages []page
	given []pricedInput
}

// page adds times × size × item to a price.
type page struct {
	times int64
	size  pageSize
	item  price
}

// of returns the price with the given variables.
func (p price) of(variables map[string]any) int64 {
	total := p.fixed
	for _, one := range p.pages {
		items := times(one.times, one.size.of(variables))
		total = add(total, times(items, one.item.of(variables)))
	}
	for _, one := range p.given {
		total = add(total, times(one.times, one.of(variables)))
	}
	return total
}

func (p *price) add(q price) {
	p.fixed = add(p.fixed, q.fixed)
	p.pages = append(p.pages, q.pages...)
	p.given = append(p.given, q.given...)
}

func (p price) times(n int64) price {
	product := price{
		fixed: times(p.fixed, n), pages: make([]page, len(p.pages)), given: make([]pricedInput, len(p.given)),
	}
	for i, one := range p.pages {
		one.times = times(one.times, n)
		product.pages[i] = one
	}
	for i, one := range p.given {
		one.times = times(one.times, n)
		product.given[i] = one
	}
	return product
}

// pricer prices operations whose number of expanded fields is within its limit. It may therefore walk each
// fragment again for every spread.
type pricer struct {
	options Options
	schema  *ast.Schema
}

func (p pricer) operation(operation *ast.OperationDefinition) price {
	var total price
	p.set(operation.SelectionSet, func(field *ast.Field) {
		total.add(p.field(field))
		if operation.Operation == ast.Mutation {
			total.fixed = add(total.fixed, mutationPrice)
		}
	})
	return total
}

// set visits the fields of a selection set, including those in fragments.
func (p pricer) set(set ast.SelectionSet, visit func(*ast.Field)) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			visit(selection)
		case *ast.InlineFragment:
			p.set(selection.SelectionSet, visit)
		case *ast.FragmentSpread:
			p.set(selection.Definition.SelectionSet, visit)
		}
	}
}

func (p pricer) field(field *ast.Field) price {
	if introspection(field) {
		return price{fixed: introspectionPrice}
	}
	asked := p.asked(field)
	if field.SelectionSet == nil {
		return asked
	}
	asked.add(p.objects(field))
	return asked
}

func (p pricer) objects(field *ast.Field) price {
	if size, ok := p.pageSize(field); ok {
		return p.paged(field, size)
	}
	one := p.object(field)
	if isList(field.Definition) {
		return one.times(int64(p.listSize(field)))
	}
	return one
}

func (p pricer) object(field *ast.Field) price {
	one := price{fixed: objectPrice}
	p.set(field.SelectionSet, func(child *ast.Field) { one.add(p.field(child)) })
	return one
}

// paged is the price 1 + size × item, where an item is one element of the connection's edges and nodes. Other
// fields, such as pageInfo, count once. A plain list costs only size × item.
func (p pricer) paged(field *ast.Field, size pageSize) price {
	var total, item price
	if isList(field.Definition) {
		item = p.object(field)
	} else {
		total.fixed = objectPrice
		p.set(field.SelectionSet, func(child *ast.Field) {
			if child.SelectionSet != nil && isList(child.Definition) {
				item.add(p.object(child))
				return
			}
			total.add(p.field(child))
		})
	}
	if size.open {
		total.pages = append(total.pages, page{1, size, item})
	} else {
		total.add(item.times(size.of(nil)))
	}
	return total
}

func isList(def *ast.FieldDefinition) bool { return def.Type.Elem != nil }

func (p pricer) listSize(field *ast.Field) int {
	if size, ok := p.options.ListSizes[nameOf(field)]; ok {
		return size
	}
	return p.options.DefaultListSize
}

// nameOf is the name of the field in the options, "Type.field".
func nameOf(field *ast.Field) string {
	if field.ObjectDefinition == nil {
		return ""
	}
	return field.ObjectDefinition.Name + "." + field.Name
}

// pageSize is the size that a field's arguments first and last give, or the argument that holds the list's
// items.
type pageSize struct {
	items    *ast.Value    // the argument whose length is the size
	given    [2]*ast.Value // first and last; nil if not in the document
	fallback int64
	most     int64
	open     bool // it depends on a variable
}

func (p pricer) pageSize(field *ast.Field) (pageSize, bool) {
	size := pageSize{most: int64(p.options.MaxPage)}
	if argument := field.Arguments.ForName(p.options.ListArguments[nameOf(field)]); argument != nil {
		size.items, size.open = argument.Value, argument.Value.Kind == ast.Variable
		return size, true
	}
	paged := false
	for i, name := range [...]string{"first", "last"} {
		def := field.Definition.Arguments.ForName(name)
		if def == nil {
			continue
		}
		paged = true
		if def.DefaultValue != nil {
			if n, ok := number(def.DefaultValue, nil); ok {
				size.fallback = max(size.fallback, n)
			}
		}
		if given := field.Arguments.ForName(name); given != nil {
			size.given[i] = given.Value
			size.open = size.open || given.Value.Kind == ast.Variable
		}
	}
	if size.fallback == 0 {
		size.fallback = int64(p.options.DefaultListSize)
	}
	return size, paged
}

// of is the larger of first and last, or else the default. A size that no resolver would serve counts as the
// nearest allowed one: the resolver refuses it and names the argument.
func (s pageSize) of(variables map[string]any) int64 {
	if s.items != nil {
		return min(items(s.items, variables), s.most)
	}
	var size int64
	known := false
	for _, value := range s.given {
		if value == nil {
			continue
		}
		if n, ok := number(value, variables); ok {
			size, known = max(size, n), true
		}
	}
	if !known {
		size = s.fallback
	}
	return min(max(size, 1), s.most)
}

// number reads an argument. It returns false for null and for a variable that was not given. Anything that is
// not a number counts as the largest number.
func number(value *ast.Value, variables map[string]any) (int64, bool) {
	var given any = json.Number(value.Raw)
	switch value.Kind {
	case ast.NullValue:
		return 0, false
	case ast.Variable:
		given = variables[value.Raw]
	}
	switch n := given.(type) {
	case nil:
		return 0, false
	case int64:
		return n, true
	case int:
		return int64(n), true
	case json.Number:
		return parsed(string(n)), true
	}
	return parsed(""), true
}

func parsed(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 1<<63 - 1
	}
	return n
}
