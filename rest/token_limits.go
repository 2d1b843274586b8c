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

// TokenLimits limit the work of token requests. Secrets are drawn from 256 bits and cannot be guessed; only
// the work has to be limited. A right secret passes, whatever others do with its API key or from its network.
type TokenLimits struct {
	Key     int // wrong secrets a minute for one API key before requests are slowed down; 60 if 0
	Network int // wrong secrets a minute from one network before requests are slowed down; 300 if 0
	Issued  int // tokens a minute of one API key; 600 if 0. An access token is valid for four hours
}

const (
	slowLane       = 2  // how many slowed-down requests are worked on at a time
	slowQueue      = 16 // how many of them may wait
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

// tokenLimits count wrong secrets by API key and by network. After too many, requests go through a slow lane,
// a few at a time, unless their secret has been right before.
type tokenLimits struct {
	key, network, issued perMinute
	lane                 chan struct{}
	queue                chan struct{}
	salt                 []byte
	proven               *lru.Cache[[sha256.Size]byte, struct{}] // by a keyed hash of a right secret
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

// attempt is a token request while its secret is checked.
type attempt struct {
	of      *tokenLimits
	request *http.Request
	key     string
	network string
	proof   [sha256.Size]byte
	slow    bool // it holds a place in the slow lane
}

// begin admits a request to the check of its secret, or returns the reason why not.
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

// slowDown waits for a place in the slow lane. It returns false if too many wait already, or after a time.
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

// end receives the result of the check, and reports whether to answer a wrong secret as one too many.
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

// perMinute counts by key. Only counting brings a key nearer to its limit; asking whether the limit is
// reached does not.
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

// count writes no headers: the limiter has no names for them.
func (l perMinute) count(r *http.Request, key string) { l.OnLimit(nil, r, key) }
