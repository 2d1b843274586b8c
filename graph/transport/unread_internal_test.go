package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/fault"
)

// A reader that does not read is counted as slow, though the write that fails ends its request, as the server
// of HTTP has it; one that goes away is not counted.
func TestWhoDoesNotReadEventsIsCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails error
		want  []string
	}{"unread": {os.ErrDeadlineExceeded, []string{endedSlow}}, "gone": {http.ErrAbortHandler, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql",
				strings.NewReader(`{"query":"subscription { changed }"}`))
			r.Header.Set("Content-Type", "application/json")
			door := &counting{}
			w := &blocked{ResponseRecorder: httptest.NewRecorder(), fails: c.fails, cancel: cancel}
			Streams{Door: door}.serveEvents(w, r, endless{})
			if !slices.Equal(door.ended, c.want) {
				t.Errorf("counted %q, want %q", door.ended, c.want)
			}
		})
	}
}

// counting is a door that keeps why streams ended.
type counting struct {
	opened

	ended []string
}

func (c *counting) Ended(why string) { c.ended = append(c.ended, why) }

// blocked is a response of which only the beginning can be written. As the server does, it ends the request
// with the write that fails.
type blocked struct {
	*httptest.ResponseRecorder

	fails  error
	cancel context.CancelFunc
}

func (b *blocked) SetReadDeadline(time.Time) error  { return nil }
func (b *blocked) SetWriteDeadline(time.Time) error { return nil }

func (b *blocked) Write(text []byte) (int, error) {
	if string(text) == ":\n\n" {
		return b.ResponseRecorder.Write(text)
	}
	b.cancel()
	return 0, b.fails
}

// endless carries out every document as a subscription that says something until it ends.
type endless struct{}

func (endless) CreateOperationContext(
	context.Context, *graphql.RawParams,
) (*graphql.OperationContext, gqlerror.List) {
	return &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: ast.Subscription}}, nil
}

func (endless) DispatchOperation(
	ctx context.Context, of *graphql.OperationContext,
) (graphql.ResponseHandler, context.Context) {
	Listening(of)
	return func(ctx context.Context) *graphql.Response {
		if ctx.Err() != nil {
			return nil
		}
		return &graphql.Response{Data: []byte(`{"changed":true}`)}
	}, ctx
}

func (endless) DispatchError(_ context.Context, list gqlerror.List) *graphql.Response {
	return &graphql.Response{Errors: list}
}

// A client takes what the bank cannot answer now for something to try again, not for its own mistake.
func TestAStreamThatCannotBeOpenedNowIsTriedAgain(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]int{
		fault.Unavailable: http.StatusServiceUnavailable, fault.TooMany: http.StatusTooManyRequests,
		fault.Invalid: http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		Streams{}.writeRefused(w, &graphql.Response{Errors: gqlerror.List{{
			Message: "no", Extensions: map[string]any{"kind": kind, "code": "X"},
		}}})
		if again := w.Header().Get("Retry-After"); w.Code != want ||
			(again == "") != (kind == fault.Invalid) {
			t.Errorf("%s: %d, Retry-After %q", kind, w.Code, again)
		}
	}
}
