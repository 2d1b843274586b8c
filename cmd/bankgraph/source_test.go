package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"bankgraph/db"
)

// source is a package with its types.
type source struct {
	name  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

func (p *source) uses(all []string) (found []use) {
	add := func(table string, writes bool, at ast.Node) {
		if slices.Contains(all, table) {
			found = append(found, use{table, writes, p.fset.Position(at.Pos())})
		}
	}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				for arg := range p.selected(n) {
					add(modelOf(arg), false, n)
				}
			case *ast.CallExpr:
				if name, receiver := method(n); name == "Model" && len(n.Args) == 1 {
					verb, _ := method(receiver)
					add(modelOf(p.info.TypeOf(n.Args[0])), verb == "NewInsert" || verb == "NewUpdate" || verb == "NewDelete",
						n)
				}
				if name, receiver := method(n); name == "Of" &&
					p.info.TypeOf(receiver).String() == module+"core/customers.Hold" {
					add(p.text(n.Args[0]), false, n)
				}
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is && key.Name == "Table" {
					add(p.text(n.Value), false, n)
				}
			case *ast.Field:
				if n.Tag != nil {
					add(tagged(n.Tag.Value), false, n)
				}
			}
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			text := p.text(e)
			if text == "" {
				return true
			}
			if unknownTable.MatchString(text) && !slices.Contains(choosing, p.name) {
				found = append(found, use{"a table that it is told at run time", false, p.fset.Position(n.Pos())})
			}
			for table, writes := range namedIn(text, all) {
				add(table, writes, n)
			}
			if p.name == "core/keysets" {
				add(text, false, n)
			}
			return false
		})
	}
	return found
}

// text is the value of a constant text, or "" for anything else.
func (p *source) text(e ast.Expr) string {
	if value := p.info.Types[e].Value; value != nil && value.Kind() == constant.String {
		return constant.StringVal(value)
	}
	return ""
}

// choosing are the packages whose SQL may get the name of its table at run time: customers.Hold from the
// domains that call it (the calls are checked), access.List from those that fill it in (which is checked,
// too), keysets from a list of names, and db from everywhere.
var choosing = []string{"core/access", "core/customers", "core/keysets", "db"}

var unknownTable = regexp.MustCompile(`\b(?:FROM|JOIN|INTO)\s+(?:\?|%\w|$)`)

// declared is the content of the package's variable Tables, where names and reasons are constants.
func (p *source) declared() (tables db.Tables) {
	if p.name == "db" {
		return ofDB
	}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || spec.Names[0].Name != "Tables" || len(spec.Values) != 1 {
				return true
			}
			for _, field := range spec.Values[0].(*ast.CompositeLit).Elts {
				field := field.(*ast.KeyValueExpr)
				for _, value := range field.Value.(*ast.CompositeLit).Elts {
					if pair, is := value.(*ast.KeyValueExpr); is {
						if tables.Reads == nil {
							tables.Reads = map[string]string{}
						}
						tables.Reads[p.text(pair.Key)] = p.text(pair.Value)
					} else {
						tables.Own = append(tables.Own, p.text(value))
					}
				}
			}
			return false
		})
	}
	return tables
}

// selected are the models that are type arguments of a function that begins a query.
func (p *source) selected(name *ast.Ident) func(yield func(types.Type) bool) {
	return func(yield func(types.Type) bool) {
		of := p.info.Uses[name]
		if of == nil || of.Pkg() == nil || of.Pkg().Path() != module+"db" ||
			!slices.Contains([]string{"Select", "Select0", "Nested", "Aliased"}, name.Name) {
			return
		}
		for arg := range p.info.Instances[name].TypeArgs.Types() {
			if !yield(arg) {
				return
			}
		}
	}
}

// method is the name of the method that a call calls, and its receiver.
func method(e ast.Expr) (name string, receiver ast.Expr) {
	call, is := e.(*ast.CallExpr)
	if !is {
		return "", nil
	}
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return "", nil
	}
	return selector.Sel.Name, selector.X
}

// modelOf is the table of a model, behind any pointers and slices, or "" for anything else.
func modelOf(t types.Type) string {
	for {
		switch at := t.(type) {
		case *types.Pointer:
			t = at.Elem()
			continue
		case *types.Slice:
			t = at.Elem()
			continue
		}
		break
	}
	if t == nil {
		return ""
	}
	fields, is := t.Underlying().(*types.Struct)
	if !is {
		return ""
	}
	for i := range fields.NumFields() {
		if table := tagged(fields.Tag(i)); table != "" {
			return table
		}
		if strings.Contains(fields.Tag(i), ",extend") {
			return modelOf(fields.Field(i).Type())
		}
	}
	return ""
}

func tagged(tag string) string {
	options := reflect.StructTag(strings.Trim(tag, "`")).Get("bun")
	table, is := strings.CutPrefix(options, "table:")
	table, _, _ = strings.Cut(table, ",")
	if !is {
		return ""
	}
	return table
}

// typed returns the module's packages, without tests, with their types.
func typed(t *testing.T) []*source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("found only %d packages", len(all))
	}
	return all
}

var sources = sync.OnceValues(func() (all []*source, err error) {
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export",
		module+"cmd/bankgraph", module+"core/...")
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports, ours := map[string]string{}, []listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		name, is := strings.CutPrefix(p.ImportPath, module)
		if is && !slices.ContainsFunc(exempt, func(prefix string) bool { return within(name, prefix) }) {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	read := importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		s := &source{name: strings.TrimPrefix(p.ImportPath, module), fset: fset, info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
			Instances: map[*ast.Ident]types.Instance{},
		}}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			s.files = append(s.files, file)
		}
		if _, err := (&types.Config{Importer: read}).Check(p.ImportPath, fset, s.files, s.info); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
})
