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

// schema is the parsed schema that the server serves.
var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// Each domain has one file, named like its schema file, that declares its types: their kinds and relations,
// their fields of Query, prices, and names in errors. The declarations are collected while the program starts
// and do not change afterwards.
var (
	objectTypes = map[string]*objectType{}
	kinds       []interface {
		complete()
		reader(o *operation) reader
	}
)

// objectKey is the type of the key of a row. Its String is the name of the object in the record of changes.
type objectKey interface {
	comparable
	fmt.Stringer
}

// finder reads rows by their keys. It is the FindMany method of a service.
type finder[K comparable, T any] = func(context.Context, *db.Batch, []K, db.Columns) *db.Many[K, T]

// columns names, for a field of the schema, the Go fields whose columns it needs. A field within a group is
// written "bank.accountNumber".
type columns map[string][]string

// kind is an object type that is read from the database by its key.
type kind[K objectKey, T any] struct {
	*objectType
	prefix  string                        // of its global ids
	find    func(*core.Core) finder[K, T] // reads rows
	key     func(*T) K                    // the key of a row
	parse   func(any) (K, error)          // reads the part of a global id behind the prefix
	place   func(*T) int64                // the place of a row in lists
	columns columns                       // of fields that match no Go field by name
}

// numbered declares a kind whose keys are numbers. The key is also the row's place in lists.
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

// declare adds a kind to the known ones.
func declare[K objectKey, T any](name string, k kind[K, T]) *kind[K, T] {
	declared := part(name, k)
	declared.satisfies = append(declared.satisfies, "Node")
	kinds = append(kinds, declared)
	return declared
}

// part declares a kind whose objects have no global ids, and are read with the object that they belong to.
func part[K objectKey, T any](name string, k kind[K, T]) *kind[K, T] {
	k.objectType = &objectType{name: name, satisfies: []string{name}, relations: map[string]planner{}}
	model := reflect.TypeFor[T]()
	needs := needsOf{model: model, named: k.columns, key: goField(name, "uid", "UID")}
	k.needs = needs.of(model, schema.Types[name], "", "")
	objectTypes[name] = k.objectType
	return &k
}

func init() {
	for _, k := range kinds {
		k.complete()
	}
}

// undeclared returns the fields of the schema that nothing answers.
func undeclared() (missing []string) {
	for _, f := range schema.Query.Fields {
		if roots[f.Name] == nil && !strings.HasPrefix(f.Name, "__") {
			missing = append(missing, "Query."+f.Name)
		}
	}
	for _, f := range schema.Subscription.Fields {
		if subscriptions[f.Name].open == nil {
			missing = append(missing, "Subscription."+f.Name)
		}
	}
	for name, t := range schema.Types {
		if t.Kind != ast.Object || t.BuiltIn || t == schema.Query || t == schema.Mutation ||
			t == schema.Subscription || strings.HasSuffix(name, "Payload") { // gqlgen answers mutations
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

// complete declares what follows from the schema, once all kinds are declared.
func (k *kind[K, T]) complete() {
	if schema.Types[k.name].Fields.ForName("history") != nil {
		hasMany(k, "history", auditKind, historyOf[K](k.word()))
		prices[k.name+".history"] = history
	}
}

// word is the name of the kind in payloads and in the record of changes, such as "customer".
func (k *kind[K, T]) word() string { return strings.ToLower(k.name[:1]) + k.name[1:] }

// cursor is the place of a row in the lists under an object.
func (k *kind[K, T]) cursor(row *T) page.Cursor {
	return page.Cursor{Order: k.orderOf(byUID), UID: k.place(row)}
}

// objectType is what the plan knows of an object type, whatever the Go type of its rows: the columns that
// each field needs, and the relations.
type objectType struct {
	name      string
	satisfies []string // the type and its interfaces, for fragments
	needs     map[string]need
	relations map[string]planner
}

// orderOf names a list and its order in cursors, so that a cursor of another list is refused.
func (t *objectType) orderOf(order string) string { return t.name + "." + order }

// need is the columns that a field needs. Of a group of columns, such as an address, only those of the
// selected fields are read.
type need struct {
	columns db.Columns
	within  map[string]need // the needs of a group's fields
	object  string          // the type of the group in the schema
}

// needsOf works out which columns the fields of a type need: those that named lists, or those of the Go field
// that the field is bound to or shares its name with. Relations need the key.
type needsOf struct {
	model reflect.Type
	named columns
	key   string
}

// of returns the needs of the fields of an object type, which the Go type group holds. at is the path of the
// group in the schema, in its path in the struct; both are empty at the top.
func (n needsOf) of(group reflect.Type, object *ast.Definition, at, in string) map[string]need {
	needs := map[string]need{}
	for _, field := range object.Fields {
		if strings.HasPrefix(field.Name, "__") {
			continue
		}
		name := goField(object.Name, field.Name, field.Name)
		match, found := group.FieldByNameFunc(func(other string) bool { return strings.EqualFold(other, name) })
		_, plain := generated.Plain[object.Name][field.Name]
		paths, named := n.named[at+field.Name]
		switch {
		case named:
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
		if inner := schema.Types[field.Type.Name()]; !named && found && plain && isGroup(inner, match.Type) {
			needed.object = inner.Name
			needed.within = n.of(match.Type, inner, at+field.Name+".", in+match.Name+".")
		}
		needs[field.Name] = needed
	}
	return needs
}

// isGroup reports whether an object type shows a group of columns that its fields need one by one.
func isGroup(object *ast.Definition, group reflect.Type) bool {
	return object.Kind == ast.Object && group.Kind() == reflect.Struct && !group.Implements(sealed)
}

// goField is the name of the Go field that a field of the schema is bound to. If none is bound, it is the
// argument otherwise.
func goField(object, field, otherwise string) string {
	if name, bound := generated.GoFields[object][field]; bound {
		return name
	}
	return otherwise
}

// sealed is implemented by groups of columns that show only one of them.
var sealed = reflect.TypeFor[db.Shown]()
