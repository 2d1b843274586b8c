// Package guard decides whether a GraphQL document may run, before any part of it runs. It checks the
// document's shape before validation, which takes quadratic time. After validation it checks the depth, the
// number of fields and the price, and whether the caller may read the schema.
//
// gqlgen has no hook between parsing and validating. Its complexity limit walks a fragment again for every
// spread, so that 987 bytes can take seconds. The guard therefore parses and validates each document itself,
// once, keeps the result, and hands it to gqlgen in place of gqlgen's own query cache.
package guard

import (
	"context"
	"errors"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/handler"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// The codes of the guard's errors, all of which arise before execution. Errors of syntax and validation keep
// gqlgen's GRAPHQL_PARSE_FAILED and GRAPHQL_VALIDATION_FAILED.
const (
	DocumentTooComplex         = "DOCUMENT_TOO_COMPLEX"
	FieldLimit                 = "FIELD_LIMIT"
	DepthLimit                 = "DEPTH_LIMIT"
	RootFieldLimit             = "ROOT_FIELD_LIMIT"
	PriceLimit                 = "PRICE_LIMIT"
	IntrospectionDenied        = "INTROSPECTION_DENIED"
	InvalidText                = "INVALID_TEXT"
	PersistedQueryNotSupported = "PERSISTED_QUERY_NOT_SUPPORTED"
	PersistedDocumentNotFound  = "PERSISTED_DOCUMENT_NOT_FOUND"
)

// Limits are what one document may ask. A limit of zero means that of DefaultLimits.
type Limits struct {
	// These are checked before validation.
	Tokens     int // of the text, comments included
	Selections int // in one pair of braces
	Repeats    int // of one response name, spread or type condition in one pair of braces
	Aliases    int // in the document
	Name       int // bytes of an alias, which is written for each item of an answer, or of a variable's name
	Fragments  int // named ones, in the document
	Operations int // in the document
	Directives int // at one place

	// These are checked after validation, for each operation, with fragments expanded.
	Fields             int
	Depth              int // a root field is at depth 1
	IntrospectionDepth int // below __schema and __type, which Depth does not count
	RootFields         int
	RootMutations      int
	Price              int64
}

// DefaultLimits allow the standard introspection query and every page of a portal, and let any hostile
// document be refused within milliseconds.
var DefaultLimits = Limits{
	Tokens: 2000, Selections: 200, Repeats: 5, Aliases: 60, Name: 128, Fragments: 50, Operations: 10,
	Directives: 10, Fields: 1000, Depth: 12, IntrospectionDepth: 20, RootFields: 20, RootMutations: 10,
	Price: 5000,
}

// Options are the settings of the guard.
type Options struct {
	Limits Limits
	// MayIntrospect reports whether the caller may read the schema through __schema and __type. If it is nil,
	// no caller may.
	MayIntrospect func(context.Context) bool
	// ListSizes are the assumed lengths of plain lists, by "Type.field"; all others have DefaultListSize (10
	// if 0). The length of a connection is what its first or last says.
	ListSizes       map[string]int
	DefaultListSize int
	// ListArguments name, by "Type.field", the argument that gives a plain list its items. The list is as
	// long as the argument.
	ListArguments map[string]string
	// Prices are for work of the database that does not show in the number of objects. "Type.field" is the
	// price of a field beyond its objects; "Input.field" is the price of giving that field of an input
	// object.
	Prices map[string]int64
	// Ordered are the prices of fields of inputs where orderBy asks for another order than the list's own.
	Ordered map[string]int64
	// MaxPage (200 if 0) is the largest page that the resolvers serve. A larger one is priced as MaxPage: the
	// resolver refuses it and names the argument.
	MaxPage int
	// Documents is how many parsed documents are kept (500 if 0). A document of 5 KB takes about 160 KB.
	Documents int
}

// Guard is the extension that Use mounts.
type Guard struct {
	limits    Limits
	options   Options
	rules     *rules.Rules
	schema    *ast.Schema
	documents *lru.Cache[string, *document]
}

// document is a valid document with everything that is known of it before its variables. It never changes.
type document struct {
	parsed *ast.QueryDocument
	plans  map[*ast.OperationDefinition]*plan
}

// Use mounts the guard on a server. Mount extensions that replace an id by its document before it, and those
// that read the cost after it.
func Use(server *handler.Server, options Options) *Guard {
	setDefault(&options.DefaultListSize, 10)
	setDefault(&options.MaxPage, 200)
	setDefault(&options.Documents, 500)
	documents, err := lru.New[string, *document](options.Documents)
	if err != nil {
		panic(err) // only for a size below 1, a mistake in the program
	}
	g := &Guard{
		limits: withDefaults(options.Limits), options: options, rules: silentRules(), documents: documents,
	}
	server.Use(g)
	server.SetQueryCache(handOver{})
	// gqlgen does not parse while the guard is mounted; these limits are there in case it ever does.
	server.SetParserTokenLimit(g.limits.Tokens)
	server.SetDisableSuggestion(true)
	return g
}

func withDefaults(l Limits) Limits {
	d := DefaultLimits
	setDefault(&l.Tokens, d.Tokens)
	setDefault(&l.Selections, d.Selections)
	setDefault(&l.Repeats, d.Repeats)
	setDefault(&l.Aliases, d.Aliases)
	setDefault(&l.Name, d.Name)
	setDefault(&l.Fragments, d.Fragments)
	setDefault(&l.Operations, d.Operations)
	setDefault(&l.Directives, d.Directives)
	setDefault(&l.Fields, d.Fields)
	setDefault(&l.Depth, d.Depth)
	setDefault(&l.IntrospectionDepth, d.IntrospectionDepth)
	setDefault(&l.RootFields, d.RootFields)
	setDefault(&l.RootMutations, d.RootMutations)
	setDefault(&l.Price, d.Price)
	return l
}

func setDefault[N int | int64](n *N, value N) {
	if *n == 0 {
		*n = value
	}
}

// silentRules are the rules of validation without suggestions, which would tell names of the schema.
func silentRules() *rules.Rules {
	r := rules.NewDefaultRules()
	for name, silent := range map[string]validator.Rule{
		rules.FieldsOnCorrectTypeRule.Name: rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRule.Name:  rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRule.Name:      rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRule.Name:         rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRule.Name: rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.ReplaceRule(name, silent.RuleFunc)
	}
	return r
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationParameterMutator
	graphql.OperationContextMutator
} = (*Guard)(nil)

// ExtensionName is the name of the extension for gqlgen.
func (g *Guard) ExtensionName() string { return "Guard" }

// Validate receives the schema from gqlgen, once, at the start. It fails if an option names an unknown field.
func (g *Guard) Validate(schema graphql.ExecutableSchema) error {
	g.schema = schema.Schema()
	for name := range g.options.ListSizes {
		if g.field(name) == nil {
			return errors.New("guard: no field " + name + " to assume a size of")
		}
	}
	for name := range g.options.Prices {
		if g.field(name) == nil {
			return errors.New("guard: no field " + name + " to ask a price for")
		}
	}
	for name := range g.options.Ordered {
		if g.field(name) == nil {
			return errors.New("guard: no field " + name + " to ask a price for in another order")
		}
	}
	for name, argument := range g.options.ListArguments {
		if field := g.field(name); field == nil || field.Arguments.ForName(argument) == nil {
			return errors.New("guard: no argument " + argument + " of a field " + name)
		}
	}
	return nil
}

// field returns the field with the name "Type.field", or nil.
func (g *Guard) field(name string) *ast.FieldDefinition {
	typ, field, _ := strings.Cut(name, ".")
	if def := g.schema.Types[typ]; def != nil {
		return def.Fields.ForName(field)
	}
	return nil
}

// MutateOperationParameters runs before gqlgen parses. It finds or prepares the document and puts it where
// handOver finds it.
func (g *Guard) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	if params.Query == "" {
		if err := missingDocument(params.Extensions); err != nil {
			return err
		}
	}
	doc, errs := g.document(params.Query)
	if len(errs) > 0 {
		return fold(errs)
	}
	operation := graphql.GetOperationContext(ctx)
	operation.Doc = doc.parsed
	if errs := g.checkVariables(doc.parsed.Operations.ForName(params.OperationName),
		params.Variables); len(errs) > 0 {
		return fold(errs)
	}
	operation.Stats.SetExtension(statsKey, &stats{document: doc})
	return nil
}

// MutateOperationContext runs after the operation is chosen and its variables are known.
func (g *Guard) MutateOperationContext(
	ctx context.Context, operation *graphql.OperationContext,
) *gqlerror.Error {
	known := operation.Stats.GetExtension(statsKey).(*stats)
	plan := known.document.plans[operation.Operation]
	if plan.introspects {
		if g.options.MayIntrospect == nil || !g.options.MayIntrospect(ctx) {
			return refused(IntrospectionDenied, "you may not read the schema")
		}
		operation.DisableIntrospection = false
	}
	if err := g.checkEnums(operation); err != nil {
		return err
	}
	if err := plan.checkFlags(operation.Variables); err != nil {
		return err
	}
	known.cost = Cost{Requested: plan.price.of(operation.Variables), Limit: g.limits.Price}
	if known.cost.Requested > known.cost.Limit {
		return over(PriceLimit, "the price of the operation", known.cost.Requested, known.cost.Limit)
	}
	return nil
}

// Cost is the price of an operation, and the highest price allowed.
type Cost struct{ Requested, Limit int64 }

// CostOf returns the cost of the operation in the context, for code that runs after the guard. It returns
// false if there is none.
func CostOf(ctx context.Context) (Cost, bool) {
	if !graphql.HasOperationContext(ctx) {
		return Cost{}, false
	}
	known, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(statsKey).(*stats)
	if !ok {
		return Cost{}, false
	}
	return known.cost, true
}

const statsKey = "bankgraph.guard"

type stats struct {
	document *document
	cost     Cost
}

// Check prepares a document that is known in advance and returns everything that is wrong with it. It does
// not know what variables will add to the price.
func (g *Guard) Check(query string) gqlerror.List {
	_, errs := g.document(query)
	return errs
}

// Cached is the number of documents that are kept.
func (g *Guard) Cached() int { return g.documents.Len() }

// document returns a document that has passed every check except those that need its variables.
func (g *Guard) document(query string) (*document, gqlerror.List) {
	if known, ok := g.documents.Get(query); ok {
		return known, nil
	}
	// A copy: the text may be a part of a larger body, which would be kept with it.
	query = strings.Clone(query)
	parsed, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, g.limits.Tokens)
	if err != nil {
		return nil, gqlerror.List{g.syntaxError(err)}
	}
	if len(parsed.Operations) == 0 {
		return nil, gqlerror.List{refused(errcode.ValidationFailed, "no operation provided")}
	}
	if err := checkShape(parsed, g.limits); err != nil {
		return nil, gqlerror.List{err}
	}
	if errs := validator.ValidateWithRules(g.schema, parsed, g.rules); len(errs) > 0 {
		return nil, validationErrors(errs)
	}
	stripDefer(parsed)
	plans, refusal := planAll(parsed, g)
	if refusal != nil {
		return nil, gqlerror.List{refusal}
	}
	doc := &document{parsed, plans}
	g.documents.Add(query, doc)
	return doc, nil
}

// syntaxError gives the parser's error its code. The message is gqlparser's only sign that the token limit
// was the cause.
func (g *Guard) syntaxError(err error) *gqlerror.Error {
	found := gqlerror.WrapIfUnwrapped(err)
	if strings.HasPrefix(found.Message, "exceeded token limit") {
		tooMany := refused(DocumentTooComplex, "the document has too many tokens")
		tooMany.Extensions["limit"] = g.limits.Tokens
		return tooMany
	}
	errcode.Set(found, errcode.ParseFailed)
	return found
}

// validationErrors keeps the first 20 errors, so that a small document cannot cause a large answer.
func validationErrors(errs gqlerror.List) gqlerror.List {
	errs = errs[:min(len(errs), 20)]
	for _, err := range errs {
		errcode.Set(err, errcode.ValidationFailed)
	}
	return errs
}

// fold makes one error of several, since gqlgen takes only one from an extension. The first error carries all
// as its cause; the transport separates them again.
func fold(errs gqlerror.List) *gqlerror.Error {
	if len(errs) == 1 {
		return errs[0]
	}
	first := *errs[0]
	first.Err = errs
	return &first
}

// missingDocument answers callers who sent only a hash or an id. On the exact message
// PersistedQueryNotSupported, clients send the text as well.
func missingDocument(extensions map[string]any) *gqlerror.Error {
	switch {
	case extensions["documentId"] != nil:
		return refused(PersistedDocumentNotFound, "no document has this id: send its text as query")
	case extensions["persistedQuery"] != nil:
		err := refused(PersistedQueryNotSupported, "PersistedQueryNotSupported")
		err.Extensions["hint"] = "documents are not kept by their hash: send the text as query, " +
			"each time; in Apollo, leave the persisted query link out"
		return err
	}
	return nil
}

func refused(code, message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Extensions: map[string]any{"code": code}}
}

// handOver stands in for gqlgen's query cache. It returns the document that the guard put into the operation.
type handOver struct{}

func (handOver) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc := graphql.GetOperationContext(ctx).Doc
	return doc, doc != nil
}

func (handOver) Add(context.Context, string, *ast.QueryDocument) {}
