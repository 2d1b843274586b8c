// Package seal hides account numbers, tax ids and secrets. A value is encrypted in one column, found by a
// keyed hash in a second, and shown by its last digits in a third. Reading a list decrypts nothing.
//
// A keyset file holds three Tink keysets. Each has one primary key, under which new values are written, and
// may have others, which still open and find older values (see rotation.go):
//
//   - sealing (AES-256-GCM): a sealed value is the byte 1, the key's id (4 bytes, big-endian), a nonce of 12
//     bytes, and the ciphertext with its tag of 16. The associated data is the text "TENANT/COLUMN/ROW",
//     as in "7/accounts.number/4711".
//   - searching (HMAC-SHA-256, a PRF): a search hash is the byte 1, the key's id (4 bytes, big-endian), and
//     the first 16 bytes of the HMAC of "TENANT/COLUMN/" and the value with a to z in upper case, without
//     spaces at its ends.
//   - secrets (HMAC-SHA-256, a PRF): API secrets, refresh tokens and requests of idempotency keys are known
//     by the whole HMAC of "secret/PURPOSE/" and the text, messages whose ids were used before by the first
//     8 bytes of it. It cannot be made anew without the text, so these stay under their key, which does not
//     rotate; that takes nothing from secrets of 256 random bits.
//
// The file is JSON: {"format": 2, "wrapped": WRAP, "sealing": PART, "searching": PART, "secrets": PART}. A
// PART is {"keyset": K, "first": N, "changed": TIME}. Without a WRAP, K is a Tink keyset as JSON. With one it
// is Tink's encrypted keyset as JSON, the associated data being "bankgraph keyset NAME" with the part's name;
// its key is argon2id of the passphrase (AES-256-GCM, no prefix) under {"kdf": "argon2id", "salt", "time",
// "memory" in KiB, "threads"}, or in the KMS of {"kms": URI}.
//
// The first format, {"current", "seal": {VERSION: KEY}, "hash": KEY}, is read for good. A value that was
// sealed under it begins with the version (4 bytes, big-endian, so that the first is 0) in place of the mark;
// its hashes are the 16 bytes alone, by the key that is also the one of secrets. A rotated file keeps those
// keys: "first" is the version that sealing wrote, and the id of the key whose hashes have no mark.
package seal

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// Value is a sealed value as a table stores it. Printing it shows only its last digits.
type Value struct {
	Sealed []byte `bun:"sealed,type:bytea"` // the key's mark, nonce and AES-256-GCM
	Hash   []byte `bun:"hash,type:bytea"`   // the key's mark and a keyed hash, for exact search
	// the last four characters; the last two of values shorter than eight
	Last4 string `bun:"last4"`
}

// ShownColumns lists the columns that reads may fetch.
func (Value) ShownColumns() []string { return []string{"Last4"} }

// Masked returns the form for people and partners: "****6789". It is empty if there is no value.
func (v Value) Masked() string {
	if v.Last4 == "" {
		return ""
	}
	return mask + v.Last4
}

// mask replaces the characters that are not shown.
const mask = "****"

// LooksMasked reports whether a text may be a masked value, or part of one. No real value has two asterisks
// in a row.
func LooksMasked(text string) bool { return strings.Contains(text, "**") }

// Kept returns what a request changes a stored value to. The value's own masked form, as callers read it,
// changes nothing; any other masked text is a fault of the field.
func (v Value) Kept(c *check.Fields, field string, sent given.Text) given.Text {
	switch {
	case !LooksMasked(sent.Value):
		return sent
	case sent.Value != v.Masked():
		c.Fail(field, fault.Malformed, "must be the whole value, or the masked one that is stored")
	}
	return given.Text{}
}

// Shown returns the value; nil if there is none.
func (v Value) Shown() *Value {
	if v.Last4 == "" {
		return nil
	}
	return &v
}

// Fingerprint differs for two different values that Keys.Replace has written. It is not for people.
func (v Value) Fingerprint() string { return string(v.Hash) }

func (v Value) String() string               { return v.Masked() }
func (v Value) GoString() string             { return v.Masked() }
func (v Value) Format(s fmt.State, _ rune)   { _, _ = s.Write([]byte(v.Masked())) }
func (v Value) LogValue() slog.Value         { return slog.StringValue(v.Masked()) }
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.Masked()) }

// Place is where a sealed value is stored. A value moved to another place does not open.
type Place struct {
	Tenant int64
	Column string // "accounts.number"
	Row    int64
}

func (p Place) bytes() []byte {
	return fmt.Appendf(nil, "%d/%s/%d", p.Tenant, p.Column, p.Row)
}

// Mask returns a Value that shows the last digits of clear and holds nothing else.
func Mask(clear string) Value { return Value{Last4: last(clear)} }

func last(clear string) string {
	runes := []rune(clear)
	if len(runes) < 8 {
		return string(runes[max(0, len(runes)-2):])
	}
	return string(runes[len(runes)-4:])
}

// SameSecret compares in constant time.
func SameSecret(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
