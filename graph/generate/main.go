// Command generate writes the GraphQL server code. It binds each type of the schema to the Go type of the
// same name and runs gqlgen. It also writes tables of all input objects and of all fields that follow from
// their object alone, from which package graph answers queries, and the resolvers that gqlgen wants. Run it
// by make generate.
package main

import (
	_ "embed"
	"errors"
	"fmt"
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

var (
	//go:embed plain.gotpl
	plainText string
	//go:embed inputs.gotpl
	inputsText string
	//go:embed resolvers.gotpl
	resolversText string
)

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
	return api.Generate(cfg, api.PrependPlugin(&bindings{cfg: cfg, root: "."}), api.AddPlugin(tables{}))
}

// refuseDirectives returns an error for every directive that would have to run while a request is answered.
// Package direct writes answers, and inputs are read, without gqlgen's middleware. Directives that only state
// something, such as @deprecated, are skipped at run time by gqlgen too.
func refuseDirectives(cfg *config.Config) error {
	var refused []error
	for _, name := range slices.Sorted(maps.Keys(cfg.Schema.Directives)) {
		if d := cfg.Schema.Directives[name]; !d.Position.Src.BuiltIn && !cfg.Directives[name].SkipRuntime {
			refused = append(refused,
				fmt.Errorf("%s:%d: directive @%s: nothing would carry it out where queries are written directly; "+
					"do what it is for in core, or give it skip_runtime in gqlgen.yml if it only "+
					"says something", d.Position.Src.Name, d.Position.Line, name))
		}
	}
	return errors.Join(refused...)
}

// tables is the plugin that writes the tables and the resolvers.
type tables struct{}

func (tables) Name() string { return "tables" }

func (tables) GenerateCode(data *codegen.Data) error {
	folder, name := data.Config.Exec.DirName, data.Config.Exec.Package
	for _, file := range []struct {
		folder, name, text string
		data               any
	}{
		{folder, name, plainText, plainObjects(data)},
		{folder, name, inputsText, data.Inputs},
		{filepath.Dir(folder), "graph", resolversText, resolving(data)},
	} {
		into := map[string]string{plainText: "plain", inputsText: "inputs", resolversText: "resolvers"}[file.text] +
			".generated.go"
		if err := templates.Render(templates.Options{
			PackageName: file.name, Filename: filepath.Join(file.folder, into), Template: file.text,
			Packages: data.Config.Packages, GeneratedHeader: true, Data: file.data,
		}); err != nil {
			return err
		}
	}
	return nil
}

// object is a type of the schema with some of its fields.
type object struct {
	*codegen.Object
	Shown []field
}

// plainObjects returns the fields that follow from their object alone.
func plainObjects(data *codegen.Data) (all []object) {
	for _, o := range data.Objects {
		if o.Root || o.IsReserved() || strings.HasSuffix(o.Name, "Payload") { // gqlgen answers mutations
			continue
		}
		written := object{Object: o}
		for _, f := range o.Fields {
			if !f.IsResolver && !f.IsReserved() {
				written.Shown = append(written.Shown, field{f})
			}
		}
		all = append(all, written)
	}
	return all
}

// resolving returns the fields of objects and of Query for which gqlgen wants resolvers. Those of Mutation
// are written by hand; subscriptions gqlgen does not execute.
func resolving(data *codegen.Data) (all []object) {
	for _, o := range data.Objects {
		if o.IsReserved() || !o.HasResolvers() || o == data.MutationRoot ||
			o == data.SubscriptionRoot {
			continue
		}
		wanted := object{Object: o}
		for _, f := range o.Fields {
			if f.IsResolver && !f.IsReserved() {
				wanted.Shown = append(wanted.Shown, field{f})
			}
		}
		all = append(all, wanted)
	}
	return all
}

type field struct{ *codegen.Field }

// CalledOtherwise reports whether the field is bound to a Go field with another name.
func (f field) CalledOtherwise() bool {
	return f.IsVariable() && !strings.EqualFold(f.GoFieldName, f.Name)
}

// Value is the Go expression of the field of receiver.
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

// Named is the definition of the field's type without its lists.
func (f field) Named() *ast.Definition { return f.TypeReference.Definition }

func (f field) IsObject() bool { return f.Named().IsCompositeType() }
func (f field) IsList() bool   { return f.TypeReference.IsSlice() }

// Address is the Go operator that makes a pointer of the value: objects are written from pointers.
func (f field) Address(ref *config.TypeReference) string {
	if ref.IsPtr() {
		return ""
	}
	return "&"
}

// Write is the Go expression that appends a scalar or enum value to b. It calls the scalar's Append function,
// which is next to its Marshal function.
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
