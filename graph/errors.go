package graph

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// codes are the published codes for the kinds of faults.
type codes map[fault.Kind]string

// subject is what errors about one kind of thing say differently from others.
type subject struct {
	codes  codes
	fields map[string]string // field names of the schema, by the partners' names that core uses
}

// subjects are the kinds of things that faults are about. Each domain's file adds its own.
var subjects = map[string]subject{
	"": {codes: codes{
		fault.Invalid: "VALIDATION_ERROR", fault.Unauthenticated: "API901", fault.Denied: "API901",
		fault.NotFound: "CUST001",
		fault.State:    "CUST001", fault.Conflict: "CUST001", fault.TooMany: "API900", fault.Unavailable: "API900",
		fault.Internal: "API900",
	}},
	"operation":   {codes: codes{fault.Invalid: "STATEMENT_LIMIT"}},
	"answer":      {codes: codes{fault.Invalid: "ANSWER_TOO_LARGE"}},
	"request":     {codes: codes{fault.Invalid: "INVALID_REQUEST"}},
	"idempotency": {codes: codes{fault.Conflict: "IDEMPOTENCY_KEY_REUSED"}},
}

func codeOf(f *fault.Fault) string {
	if errors.Is(f, changes.ErrInFlight) {
		return "IDEMPOTENCY_IN_FLIGHT"
	}
	field := f.Field[strings.LastIndexByte(f.Field, '.')+1:]
	for _, p := range precise {
		if p.is != nil && !p.is.Is(f) ||
			p.is == nil &&
				(p.subject != f.Subject || p.field != "" && p.field != field ||
					p.problem != "" && p.problem != f.Problem) {
			continue
		}
		return p.code
	}
	if code, ok := subjects[f.Subject].codes[f.Kind]; ok {
		return code
	}
	return subjects[""].codes[f.Kind]
}

// precise lists codes that say more than the code of a fault's kind; REST answers with the same codes. The
// first that matches counts. Each domain's file adds its own.
var precise []preciseCode

type preciseCode struct {
	is      *fault.Fault  // matches this fault; or, if nil,
	subject string        // faults of this subject,
	field   string        // with this field
	problem fault.Problem // and this problem; empty ones match all
	code    string
}

var errTooMuch = fault.New(fault.Invalid, "operation.too_much",
	"the operation asks the database too many questions; send it in parts")

// present turns an error into what the caller may see. A fault shows its kind, code and field; errors of the
// GraphQL language show as they are; all else shows only the request's id.
func (h handlerOptions) present(ctx context.Context, err error) *gqlerror.Error {
	var language *gqlerror.Error
	path := graphql.GetPath(ctx)
	if errors.As(err, &language) && language.Path != nil {
		path = language.Path
	}
	if own := graphql.GetPath(ctx); len(own) > 0 && len(path) > len(own) {
		if f, ok := fault.Of(err); ok && f.Kind == fault.Invalid && f.Field == "" {
			// gqlgen says by the path which argument it could not read
			err, path = malformedArgument(ctx, path[len(own):], err), own
		}
	}
	if faults := faultsOf(err); len(faults) > 0 {
		return h.faults(ctx, path, faults)
	}
	if errors.Is(err, db.ErrTooManyStatements) {
		return h.error(ctx, path, errTooMuch)
	}
	if language != nil && errors.Unwrap(language) == nil {
		shown := *language
		shown.Path = path
		if len(path) > 1 && path[0] == ast.PathName("variable") &&
			shown.Extensions["code"] == errcode.ValidationFailed {
			// gqlparser's path leads to the variable; a path in an answer leads into its data (specification,
			// 7.1.2).
			shown.Message, shown.Path = "$"+path[1:].String()+" "+shown.Message, nil
			if field := variableField(ctx, path[1:]); field != "" {
				shown.Extensions = map[string]any{"code": errcode.ValidationFailed, "field": field}
			}
		}
		return h.tagged(ctx, &shown, nil)
	}
	unavailable := h.Unavailable != nil && h.Unavailable(err) || errors.Is(err, context.DeadlineExceeded)
	if unavailable {
		slog.WarnContext(ctx, "graphql: the bank could not answer", "error", err, "path",
			path.String(), "request", h.RequestID(ctx))
		return h.error(ctx, path, fault.New(fault.Unavailable, "", "the bank cannot answer now; try again later"))
	}
	if !errors.Is(err, context.Canceled) {
		slog.ErrorContext(ctx, "graphql: unexpected error", "error", err, "path", path.String(), "request",
			h.RequestID(ctx))
	}
	return h.error(ctx, path, fault.New(fault.Internal, "", "internal error"))
}

// faultsOf returns the faults of an error, in the words of the schema. An input may have several.
func faultsOf(err error) (all []*fault.Fault) {
	var several fault.Faults
	if !errors.As(err, &several) {
		f, ok := fault.Of(err)
		if !ok {
			return nil
		}
		several = fault.Faults{f}
	}
	for _, f := range several {
		if customers.ErrOutOfScope.Is(f) { // must look like an absent customer
			f = customers.ErrNotFound
		}
		f, _ = fault.Of(fault.Called(f, subjects[f.Subject].fields))
		all = append(all, f)
	}
	return all
}

// faults makes one error of several faults, since gqlgen takes only one from a presenter. The first error
// carries all as its cause; unfold takes them out again.
func (h handlerOptions) faults(ctx context.Context, path ast.Path, faults []*fault.Fault) *gqlerror.Error {
	list := make(gqlerror.List, len(faults))
	for i, f := range faults {
		list[i] = h.error(ctx, path, f)
	}
	if len(list) == 1 {
		return list[0]
	}
	first := *list[0]
	first.Err = list
	return &first
}

// unfold replaces each error made by faults by its separate errors.
func unfold(errs gqlerror.List) (all gqlerror.List) {
	for _, err := range errs {
		var several gqlerror.List
		if errors.As(err.Err, &several) {
			all = append(all, several...)
			continue
		}
		all = append(all, err)
	}
	return all
}

func (h handlerOptions) error(ctx context.Context, path ast.Path, f *fault.Fault) *gqlerror.Error {
	message, state := messageOf(f)
	shown := &gqlerror.Error{
		Message: message, Path: path, Extensions: map[string]any{"kind": f.Kind, "code": codeOf(f)},
	}
	if f.Field != "" {
		shown.Extensions["field"] = f.Field
	}
	if f.Detail != "" && f.Kind == fault.Denied {
		shown.Extensions["permissions"] = f.Needs()
	}
	if state != "" {
		shown.Extensions["state"] = state
	}
	return h.tagged(ctx, shown, f)
}

// messageOf returns what callers read of a fault, and the state that is in the way; "" if none is.
func messageOf(f *fault.Fault) (message, state string) {
	message = f.PublicMessage()
	if f.Kind != fault.State || f.Detail == "" {
		return message, ""
	}
	if !strings.Contains(ident.Fold(message), ident.Fold(f.Detail)) { // as "is suspended already" does
		message += ": it is " + f.Detail
	}
	return message, f.Detail
}

func (h handlerOptions) tagged(ctx context.Context, shown *gqlerror.Error, f *fault.Fault) *gqlerror.Error {
	extensions := map[string]any{"requestId": h.RequestID(ctx)}
	for name, value := range shown.Extensions {
		extensions[name] = value
	}
	if f == nil && extensions["kind"] == nil {
		extensions["kind"] = fault.Invalid
	}
	shown.Extensions = extensions
	if inPayload(ctx) {
		shown.Message = "the request was carried out, but this cannot be shown: " + shown.Message
	}
	return shown
}

// inPayload reports whether the error is about a field below a mutation's own: the mutation has been carried
// out by then, and callers must not take it for refused.
func inPayload(ctx context.Context) bool {
	return graphql.HasOperationContext(ctx) && len(graphql.GetPath(ctx)) > 1 &&
		graphql.GetOperationContext(ctx).Operation != nil &&
		graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation
}

// recovered logs a panic and answers with an internal error.
func (h handlerOptions) recovered(ctx context.Context, panicked any) error {
	slog.ErrorContext(ctx, "graphql: panic", "panic", panicked, "stack", string(debug.Stack()), "request",
		h.RequestID(ctx))
	return fault.New(fault.Internal, "", "internal error")
}
