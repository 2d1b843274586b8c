package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

const (
	corePath   = "bankgraph/core/"
	modelPath  = "bankgraph/graph/model"
	scalarPath = "bankgraph/graph/scalar"
)

// bindings is the plugin that finds the Go types of the types that gqlgen.yml does not bind. A Go type has
// the name of the schema's type without the name of its package: AccountStatus is accounts.Status,
// AccountFilter is accounts.Search. Package model has the types that only GraphQL has: connections, payloads
// and the inputs of mutations. One Go type serves all mutations of a thing: AddContactInput and
// ChangeContactInput are model.ContactDraft.
type bindings struct {
	cfg   *config.Config
	root  string                    // the folder of the module
	core  map[string]*types.Package // by package name
	model *types.Package
	found map[string]*types.TypeName // the Go types of the schema's types
}

func (*bindings) Name() string { return "bindings" }

// MutateSchema is the hook that runs before gqlgen makes Go types for unbound types. It leaves the schema as
// it is.
func (b *bindings) MutateSchema(schema *ast.Schema) error {
	if err := b.load(); err != nil {
		return err
	}
	var all []*ast.Definition
	for _, d := range schema.Types {
		if !d.BuiltIn && d.Kind != ast.Scalar && !b.cfg.IsRoot(d) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y *ast.Definition) int { // first the types that others are named after
		if x.Kind != y.Kind && (x.Kind == ast.Object || y.Kind == ast.Object) {
			return map[bool]int{true: -1, false: 1}[x.Kind == ast.Object]
		}
		if len(x.Name) != len(y.Name) {
			return len(x.Name) - len(y.Name)
		}
		return strings.Compare(x.Name, y.Name)
	})
	var missing []error
	for _, d := range all {
		if err := b.bind(d); err != nil {
			missing = append(missing, err)
		}
	}
	if err := errors.Join(missing...); err != nil {
		return err
	}
	return b.scalars(schema)
}

// load reads the packages in which types are looked for.
func (b *bindings) load() error {
	folders, err := os.ReadDir(filepath.Join(b.root, "core"))
	if err != nil {
		return err
	}
	paths := []string{modelPath}
	for _, f := range folders {
		if f.IsDir() && f.Name() != "coretest" && f.Name() != "demo" {
			paths = append(paths, corePath+f.Name())
		}
	}
	b.core, b.found = map[string]*types.Package{}, map[string]*types.TypeName{}
	for _, p := range b.cfg.Packages.LoadAll(paths...) {
		if p.PkgPath == modelPath {
			b.model = p.Types
		} else {
			b.core[p.Name] = p.Types
		}
	}
	return nil
}

// bind binds a type, its fields and its values.
func (b *bindings) bind(d *ast.Definition) error {
	entry := b.cfg.Models[d.Name]
	if len(entry.Model) == 0 {
		found := b.goType(d)
		if found == nil {
			if d.Kind == ast.Object && strings.HasSuffix(d.Name, "Payload") {
				return nil // gqlgen makes the type
			}
			return fmt.Errorf("%s: no Go type is called like %s; say in gqlgen.yml which one it is",
				filepath.Base(d.Position.Src.Name), d.Name)
		}
		entry.Model = config.StringList{found.Pkg().Path() + "." + found.Name()}
		b.found[d.Name] = found
	} else {
		b.found[d.Name] = b.named(entry.Model[0])
	}
	if entry.Fields == nil {
		entry.Fields = map[string]config.TypeMapField{}
	}
	b.fields(d, entry.Fields)
	var err error
	if d.Kind == ast.Enum {
		entry.EnumValues, err = b.values(d, entry.EnumValues)
	}
	if b.cfg.Models == nil {
		b.cfg.Models = config.TypeMap{}
	}
	b.cfg.Models[d.Name] = entry
	return err
}

// named returns the type with this name, which begins with its package's path.
func (b *bindings) named(path string) *types.TypeName {
	dot := strings.LastIndexByte(path, '.')
	pkg := b.model
	if path[:dot] != modelPath {
		pkg = b.core[strings.TrimPrefix(path[:dot], corePath)]
	}
	if pkg == nil {
		return nil
	}
	found, _ := pkg.Scope().Lookup(path[dot+1:]).(*types.TypeName)
	return found
}

// goType returns the Go type with the name of a type of the schema, or nil if there is none or more than one.
func (b *bindings) goType(d *ast.Definition) *types.TypeName {
	if found := lookup(b.model, b.modelName(d)); found != nil {
		return found
	}
	if strings.HasSuffix(d.Name, "Payload") {
		return nil
	}
	file := strings.TrimSuffix(filepath.Base(d.Position.Src.Name), ".graphqls")
	owners := map[string]*types.Package{"": b.core[file], strings.TrimSuffix(file, "s"): b.core[file]}
	for name, found := range b.found {
		if found != nil && found.Pkg() != b.model && strings.HasPrefix(d.Name, name) {
			owners[name] = found.Pkg()
		}
	}
	longest := func(x, y string) int { return cmp.Or(len(y)-len(x), strings.Compare(x, y)) }
	for _, owner := range slices.SortedFunc(maps.Keys(owners), longest) {
		if len(owner) > len(d.Name) || !strings.EqualFold(d.Name[:len(owner)], owner) {
			continue
		}
		short := d.Name[len(owner):]
		if thing := b.found[owner]; thing != nil && short == "Input" {
			short = thing.Name() + short
		}
		for _, name := range []string{d.Name, short} {
			if found := lookup(owners[owner], inGo(name)); found != nil {
				return found
			}
		}
	}
	var found *types.TypeName
	for _, pkg := range b.core {
		if one := lookup(pkg, d.Name); one != nil {
			if found != nil {
				return nil
			}
			found = one
		}
	}
	return found
}

// inGo replaces Filter and Input in a name of the schema by the words that Go uses.
func inGo(name string) string {
	if name == "Filter" {
		return "Search"
	}
	if thing, is := strings.CutSuffix(name, "Input"); is {
		return thing + "Draft"
	}
	return name
}

// modelName is the name of a type in package model. Inputs and payloads of mutations lose their verb.
func (b *bindings) modelName(d *ast.Definition) string {
	second := strings.IndexFunc(d.Name[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' }) + 1
	if thing, is := strings.CutSuffix(d.Name[second:], "Input"); is && second > 0 && b.ofMutation(d) {
		return thing + "Draft"
	}
	if strings.HasSuffix(d.Name, "Payload") && b.objectOf(d) != "" {
		return d.Name[second:]
	}
	return d.Name
}

// objectOf is the name of the payload's field for the object, or empty.
func (b *bindings) objectOf(payload *ast.Definition) string {
	for _, f := range payload.Fields {
		if f.Name != "approval" && b.cfg.Schema.Types[f.Type.Name()].Kind == ast.Object {
			return f.Name
		}
	}
	return ""
}

// ofMutation reports whether d is the type of a mutation's argument.
func (b *bindings) ofMutation(d *ast.Definition) bool {
	return b.cfg.Schema.Mutation != nil &&
		slices.ContainsFunc(b.cfg.Schema.Mutation.Fields, func(f *ast.FieldDefinition) bool {
			return slices.ContainsFunc(f.Arguments,
				func(a *ast.ArgumentDefinition) bool { return a.Type.Name() == d.Name })
		})
}

// lookup finds a type of a package, ignoring letter case.
func lookup(pkg *types.Package, name string) *types.TypeName {
	if pkg == nil {
		return nil
	}
	for _, other := range pkg.Scope().Names() {
		if found, is := pkg.Scope().Lookup(other).(*types.TypeName); is && found.Exported() &&
			strings.EqualFold(other, name) {
			return found
		}
	}
	return nil
}

// fields binds the fields whose Go fields do not follow from their names: a global id is made from the Go
// field of uid, the object of a payload is in Object, and relations of nodes have resolvers.
func (b *bindings) fields(d *ast.Definition, bound map[string]config.TypeMapField) {
	node := slices.Contains(d.Interfaces, "Node")
	for _, f := range d.Fields {
		if _, said := bound[f.Name]; said {
			continue
		}
		named := b.cfg.Schema.Types[f.Type.Name()]
		isObject := named.Kind == ast.Object
		switch {
		case node && f.Name == "id":
			bound["id"] = config.TypeMapField{FieldName: goField(bound, "uid")}
		case node && isObject && (isRelation(named) || !b.has(d, f.Name)):
			bound[f.Name] = config.TypeMapField{Resolver: true}
		case strings.HasSuffix(d.Name, "Payload") && f.Name == b.objectOf(d):
			bound[f.Name] = config.TypeMapField{FieldName: "Object"}
		}
	}
}

// goField is the Go field that a field of the schema is bound to.
func goField(bound map[string]config.TypeMapField, name string) string {
	if bound[name].FieldName != "" {
		return bound[name].FieldName
	}
	return strings.ToUpper(name)
}

// isRelation reports whether objects of a type are read separately from the object that shows them.
func isRelation(d *ast.Definition) bool {
	return strings.HasSuffix(d.Name, "Connection") || slices.Contains(d.Interfaces, "Node")
}

// has reports whether the Go type of d has a field or method with this name.
func (b *bindings) has(d *ast.Definition, name string) bool {
	found := b.found[d.Name]
	return found != nil && member(types.NewPointer(found.Type()), name) != nil
}

// member returns the field or method with this name, ignoring letter case.
func member(of types.Type, name string) types.Object {
	for method := range types.NewMethodSet(of).Methods() {
		if strings.EqualFold(method.Obj().Name(), name) {
			return method.Obj()
		}
	}
	if pointer, is := types.Unalias(of).(*types.Pointer); is {
		of = pointer.Elem()
	}
	group, is := of.Underlying().(*types.Struct)
	if !is {
		return nil
	}
	for f := range group.Fields() {
		if strings.EqualFold(f.Name(), name) {
			return f
		}
		if f.Embedded() {
			if inner := member(f.Type(), name); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// values finds the constants of an enumeration: those with the name or the text of a value.
func (b *bindings) values(
	d *ast.Definition, said map[string]config.EnumValue,
) (map[string]config.EnumValue, error) {
	bound := maps.Clone(said)
	if bound == nil {
		bound = map[string]config.EnumValue{}
	}
	typ := b.found[d.Name]
	var missing []error
	for _, value := range d.EnumValues {
		if _, is := bound[value.Name]; is {
			continue
		}
		var found []string
		for _, name := range typ.Pkg().Scope().Names() {
			c, is := typ.Pkg().Scope().Lookup(name).(*types.Const)
			if is && types.Identical(c.Type(), typ.Type()) &&
				(squeezed(name) == squeezed(value.Name) || squeezed(text(c)) == squeezed(value.Name)) {
				found = append(found, c.Pkg().Path()+"."+name)
			}
		}
		if len(found) != 1 {
			missing = append(missing,
				fmt.Errorf("%s.%s: %d constants of type %s are called so; say in gqlgen.yml which one it is",
					d.Name, value.Name, len(found), typ.Type()))
			continue
		}
		bound[value.Name] = config.EnumValue{Value: found[0]}
	}
	return bound, errors.Join(missing...)
}

func text(c *types.Const) string {
	if c.Val().Kind() != constant.String {
		return ""
	}
	return constant.StringVal(c.Val())
}

// squeezed removes the separators of words from a name or text.
func squeezed(text string) string {
	return strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(text))
}
