package graph_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	gql "github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"bankgraph/graph/generated"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// ours are the types from the schema files, without those of the language.
func ours() []*gql.Definition {
	var definitions []*gql.Definition
	for _, def := range schema.Types {
		if !def.BuiltIn && !strings.HasPrefix(def.Name, "__") {
			definitions = append(definitions, def)
		}
	}
	return definitions
}

// fieldsOf returns the fields without __schema, __type and __typename.
func fieldsOf(def *gql.Definition) (fields []*gql.FieldDefinition) {
	for _, field := range def.Fields {
		if !strings.HasPrefix(field.Name, "__") {
			fields = append(fields, field)
		}
	}
	return fields
}

func TestEverythingInTheSchemaIsDescribed(t *testing.T) {
	t.Parallel()
	demand := func(description, of string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", of)
		}
	}
	for _, def := range ours() {
		demand(def.Description, def.Name)
		for _, field := range fieldsOf(def) {
			demand(field.Description, def.Name+"."+field.Name)
			for _, argument := range field.Arguments {
				demand(argument.Description, def.Name+"."+field.Name+"("+argument.Name+")")
			}
		}
		for _, value := range def.EnumValues {
			demand(value.Description, def.Name+"."+value.Name)
		}
	}
}

func TestEnumValuesAreUpperCase(t *testing.T) {
	t.Parallel()
	for _, def := range ours() {
		for _, value := range def.EnumValues {
			if value.Name != strings.ToUpper(value.Name) {
				t.Errorf("%s.%s", def.Name, value.Name)
			}
		}
	}
}

func TestEveryTypeWithAnIdIsANode(t *testing.T) {
	t.Parallel()
	for _, def := range ours() {
		id := def.Fields.ForName("id")
		if def.Kind != gql.Object || id == nil || id.Type.String() != "ID!" {
			continue
		}
		if !contains(def.Interfaces, "Node") {
			t.Errorf("%s has an id and does not implement Node", def.Name)
		}
	}
}

func contains(list []string, want string) bool {
	for _, one := range list {
		if one == want {
			return true
		}
	}
	return false
}

func TestListsArePagedByTheSameArguments(t *testing.T) {
	t.Parallel()
	for _, def := range ours() {
		for _, field := range fieldsOf(def) {
			if !strings.HasSuffix(field.Type.Name(), "Connection") {
				continue
			}
			for name, kind := range map[string]string{
				"first": "Int", "after": "String", "last": "Int", "before": "String",
			} {
				if argument := field.Arguments.ForName(name); argument == nil ||
					argument.Type.String() != kind {
					t.Errorf("%s.%s has no argument %s of type %s", def.Name, field.Name, name, kind)
				}
			}
		}
	}
}

// Any other generated type would be a second model of a thing in core: bind it in gqlgen.yml instead.
func TestGeneratedModelsAreOnlyInputsAndPayloads(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "model/models_gen.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			t.Errorf("a function in models_gen.go: %v", declaration.(*ast.FuncDecl).Name)
			continue
		}
		for _, spec := range general.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue // imports
			}
			name := typ.Name.Name
			if name != "Query" && name != "Mutation" && name != "Subscription" &&
				!strings.HasSuffix(name, "Input") &&
				!strings.HasSuffix(name, "Payload") {
				t.Errorf("%s is generated; bind it to a type of core", name)
			}
		}
	}
}

// Clients' tools use this file.
func TestPublicSchemaIsUpToDate(t *testing.T) {
	t.Parallel()
	var now bytes.Buffer
	now.WriteString(
		"\"Of the fields of the input object, exactly one must be given, and not null.\"\n" +
			"directive @oneOf on INPUT_OBJECT\n")
	formatter.NewFormatter(&now, formatter.WithIndent("  ")).FormatSchema(schema)
	const file = "schema.public.graphqls"
	if *update {
		if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, now.Bytes()) {
		t.Errorf("%s is stale: go test ./graph -run PublicSchema -update (%v)", file, err)
	}
}
