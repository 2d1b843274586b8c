// Package transport answers GraphQL over plain HTTP: GET and POST, one operation, one JSON answer; and
// subscriptions as streams, over Server-Sent Events and WebSockets.
//
// gqlgen's own transports pass 55 of the 61 checks of the graphql-http audit, ignore quality values in
// Accept, and repeat the body in their errors. This one follows the GraphQL-over-HTTP specification (see
// status).
package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// DefaultBodyLimit is the largest body, in bytes; a larger one is answered with 413. The largest document
// that the guard accepts is far smaller.
const DefaultBodyLimit = 32 << 10

// Profile is the reading of the GraphQL-over-HTTP specification that decides the status.
type Profile string

const (
	// Audit is what the npm package graphql-http 1.23 checks and today's clients expect.
	Audit Profile = "audit"
	// Draft is the specification of 2026-08: 294 for partial answers, 422 for refused documents.
	Draft Profile = "draft"
)

// The codes of the transport's errors. Errors of the document and of its fields have codes of their own.
const (
	MethodNotAllowed     = "METHOD_NOT_ALLOWED"
	NotAcceptable        = "NOT_ACCEPTABLE"
	UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
	BodyTooLarge         = "BODY_TOO_LARGE"
	InvalidJSON          = "INVALID_JSON"
	InvalidRequest       = "INVALID_REQUEST"
	InvalidText          = "INVALID_TEXT"
	TimedOut             = "TIMED_OUT"

	BatchingNotSupported = "BATCHING_NOT_SUPPORTED"

	SubscriptionNeedsStream = "SUBSCRIPTION_NEEDS_STREAM" // a subscription that is to be answered as JSON
	// a query or mutation that is to be answered as a stream
	StreamForSubscriptions  = "STREAM_FOR_SUBSCRIPTIONS"
	SubprotocolNotSupported = "SUBPROTOCOL_NOT_SUPPORTED"
	OriginDenied            = "ORIGIN_DENIED"
	TooManyOperations       = "TOO_MANY_OPERATIONS" // of one WebSocket
)

// Messages for features of other servers that this one does not have.
const (
	noBatches = "batches are not taken: send each operation as a request of its own (in Apollo, " +
		"HttpLink for BatchHttpLink), or ask for several root fields in one operation"
	needsStream = "a subscription is answered as a stream: send Accept: text/event-stream, " +
		"or open a WebSocket with the subprotocol graphql-transport-ws"
	onlySubscriptions = "only subscriptions are answered as a stream: send queries and mutations by POST, " +
		"with Accept: application/json"
)

// HTTP is the transport. Mount it last: it takes every request that no other transport takes, so that no
// request is refused by gqlgen's own code.
type HTTP struct {
	// Profile defaults to Audit.
	Profile Profile
	// BodyLimit is in bytes; DefaultBodyLimit if 0.
	BodyLimit int64
	// Statuses are the statuses of refused requests by the code of the first error, such as RATE_LIMITED:
	// 429. They hold in both profiles and for both media types. An int under retryAfter in that error's
	// extensions becomes the Retry-After header, in seconds.
	Statuses map[string]int
}

var _ graphql.Transport = HTTP{}

// Supports reports true for every request; see HTTP.
func (h HTTP) Supports(*http.Request) bool { return true }

// Do reads one request, has it executed and writes the answer.
func (h HTTP) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	start := graphql.Now()
	// Set before anything can panic: gqlgen's answer to a panic has no headers.
	header := w.Header()
	header.Set("Content-Type", plainJSON.contentType())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept")

	params, media, refused := h.read(w, r)
	header.Set("Content-Type", media.contentType())
	if refused != nil {
		refuse(w, r.Context(), exec, refused)
		return
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: start, End: graphql.Now()}

	operation, errs := exec.CreateOperationContext(r.Context(), params)
	ctx := graphql.WithOperationContext(r.Context(), operation)
	if len(errs) > 0 {
		h.write(w, media, exec.DispatchError(ctx, whole(errs)))
		return
	}
	if refused = refusedOperation(r.Method, operation.Operation.Operation); refused != nil {
		refuse(w, ctx, exec, refused)
		return
	}
	if kept, ok := w.(interface{ Keep() }); ok && operation.Operation.Operation == ast.Mutation {
		kept.Keep() // a mutation's answer must not be replaced by "try again"
	}
	next, ctx := exec.DispatchOperation(ctx, operation)
	response := next(ctx)
	if response == nil { // in gqlgen: the context ended first
		refuse(w, ctx, exec, &refusal{
			http.StatusServiceUnavailable, TimedOut,
			"the request took too long",
			http.Header{"Retry-After": {"1"}},
		})
		return
	}
	h.write(w, media, response)
}

// whole separates the errors that an extension folded into one: gqlgen takes a single error from an
// extension, and its cause is then the list.
func whole(errs gqlerror.List) gqlerror.List {
	if len(errs) == 1 {
		var list gqlerror.List
		if errors.As(errs[0].Err, &list) && len(list) > 0 {
			return list
		}
	}
	return errs
}

// refusedOperation refuses operations that this request cannot carry out. It looks at the chosen operation:
// operationName may pick a mutation from a document that begins with a query.
func refusedOperation(method string, operation ast.Operation) *refusal {
	switch {
	case operation == ast.Subscription:
		return &refusal{
			http.StatusBadRequest, SubscriptionNeedsStream, needsStream, nil,
		}
	case operation == ast.Mutation && method == http.MethodGet:
		return &refusal{
			http.StatusMethodNotAllowed, MethodNotAllowed,
			"a mutation must be sent by POST",
			http.Header{"Allow": {http.MethodPost}},
		}
	}
	return nil
}

// refusal answers a request that never became an operation. Its message never repeats what was sent.
type refusal struct {
	status  int
	code    string
	message string
	header  http.Header
}

func refuse(w http.ResponseWriter, ctx context.Context, exec graphql.GraphExecutor, why *refusal) {
	if !graphql.HasOperationContext(ctx) {
		// Extensions of responses may read the operation context.
		ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{})
	}
	for name, values := range why.header {
		w.Header()[name] = values
	}
	response := exec.DispatchError(ctx, gqlerror.List{{
		Message: why.message, Extensions: map[string]any{"code": why.code},
	}})
	encode(w, why.status, response)
}

func (h HTTP) write(w http.ResponseWriter, media mediaType, response *graphql.Response) {
	if response.Data == nil && len(response.Errors) > 0 {
		if seconds, ok := response.Errors[0].Extensions["retryAfter"].(int); ok {
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	encode(w, h.status(media, response), response)
}

// status is the one place that maps what happened to a status:
//
//	                          graphql-response+json   json    draft
//	data, no errors           200                     200     200
//	data (even null), errors  200                     200     294 / 200
//	document does not parse   400                     200     400
//	anything else refused     400                     200     422
func (h HTTP) status(media mediaType, response *graphql.Response) int {
	draft := h.Profile == Draft
	switch {
	case response.Data != nil && len(response.Errors) > 0 && draft && media == graphqlResponse:
		return 294
	case response.Data != nil:
		return http.StatusOK
	}
	code := firstCode(response.Errors)
	if status, ok := h.Statuses[code]; ok {
		return status
	}
	switch {
	case draft && code != parseFailed:
		return http.StatusUnprocessableEntity
	case draft || media == graphqlResponse:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func firstCode(errs gqlerror.List) string {
	if len(errs) == 0 {
		return ""
	}
	code, _ := errs[0].Extensions["code"].(string)
	return code
}

// encode writes the response. Its data is JSON already and is written as it is: json.Marshal of the whole
// would check and copy it once more. Without data there is no data key, as the specification demands of
// refused requests.
func encode(w http.ResponseWriter, status int, response *graphql.Response) {
	before, after := around(response)
	w.Header().Set("Content-Length", strconv.Itoa(len(before)+len(response.Data)+len(after)))
	w.WriteHeader(status)
	// A failed write means that the client has gone.
	_, _ = w.Write(before)
	_, _ = w.Write(response.Data)
	_, _ = w.Write(after)
}

// around returns what stands before the data of a response, and after it.
func around(response *graphql.Response) (before, after []byte) {
	before = append(before, '{')
	if len(response.Errors) > 0 {
		before = append(before, `"errors":`...)
		before = append(before, marshal(response.Errors)...)
	}
	if response.Data != nil {
		if len(before) > 1 {
			before = append(before, ',')
		}
		before = append(before, `"data":`...)
	}
	if len(response.Extensions) > 0 {
		if len(before)+len(response.Data) > 1 {
			after = append(after, ',')
		}
		after = append(after, `"extensions":`...)
		after = append(after, marshal(response.Extensions)...)
	}
	return before, append(after, '}')
}

// marshal encodes errors and extensions, which are the server's own. A value without a JSON form is a bug,
// but must not lose the whole answer.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err == nil {
		return text
	}
	if errs, ok := v.(gqlerror.List); ok {
		bare := gqlerror.List{}
		for _, e := range errs {
			bare = append(bare, &gqlerror.Error{Message: e.Message, Path: e.Path, Locations: e.Locations})
		}
		text, _ = json.Marshal(bare)
		return text
	}
	return []byte("{}")
}
