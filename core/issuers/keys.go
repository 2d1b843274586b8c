package issuers

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Fetch reads the content of an address. inside says whether the address may be in the operator's own
// network: that of the issuer itself may, one that the issuer's answer names may not. It does not follow
// redirects, and fails on answers of more than 64 KiB or ten seconds.
type Fetch func(ctx context.Context, address string, inside bool) ([]byte, error)

const (
	between  = 10 * time.Second // the least time between two reads of an issuer's keys
	aging    = 5 * time.Minute  // older keys are read again, while they count
	fresh    = 10 * time.Minute // older keys count only if they could not be read again
	stale    = time.Hour        // older keys do not count
	slowest  = 10 * time.Second // for discovery and keys together
	patience = time.Second      // for how long after the begin of a read tokens wait for it

	mostWaiting = 8 // tokens that may wait for one issuer at a time

	shortestRSA = 2048 // bits

	// Whoever makes up a token has it compared with each key that it could be signed with, which costs us as
	// much as the issuer likes.
	mostKeys  = 50 // of an issuer, that are kept
	mostTried = 2  // of the id and the algorithm that a token names
)

type asideKey struct{}

// WithAside returns a context for the token of a request that holds a place which others want: aside gives
// the place up while the token waits for its issuer, and back takes it again.
func WithAside(ctx context.Context, aside func() (back func() error)) context.Context {
	return context.WithValue(ctx, asideKey{}, aside)
}

// keyring is this process's cache of one issuer's public keys. They are read for the first token, so that an
// unreachable issuer stops neither the start nor the tokens of others.
type keyring struct {
	issuer  string
	fetch   Fetch
	now     func() time.Time
	waiting chan struct{}

	mu     sync.Mutex
	keys   map[string][]jose.JSONWebKey // by key id
	read   time.Time                    // when the keys were read
	tried  time.Time                    // when a read was last begun
	failed error                        // the error of the last read that ended
	flight *flight                      // the present read; nil if there is none
}

// flight is a read of an issuer's keys.
type flight struct {
	done chan struct{} // closed when it ends
	slow chan struct{} // closed when it has run for longer than tokens wait
}

// hangs reports whether a read has run for longer than tokens wait; nil is none.
func (f *flight) hangs() bool {
	if f == nil {
		return false
	}
	select {
	case <-f.slow:
		return true
	default:
		return false
	}
}

func newKeyring(issuer string, fetch Fetch, now func() time.Time) *keyring {
	return &keyring{issuer: issuer, fetch: fetch, now: now, waiting: make(chan struct{}, mostWaiting)}
}

// find returns the keys with this id, which may be none, or ErrUnavailable if the issuer cannot be asked.
func (r *keyring) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	keys, now := r.look(kid)
	if keys != nil {
		return keys, nil
	}
	if now != nil {
		if err := r.wait(ctx, now, kid); err != nil {
			return nil, err
		}
	}
	return r.settled(kid)
}

// look returns the keys that count without a question, and starts a new read if they are old or lack the id.
// It returns the present read if that is worth waiting for: after one that failed, no token waits until one
// succeeds.
func (r *keyring) look(kid string) (keys []jose.JSONWebKey, present *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	age := now.Sub(r.read)
	if age < fresh {
		keys = r.keys[kid]
	}
	rested := now.Sub(r.tried) >= between || now.Before(r.tried)
	if r.flight == nil && rested && (keys == nil || age >= aging) {
		r.flight, r.tried = &flight{make(chan struct{}), make(chan struct{})}, now
		go r.renew(r.flight)
	}
	if r.failed != nil {
		return keys, nil
	}
	return keys, r.flight
}

// wait waits for the present read, without the place of the token's request, so that an issuer that hangs
// shuts nobody else out. It does not wait where the read has run for long, or too many tokens wait for it.
// It returns an error where no old keys help out.
func (r *keyring) wait(ctx context.Context, present *flight, kid string) error {
	slow := fmt.Errorf("%w: %s is slow", ErrUnavailable, r.issuer)
	helpOut := func() bool {
		keys, err := r.settled(kid)
		return err == nil && keys != nil
	}
	if present.hangs() {
		if helpOut() {
			return nil
		}
		return slow
	}
	select {
	case r.waiting <- struct{}{}:
		defer func() { <-r.waiting }()
	default:
		return fmt.Errorf("%w: too many tokens wait for %s", ErrUnavailable, r.issuer)
	}
	back := func() error { return nil }
	if aside, has := ctx.Value(asideKey{}).(func() func() error); has {
		back = aside()
	}
	select {
	case <-present.done:
		return back()
	case <-present.slow:
		if helpOut() {
			return back()
		}
	case <-ctx.Done():
	}
	return slow
}

// settled returns the keys that count after a read: old ones only if the last read that ended has failed, or
// the present one takes long.
func (r *keyring) settled(kid string) (keys []jose.JSONWebKey, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := r.now().Sub(r.read); age < fresh || age < stale && (r.failed != nil || r.flight.hangs()) {
		keys = r.keys[kid]
	}
	if keys == nil && r.failed != nil {
		err = errors.Join(ErrUnavailable, r.failed)
	}
	return keys, err
}

// renew reads the keys for everybody who waits. It does not end when a caller gives up.
func (r *keyring) renew(present *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), slowest)
	defer cancel()
	defer time.AfterFunc(patience, func() { close(present.slow) }).Stop()
	keys, err := r.load(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = err; err == nil {
		r.keys, r.read = keys, r.tried
	}
	r.flight = nil
	close(present.done)
}

// load reads the issuer's discovery document, and then its keys.
func (r *keyring) load(ctx context.Context) (keys map[string][]jose.JSONWebKey, err error) {
	defer func() { // an issuer's answer must not end the process
		if trouble := recover(); trouble != nil {
			err = fmt.Errorf("keys of issuer %s: %v", r.issuer, trouble)
		}
	}()
	at, err := parseURL(r.issuer)
	if err != nil {
		return nil, err
	}
	text, err := r.fetch(ctx, strings.TrimRight(r.issuer, "/")+"/.well-known/openid-configuration", true)
	if err != nil {
		return nil, fmt.Errorf("discovery of issuer %s: %w", r.issuer, err)
	}
	var discovered struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(text, &discovered); err != nil {
		return nil, fmt.Errorf("discovery of issuer %s: %w", r.issuer, err)
	}
	if discovered.Issuer != r.issuer {
		return nil, fmt.Errorf("discovery of issuer %s: it calls itself %.200q", r.issuer, discovered.Issuer)
	}
	place, err := url.Parse(discovered.Keys)
	if err != nil || place.Scheme != "https" && (place.Scheme != at.Scheme || place.Host != at.Host) {
		return nil, fmt.Errorf("discovery of issuer %s: its keys have no https address: %.200q", r.issuer,
			discovered.Keys)
	}
	if text, err = r.fetch(ctx, place.String(), place.Host == at.Host); err != nil {
		return nil, fmt.Errorf("keys of issuer %s: %w", r.issuer, err)
	}
	if keys, err = readKeys(text); err != nil {
		return nil, fmt.Errorf("keys of issuer %s: %w", r.issuer, err)
	}
	return keys, nil
}

// readKeys reads a set of keys, and leaves out those that cannot or must not verify signatures: symmetric and
// private keys, keys for encryption, keys of unknown types, keys that are too short, and all beyond mostKeys.
func readKeys(text []byte) (map[string][]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	keys, kept := map[string][]jose.JSONWebKey{}, 0
	for _, one := range set.Keys {
		if kept == mostKeys {
			break
		}
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(one); err != nil || key.KeyID == "" || !key.Valid() || !key.IsPublic() ||
			key.Use != "" && key.Use != "sig" {
			continue
		}
		if long, is := key.Key.(*rsa.PublicKey); is && long.N.BitLen() < shortestRSA {
			continue
		}
		keys[key.KeyID] = append(keys[key.KeyID], key)
		kept++
	}
	if kept == 0 {
		return nil, errors.New("none of them can check a signature")
	}
	return keys, nil
}
