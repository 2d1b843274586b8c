package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Keys is the keyset that seals the values of all banks. Make it with Load, or New for tests; the zero value
// is not usable. Reload follows changes of its file.
type Keys struct {
	ring atomic.Pointer[ring]

	mu   sync.Mutex // held to read the file
	file File
	seen stamp
}

// ring is an opened keyset. It is immutable.
type ring struct {
	sealing   tink.AEAD
	mark      []byte      // what newly sealed values begin with
	marked    bool        // Tink writes the mark itself; the first format has a version instead
	searching []searching // the primary first
	secrets   prf.PRF
	info      Info
}

// searching is a key of search hashes that is in use.
type searching struct {
	id   uint32
	prf  prf.PRF
	mark []byte // what its hashes begin with; empty for the first format
}

// The lengths of the parts of a stored value, in bytes.
const (
	markSize = 5  // Tink's mark: the byte 1 and the key's id
	hashSize = 16 // of a search hash without its mark
	versions = 4  // a version of the first format
)

// markOf returns the mark with which Tink begins a value.
func markOf(id uint32) []byte { return binary.BigEndian.AppendUint32([]byte{1}, id) }

func newRing(c *contents) (*ring, error) {
	r := &ring{info: c.info()}
	primary, err := c.sealing.Primary()
	if err != nil {
		return nil, err
	}
	if r.sealing, err = aead.New(c.sealing); err != nil {
		return nil, err
	}
	if r.mark, r.marked = markOf(primary.KeyID()), true; unmarked(c.sealing, primary.KeyID()) {
		r.mark, r.marked = binary.BigEndian.AppendUint32(nil, c.version), false
	}
	hashes, err := prf.NewPRFSet(c.searching)
	if err != nil {
		return nil, err
	}
	for _, key := range live(c.searching, hashes.PrimaryID) {
		s := searching{id: key, prf: hashes.PRFs[key]}
		if key != c.unmarked {
			s.mark = markOf(key)
		}
		r.searching = append(r.searching, s)
	}
	secrets, err := prf.NewPRFSet(c.secrets)
	if err != nil {
		return nil, err
	}
	r.secrets = secrets.PRFs[secrets.PrimaryID]
	return r, nil
}

// live returns the ids of the keys that are in use, the primary first.
func live(h *keyset.Handle, primary uint32) []uint32 {
	ids := []uint32{primary}
	for i := range h.Len() {
		if entry, err := h.Entry(i); err == nil && entry.KeyStatus() == keyset.Enabled &&
			entry.KeyID() != primary {
			ids = append(ids, entry.KeyID())
		}
	}
	return ids
}

// Seal encrypts and hashes a value for a place. The empty text gives the zero Value.
func (k *Keys) Seal(clear string, at Place) Value {
	if clear == "" {
		return Value{}
	}
	r := k.ring.Load()
	return Value{
		Sealed: r.seal(clear, at), Hash: r.searching[0].hash(at.Tenant, at.Column, clear), Last4: last(clear),
	}
}

// Encrypt only encrypts a value for a place: one that nobody searches for, such as a message. The empty text
// gives nil.
func (k *Keys) Encrypt(clear string, at Place) []byte {
	if clear == "" {
		return nil
	}
	return k.ring.Load().seal(clear, at)
}

func (r *ring) seal(clear string, at Place) []byte {
	sealed, err := r.sealing.Encrypt([]byte(clear), at.bytes())
	if err != nil {
		panic(fmt.Errorf("seal: %w", err)) // only for a value of more than 64 GB
	}
	if !r.marked {
		sealed = append(bytes.Clone(r.mark), sealed...)
	}
	return sealed
}

// Replace seals a new value for the place of a stored one. If a search finds both alike, the stored hash
// stays, so that a key rotated meanwhile does not look like a change.
func (k *Keys) Replace(stored Value, clear string, at Place) Value {
	sealed := k.Seal(clear, at)
	if k.Same(stored, clear, at) {
		sealed.Hash = stored.Hash
	}
	return sealed
}

// Same reports whether a search for clear finds the stored value, whichever key it is under.
func (k *Keys) Same(stored Value, clear string, at Place) bool {
	if len(stored.Hash) == 0 {
		return false
	}
	for _, hash := range k.Hashes(at.Tenant, at.Column, clear) {
		if bytes.Equal(hash, stored.Hash) {
			return true
		}
	}
	return false
}

// ErrSealed is returned for a value that these keys do not open at this place.
var ErrSealed = errors.New("sealed value does not open")

// Open decrypts a sealed value. Only a service method that has checked the permission and a purpose, and that
// writes an audit entry, may show the result. The numbers of virtual accounts are shown to whoever may see
// the accounts (rest/CONTRACT.md, virtual accounts).
func (k *Keys) Open(v Value, at Place) (string, error) {
	if len(v.Sealed) == 0 {
		return "", nil
	}
	clear, err := k.ring.Load().open(v.Sealed, at)
	if err != nil { // another process may have rotated the keys just now
		if changed, failed := k.Reload(); changed && failed == nil {
			clear, err = k.ring.Load().open(v.Sealed, at)
		}
	}
	return clear, err
}

// OpenCopied decrypts a value that was sealed for one of these rows, and then copied to a place as it was.
func (k *Keys) OpenCopied(sealed []byte, at Place, from []int64) (clear string, err error) {
	err = ErrSealed
	for _, at.Row = range from {
		if clear, err = k.ring.Load().open(sealed, at); err == nil {
			break
		}
	}
	return clear, err
}

func (r *ring) open(sealed []byte, at Place) (string, error) {
	if sealed[0] == 0 {
		if len(sealed) <= versions {
			return "", ErrSealed
		}
		sealed = sealed[versions:]
	}
	clear, err := r.sealing.Decrypt(sealed, at.bytes())
	if err != nil {
		return "", ErrSealed
	}
	return string(clear), nil
}

// Hash returns the keyed hash with which a value of this column is stored. The case of A to Z, and spaces at
// the ends, do not count.
func (k *Keys) Hash(tenant int64, column, clear string) []byte {
	return k.ring.Load().searching[0].hash(tenant, column, clear)
}

// Hashes returns the keyed hashes that a value of this column may be stored with, that of Hash first. There
// are several while search hashes are rotated.
func (k *Keys) Hashes(tenant int64, column, clear string) [][]byte {
	r := k.ring.Load()
	hashes := make([][]byte, len(r.searching))
	for i, key := range r.searching {
		hashes[i] = key.hash(tenant, column, clear)
	}
	return hashes
}

// upper folds a to z to upper case, and leaves all other characters, as core/ident does.
func upper(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

func (s *searching) hash(tenant int64, column, clear string) []byte {
	text := fmt.Appendf(nil, "%d/%s/%s", tenant, column, strings.Map(upper, strings.TrimSpace(clear)))
	hash, err := s.prf.ComputePRF(text, hashSize)
	if err != nil {
		panic(fmt.Errorf("hash: %w", err)) // cannot happen: SHA-256 gives more than hashSize
	}
	return append(bytes.Clone(s.mark), hash...)
}

// Secret returns the keyed hash of a secret or a request, which is stored in its place.
func (k *Keys) Secret(purpose, secret string) []byte {
	hash, err := k.ring.Load().secrets.ComputePRF(fmt.Appendf(nil, "secret/%s/%s", purpose, secret), sha256.Size)
	if err != nil {
		panic(fmt.Errorf("hash a secret: %w", err))
	}
	return hash
}

// Under returns the id of the key that a value is sealed under, and its state; the state is "" if the keyset
// lacks the key. The id is 0 for values of the first format, which do not name their key.
func (k *Keys) Under(sealed []byte) (id uint32, state State) {
	if len(sealed) < markSize || sealed[0] != 1 {
		return 0, ""
	}
	id = binary.BigEndian.Uint32(sealed[1:])
	for _, key := range k.Info().Sealing {
		if key.ID == id {
			return id, key.State
		}
	}
	return id, ""
}

// Current reports whether a sealed value and a search hash are under the primary keys. Empty ones count as
// such.
func (k *Keys) Current(sealed, hash []byte) bool {
	r := k.ring.Load()
	return (len(sealed) == 0 || bytes.HasPrefix(sealed, r.mark)) && (len(hash) == 0 || r.searching[0].made(hash))
}

// made reports whether the key made a hash.
func (s *searching) made(hash []byte) bool {
	if len(s.mark) == 0 {
		return len(hash) == hashSize
	}
	return len(hash) == markSize+hashSize && bytes.HasPrefix(hash, s.mark)
}

// Renew returns a stored value sealed and hashed under the primary keys. If the value does not open, it
// returns ErrSealed.
func (k *Keys) Renew(v Value, at Place) (Value, error) {
	r := k.ring.Load()
	clear, err := k.Open(v, at)
	if err != nil || clear == "" {
		return v, err
	}
	fresh := k.Seal(clear, at)
	if !bytes.HasPrefix(v.Sealed, r.mark) {
		v.Sealed = fresh.Sealed
	}
	if len(v.Hash) > 0 && !r.searching[0].made(v.Hash) {
		v.Hash = fresh.Hash
	}
	return v, nil
}
