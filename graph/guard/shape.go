package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkShape checks a document before validation, in one linear walk. It protects validation, which compares
// fields that might be merged and takes the square of their number.
func checkShape(doc *ast.QueryDocument, limits Limits) *gqlerror.Error {
	s := shape{limits: limits}
	s.most("fragments in the document", len(doc.Fragments), limits.Fragments)
	s.most("operations in the document", len(doc.Operations), limits.Operations)
	for _, operation := range doc.Operations {
		for _, variable := range operation.VariableDefinitions {
			s.name(variable.Variable)
			s.directives(variable.Directives)
			s.text(variable.DefaultValue)
		}
		s.directives(operation.Directives)
		s.set(operation.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		s.directives(fragment.Directives)
		s.set(fragment.SelectionSet)
	}
	s.most("aliases in the document", s.aliases, limits.Aliases)
	return s.err
}

type shape struct {
	limits  Limits
	aliases int
	err     *gqlerror.Error // the first found
}

func (s *shape) most(what string, n, limit int) {
	if n > limit && s.err == nil {
		s.err = over(DocumentTooComplex, what, int64(n), int64(limit))
	}
}

func (s *shape) name(name string) { s.most("characters in a name", len(name), s.limits.Name) }

func (s *shape) set(set ast.SelectionSet) {
	s.most("selections in one place", len(set), s.limits.Selections)
	s.repeats(set)
	for _, selection := range set {
		if s.err != nil {
			return
		}
		switch selection := selection.(type) {
		case *ast.Field:
			if selection.Alias != selection.Name {
				s.aliases++
				s.name(selection.Alias)
			}
			s.arguments(selection.Arguments)
			s.directives(selection.Directives)
			s.set(selection.SelectionSet)
		case *ast.InlineFragment:
			s.directives(selection.Directives)
			s.set(selection.SelectionSet)
		case *ast.FragmentSpread:
			s.directives(selection.Directives)
		}
	}
}

// repeats counts repetitions in one place: of a response name, of a spread of a fragment, of a fragment on a
// type.
func (s *shape) repeats(set ast.SelectionSet) {
	if len(set) <= s.limits.Repeats || s.err != nil {
		return
	}
	type said struct {
		kind byte
		name string
	}
	times := make(map[said]int, len(set))
	for _, selection := range set {
		var one said
		switch selection := selection.(type) {
		case *ast.Field:
			one = said{'f', selection.Alias}
		case *ast.InlineFragment:
			one = said{'t', selection.TypeCondition}
		case *ast.FragmentSpread:
			one = said{'s', selection.Name}
		}
		times[one]++
		s.most("repeats of one selection in one place", times[one], s.limits.Repeats)
	}
}

func (s *shape) directives(list ast.DirectiveList) {
	s.most("directives in one place", len(list), s.limits.Directives)
	for _, directive := range list {
		s.arguments(directive.Arguments)
	}
}

func (s *shape) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		s.text(argument.Value)
	}
}

// text refuses NUL in literals, which PostgreSQL cannot store. The transport has refused it in variables.
func (s *shape) text(value *ast.Value) {
	if value == nil || s.err != nil {
		return
	}
	if (value.Kind == ast.StringValue || value.Kind == ast.BlockValue) && strings.IndexByte(value.Raw, 0) >= 0 {
		s.err = refused(InvalidText, "a string has U+0000 in it")
		s.err.Locations = []gqlerror.Location{{Line: value.Position.Line, Column: value.Position.Column}}
		return
	}
	for _, child := range value.Children {
		s.text(child.Value)
	}
}

// over makes the error of an exceeded limit. It gives both numbers, so that clients can adapt.
func over(code, what string, requested, limit int64) *gqlerror.Error {
	err := refused(code, fmt.Sprintf("%s: %d, at most %d", what, requested, limit))
	err.Extensions["requested"], err.Extensions["limit"] = requested, limit
	return err
}

// stripDefer removes @defer from a document. Over plain JSON gqlgen would lose the deferred data; without the
// directive all data comes at once, which its specification allows.
func stripDefer(doc *ast.QueryDocument) {
	for _, operation := range doc.Operations {
		stripDeferIn(operation.SelectionSet)
	}
	for _, fragment := range doc.Fragments {
		stripDeferIn(fragment.SelectionSet)
	}
}

func stripDeferIn(set ast.SelectionSet) {
	isDefer := func(d *ast.Directive) bool { return d.Name == "defer" }
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			stripDeferIn(selection.SelectionSet)
		case *ast.InlineFragment:
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
			stripDeferIn(selection.SelectionSet)
		case *ast.FragmentSpread:
			selection.Directives = slices.DeleteFunc(selection.Directives, isDefer)
		}
	}
}
