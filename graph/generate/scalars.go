package main

import (
	_ "embed"
	"go/types"
	"maps"
	"path/filepath"
	"slices"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed ids.gotpl
var idsText string

// identifier is the type of an object's key.
type identifier struct {
	Name string // of the object
	Type types.Type
	Node bool // the object has a global id
	UUID bool
}

// scalars writes the code that reads and writes keys, and binds the scalars ID and UID to it.
func (b *bindings) scalars(schema *ast.Schema) error {
	var all []identifier
	id, uid := b.cfg.Models["ID"], b.cfg.Models["UID"]
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		d := schema.Types[name]
		shown := d.Fields.ForName("uid")
		if d.Kind != ast.Object || shown == nil || shown.Type.Name() != "UID" || b.found[name] == nil {
			continue
		}
		key := member(types.NewPointer(b.found[name].Type()), goField(b.cfg.Models[name].Fields, "uid"))
		if _, named := key.Type().(*types.Named); !named {
			continue // a plain number
		}
		_, uuid := key.Type().Underlying().(*types.Struct)
		one := identifier{Name: name, Type: key.Type(), Node: slices.Contains(d.Interfaces, "Node"), UUID: uuid}
		if one.Node {
			id.Model = append(id.Model, scalarPath+"."+name+"ID")
		}
		uid.Model = append(uid.Model, scalarPath+"."+name+"UID")
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil
	}
	b.cfg.Models["ID"], b.cfg.Models["UID"] = id, uid
	defer b.cfg.Packages.Evict(scalarPath)
	return templates.Render(templates.Options{
		PackageName: "scalar", Filename: filepath.Join(b.root, "graph/scalar/ids.generated.go"), Template: idsText,
		Packages: b.cfg.Packages, GeneratedHeader: true, Data: all,
	})
}
