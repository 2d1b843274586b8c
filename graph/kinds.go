package graph

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/generated"
	"bankgraph/graph/scalar"
)

// schema is the parsed schema, as the server serves it.
var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// Each domain declares in one file, called like its schema file, what the server has to know of its types:
// their kinds, their relations, the fields of Query that begin with them, prices, and what errors say. All of
// it is collected here while the program starts, and does not change afterwards.
var (
	objectTypes = map[string]*objectType{}
	kinds       []interface {
		complete()
		reader(o *operation) reader
	}
)

// objectKey is what rows are known by. It says what the record of changes calls the object.
type objectKey interface {
	comparable
	fmt.Stringer
}

// finder reads rows by their keys: the FindMany of a service.
type finder[K comparable, T any] = func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]

// columns names the Go fields whose columns a field of the schema needs, within a group as
// "bank.accountNumber".
type columns map[string][]string

// kind is an object type that is read from the database by its key.
type kind[K objectKey, T any] struct {
	*objectType
	prefix  string                        // of its global ids
	find    func(*core.Core) finder[K, T] // reads rows
	key     func(*T) K                    // of a row
	parse   func(any) (K, error)          // reads a key as it stands behind the prefix
	place   func(*T) int64                // of a row in lists
	columns columns                       // of fields that no Go field is called like
}

// numbered declares a kind whose keys are numbers, which are its places in lists too.
func numbered[K interface {
	~int64
	fmt.Stringer
}, T any](name string, k kind[K, T]) *kind[K, T] {
	k.parse = func(text any) (K, error) {
		n, err := scalar.ParseUID(text)
		return K(n), err
	}
	k.place = func(row *T) int64 { return int64(k.key(row)) }
	return declare(name, k)
}

// declare makes a kind known.
func declare[K objectKey, T any](name string, k kind[K, T]) *kind[K, T] {
	k.objectType = &objectType{name: name, satisfies: []string{name, "Node"}, relations: map[string]planner{}}
	model := reflect.TypeFor[T]()
	needs := needsOf{model: model, told: k.columns, key: goField(name, "uid", "UID")}
	k.needs = needs.of(model, schema.Types[name], "", "")
	objectTypes[name] = k.objectType
	kinds = append(kinds, &k)
	return &k
}

func init() {
	for _, k := range kinds {
		k.complete()
	}
}

// undeclared are the fields of the schema that nothing answers.
func undeclared() (missing []string) {
	for _, f := range schema.Query.Fields {
		if roots[f.Name] == nil && !strings.HasPrefix(f.Name, "__") {
			missing = append(missing, "Query."+f.Name)
		}
	}
	for name, t := range schema.Types {
		if t.Kind != ast.Object || t.BuiltIn || t == schema.Query || t == schema.Mutation ||
			strings.HasSuffix(name, "Payload") { // gqlgen answers mutations
			continue
		}
		for _, f := range t.Fields {
			_, plain := generated.Plain[name][f.Name]
			if declared := objectTypes[name]; !plain && (declared == nil || declared.relations[f.Name] == nil) {
				missing = append(missing, name+"."+f.Name)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// complete adds what follows from the schema once all kinds are declared.
func (k *kind[K, T]) complete() {
	if schema.Types[k.name].Fields.ForName("history") != nil {
		hasMany(k, "history", auditKind, historyOf[K](k.word()))
		prices[k.name+".history"] = history
	}
}

// word is what payloads and the record call an object of this kind.
func (k *kind[K, T]) word() string { return strings.ToLower(k.name[:1]) + k.name[1:] }

// cursor is the place of a row in the lists under an object.
func (k *kind[K, T]) cursor(row *T) page.Cursor {
	return page.Cursor{Order: k.orderOf(byUID), UID: k.place(row)}
}

// objectType is what the plan knows of an object type, whatever its rows are: which columns each field needs,
// and its relations.
type objectType struct {
	name      string
	satisfies []string // the type and its interfaces, for fragments
	needs     map[string]need
	relations map[string]planner
}

// orderOf names a list and its order in cursors: those of another list do not fit.
func (t *objectType) orderOf(order string) string { return t.name + "." + order }

// need is which columns a field of a row takes: of a group of columns, such as an address, those of the
// fields that are asked for.
type need struct {
	columns db.Columns
	within  map[string]need // of the fields of a group
	object  string          // the type of the group
}

// needsOf finds out which columns the fields of a type need: those of the Go field that a field is bound to,
// or is called like, or what is told. Relations need the key.
type needsOf struct {
	model reflect.Type
	told  columns
	key   string
}

// of goes through the fields of an object type, which group of the model shows. at is the path of the group
// in the schema, in its path in the struct; both are empty at the top.
func (n needsOf) of(group reflect.Type, object *ast.Definition, at, in string) map[string]need {
	needs := map[string]need{}
	for _, field := range object.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		name := goField(object.Name, field.Name, field.Name)
		match, found := group.FieldByNameFunc(func(other string) bool { return strings.EqualFold(other, name) })
		_, plain := generated.Plain[object.Name][field.Name]
		paths, told := n.told[at+field.Name]
		switch {
		case told:
		case found:
			paths = []string{in + match.Name}
		case !plain:
			paths = []string{n.key}
		}
		columns, missing := db.ColumnsOfType(n.model, paths...)
		if len(paths) == 0 || missing != "" {
			panic("graph: the plan does not know which columns " + object.Name + "." + field.Name + " needs")
		}
		needed := need{columns: columns}
		if inner := schema.Types[field.Type.Name()]; !told && found && plain && isGroup(inner, match.Type) {
			needed.object = inner.Name
			needed.within = n.of(match.Type, inner, at+field.Name+".", in+match.Name+".")
		}
		needs[field.Name] = needed
	}
	return needs
}

// isGroup reports whether an object type shows a group of columns of which each of its fields needs some.
func isGroup(object *ast.Definition, group reflect.Type) bool {
	return object.Kind == ast.Object && group.Kind() == reflect.Struct && !group.Implements(sealed)
}

// goField is the Go field that a field of the schema is bound to, where it is called otherwise.
func goField(object, field, otherwise string) string {
	if name, bound := generated.GoFields[object][field]; bound {
		return name
	}
	return otherwise
}

// sealed values are groups of columns of which one is shown.
var sealed = reflect.TypeFor[db.Shown]()
