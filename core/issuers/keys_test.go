package issuers_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"bankgraph/core/clients"
	"bankgraph/core/fault"
	"bankgraph/core/issuers"
)

func TestKeysAreReadWithTheFirstTokenAndThenKnown(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if p.fetches() != 0 {
		t.Errorf("%v was fetched before any token came", p.asked)
	}
	for range 5 {
		if _, err := b.verify(b.token(p)); err != nil {
			t.Fatal(err)
		}
	}
	if p.fetches() != 2 {
		t.Errorf("fetched %v", p.asked)
	}
}

func TestNewKeyOfAnIssuerIsFoundAndAnOldOneForgotten(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	b.later(10 * time.Second)
	p.newKey(t)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("signed with the new key: %v", err)
	}
	old := p.keys[0]
	p.keys = p.keys[1:]
	b.later(10 * time.Minute)
	b.refused("signed with the old key", b.signed(old, "at+jwt", b.claims(p)))
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
	if p.fetches() != 6 {
		t.Errorf("fetched %d times", p.fetches())
	}
}

// While keys still count, they are read again without holding up a token.
func TestAgingKeysAreReadAgainInTheBackground(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	p.answer(p.url+"/.well-known/openid-configuration", func(context.Context) ([]byte, error) {
		<-release
		return nil, errors.New("too late")
	})
	b.later(5 * time.Minute)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("while the keys are read: %v", err)
	}
	b.until(func() bool { return p.fetches() == 3 })
	close(release)
}

func TestIssuerThatIsAddedAgainHasNoKeysOfBefore(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	old := p.keys[0]
	p.newKey(t)
	p.keys = p.keys[1:]
	b.later(time.Second)
	if err := b.Issuers.Disable(b.operator, p.url, ""); err != nil {
		t.Fatal(err)
	}
	b.accept(p)
	b.refused("signed with the withdrawn key", b.signed(old, "at+jwt", b.claims(p)))
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("signed with the new key: %v", err)
	}
}

// until waits for background work.
func (b *bank) until(done func() bool) {
	b.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.Fatal("it did not happen within ten seconds")
		}
	}
}

func TestTokensWithMadeUpKeyIdsDoNotHammerTheIssuer(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, stranger := b.provider(), b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		stranger.newKey(t)
		b.refused("made up key", b.signed(stranger.keys[len(stranger.keys)-1], "at+jwt", b.claims(p)))
	}
	if p.fetches() != 2 {
		t.Errorf("fetched %d times within ten seconds", p.fetches())
	}
	b.later(10 * time.Second)
	for range 50 {
		b.refused("made up key", b.token(stranger, "iss", p.url))
	}
	if p.fetches() != 4 || stranger.fetches() != 0 {
		t.Errorf("fetched %d times, and %d times from the stranger", p.fetches(), stranger.fetches())
	}
}

func TestIssuerThatIsAwayRefusesItsOwnTokensOnly(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	away, there := b.provider(), b.provider()
	b.accept(away)
	b.accept(there)
	away.down(errors.New("no route to host"))
	_, secret, err := b.Clients.Add(b.operator, clients.Draft{Key: "portal", Permissions: []string{"vCust"}})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := b.Clients.Issue(b.stranger, b.tenant.Code, "portal", secret)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		_, err := b.verify(b.token(away))
		if why, ok := fault.Of(err); !ok || why.Kind != fault.Unavailable ||
			!errors.Is(err, issuers.ErrUnavailable) {
			t.Fatalf("token of the issuer that is away: %v", err)
		}
	}
	if away.fetches() != 1 {
		t.Errorf("an issuer that is away was asked %d times within ten seconds", away.fetches())
	}
	if _, err := b.verify(ours.AccessToken); err != nil {
		t.Errorf("our own token: %v", err)
	}
	if _, err := b.verify(b.token(there)); err != nil {
		t.Errorf("token of another issuer: %v", err)
	}
	away.down(nil)
	b.later(10 * time.Second)
	b.until(func() bool { // the token that finds it back does not wait
		_, err := b.verify(b.token(away))
		return err == nil
	})
}

func TestKnownKeysOutliveAnHourWithoutTheirIssuer(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	p.down(errors.New("connection refused"))
	b.later(time.Hour - time.Second)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("within the hour: %v", err)
	}
	b.until(func() bool { return p.fetches() == 3 })
	b.later(time.Second)
	b.until(func() bool { // the reading that has just failed may still be ending
		_, err := b.verify(b.token(p))
		return errors.Is(err, issuers.ErrUnavailable)
	})
}

// An issuer that hangs costs nobody else anything, and its own tokens at most a second, once (README, tokens
// of your own identity provider).
func TestIssuerThatHangsHoldsUpFewTokensAndOnlyOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	slow, quick := b.provider(), b.provider()
	b.accept(slow)
	b.accept(quick)
	var asked atomic.Int64
	release := make(chan struct{})
	slow.answer(slow.url+"/.well-known/openid-configuration", func(ctx context.Context) ([]byte, error) {
		asked.Add(1)
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the issuer may take forever")
		}
		<-release
		return nil, errors.New("too late")
	})
	var turned, waited, back atomic.Int64
	ctx := issuers.WithAside(b.stranger, func() func() error {
		waited.Add(1)
		return func() error { back.Add(1); return nil }
	})
	try := func(token string) {
		if _, err := b.Clients.Verify(ctx, token); !errors.Is(err, issuers.ErrUnavailable) {
			t.Errorf("error = %v", err)
		}
		turned.Add(1)
	}
	var all sync.WaitGroup
	for range 40 {
		token := b.token(slow)
		all.Go(func() { try(token) })
	}
	b.until(func() bool { return turned.Load() >= 32 })
	if _, err := b.verify(b.token(quick)); err != nil {
		t.Errorf("the first token of another issuer meanwhile: %v", err)
	}
	all.Wait()
	for range 20 { // it hangs already
		try(b.token(slow))
	}
	if waited.Load() != 8 || back.Load() != 0 || asked.Load() != 1 {
		t.Errorf("%d waited, %d went on, the issuer was asked %d times", waited.Load(), back.Load(), asked.Load())
	}
	close(release)
	b.until(func() bool { // the next read is begun when the first has failed
		b.later(10 * time.Second)
		try(b.token(slow))
		return asked.Load() > 1
	})
	if waited.Load() != 8 {
		t.Errorf("%d tokens waited for an issuer that has failed", waited.Load()-8)
	}
}

// Keys that are known count for an hour while the issuer is away, also if nobody came while they were fresh.
func TestKnownKeysCountWhileTheirIssuerHangs(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	defer close(release)
	p.answer(p.url+"/.well-known/openid-configuration", func(context.Context) ([]byte, error) {
		<-release
		return nil, errors.New("too late")
	})
	b.later(11 * time.Minute)
	var waited, back int
	ctx := issuers.WithAside(b.stranger, func() func() error {
		waited++
		return func() error { back++; return nil }
	})
	for range 3 {
		if _, err := b.Clients.Verify(ctx, b.token(p)); err != nil {
			t.Error(err)
		}
	}
	if waited != 1 || back != 1 {
		t.Errorf("%d waited, and %d went on in their places", waited, back)
	}
	b.later(50 * time.Minute)
	if _, err := b.verify(b.token(p)); !errors.Is(err, issuers.ErrUnavailable) {
		t.Errorf("after more than an hour: %v", err)
	}
}

// A token whose issuer answers gives its place up meanwhile, and does not go on without it.
func TestTokenStepsAsideWhileItsIssuerAnswers(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	left, full := make(chan struct{}), errors.New("no place is free")
	p.answer(p.url+"/.well-known/openid-configuration", func(context.Context) ([]byte, error) {
		<-left
		return []byte(`{"issuer":"` + p.url + `","jwks_uri":"` + p.url + `/keys"}`), nil
	})
	_, err := b.Clients.Verify(issuers.WithAside(b.stranger, func() func() error {
		close(left)
		return func() error { return full }
	}), b.token(p))
	if !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	if _, err := b.verify(b.token(p)); err != nil {
		t.Errorf("once its keys are known: %v", err)
	}
}

// Requests that come with one token at a time wait for its issuer each by itself: each gives its own place
// up, and one that gets none back fails alone.
func TestRequestsWithOneTokenStepAsideEachByItself(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	const requests = 4
	var left sync.WaitGroup
	left.Add(requests)
	p.answer(p.url+"/.well-known/openid-configuration", func(ctx context.Context) ([]byte, error) {
		all := make(chan struct{})
		go func() { left.Wait(); close(all) }()
		select {
		case <-all:
			return []byte(`{"issuer":"` + p.url + `","jwks_uri":"` + p.url + `/keys"}`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	full, token := errors.New("no place is free"), b.token(p)
	var all sync.WaitGroup
	for i := range requests {
		all.Go(func() {
			var back error
			if i == 0 {
				back = full
			}
			_, err := b.Clients.Verify(issuers.WithAside(b.stranger, func() func() error {
				left.Done()
				return func() error { return back }
			}), token)
			if !errors.Is(err, back) {
				t.Errorf("request %d: error = %v, want %v", i, err, back)
			}
		})
	}
	all.Wait()
}

func TestAnswersOfAnIssuerAreNotTakenOnTrust(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for what, discovery := range map[string]string{
		"another issuer's name":        `{"issuer":"https://other.example","jwks_uri":"URL/keys"}`,
		"no name":                      `{"jwks_uri":"URL/keys"}`,
		"no keys":                      `{"issuer":"URL"}`,
		"keys without encryption":      `{"issuer":"URL","jwks_uri":"http://other.example/keys"}`,
		"keys on this machine":         `{"issuer":"URL","jwks_uri":"http://127.0.0.1:5432/"}`,
		"keys in a file":               `{"issuer":"URL","jwks_uri":"file:///etc/passwd"}`,
		"keys that are nowhere":        `{"issuer":"URL","jwks_uri":"https://nowhere.example/keys"}`,
		"keys at an address of no use": `{"issuer":"URL","jwks_uri":"https://[::1"}`,
		"no JSON":                      `<html>`,
		"a list":                       `[]`,
		"nothing":                      ``,
	} {
		p := b.provider()
		b.accept(p)
		for _, wrong := range []string{
			"http://other.example/keys", "http://127.0.0.1:5432/", "file:///etc/passwd", "",
		} {
			b.network[wrong] = p // this address returns the right keys
		}
		p.says(p.url+"/.well-known/openid-configuration", strings.ReplaceAll(discovery, "URL", p.url))
		if _, err := b.verify(b.token(p)); !errors.Is(err, issuers.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, keys := range map[string]string{
		"no keys": `{"keys":[]}`, "no list": `{}`, "no JSON": `x`, "useless keys": `{"keys":[{},null,"a"]}`,
	} {
		p := b.provider()
		b.accept(p)
		p.says(p.url+"/keys", keys)
		if _, err := b.verify(b.token(p)); !errors.Is(err, issuers.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestOnlyTheIssuersOwnAddressMayBeInside(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, elsewhere := b.provider(), b.provider()
	elsewhere.keys = p.keys
	b.accept(p)
	p.says(p.url+"/.well-known/openid-configuration",
		`{"issuer":"`+p.url+`","jwks_uri":"`+elsewhere.url+`/keys"}`)
	if _, err := b.verify(b.token(p)); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 1 || !strings.HasSuffix(p.asked[0], "inside=true") {
		t.Errorf("discovery: %v", p.asked)
	}
	if len(elsewhere.asked) != 1 || !strings.HasSuffix(elsewhere.asked[0], "inside=false") {
		t.Errorf("keys at another name: %v", elsewhere.asked)
	}
}

func TestPanicOverAnAnswerIsTheIssuersTrouble(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	p.answer(p.url+"/keys", func(context.Context) ([]byte, error) { panic("a parser's") })
	if _, err := b.verify(b.token(p)); !errors.Is(err, issuers.ErrUnavailable) {
		t.Errorf("error = %v", err)
	}
}

// A token is compared with few keys, however many an issuer shows: anybody can make up tokens in its name.
func TestOfManyKeysOfOneIDFewAreTried(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	for range 59 {
		p.newKey(t)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.keys[0] = jose.JSONWebKey{Key: other, Algorithm: "RS512"}
	for i := range p.keys[:4] { // one of another algorithm, and three alike
		p.keys[i].KeyID = "k"
	}
	by := func(i int) string { return b.signed(p.keys[i], "at+jwt", b.claims(p)) }
	b.refused("of an algorithm that the bank does not accept", by(0))
	if p.fetches() != 0 {
		t.Errorf("which asked the issuer: %v", p.asked)
	}
	for _, i := range []int{1, 2, 49} {
		if _, err := b.verify(by(i)); err != nil {
			t.Errorf("signed with key %d: %v", i, err)
		}
	}
	b.refused("the third key of its id", by(3))
	b.later(10 * time.Second)
	b.refused("the issuer's fifty-first key", by(50))
	ended, end := context.WithCancel(t.Context())
	end()
	forged := p.keys[50]
	forged.KeyID = "k"
	_, err = b.Clients.Verify(ended, b.signed(forged, "at+jwt", b.claims(p)))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the request: %v", err)
	}
}
