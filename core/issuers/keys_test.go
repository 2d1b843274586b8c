package issuers_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	if _, err := b.verify(b.token(away)); err != nil {
		t.Errorf("when it is back: %v", err)
	}
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

func TestSlowIssuerHoldsUpFewTokensAndNoneForLong(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	slow, quick := b.provider(), b.provider()
	b.accept(slow)
	b.accept(quick)
	if _, err := b.verify(b.token(quick)); err != nil {
		t.Fatal(err)
	}
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
	var turned, waited atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for range 40 {
		token := b.token(slow)
		all.Go(func() {
			began := time.Now()
			_, err := b.verify(token)
			if !errors.Is(err, issuers.ErrUnavailable) {
				t.Errorf("error = %v", err)
			}
			if time.Since(began) > 2*time.Second {
				waited.Add(1)
			} else {
				turned.Add(1)
			}
		})
	}
	b.until(func() bool { return turned.Load() == 32 })
	if _, err := b.verify(b.token(quick)); err != nil {
		t.Errorf("another issuer's token meanwhile: %v", err)
	}
	all.Wait()
	if waited.Load() != 8 || asked.Load() != 1 || time.Since(begun) > 20*time.Second {
		t.Errorf("%d waited, %d at once, the issuer was asked %d times, in %s", waited.Load(), turned.Load(),
			asked.Load(), time.Since(begun))
	}
	close(release)
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
