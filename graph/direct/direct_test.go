package direct_test

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"bankgraph/graph/direct"
)

var schema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query {
		person(name: String): Person
		people: [Person!]
		some: [Person]
		sure: Person!
		broken: Person
		uncovered: Person
	}
	type Mutation { rename: Person }
	interface Named { name: String! }
	type Person implements Named {
		id: ID!
		name: String!
		nick: String
		home: Home
		pets: [Pet!]!
		score: Int
		sure: Int!
		friend: Person
		friends: [Named!]
		must: Person!
	}
	type Home { street: String! }
	type Pet implements Named { name: String! }
`})

type home struct{ street string }

type pet struct{ name string }

type person struct {
	name, nick string
	home       *home
	pets       []pet
	friends    []*person
	failing    string // what fails
}

var (
	ada    = &person{name: "Ada", nick: `A"d`, home: &home{"Main"}, pets: []pet{{"Rex"}, {"Tom"}}}
	bob    = &person{name: "Bob", pets: []pet{}, friends: []*person{ada}}
	nobody = &person{} // without the id that it must have, or a name
	cross  = &person{name: "Cross", failing: "all", friends: []*person{bob}}
	people = map[string]*person{"Ada": ada, "Bob": bob, "Cross": cross}
)

var errFails = errors.New("it fails")

func text(of func(o any) string) direct.Field {
	return direct.Field{Leaf: func(b []byte, o any) []byte {
		if of(o) == "" {
			return append(b, "null"...)
		}
		return strconv.AppendQuote(b, of(o))
	}}
}

// scoring is a number whose value takes work.
var scoring = direct.Field{Ask: func(_ context.Context, b []byte, o any) ([]byte, error) {
	if o.(*person).failing != "" {
		return append(b, "half"...), errFails
	}
	return append(b, "7"...), nil
}}

func served() *direct.Schema {
	return &direct.Schema{
		AST: schema,
		Plain: map[string]map[string]direct.Field{
			"Person": {
				"id":   text(func(o any) string { return strings.ToLower(o.(*person).name) }),
				"name": text(func(o any) string { return o.(*person).name }),
				"nick": text(func(o any) string { return o.(*person).nick }),
				"home": {One: func(o any) any {
					if h := o.(*person).home; h != nil {
						return h
					}
					return nil
				}},
				"pets": {Each: func(o any, yield func(any)) {
					for i := range o.(*person).pets {
						yield(&o.(*person).pets[i])
					}
				}},
				"score": scoring, "sure": scoring,
			},
			"Home": {"street": text(func(o any) string { return o.(*home).street })},
			"Pet":  {"name": text(func(o any) string { return o.(*pet).name })},
		},
		Types: map[reflect.Type]string{
			reflect.TypeFor[*person](): "Person", reflect.TypeFor[*home](): "Home", reflect.TypeFor[*pet](): "Pet",
		},
		Root: map[string]func(context.Context, graphql.CollectedField) (any, error){
			"person": func(ctx context.Context, f graphql.CollectedField) (any, error) {
				name, _ := f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)["name"].(string)
				return people[name], nil // a nil pointer if there is no such person
			},
			"people": func(context.Context,
				graphql.CollectedField,
			) (any, error) {
				return []*person{ada, nobody}, nil
			},
			"some": func(context.Context, graphql.CollectedField) (any, error) {
				return []*person{nobody, nil, bob}, nil
			},
			"sure":   func(context.Context, graphql.CollectedField) (any, error) { return nil, errFails },
			"broken": func(context.Context, graphql.CollectedField) (any, error) { panic("pulled the plug") },
		},
		Relation: func(_ context.Context, object string, o any, f graphql.CollectedField) (any, error) {
			who := o.(*person)
			if who.failing != "" && f.Name == "friend" {
				return nil, errFails
			}
			switch f.Name {
			case "friends":
				return who.friends, nil
			case "friend", "must":
				if len(who.friends) > 0 {
					return who.friends[0], nil
				}
				return (*person)(nil), nil
			}
			return nil, fmt.Errorf("no relation %s.%s", object, f.Name)
		},
	}
}

func load(t *testing.T, document string) *ast.QueryDocument {
	t.Helper()
	doc, errs := gqlparser.LoadQueryWithRules(schema, document, rules.NewDefaultRules())
	if errs != nil {
		t.Fatal(errs)
	}
	return doc
}

// execute answers a document. Errors are lines of path and message.
func execute(t *testing.T, s *direct.Schema, document string) (string, []string) {
	t.Helper()
	doc := load(t, document)
	op := &graphql.OperationContext{Doc: doc, Operation: doc.Operations[0]}
	op.RecoverFunc = func(_ context.Context, panicked any) error {
		return fmt.Errorf("recovered: %v", panicked)
	}
	ctx := graphql.WithResponseContext(context.Background(), graphql.DefaultErrorPresenter, op.RecoverFunc)
	ctx = graphql.WithOperationContext(ctx, op)
	data := string(s.Execute(ctx))
	var lines []string
	for _, err := range graphql.GetErrors(ctx) {
		var at *gqlerror.Error
		if errors.As(err, &at) {
			lines = append(lines, at.Path.String()+": "+strings.TrimPrefix(at.Message, "input: "))
		}
	}
	slices.Sort(lines)
	return data, lines
}

// The specification's rules for answers: fields in the order of the document, null up to the next nullable
// field, and an error with its path for each field that failed.
func TestAnswersAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document, data string
		errors         []string
	}{
		"fields in the order of the document": {
			document: `{ person(name: "Ada") { nick name } __typename }`,
			data:     `{"person":{"nick":"A\"d","name":"Ada"},"__typename":"Query"}`,
		},
		"an alias, and the same field twice": {
			document: `{ one: person(name: "Ada") { a: name a: name home { street } home { __typename } }
				two: person(name: "Bob") { name } }`,
			data: `{"one":{"a":"Ada","home":{"street":"Main","__typename":"Home"}},"two":{"name":"Bob"}}`,
		},
		"what is absent is null": {
			document: `{ person(name: "Bob") { nick home { street } pets { name } }
				other: person(name: "Eve") { name } }`,
			data: `{"person":{"nick":null,"home":null,"pets":[]},"other":null}`,
		},
		"fragments for what the object is": {
			document: `{ person(name: "Bob") { friends { ...n ... on Pet { pet: name }
				... on Person { nick } } } } fragment n on Named { name }`,
			data: `{"person":{"friends":[{"name":"Ada","nick":"A\"d"}]}}`,
		},
		"skipped and included": {
			document: `{ person(name: "Ada") { name @skip(if: true) nick @include(if: false)
				pets @include(if: true) { name } } }`,
			data: `{"person":{"pets":[{"name":"Rex"},{"name":"Tom"}]}}`,
		},
		"a list is null for one item that must not be": {
			document: `{ people { id } }`, data: `{"people":null}`,
			errors: []string{"people[1].id: must not be null"},
		},
		"an item alone is null where it may be": {
			document: `{ some { id } }`, data: `{"some":[null,null,{"id":"bob"}]}`,
			errors: []string{"some[0].id: must not be null"},
		},
		"text that must not be null is empty where it is absent": {
			document: `{ people { name nick } }`,
			data:     `{"people":[{"name":"Ada","nick":"A\"d"},{"name":"","nick":null}]}`,
		},
		"everything is null where the root must not be": {
			document: `{ person(name: "Ada") { name } sure { name } }`, data: `null`,
			errors: []string{"sure: it fails"},
		},
		"a relation that must be there": {
			document: `{ person(name: "Bob") { name must { name must { name } } } }`, data: `{"person":null}`,
			errors: []string{"person.must.must: must not be null"},
		},
		"each failure is told, and what is beside it answered": {
			document: `{ person(name: "Cross") { score friend { name } name friends { name } } }`,
			data:     `{"person":{"score":null,"friend":null,"name":"Cross","friends":[{"name":"Bob"}]}}`,
			errors:   []string{"person.friend: it fails", "person.score: it fails"},
		},
		"failures in one object that cannot be shown": {
			document: `{ person(name: "Cross") { name sure friend { name } } }`, data: `{"person":null}`,
			errors: []string{"person.friend: it fails", "person.sure: it fails"},
		},
		"a panic is one field's": {
			document: `{ broken { name } person(name: "Bob") { name } }`,
			data:     `{"broken":null,"person":{"name":"Bob"}}`,
			errors:   []string{"broken: recovered: pulled the plug"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &shelf{kept: map[string]any{}}
			for _, memory := range []func(context.Context) direct.Memory{
				nil, func(context.Context) direct.Memory { return kept },
			} {
				s := served()
				s.Memory = memory
				data, errs := execute(t, s, c.document)
				if data != c.data || !slices.Equal(errs, c.errors) {
					t.Errorf("%s\n%s\nwant %s\n%s", data, strings.Join(errs, "\n"), c.data, strings.Join(c.errors, "\n"))
				}
			}
		})
	}
}

// shelf remembers by purpose and the selection's place.
type shelf struct {
	kept   map[string]any
	worked int
}

func (s *shelf) Remember(purpose string, set ast.SelectionSet, work func() any) any {
	key := fmt.Sprintf("%s %p", purpose, set[0])
	if _, known := s.kept[key]; !known {
		s.kept[key], s.worked = work(), s.worked+1
	}
	return s.kept[key]
}

func TestSelectionsAreWorkedOutOnce(t *testing.T) {
	t.Parallel()
	kept := &shelf{kept: map[string]any{}}
	s := served()
	s.Memory = func(context.Context) direct.Memory { return kept }
	doc := load(t, `query($who: String) { person(name: $who) { name pets { name } } }`)
	for _, c := range [][2]string{
		{"Ada", `{"person":{"name":"Ada","pets":[{"name":"Rex"},{"name":"Tom"}]}}`},
		{"Bob", `{"person":{"name":"Bob","pets":[]}}`},
		{"Eve", `{"person":null}`},
	} {
		op := &graphql.OperationContext{
			Doc: doc, Operation: doc.Operations[0], Variables: map[string]any{"who": c[0]},
		}
		ctx := graphql.WithResponseContext(context.Background(), graphql.DefaultErrorPresenter,
			graphql.DefaultRecover)
		if data := string(s.Execute(graphql.WithOperationContext(ctx, op))); data != c[1] {
			t.Errorf("%s: %s", c[0], data)
		}
	}
	if kept.worked != 3 { // the root's, the person's, the pets'
		t.Errorf("%d selections were worked out", kept.worked)
	}
}

// The package can be moved out of this project as it is.
func TestNothingOfOursIsImported(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "direct.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, imported := range file.Imports {
		if strings.HasPrefix(imported.Path.Value, `"bankgraph/`) {
			t.Errorf("direct imports %s", imported.Path.Value)
		}
	}
}

func TestOnlyQueriesWithKnownRootsAreCovered(t *testing.T) {
	t.Parallel()
	s := served()
	for document, want := range map[string]bool{
		`{ person { name } }`:                                 true,
		`{ __typename a: people { name } }`:                   true,
		`{ ...f } fragment f on Query { people { name } }`:    true,
		`{ person { name } uncovered { name } }`:              false,
		`{ ...f } fragment f on Query { uncovered { name } }`: false,
		`{ __schema { types { name } } }`:                     false,
		`mutation { rename { name } }`:                        false,
	} {
		doc := load(t, document)
		if got := s.Covers(&graphql.OperationContext{Doc: doc, Operation: doc.Operations[0]}); got != want {
			t.Errorf("%s: %v", document, got)
		}
	}
}
