package seal_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
	"pgregory.net/rapid"

	"bankgraph/core/seal"
)

// first is a file of the first format; the values below were written under it by the program of that time.
const (
	first = `{"current":1,"seal":{"1":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},` +
		`"hash":"YWJjZGVmZ2hpamFiY2RlZmdoaWphYmNkZWZnaGlqYWI="}`
	firstSealed = "00000001d05bf0776debb633e9b4136c2744aad7a59a2b10b483c13d91a7166179abb1b2e17c99a8bff2d3ce"
	firstHash   = "c8b12639283acc3dfe17412eec6705b2"
	firstSecret = "b27cd64b56d4720f95b4356553e9945933fa3bc6755b96c55cc6eed10da77c7f"
	firstKey    = "GiAwMTIzNDU2Nzg5MDEy" // how its sealing key begins in a present file
	number      = "400078709713"
)

var firstPlace = seal.Place{Tenant: 7, Column: "accounts.number", Row: 4711}

// hex16 decodes hexadecimal text.
func hex16(t testing.TB, text string) []byte {
	t.Helper()
	bits, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bits
}

// made makes a keyset file with this text, or a new one.
func made(t testing.TB, text string) seal.File {
	t.Helper()
	f := seal.File{Path: filepath.Join(t.TempDir(), "keyset.json")}
	var err error
	if text == "" {
		err = seal.Create(f.Path)
	} else {
		err = os.WriteFile(f.Path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func load(t testing.TB, f seal.File) *seal.Keys {
	t.Helper()
	keys, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// long returns times far enough apart for every step to follow the one before.
func long(n int) time.Time {
	return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}

func nothing() error { return nil }

// step takes a step of a rotation, and fails the test if it is not allowed.
func step(t testing.TB) func(seal.Info, error) seal.Info {
	t.Helper()
	return func(info seal.Info, err error) seal.Info {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
}

func TestWhatTheFirstFormatWroteIsReadForGood(t *testing.T) {
	t.Parallel()
	f := made(t, first)
	keys := load(t, f)
	stored := seal.Value{Sealed: hex16(t, firstSealed), Hash: hex16(t, firstHash), Last4: "9713"}
	check := func(when string) {
		t.Helper()
		if got, err := keys.Open(stored, firstPlace); err != nil || got != number {
			t.Errorf("%s: it opens as %q, %v", when, got, err)
		}
		if !slices.ContainsFunc(keys.Hashes(7, "accounts.number", number),
			func(hash []byte) bool { return bytes.Equal(hash, stored.Hash) }) {
			t.Errorf("%s: it is not found", when)
		}
		if !bytes.Equal(keys.Secret("client/7/demo", "s3cret"), hex16(t, firstSecret)) {
			t.Errorf("%s: a secret is not known", when)
		}
	}
	check("as it was")
	if again := keys.Seal(number,
		firstPlace); !bytes.HasPrefix(again.Sealed, []byte{0, 0, 0, 1}) ||
		!bytes.Equal(again.Hash, stored.Hash) ||
		!keys.Current(stored.Sealed, stored.Hash) {
		t.Errorf("before a rotation it writes what the program before it cannot read: %x %x", again.Sealed,
			again.Hash)
	}
	for n, next := range []func() (seal.Info, error){
		func() (seal.Info, error) { return f.Add(true, long(1)) },
		func() (seal.Info, error) { return f.Promote(long(2)) },
	} {
		step(t)(next())
		if changed, err := keys.Reload(); !changed || err != nil {
			t.Fatal(changed, err)
		}
		check([]string{"with a key added", "under a new primary"}[n])
	}
	if keys.Current(stored.Sealed, nil) || keys.Current(nil, stored.Hash) {
		t.Error("it counts as moved")
	}
	moved, err := keys.Renew(stored, firstPlace)
	if err != nil || !keys.Current(moved.Sealed, moved.Hash) || moved.Last4 != "9713" {
		t.Fatal(moved, err)
	}
	step(t)(f.Retire(long(3), nothing))
	if text, _ := os.ReadFile(f.Path); !bytes.Contains(text, []byte(firstKey)) {
		t.Error("the retired key is not in the file: it could not be restored")
	}
	step(t)(f.Destroy(long(4), nothing))
	keys = load(t, f)
	if got, err := keys.Open(moved, firstPlace); err != nil || got != number {
		t.Errorf("what was moved opens as %q, %v", got, err)
	}
	if _, err := keys.Open(stored, firstPlace); !errors.Is(err, seal.ErrSealed) {
		t.Errorf("what was not moved opens without its key: %v", err)
	}
	if !bytes.Equal(keys.Secret("client/7/demo", "s3cret"), hex16(t, firstSecret)) {
		t.Error("secrets went with the old key")
	}
	if text, _ := os.ReadFile(f.Path); bytes.Contains(text, []byte(firstKey)) {
		t.Error("the destroyed key is in the file")
	}
}

// Two processes write and read in any order; the second gets each change of the file later. Each reads what
// the other wrote, through any number of rotations.
func TestProcessesUnderstandEachOtherInEveryStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", first}).Draw(rt, "file")
		f := made(t, text)
		early, late := load(t, f), load(t, f)
		kept := map[int64]seal.Value{}
		use := func() {
			for _, pair := range [][2]*seal.Keys{{early, late}, {late, early}} {
				at := seal.Place{Tenant: 1, Column: "accounts.number", Row: rapid.Int64Range(1, 9).
					Draw(rt, "row")}
				value := rapid.SampledFrom([]string{"1", "22", "333"}).Draw(rt, "value")
				if kept[at.Row] = pair[0].Seal(value, at); !pair[1].Same(kept[at.Row], value, at) {
					rt.Fatalf("%q is not found by the other", value)
				}
				if got, err := pair[1].Open(kept[at.Row], at); err != nil || got != value {
					rt.Fatalf("the other reads %q, %v", got, err)
				}
			}
		}
		for round := range rapid.IntRange(1, 2).Draw(rt, "rotations") {
			hashes := rapid.Bool().Draw(rt, "hashes")
			for n, next := range []func(time.Time) (seal.Info, error){
				func(at time.Time) (seal.Info, error) { return f.Add(hashes, at) }, f.Promote,
				func(at time.Time) (seal.Info, error) {
					for row, text := range kept {
						moved, err := early.Renew(text, seal.Place{Tenant: 1, Column: "accounts.number", Row: row})
						if err != nil || !early.Current(moved.Sealed, moved.Hash) {
							rt.Fatal(err)
						}
						kept[row] = moved
					}
					return f.Retire(at, nothing)
				},
				func(at time.Time) (seal.Info, error) { return f.Destroy(at, nothing) },
			} {
				if _, err := next(long(10*round + n)); err != nil {
					rt.Fatal(err)
				}
				if _, err := early.Reload(); err != nil {
					rt.Fatal(err)
				}
				use()
				if _, err := late.Reload(); err != nil {
					rt.Fatal(err)
				}
				use()
			}
		}
		for row, text := range kept {
			if got, err := late.Open(text, seal.Place{Tenant: 1, Column: "accounts.number", Row: row}); err != nil ||
				got == "" {
				rt.Fatalf("row %d: %q, %v", row, got, err)
			}
		}
	})
}

func TestStepsHaveTheirOrder(t *testing.T) {
	t.Parallel()
	f := made(t, "")
	refused := func(want error, info seal.Info, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%+v, %v: want %v", info, err, want)
		}
	}
	soon := func(info seal.Info, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "try again in") {
			t.Errorf("%+v, %v: it was too soon", info, err)
		}
	}
	unproven := errors.New("something is left")
	info, err := f.Promote(long(0))
	refused(seal.ErrNotAdded, info, err)
	info, err = f.Retire(long(0), nothing)
	refused(seal.ErrNoOld, info, err)
	info, err = f.Destroy(long(0), nothing)
	refused(seal.ErrNoRetired, info, err)
	info, err = f.Restore(long(0))
	refused(seal.ErrNoRetired, info, err)

	info = step(t)(f.Add(false, long(0)))
	if len(info.Sealing) != 2 || info.Sealing[1].State != seal.Added || len(info.Searching) != 1 {
		t.Errorf("%+v", info)
	}
	info, err = f.Add(false, long(1))
	refused(seal.ErrAdded, info, err)
	soon(f.Promote(long(0).Add(9 * time.Second)))
	step(t)(f.Promote(long(0).Add(11 * time.Second)))
	info, err = f.Add(true, long(1))
	refused(seal.ErrRotating, info, err)
	soon(f.Retire(long(0).Add(30*time.Second), nothing))
	info, err = f.Retire(long(1), func() error { return unproven })
	refused(unproven, info, err)
	if info = load(t, f).Info(); !info.Has(seal.Old) || info.Has(seal.Retired) {
		t.Errorf("a key was retired without proof: %+v", info)
	}
	step(t)(f.Retire(long(1), nothing))
	step(t)(f.Restore(long(2)))
	step(t)(f.Retire(long(3), nothing))
	soon(f.Destroy(long(3).Add(30*time.Second), nothing))
	info, err = f.Destroy(long(4), func() error { return unproven })
	refused(unproven, info, err)
	if info = step(t)(f.Destroy(long(4), nothing)); len(info.Sealing) != 1 ||
		info.Sealing[0].State != seal.Primary {
		t.Errorf("%+v", info)
	}
}

// A value whose key was rotated is the same value: nobody has changed it.
func TestTheSameValueKeepsItsHash(t *testing.T) {
	t.Parallel()
	f, at := made(t, ""), seal.Place{Tenant: 1, Column: "customers.tax_id", Row: 5}
	keys := load(t, f)
	stored := keys.Seal("12-3456789", at)
	step(t)(f.Add(true, long(0)))
	step(t)(f.Promote(long(1)))
	if _, err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	if again := keys.Replace(stored, "12-3456789", at); again.Fingerprint() != stored.Fingerprint() ||
		!keys.Current(again.Sealed, nil) {
		t.Error("the same value reads as another")
	}
	if other := keys.Replace(stored, "12-3456780", at); other.Fingerprint() == stored.Fingerprint() ||
		!keys.Current(other.Sealed, other.Hash) {
		t.Error("another value reads as the same")
	}
	if gone := keys.Replace(stored, "", at); gone.Hash != nil || keys.Same(seal.Value{}, "", at) {
		t.Errorf("nothing reads as something: %v", gone.Hash)
	}
}

func words(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// service simulates a KMS: keys by their URI.
type service map[string]tink.AEAD

func (s service) key(uri string) (tink.AEAD, error) {
	if key := s[uri]; key != nil {
		return key, nil
	}
	return nil, errors.New("the KMS does not know " + uri)
}

func TestAWrappedFileOpensForWhoMayOpenIt(t *testing.T) {
	t.Parallel()
	one, err := subtle.NewAESGCM(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	another, err := subtle.NewAESGCM(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		t.Fatal(err)
	}
	const good, uri = "correct horse battery", "test://bank"
	for name, c := range map[string]struct {
		uri  string
		open seal.File   // what opens it
		shut []seal.File // what does not
		says string
	}{
		"a passphrase": {"", seal.File{Passphrase: words(good)}, []seal.File{
			{},
			{Passphrase: words("")},
			{Passphrase: words(good + " ")},
			{Passphrase: words("Correct horse battery")},
			{KMS: service{uri: one}.key},
		}, "a passphrase"},
		"a KMS": {uri, seal.File{KMS: service{uri: one}.key}, []seal.File{
			{}, {Passphrase: words(good)}, {KMS: service{uri: another}.key}, {KMS: service{}.key},
		}, uri},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, at := made(t, first), seal.Place{Tenant: 7, Column: "accounts.number", Row: 4711}
			before := load(t, f).Seal(number, at)
			c.open.Path = f.Path
			if err := c.open.Wrap(c.uri, words(good)); err != nil {
				t.Fatal(err)
			}
			text, _ := os.ReadFile(f.Path)
			if bytes.Contains(text, []byte(firstKey)) || bytes.Contains(text, []byte("MDEyMzQ1")) ||
				!bytes.Contains(text, []byte("encryptedKeyset")) {
				t.Fatal("a key stands in the clear")
			}
			if err := os.Chmod(f.Path, 0o644); err != nil { //nolint:gosec // a wrapped file may be readable
				t.Fatal(err)
			}
			for i, shut := range c.shut {
				shut.Path = f.Path
				if _, err := shut.Load(); err == nil || strings.Contains(err.Error(), good) {
					t.Errorf("way %d: %v", i, err)
				}
				if _, err := shut.Add(false, long(0)); err == nil {
					t.Errorf("way %d: it is rotated", i)
				}
			}
			keys := load(t, c.open)
			if info := keys.Info(); info.Wrapped != c.says {
				t.Errorf("%+v", info)
			}
			step(t)(c.open.Add(true, long(0)))
			step(t)(c.open.Promote(long(1)))
			if changed, err := keys.Reload(); err != nil || !changed {
				t.Fatal(changed, err)
			}
			if got, err := keys.Open(before, at); err != nil || got != number {
				t.Errorf("%q, %v", got, err)
			}
			if err := c.open.Unwrap(); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), "everybody may read it") {
				t.Errorf("in the clear for everybody: %v", err)
			}
			if err := os.Chmod(f.Path, 0o640); err != nil { //nolint:gosec // readable by a group on purpose
				t.Fatal(err)
			}
			if got, err := load(t, f).Open(before, at); err != nil || got != number {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	if err := made(t, "").Wrap("", words("too short")); err == nil {
		t.Error("a short passphrase is taken")
	}
}

// Parts of different files do not fit together.
func TestADamagedFileIsRefusedAndNotQuoted(t *testing.T) {
	t.Parallel()
	plain, wrapped := made(t, ""), made(t, "")
	if err := wrapped.Wrap("", words("correct horse battery")); err != nil {
		t.Fatal(err)
	}
	wrapped.Passphrase = words("correct horse battery")
	for name, f := range map[string]seal.File{"plain": plain, "wrapped": wrapped} {
		text, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, damaged []byte) {
			t.Helper()
			broken := f
			broken.Path = made(t, string(damaged)+" ").Path
			if _, err := broken.Load(); err == nil || len(err.Error()) > 300 {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for n := 1; n < len(text); n += len(text)/40 + 1 {
			refused("cut off", text[:n])
		}
		var parts map[string]json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil {
			t.Fatal(err)
		}
		swap := func(change func()) []byte {
			kept := map[string]json.RawMessage{}
			for name, part := range parts {
				kept[name] = part
			}
			change()
			damaged, _ := json.Marshal(parts)
			parts = kept
			return damaged
		}
		refused("sealing is searching", swap(func() { parts["sealing"] = parts["searching"] }))
		refused("no secrets", swap(func() { delete(parts, "secrets") }))
		refused("a later format", swap(func() { parts["format"] = json.RawMessage("3") }))
		if name == "wrapped" {
			refused("secrets are searching", swap(func() { parts["secrets"] = parts["searching"] }))
			refused("not wrapped", swap(func() { delete(parts, "wrapped") }))
			refused("a costly KDF", swap(func() {
				parts["wrapped"] = bytes.Replace(parts["wrapped"], []byte("65536"), []byte("4000000000"), 1)
			}))
		}
	}
}

func TestAFileForEverybodyIsRefused(t *testing.T) {
	t.Parallel()
	for mode, ok := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o604: false, 0o602: false, 0o666: false,
	} {
		for _, text := range []string{"", first} {
			f := made(t, text)
			if err := os.Chmod(f.Path, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Load(); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("mode %04o: %v", mode, err)
			}
		}
	}
}

// Concurrent commands lose nothing: one proceeds, and the others fail.
func TestAFileIsChangedByOneAtATime(t *testing.T) {
	t.Parallel()
	f := made(t, first)
	link := seal.File{Path: filepath.Join(t.TempDir(), "link.json")}
	if err := os.Symlink(f.Path, link.Path); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	added := 0
	for i := range 8 {
		all.Go(func() {
			by := []seal.File{f, link}[i%2]
			_, err := by.Add(true, long(0))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				added++
			case !errors.Is(err, seal.ErrMeanwhile) && !errors.Is(err, seal.ErrAdded):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if info := load(t, f).Info(); added != 1 || len(info.Sealing) != 2 || len(info.Searching) != 2 {
		t.Errorf("added by %d: %+v", added, info)
	}
	if target, err := os.Readlink(link.Path); err != nil || target != f.Path {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(f.Path)); len(left) != 1 {
		t.Errorf("drafts are left: %v", left)
	}
}

func TestKeysThatCannotBeReadLeaveThoseThatAreThere(t *testing.T) {
	t.Parallel()
	f := made(t, "")
	keys := load(t, f)
	heard := make(chan error, 10)
	stop := keys.Follow(time.Millisecond, func(err error) { heard <- err })
	defer stop()
	text, _ := os.ReadFile(f.Path)
	if err := os.WriteFile(f.Path, text[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-heard; err == nil {
		t.Error("nobody hears")
	}
	at := seal.Place{Tenant: 1, Column: "c", Row: 1}
	if got, err := keys.Open(keys.Seal("kept", at), at); got != "kept" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(f.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	step(t)(f.Add(true, long(0)))
	for deadline := time.Now().
		Add(10 * time.Second); !keys.Info().Has(seal.Added); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the change is not seen")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	keys := load(b, made(b, ""))
	at := seal.Place{Tenant: 1, Column: "accounts.number", Row: 123456}
	b.ReportAllocs()
	for b.Loop() {
		keys.Seal(number, at)
	}
}

func BenchmarkHashes(b *testing.B) {
	keys := load(b, made(b, ""))
	b.ReportAllocs()
	for b.Loop() {
		keys.Hashes(1, "accounts.number", number)
	}
}

// A running process keeps its keys if the new file does not follow from them by rotation, as they may be the
// last copy. A process that starts takes any file.
func TestForeignAndOlderFilesAreNotTakenOver(t *testing.T) {
	t.Parallel()
	f := made(t, "")
	at := time.Now().Add(-time.Hour)
	step := func(err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	proven := func() error { return nil }
	fresh := step(nil)
	stopped, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Add(true, at)
	added := step(err)
	_, err = f.Promote(at.Add(time.Minute))
	promoted := step(err)
	other, err := os.ReadFile(made(t, "").Path)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	sealed := keys.Seal(number, firstPlace)
	for name, one := range map[string]struct {
		text    []byte
		refused bool
	}{
		"from before the rotation": {fresh, true}, "of another bank": {other, true},
		"from before the last step": {added, false},
	} {
		if err := os.WriteFile(f.Path, one.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Reload(); errors.Is(err, seal.ErrOlder) != one.refused {
			t.Errorf("a file %s: %v", name, err)
		}
		if clear, err := keys.Open(sealed, firstPlace); err != nil || clear != number {
			t.Errorf("after a file %s: %q, %v", name, clear, err)
		}
	}
	if err := os.WriteFile(f.Path, promoted, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	again := made(t, string(fresh)) // two operators, of whom one has an older copy
	if _, err := again.Add(true, time.Now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(again.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Reload(); !errors.Is(err, seal.ErrOlder) {
		t.Errorf("a rotation of an older copy: %v", err)
	}
	if err := os.WriteFile(f.Path, promoted, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Retire(at.Add(3*time.Minute), proven); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Destroy(at.Add(5*time.Minute), proven); err != nil {
		t.Fatal(err)
	}
	if changed, err := stopped.Reload(); err != nil || !changed {
		t.Errorf("a process that was stopped for a whole rotation: %v, %v", changed, err)
	}
}
