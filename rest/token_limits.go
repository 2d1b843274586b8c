package rest

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/go-chi/httprate"
	lru "github.com/hashicorp/golang-lru/v2"

	"bankgraph/core/clients"
	"bankgraph/core/fault"
)

// TokenLimits bound the work that token requests make. Secrets are drawn from 256 bits, so nobody guesses
// one: what is bounded is the work. A right secret passes, whatever others do with its API key or from its
// network.
type TokenLimits struct {
	Key     int // wrong secrets for one API key in a minute, before they are slowed down; 60 when 0
	Network int // wrong secrets from one network in a minute, before they are slowed down; 300 when 0
	Issued  int // tokens of one API key in a minute; 600 when 0. An access token is good for four hours
}

const (
	slowLane       = 2  // how many requests that are slowed down are worked on at a time
	slowQueue      = 16 // how many of them may wait for that
	longestInQueue = time.Second
	mostProven     = 10_000
)

var (
	errWrongSecrets = fault.New(fault.TooMany, "caller.wrong_secrets",
		"too many wrong secrets for this API key, or from this address; a right one passes")
	errSlowLane = fault.New(fault.TooMany, "caller.slow_lane",
		"too many token requests with wrong secrets, try again in a moment")
	errTooManyToken = fault.New(fault.TooMany, "caller.too_many_tokens",
		"too many token requests with this API key; a token is good for four hours")
)

// tokenLimits count failures, by API key and by network apart. Where there were too many, requests go through
// a slow lane, a few at a time; those whose secret has been right before do not.
type tokenLimits struct {
	key, network, issued perMinute
	lane                 chan struct{}
	queue                chan struct{}
	salt                 []byte
	proven               *lru.Cache[[sha256.Size]byte, struct{}] // by a keyed hash of what was right
}

func (l TokenLimits) build() *tokenLimits {
	proven, err := lru.New[[sha256.Size]byte, struct{}](mostProven)
	if err != nil {
		panic(err) // the size is above zero
	}
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt)
	return &tokenLimits{
		key: newPerMinute(l.Key, 60), network: newPerMinute(l.Network, 300), issued: newPerMinute(l.Issued, 600),
		lane: make(chan struct{}, slowLane), queue: make(chan struct{}, slowQueue), salt: salt, proven: proven,
	}
}

// attempt is a token request from before its secret is checked until after.
type attempt struct {
	of      *tokenLimits
	request *http.Request
	key     string
	network string
	proof   [sha256.Size]byte
	slow    bool // it holds a place in the slow lane
}

// begin lets a request have its secret checked. An error says why it may not.
func (l *tokenLimits) begin(r *http.Request, request tokenRequest) (*attempt, error) {
	a := &attempt{of: l, request: r, key: request.realm + " " + request.key, network: Network(r)}
	sum := hmac.New(sha256.New, l.salt)
	_, _ = sum.Write([]byte(a.key + " " + request.secret))
	sum.Sum(a.proof[:0])
	if _, known := l.proven.Get(a.proof); known {
		if l.issued.reached(a.key) {
			return nil, errTooManyToken
		}
		return a, nil
	}
	if !l.key.reached(a.key) && !l.network.reached(a.network) {
		return a, nil
	}
	if !l.slowDown(r.Context()) {
		return nil, errSlowLane
	}
	a.slow = true
	return a, nil
}

// slowDown waits for a place in the slow lane, a bounded time among a bounded number.
func (l *tokenLimits) slowDown(ctx context.Context) bool {
	select {
	case l.queue <- struct{}{}:
		defer func() { <-l.queue }()
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, longestInQueue)
	defer cancel()
	select {
	case l.lane <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives back the place in the slow lane.
func (a *attempt) leave() {
	if a.slow {
		<-a.of.lane
	}
}

// end learns how it went, and reports whether to refuse a wrong secret as one too many.
func (a *attempt) end(err error) (tooMany bool) {
	switch {
	case errors.Is(err, clients.ErrClient):
		a.of.proven.Remove(a.proof)
		a.of.key.count(a.request, a.key)
		a.of.network.count(a.request, a.network)
		return a.slow
	case err == nil || errors.Is(err, clients.ErrGrant): // the secret was right
		a.of.proven.Add(a.proof, struct{}{})
		a.of.issued.count(a.request, a.key)
	}
	return false
}

// perMinute counts by key; only what is counted brings a key nearer to its limit, not asking whether it is
// reached.
type perMinute struct {
	*httprate.RateLimiter
	most int
}

func newPerMinute(given, usual int) perMinute {
	most := cmp.Or(given, usual)
	return perMinute{
		httprate.NewRateLimiter(most, time.Minute, httprate.WithResponseHeaders(httprate.ResponseHeaders{})), most,
	}
}

func (l perMinute) reached(key string) bool {
	_, rate, _ := l.Status(key) // counters in memory do not fail
	return int(math.Round(rate)) >= l.most
}

// count writes no header, since the limiter has names for none.
func (l perMinute) count(r *http.Request, key string) { l.OnLimit(nil, r, key) }
