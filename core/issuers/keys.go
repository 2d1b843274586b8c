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
	patience = 3 * time.Second  // how long a token waits for its issuer's keys

	// mostWaiting is how many tokens may wait for issuers at a time. A waiting request holds a place, and a
	// slow issuer must not shut out other requests.
	mostWaiting = 8

	shortestRSA = 2048 // bits
)

// keyring is this process's cache of one issuer's public keys. They are read for the first token, so that an
// unreachable issuer stops neither the start nor the tokens of others.
type keyring struct {
	issuer  string
	fetch   Fetch
	now     func() time.Time
	waiting chan struct{} // shared by all issuers

	mu     sync.Mutex
	keys   map[string][]jose.JSONWebKey // by key id
	read   time.Time                    // when the keys were read
	tried  time.Time                    // when a read was last begun
	failed error                        // the error of the last read that ended
	flight chan struct{}                // closed when the present read ends; nil if there is none
}

// find returns the keys with this id, which may be none, or ErrUnavailable if the issuer cannot be asked.
func (r *keyring) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	keys, flight := r.look(kid)
	if keys != nil {
		return keys, nil
	}
	var waited error
	if flight != nil {
		waited = r.wait(ctx, flight)
	}
	keys, err := r.settled(kid)
	if keys == nil && waited != nil {
		return nil, waited
	}
	return keys, err
}

// look returns the keys that count without a question, and starts a new read if they are old or lack the id.
// flight is closed when the present read ends; nil if there is none.
func (r *keyring) look(kid string) (keys []jose.JSONWebKey, flight chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	age := now.Sub(r.read)
	if age < fresh {
		keys = r.keys[kid]
	}
	rested := now.Sub(r.tried) >= between || now.Before(r.tried)
	if r.flight == nil && rested && (keys == nil || age >= aging) {
		r.flight, r.tried = make(chan struct{}), now
		go r.renew(r.flight)
	}
	return keys, r.flight
}

// wait waits for the present read, if not too many tokens do so already.
func (r *keyring) wait(ctx context.Context, flight chan struct{}) error {
	select {
	case r.waiting <- struct{}{}:
		defer func() { <-r.waiting }()
	default:
		return fmt.Errorf("%w: too many tokens wait for issuers", ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-flight:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %s is slow", ErrUnavailable, r.issuer)
	}
}

// settled returns the keys that count after a read: old ones only if the last read that ended has failed.
func (r *keyring) settled(kid string) (keys []jose.JSONWebKey, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if age := r.now().Sub(r.read); age < fresh || age < stale && r.failed != nil {
		keys = r.keys[kid]
	}
	if keys == nil && r.failed != nil {
		err = errors.Join(ErrUnavailable, r.failed)
	}
	return keys, err
}

// renew reads the keys for everybody who waits. It does not end when a caller gives up.
func (r *keyring) renew(flight chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), slowest)
	defer cancel()
	keys, err := r.load(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = err; err == nil {
		r.keys, r.read = keys, r.tried
	}
	r.flight = nil
	close(flight)
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
// private keys, keys for encryption, keys of unknown types, and keys that are too short.
func readKeys(text []byte) (map[string][]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	keys := map[string][]jose.JSONWebKey{}
	for _, one := range set.Keys {
		var key jose.JSONWebKey
		if err := key.UnmarshalJSON(one); err != nil || key.KeyID == "" || !key.Valid() || !key.IsPublic() ||
			key.Use != "" && key.Use != "sig" {
			continue
		}
		if long, is := key.Key.(*rsa.PublicKey); is && long.N.BitLen() < shortestRSA {
			continue
		}
		keys[key.KeyID] = append(keys[key.KeyID], key)
	}
	if len(keys) == 0 {
		return nil, errors.New("none of them can check a signature")
	}
	return keys, nil
}
