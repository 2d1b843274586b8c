package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/httprate"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/files"
	"bankgraph/core/issuers"
	"bankgraph/db"
	"bankgraph/rest"
)

// refusal answers a request that is turned away, in the form of the face that it was sent to.
type refusal func(w http.ResponseWriter, r *http.Request, err error)

var (
	errTooFast = fault.New(fault.TooMany, "caller.too_fast",
		"too many requests with this API key, try again in a moment")
	errEntityTooFast = fault.New(fault.TooMany, "entity.too_fast",
		"too many requests with the API keys and by the people of this partner or customer, try again in a moment")
	errBankTooFast = fault.New(fault.TooMany, "bank.too_fast",
		"too many requests of this bank, try again in a moment")
	errNetTooFast = fault.New(fault.TooMany, "network.too_fast",
		"too many requests from this network without a token that has been good before, "+
			"try again in a moment")
)

const requestID = "X-Request-Id"

// saneID matches the request ids of callers that are kept: they go into logs.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,100}$`)

// identify gives every request an id, which is in its answer and its log lines.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestID)
		if !saneID.MatchString(id) {
			bits := make([]byte, 12)
			_, _ = rand.Read(bits)
			id = hex.EncodeToString(bits)
		}
		w.Header().Set(requestID, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), idKey{}, id)))
	})
}

type idKey struct{}

// idOf is the id of the request of ctx, for logs and errors, or "" outside of requests.
func idOf(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}

// guard turns a panic into the face's 500, and limits the time of a request and the size of its body. A file
// may be larger, and take longer.
func guard(refuse refusal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			trouble := recover()
			if trouble == nil {
				return
			}
			// http.ErrAbortHandler cuts an answer that has begun.
			if err, _ := trouble.(error); errors.Is(err, http.ErrAbortHandler) {
				panic(trouble)
			}
			slog.ErrorContext(r.Context(), "panic", "panic", trouble, "stack", string(debug.Stack()))
			if a := answerOf(w); a != nil {
				a.reset() // nothing of it was sent
			}
			refuse(w, r, errors.New("panic"))
		}()
		within, most := deadline+rest.Waits(r), int64(largestBody)
		if rest.IsUpload(r) {
			within, most = rest.UploadTimeout, files.MostBytes+largestBody
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// authenticate lets only requests with a valid access token pass, before anything else of them is parsed.
func authenticate(c *core.Core, refuse refusal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := bearer(r)
		caller, err := c.Clients.Verify(aside(r.Context()), token)
		if refused, is := errors.AsType[access.TokenRefusal](err); is {
			if seen := recorderOf(w); seen != nil {
				seen.refused = refused
			}
			err = refused.Of
		}
		if err != nil {
			if why, known := fault.Of(err); !known || why.Kind == fault.Unavailable {
				slog.ErrorContext(r.Context(), "token could not be checked", "error", err)
				w.Header().Set("Retry-After", "1")
			}
			refuse(w, r, err)
			return
		}
		if seen := recorderOf(w); seen != nil {
			seen.tenant, seen.client = caller.TenantCode, caller.Client
		}
		caller.Request = idOf(r.Context())
		ctx := db.WithShare(access.With(r.Context(), caller), int64(caller.Tenant), caller.Party())
		defer recordRefusals(ctx, c)
		if rest.IsUpload(r) {
			r.Body = &uploading{r.Body, func() error {
				_, err := c.Clients.Verify(ctx, token)
				return err
			}}
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// aside returns a context for the token of a request, which gives its place up while it waits for the issuer.
func aside(ctx context.Context) context.Context {
	place := rest.PlaceOf(ctx)
	if place == nil {
		return ctx
	}
	return issuers.WithAside(ctx, func() func() error {
		place.Leave()
		return func() error { return place.Return(ctx) }
	})
}

// uploading is the body of an upload, which may take longer than a token counts: it is read only as long as
// its caller may come in.
type uploading struct {
	io.ReadCloser
	verify func() error
}

func (u *uploading) Read(into []byte) (int, error) {
	n, err := u.ReadCloser.Read(into)
	why := u.verify()
	if refused, is := errors.AsType[access.TokenRefusal](why); is {
		why = refused.Of
	}
	if why != nil {
		return 0, why
	}
	return n, err
}

// recordRefusals records what a request was refused, even if its caller has gone.
func recordRefusals(ctx context.Context, c *core.Core) {
	if access.Refusals(ctx) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRecord)
	defer cancel()
	if err := c.Audit.RecordRefusals(ctx); err != nil {
		slog.ErrorContext(ctx, "a refusal could not be recorded", "error", err)
	}
}

// longestRecord is how long a refused request waits at most for its entry in the record.
const longestRecord = 2 * time.Second

// bearer is the access token of a request, or "" if there is not exactly one Authorization: Bearer.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// pace limits the requests a second of each API key, each person and each bank. Of what a bank may send, a
// partner or customer with all its keys and people has half, and all of them together leave a quarter to the
// bank's own people.
type pace struct {
	caller, entity, outside, bank *httprate.RateLimiter
	meters                        *meters
}

func newPace(caller, bank int, m *meters) pace {
	return pace{
		caller: perSecond(caller, retryAfter), entity: perSecond((bank+1)/2, retryAfter),
		outside: perSecond(bank-bank/4, retryAfter), bank: perSecond(bank, retryAfter), meters: m,
	}
}

// perSecond counts by key. It returns nil if there is no limit.
func perSecond(most int, told httprate.ResponseHeaders) *httprate.RateLimiter {
	if most == 0 {
		return nil
	}
	return httprate.NewRateLimiter(most, time.Second, httprate.WithResponseHeaders(told))
}

var retryAfter = httprate.ResponseHeaders{RetryAfter: "Retry-After"}

func (p pace) keep(refuse refusal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := access.Require(r.Context())
		if err != nil {
			refuse(w, r, err)
			return
		}
		if err := p.counts(w, r, caller); err != nil {
			p.meters.refuse(err)
			refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// counts counts a request of a caller. Its error says of whom there were too many.
func (p pace) counts(w http.ResponseWriter, r *http.Request, caller access.Caller) error {
	bank := strconv.FormatInt(int64(caller.Tenant), 10)
	outside := caller.Reach != access.OfBank
	switch {
	case p.caller != nil && p.caller.OnLimit(w, r, bank+"/"+caller.Party()):
		return errTooFast
	case outside && p.entity != nil && p.entity.OnLimit(w, r, bank+"/"+strconv.FormatInt(caller.Entity, 10)):
		return errEntityTooFast
	case outside && p.outside != nil && p.outside.OnLimit(w, r, bank):
		return errBankTooFast
	case p.bank != nil && p.bank.OnLimit(w, r, bank):
		return errBankTooFast
	}
	return nil
}

// over counts what a caller asks for over a WebSocket like a request.
func (p pace) over(caller access.Caller) error {
	return p.counts(&answer{header: http.Header{}}, new(http.Request), caller)
}
