// Package seal hides account numbers, tax ids and secrets: encrypted in one column, found through a keyed
// hash in a second, shown by the last digits in a third. Reading a list decrypts nothing.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// Text is a sealed value as a table keeps it. Wherever it is printed it shows its last digits only.
type Text struct {
	Sealed []byte `bun:"sealed,type:bytea"` // key version, nonce and AES-256-GCM
	Hash   []byte `bun:"hash,type:bytea"`   // keyed, for exact search
	Last4  string `bun:"last4"`             // the last four characters; the last two of values shorter than eight
}

// ShownColumns keeps reads from fetching what they must not show.
func (Text) ShownColumns() []string { return []string{"Last4"} }

// Masked is the fixed-width form for people and partners: "****6789". It is empty where there is no value.
func (t Text) Masked() string {
	if t.Last4 == "" {
		return ""
	}
	return mask + t.Last4
}

// mask stands for what is not shown.
const mask = "****"

// LooksMasked tells whether a text may be one that was shown, or half of one: no value that anybody means has asterisks
// side by side.
func LooksMasked(text string) bool { return strings.Contains(text, "**") }

// Kept is what a request gives in place of a stored value. The mask, which is what callers read, leaves the value as it
// is; any other mask is a fault of the field, as nobody means asterisks.
func (t Text) Kept(c *check.Fields, field string, sent given.Text) given.Text {
	switch {
	case !LooksMasked(sent.Value):
		return sent
	case sent.Value != t.Masked():
		c.Fail(field, fault.Malformed, "must be the whole value, or the masked one that is stored")
	}
	return given.Text{}
}

// Shown is the value where there is one, and nil without.
func (t Text) Shown() *Text {
	if t.Last4 == "" {
		return nil
	}
	return &t
}

// Fingerprint tells two values apart without showing either. It is not for people.
func (t Text) Fingerprint() string { return string(t.Hash) }

func (t Text) String() string               { return t.Masked() }
func (t Text) GoString() string             { return t.Masked() }
func (t Text) Format(s fmt.State, _ rune)   { _, _ = s.Write([]byte(t.Masked())) }
func (t Text) LogValue() slog.Value         { return slog.StringValue(t.Masked()) }
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.Masked()) }

// Place is where a sealed value stands. A value moved to another place does not open.
type Place struct {
	Tenant int64
	Column string // "accounts.number"
	Row    int64
}

func (p Place) bytes() []byte {
	return fmt.Appendf(nil, "%d/%s/%d", p.Tenant, p.Column, p.Row)
}

// Keys are the bank's keyset. The zero value is not usable: Load, or New for tests.
type Keys struct {
	current uint32
	seals   map[uint32]cipher.AEAD
	hash    []byte
}

// file is the keyset as it is kept, mode 0600.
type file struct {
	Current uint32            `json:"current"` // the version that new values are sealed with
	Seal    map[uint32][]byte `json:"seal"`    // AES-256 keys by version
	Hash    []byte            `json:"hash"`    // the HMAC key; it does not rotate with the others
}

// New makes a keyset of fresh random keys.
func New() *Keys {
	keys, err := parse(fresh())
	if err != nil {
		panic(err)
	}
	return keys
}

func fresh() file {
	f := file{Current: 1, Seal: map[uint32][]byte{1: make([]byte, 32)}, Hash: make([]byte, 32)}
	_, _ = rand.Read(f.Seal[1])
	_, _ = rand.Read(f.Hash)
	return f
}

func parse(f file) (*Keys, error) {
	keys := &Keys{current: f.Current, seals: map[uint32]cipher.AEAD{}, hash: f.Hash}
	for version, key := range f.Seal {
		block, err := aes.NewCipher(key)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("seal key %d is not 32 bytes", version)
		}
		if keys.seals[version], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
	}
	if keys.seals[f.Current] == nil || len(f.Hash) != 32 {
		return nil, errors.New("keyset lacks its current seal key or its 32-byte hash key")
	}
	return keys, nil
}

// Load reads the keyset file. With create it makes one where none exists: only for a data folder of
// one's own, because values sealed under a lost keyset cannot be read again.
func Load(path string, create bool) (*Keys, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = Create(path); err == nil || errors.Is(err, fs.ErrExist) { // another command was quicker
			text, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the keyset: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("keyset %s is not readable JSON", path)
	}
	keys, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("keyset %s: %w", path, err)
	}
	return keys, nil
}

// Create makes a keyset file of fresh random keys, mode 0600, where there is no file yet.
func Create(path string) error {
	text, err := json.Marshal(fresh())
	if err == nil {
		err = write(path, text)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("a keyset is never written over: %s: %w", path, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("make the keyset: %w", err)
	}
	return nil
}

// write puts the whole file there or nothing, and never over another.
func write(path string, text []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	return os.Link(draft.Name(), path)
}

// Seal hides a value. The empty value stays empty.
func (k *Keys) Seal(clear string, at Place) Text {
	if clear == "" {
		return Text{}
	}
	aead := k.seals[k.current]
	sealed := make([]byte, 4+aead.NonceSize(), 4+aead.NonceSize()+len(clear)+aead.Overhead())
	binary.BigEndian.PutUint32(sealed, k.current)
	_, _ = rand.Read(sealed[4:])
	return Text{
		Sealed: aead.Seal(sealed, sealed[4:], []byte(clear), at.bytes()),
		Hash:   k.Hash(at.Tenant, at.Column, clear),
		Last4:  last(clear),
	}
}

// Mask is what may be seen of a value that is not sealed: nothing in it opens.
func Mask(clear string) Text { return Text{Last4: last(clear)} }

func last(clear string) string {
	runes := []rune(clear)
	if len(runes) < 8 {
		return string(runes[max(0, len(runes)-2):])
	}
	return string(runes[len(runes)-4:])
}

// ErrSealed is returned for a value that these keys do not open at this place.
var ErrSealed = errors.New("sealed value does not open")

// Open reads a sealed value. Only a service method that asked for the permission and a purpose,
// and that leaves an audit entry, calls it.
func (k *Keys) Open(t Text, at Place) (string, error) {
	if len(t.Sealed) == 0 {
		return "", nil
	}
	if len(t.Sealed) < 4 {
		return "", ErrSealed
	}
	aead := k.seals[binary.BigEndian.Uint32(t.Sealed)]
	if aead == nil || len(t.Sealed) < 4+aead.NonceSize() {
		return "", ErrSealed
	}
	clear, err := aead.Open(nil, t.Sealed[4:4+aead.NonceSize()], t.Sealed[4+aead.NonceSize():], at.bytes())
	if err != nil {
		return "", ErrSealed
	}
	return string(clear), nil
}

// Hash is the keyed hash under which a value of this column is found. Letter case and spaces at the ends do not count.
func (k *Keys) Hash(tenant int64, column, clear string) []byte {
	mac := hmac.New(sha256.New, k.hash)
	fmt.Fprintf(mac, "%d/%s/", tenant, column)
	mac.Write([]byte(strings.ToUpper(strings.TrimSpace(clear))))
	return mac.Sum(make([]byte, 0, sha256.Size))[:16]
}

// Secret is the keyed hash of a random secret of 256 bits, which is all that is kept of it.
func (k *Keys) Secret(purpose, secret string) []byte {
	mac := hmac.New(sha256.New, k.hash)
	fmt.Fprintf(mac, "secret/%s/%s", purpose, secret)
	return mac.Sum(nil)
}

// SameSecret compares in constant time.
func SameSecret(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
