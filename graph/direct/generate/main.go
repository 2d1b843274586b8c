// Command generate writes the GraphQL server code: what gqlgen writes, and beside it one table of every
// field that follows from its object alone, which package direct reads. Run it by make generate.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"go/types"
	"log"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed plain.gotpl
var text string

func main() {
	cfg, err := config.LoadConfigFromDefaultLocations()
	if err == nil {
		err = generate(cfg)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func generate(cfg *config.Config) error {
	if err := cfg.LoadSchema(); err != nil {
		return err
	}
	if err := refuseDirectives(cfg); err != nil {
		return err
	}
	return api.Generate(cfg, api.AddPlugin(plain{}))
}

// refuseDirectives fails for every directive that would have to be carried out while a request is answered: what package
// direct writes, and the inputs that it reads, come straight from the rows, past gqlgen's middleware. One that only says
// something, such as @deprecated, is skipped at run time by gqlgen too.
func refuseDirectives(cfg *config.Config) error {
	var refused []error
	for _, name := range slices.Sorted(maps.Keys(cfg.Schema.Directives)) {
		if d := cfg.Schema.Directives[name]; !d.Position.Src.BuiltIn && !cfg.Directives[name].SkipRuntime {
			refused = append(refused, fmt.Errorf("%s:%d: directive @%s: nothing would carry it out where queries are written directly; "+
				"do what it is for in core, or give it skip_runtime in gqlgen.yml if it only says something", d.Position.Src.Name, d.Position.Line, name))
		}
	}
	return errors.Join(refused...)
}

// plain is the plugin that writes the table.
type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) GenerateCode(data *codegen.Data) error {
	var objects []object
	for _, o := range data.Objects {
		if o.Root || o.IsReserved() {
			continue
		}
		written := object{Name: o.Name, Type: o.Type}
		for _, f := range o.Fields {
			if !f.IsResolver && !f.IsReserved() {
				written.Fields = append(written.Fields, field{f})
			}
		}
		objects = append(objects, written)
	}
	return templates.Render(templates.Options{
		PackageName: data.Config.Exec.Package, Filename: filepath.Join(data.Config.Exec.DirName, "plain.generated.go"),
		Template: text, Packages: data.Config.Packages, GeneratedHeader: true,
		Data: map[string]any{"Objects": objects, "Inputs": data.Inputs},
	})
}

type object struct {
	Name   string
	Type   types.Type
	Fields []field
}

type field struct{ *codegen.Field }

// Value is the Go expression of the field on o.
func (f field) Value(receiver string) string {
	access := receiver + "." + f.GoFieldName
	switch {
	case f.MethodHasContext:
		return access + "(ctx)"
	case f.IsMethod():
		return access + "()"
	}
	return access
}

// Named is the definition of the type that the field has once lists are opened.
func (f field) Named() *ast.Definition { return f.TypeReference.Definition }

func (f field) IsObject() bool { return f.Named().IsCompositeType() }
func (f field) IsList() bool   { return f.TypeReference.IsSlice() }

// Address is what makes a pointer of the value: objects are written from pointers.
func (f field) Address(ref *config.TypeReference) string {
	if ref.IsPtr() {
		return ""
	}
	return "&"
}

// Write is the Go expression that writes a scalar or enum value behind b: the scalar's Append function,
// which stands beside its Marshal function.
func (f field) Write(ref *config.TypeReference, value string) string {
	enum := ref.EnumMarshalVar(true)
	if ref.IsPtr() {
		ref, value = ref.Elem(), "*"+value
	}
	if ref.HasEnumValues() {
		value = enum + "[" + value + "]"
	}
	if ref.CastType != nil {
		value = templates.CurrentImports.LookupType(ref.CastType) + "(" + value + ")"
	}
	if ref.Marshaler == nil {
		log.Fatalf("%s.%s: no marshaler", f.Object.Name, f.Name)
	}
	name, ok := strings.CutPrefix(ref.Marshaler.Name(), "Marshal")
	if !ok {
		log.Fatalf("%s.%s: %s is no Marshal function", f.Object.Name, f.Name, ref.Marshaler.Name())
	}
	return templates.CurrentImports.Lookup("bankgraph/graph/scalar") + ".Append" + name + "(b, " + value + ")"
}
