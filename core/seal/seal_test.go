package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"bankgraph/core/seal"
)

func TestASealedValueOpensAtItsPlaceOnly(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	rapid.Check(t, func(t *rapid.T) {
		clear := rapid.StringN(1, 40, -1).Draw(t, "clear")
		at := seal.Place{
			Tenant: rapid.Int64Range(1, 50).Draw(t, "tenant"), Column: "accounts.number",
			Row: rapid.Int64Range(1, 50).Draw(t, "row"),
		}
		sealed := keys.Seal(clear, at)
		if got, err := keys.Open(sealed, at); err != nil || got != clear {
			t.Fatalf("%q opens as %q (%v)", clear, got, err)
		}
		for _, elsewhere := range []seal.Place{
			{Tenant: at.Tenant + 1, Column: at.Column, Row: at.Row},
			{Tenant: at.Tenant, Column: "accounts.numbe", Row: at.Row},
			{Tenant: at.Tenant, Column: at.Column, Row: at.Row + 1},
			{Tenant: at.Tenant, Column: at.Column, Row: at.Row * 10},
		} {
			if got, err := keys.Open(sealed, elsewhere); !errors.Is(err, seal.ErrSealed) || got != "" {
				t.Fatalf("it opens at %+v as %q", elsewhere, got)
			}
		}
	})
}

func TestATamperedValueDoesNotOpen(t *testing.T) {
	t.Parallel()
	keys, at := seal.New(), seal.Place{Tenant: 1, Column: "accounts.number", Row: 7}
	sealed := keys.Seal("400078709713", at)
	for i := range sealed.Sealed {
		changed := sealed
		changed.Sealed = bytes.Clone(sealed.Sealed)
		changed.Sealed[i] ^= 1
		if _, err := keys.Open(changed, at); !errors.Is(err, seal.ErrSealed) {
			t.Fatalf("it opens with byte %d changed", i)
		}
	}
	for n := 1; n < len(sealed.Sealed); n++ {
		if _, err := keys.Open(seal.Value{Sealed: sealed.Sealed[:n]}, at); !errors.Is(err, seal.ErrSealed) {
			t.Fatalf("it opens with %d bytes", n)
		}
	}
	if _, err := seal.New().Open(sealed, at); !errors.Is(err, seal.ErrSealed) {
		t.Error("it opens with other keys")
	}
}

func TestNoTwoSealsAreAlike(t *testing.T) {
	t.Parallel()
	keys, at := seal.New(), seal.Place{Tenant: 1, Column: "c", Row: 1}
	if bytes.Equal(keys.Seal("same", at).Sealed, keys.Seal("same", at).Sealed) {
		t.Error("the nonce is used twice")
	}
	first, second := keys.Encrypt("same", at), keys.Encrypt("same", at)
	if bytes.Equal(first, second) {
		t.Error("the nonce is used twice without a hash")
	}
	if clear, err := keys.Open(seal.Value{Sealed: first}, at); clear != "same" || err != nil {
		t.Errorf("it opens as %q, %v", clear, err)
	}
}

func TestNothingStaysNothing(t *testing.T) {
	t.Parallel()
	keys, at := seal.New(), seal.Place{Tenant: 1, Column: "c", Row: 1}
	sealed := keys.Seal("", at)
	if keys.Encrypt("", at) != nil || sealed.Sealed != nil || sealed.Hash != nil || sealed.Masked() != "" ||
		sealed.Shown() != nil {
		t.Errorf("%#v", sealed)
	}
	if got, err := keys.Open(sealed, at); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestEqualValuesHaveEqualHashesWithinAColumnOfABank(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	hash := keys.Hash(1, "accounts.number", "DE89 x")
	for _, same := range []string{"de89 X", " DE89 x ", "DE89 x"} {
		if !bytes.Equal(hash, keys.Hash(1, "accounts.number", same)) {
			t.Errorf("%q is not found", same)
		}
	}
	for name, other := range map[string][]byte{
		"bank": keys.Hash(2, "accounts.number", "DE89 x"), "column": keys.Hash(1, "contacts.number", "DE89 x"),
		"value": keys.Hash(1, "accounts.number", "DE89x"), "key": seal.New().Hash(1, "accounts.number", "DE89 x"),
		"border": keys.Hash(11, "ccounts.number", "DE89 x"),
	} {
		if bytes.Equal(hash, other) {
			t.Errorf("another %s hashes alike", name)
		}
	}
}

func TestAValueIsMaskedHoweverItIsPrinted(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	at := seal.Place{Tenant: 1, Column: "accounts.number", Row: 7}
	const clear = "400078709713"
	type holder struct {
		Number seal.Value
		Also   *seal.Value
	}
	sealed := keys.Seal(clear, at)
	in := holder{Number: sealed, Also: &sealed}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("paid", "number", sealed, "holder", in, "pointer", &sealed)
	}
	encoded, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := log.String() + string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		out += fmt.Sprintf(verb, sealed) + fmt.Sprintf(verb, &sealed) + fmt.Sprintf(verb, in) +
			fmt.Sprintf(verb, []seal.Value{sealed})
	}
	out += fmt.Errorf("account %v", sealed).Error() + fmt.Sprint(in) + fmt.Sprintln(&in)
	for _, leak := range []string{
		clear, clear[:8], fmt.Sprintf("%x", clear), fmt.Sprintf("%v", sealed.Sealed),
		fmt.Sprintf("%x", sealed.Sealed), fmt.Sprintf("%v", sealed.Hash),
	} {
		if strings.Contains(out, leak) {
			t.Errorf("%q is in %s", leak, out)
		}
	}
	if !strings.Contains(out, "****9713") {
		t.Errorf("the mask is not in %s", out)
	}
	if string(encoded) != `{"Number":"****9713","Also":"****9713"}` {
		t.Errorf("%s", encoded)
	}
}

func TestAShortValueShowsLess(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	for clear, want := range map[string]string{
		"12345678": "****5678", "1234567": "****67", "12": "****12", "7": "****7", "größer-1": "****er-1",
	} {
		if got := keys.Seal(clear, seal.Place{}).Masked(); got != want {
			t.Errorf("%q: %s", clear, got)
		}
	}
}

func TestAValueThatIsNotSealedIsMaskedAlike(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	for _, clear := range []string{"400078709713", "1234567", "7", ""} {
		sealed, masked := keys.Seal(clear, seal.Place{}), seal.Mask(clear)
		if masked.Masked() != sealed.Masked() || masked.Sealed != nil || masked.Hash != nil ||
			seal.LooksMasked(clear) || seal.LooksMasked(masked.Masked()) != (clear != "") {
			t.Errorf("%q: %v", clear, masked)
		}
	}
}

func TestAKeysetIsMadeOnceAndReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	if _, err := seal.Load(path, false); err == nil {
		t.Fatal("there is none, and yet it was loaded")
	}
	at := seal.Place{Tenant: 1, Column: "c", Row: 1}
	made := make([]*seal.Keys, 8)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = seal.Load(path, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sealed := made[0].Seal("secret", at)
	for i, keys := range made {
		if got, err := keys.Open(sealed, at); err != nil || got != "secret" {
			t.Errorf("keyset %d is another one: %v", i, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("drafts are left: %v", files)
	}
}

func TestABrokenKeysetIsRefusedAndNotQuoted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON": `SECRETKEY`,
		"short seal key": `{"current":1,"seal":{"1":"U0VDUkVUS0VZ"},` +
			`"hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
		"no current key": `{"current":2,"seal":{"1":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},` +
			`"hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`,
		"short hash key": `{"current":1,"seal":{"1":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},` +
			`"hash":"U0VDUkVUS0VZ"}`,
	} {
		path := filepath.Join(t.TempDir(), "keyset.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := seal.Load(path, true)
		if err == nil || strings.Contains(err.Error(), "SECRETKEY") || strings.Contains(err.Error(), "U0VD") {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestASecretIsKnownByItsHashAndPurpose(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	hash := keys.Secret("client/1/demo", "s3cret")
	if !seal.SameSecret(hash, keys.Secret("client/1/demo", "s3cret")) {
		t.Error("the same secret differs")
	}
	if seal.SameSecret(hash, keys.Secret("client/1/demo", "s3cret ")) ||
		seal.SameSecret(hash, keys.Secret("client/2/demo", "s3cret")) || seal.SameSecret(hash, nil) {
		t.Error("another is the same")
	}
}

// U+017F and U+0131 are not S and I, although these are their upper case in Unicode.
func TestNoOtherLetterIsTakenForOneOfAToZ(t *testing.T) {
	t.Parallel()
	keys := seal.New()
	for letter, like := range map[string]string{"ſ": "s", "ı": "i", "\u212a": "k"} {
		if bytes.Equal(keys.Hash(1, "accounts.number", "7"+letter), keys.Hash(1, "accounts.number", "7"+like)) {
			t.Errorf("%q is found by %q", letter, like)
		}
	}
}
