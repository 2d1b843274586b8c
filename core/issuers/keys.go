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

// Fetch reads what stands at an address. inside tells whether the address may lead into the operator's own
// network: that of the issuer itself may, another that the issuer's answer names may not. It does not
// follow redirects, and gives up on answers that are long or slow: at 64 KiB, after ten seconds.
type Fetch func(ctx context.Context, address string, inside bool) ([]byte, error)

const (
	between  = 10 * time.Second // an issuer is asked for its keys at most this often, whatever tokens come
	fresh    = 10 * time.Minute // keys that were read longer ago are read again
	stale    = time.Hour        // keys that could not be read again since then count no more
	slowest  = 10 * time.Second // of discovery and keys together
	patience = 3 * time.Second  // how long a token waits for its issuer's keys

	// mostWaiting is how many tokens wait for issuers at a time. A request that waits takes a place from
	// requests that could be answered: a slow issuer must not shut out everybody else.
	mostWaiting = 8

	shortestRSA = 2048 // bits
)

// keyring is what this process knows of one issuer's public keys. They are read when the first token comes,
// so that an issuer that is away stops neither the start nor anybody else's tokens.
type keyring struct {
	issuer  string
	fetch   Fetch
	now     func() time.Time
	waiting chan struct{} // shared by all

	mu     sync.Mutex
	keys   map[string][]jose.JSONWebKey // by key id
	read   time.Time                    // when they were
	tried  time.Time                    // when reading them was last begun
	failed error                        // why that did not work
	flight chan struct{}                // closed when the reading ends; nil while nobody reads
}

// find returns the keys with this id, none when the issuer has none, and ErrUnavailable when it cannot be
// asked.
func (r *keyring) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	keys, flight, err := r.look(kid)
	if keys != nil || flight == nil {
		return keys, err
	}
	select {
	case r.waiting <- struct{}{}:
		defer func() { <-r.waiting }()
	default:
		return nil, fmt.Errorf("%w: too many tokens wait for issuers", ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-flight:
		keys, _, err = r.look(kid)
		return keys, err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %s is slow", ErrUnavailable, r.issuer)
	}
}

// look finds the keys that are known, and starts to read them anew when it is time: they are old, or the
// id is new to us. While keys are known nobody waits for that.
func (r *keyring) look(kid string) (keys []jose.JSONWebKey, flight chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if age := now.Sub(r.read); age < stale {
		keys = r.keys[kid]
	}
	rested := now.Sub(r.tried) >= between || now.Before(r.tried)
	if r.flight == nil && rested && (keys == nil || now.Sub(r.read) >= fresh) {
		r.flight, r.tried = make(chan struct{}), now
		go r.renew(r.flight)
	}
	if keys == nil && r.flight == nil && r.failed != nil {
		err = errors.Join(ErrUnavailable, r.failed)
	}
	return keys, r.flight, err
}

// renew reads the keys, for all who wait: nobody's giving up ends it.
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

// load asks the issuer where its keys are, and reads them.
func (r *keyring) load(ctx context.Context) (keys map[string][]jose.JSONWebKey, err error) {
	defer func() { // what an issuer answers must not end the bank
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

// readKeys reads a set of keys, and leaves out those that signatures cannot be checked with: symmetric and
// private ones, those for encryption, those of kinds that we do not know, and those that are too short.
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
