package transport

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"

	"bankgraph/core/fault"
)

const parseFailed = errcode.ParseFailed

// read turns a request into gqlgen's parameters and picks the media type of the answer. It is
// application/json as long as the caller's choice is not known.
func (h HTTP) read(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, mediaType, *refusal) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return nil, plainJSON, &refusal{
			http.StatusMethodNotAllowed, MethodNotAllowed,
			"use GET or POST",
			http.Header{"Allow": {"GET, POST"}},
		}
	}
	media, ok := negotiate(r.Header.Values("Accept"))
	if !ok && multipart(r.Header) {
		return nil, media, &refusal{http.StatusNotAcceptable, SubscriptionNeedsStream, needsStream, nil}
	}
	if !ok {
		return nil, media, &refusal{
			http.StatusNotAcceptable, NotAcceptable,
			"the answer comes as application/graphql-response+json or application/json", nil,
		}
	}
	params, refused := h.readParams(w, r)
	return params, media, refused
}

func (h HTTP) readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	if r.Method == http.MethodGet {
		return h.readQuery(r.URL.RawQuery)
	}
	return h.readBody(w, r)
}

// multipart reports whether the caller accepts only a kind of stream that is not served here.
func multipart(header http.Header) bool {
	accept := strings.ToLower(strings.Join(header.Values("Accept"), ","))
	return strings.Contains(accept, "multipart/mixed")
}

// tooMany is the bank's code for what others had more right to.
const tooMany = "API900"

func (h HTTP) readBody(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	if refused := refusedContent(r.Header); refused != nil {
		return nil, refused
	}
	limit := h.BodyLimit
	if limit == 0 {
		limit = DefaultBodyLimit
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var over *http.MaxBytesError
	why, gave := fault.Of(err)
	switch {
	case gave: // to others who send theirs
		return nil, &refusal{
			http.StatusTooManyRequests, tooMany, why.PublicMessage(), http.Header{"Retry-After": {"1"}},
		}
	case errors.As(err, &over):
		return nil, &refusal{
			http.StatusRequestEntityTooLarge, BodyTooLarge,
			"the body is larger than " + strconv.FormatInt(limit, 10) + " bytes", nil,
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{http.StatusRequestTimeout, TimedOut, "the body came too slowly", nil}
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, InvalidRequest, "the body ended early", nil}
	}
	value, wrong := parseJSON(string(body), "")
	if wrong != nil {
		return nil, &refusal{http.StatusBadRequest, wrong.code, "the body " + wrong.message, nil}
	}
	fields, ok := value.(map[string]any)
	if _, batch := value.([]any); batch {
		return nil, &refusal{http.StatusBadRequest, BatchingNotSupported, noBatches, nil}
	}
	if !ok {
		return nil, &refusal{http.StatusBadRequest, InvalidJSON, "the body must be one JSON object", nil}
	}
	return h.params(fields)
}

// refusedContent refuses all bodies but uncompressed JSON in UTF-8, above all the types that a browser sends
// across sites without asking the server.
func refusedContent(header http.Header) *refusal {
	name, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || name != "application/json" || !isUTF8(params["charset"]) {
		return &refusal{
			http.StatusUnsupportedMediaType, UnsupportedMediaType,
			"send Content-Type: application/json, in UTF-8",
			http.Header{"Accept-Post": {"application/json"}},
		}
	}
	if coding := header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return &refusal{
			http.StatusUnsupportedMediaType, UnsupportedMediaType,
			"send the body without compression",
			http.Header{"Accept-Encoding": {"identity"}, "Accept-Post": {"application/json"}},
		}
	}
	return nil
}

// readQuery reads the parameters of a GET, in which variables and extensions are JSON texts.
func (h HTTP) readQuery(raw string) (*graphql.RawParams, *refusal) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, h.wrong("the query string is not properly encoded")
	}
	fields := map[string]any{}
	for _, name := range []string{"query", "operationName", "documentId", "variables", "extensions"} {
		switch given := values[name]; {
		case len(given) > 1:
			return nil, h.wrong(name + " is given more than once")
		case len(given) == 0 || given[0] == "" && name != "query":
		case !utf8.ValidString(given[0]):
			return nil, &refusal{http.StatusBadRequest, InvalidText, name + " is not UTF-8", nil}
		case name == "variables" || name == "extensions":
			value, fault := parseJSON(given[0], name)
			if fault != nil {
				return nil, &refusal{http.StatusBadRequest, fault.code, name + " " + fault.message, nil}
			}
			fields[name] = value
		default:
			fields[name] = given[0]
		}
	}
	return h.params(fields)
}

// params checks the types of the parameters. Unknown ones are ignored, as the specification demands. gqlgen
// has no field for a documentId, so it goes into the extensions, where the guard finds it.
func (h HTTP) params(fields map[string]any) (*graphql.RawParams, *refusal) {
	var params graphql.RawParams
	var documentID string
	if !optional(fields, "operationName", &params.OperationName) {
		return nil, h.wrong("operationName must be a string")
	}
	if !optional(fields, "documentId", &documentID) {
		return nil, h.wrong("documentId must be a string")
	}
	if !optional(fields, "variables", &params.Variables) {
		return nil, h.wrong("variables must be an object")
	}
	if !optional(fields, "extensions", &params.Extensions) {
		return nil, h.wrong("extensions must be an object")
	}
	if !optional(fields, "query", &params.Query) {
		return nil, h.wrong("query must be a string")
	}
	if documentID != "" {
		if params.Extensions == nil {
			params.Extensions = map[string]any{}
		}
		params.Extensions["documentId"] = documentID
	}
	if fields["query"] == nil && params.Extensions["documentId"] == nil &&
		params.Extensions["persistedQuery"] == nil {
		return nil, h.wrong("query is missing")
	}
	return &params, nil
}

// optional sets *to to a field, and leaves it if the field is absent or null. It returns false if the type is
// wrong.
func optional[T any](fields map[string]any, name string, to *T) bool {
	value := fields[name]
	if value == nil {
		return true
	}
	given, ok := value.(T)
	*to = given
	return ok
}

// wrong refuses valid JSON that is not a GraphQL request: 400 in Audit, 422 in Draft.
func (h HTTP) wrong(message string) *refusal {
	status := http.StatusBadRequest
	if h.Profile == Draft {
		status = http.StatusUnprocessableEntity
	}
	return &refusal{status, InvalidRequest, message, nil}
}
