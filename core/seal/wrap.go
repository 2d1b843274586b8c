package seal

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
	"golang.org/x/crypto/argon2"
)

// wrap says what the keysets of a file are encrypted with.
type wrap struct {
	KDF     string `json:"kdf,omitempty"` // argon2id for a passphrase
	Salt    []byte `json:"salt,omitempty"`
	Time    uint32 `json:"time,omitempty"`
	Memory  uint32 `json:"memory,omitempty"` // KiB
	Threads uint8  `json:"threads,omitempty"`

	KMS string `json:"kms,omitempty"` // the URI of a key
}

var (
	errWrapped = errors.New("it does not open: another passphrase or KMS key, or a damaged file")

	// ErrPassphrase is returned when a keyset is wrapped by a passphrase and none is set.
	ErrPassphrase = errors.New("it is wrapped by a passphrase, and none is set")
	errNoKMS      = errors.New("it is wrapped by a KMS that this command does not know")
	errShort      = errors.New("a passphrase has at least 12 characters")
)

// String returns the wrapping for Info.Wrapped.
func (w *wrap) String() string {
	switch {
	case w == nil:
		return ""
	case w.KMS != "":
		return w.KMS
	}
	return "a passphrase"
}

// wrapping keeps the error of a KMS key, which Tink's own errors leave out.
type wrapping struct {
	tink.AEAD

	failure error
}

func (w *wrapping) Encrypt(plain, ad []byte) (sealed []byte, err error) {
	sealed, err = w.AEAD.Encrypt(plain, ad)
	w.failure = errors.Join(w.failure, err)
	return sealed, err
}

func (w *wrapping) Decrypt(sealed, ad []byte) (plain []byte, err error) {
	plain, err = w.AEAD.Decrypt(sealed, ad)
	w.failure = errors.Join(w.failure, err)
	return plain, err
}

// key returns what encrypts and decrypts the keysets; nil if the file is not wrapped.
func (w *wrap) key(f File) (tink.AEAD, error) {
	if w == nil {
		return nil, nil
	}
	if w.KMS != "" {
		if f.KMS == nil {
			return nil, errNoKMS
		}
		key, err := f.KMS(w.KMS)
		if err != nil {
			return nil, err
		}
		return &wrapping{AEAD: key}, nil
	}
	// No file that this program wrote asks for more than this.
	if w.KDF != "argon2id" || len(w.Salt) < 16 || w.Time < 1 || w.Time > 64 || w.Memory < 8<<10 ||
		w.Memory > 1<<20 || w.Threads < 1 {
		return nil, errDamaged
	}
	if f.Passphrase == nil {
		return nil, ErrPassphrase
	}
	passphrase, err := f.Passphrase()
	if err != nil {
		return nil, err
	}
	if passphrase == "" {
		return nil, ErrPassphrase
	}
	key, err := subtle.NewAESGCM(argon2.IDKey([]byte(passphrase), w.Salt, w.Time, w.Memory, w.Threads, 32))
	if err != nil {
		return nil, err
	}
	return &wrapping{AEAD: key}, nil
}

// Wrap encrypts the file, with the KMS key that uri names, or with the passphrase if uri is empty. A file
// that is wrapped already is wrapped again.
func (f File) Wrap(uri string, passphrase func() (string, error)) error {
	next := &wrap{KMS: uri}
	closing := File{KMS: f.KMS, Passphrase: passphrase}
	if uri == "" {
		text, err := passphrase()
		if err == nil && len([]rune(text)) < 12 {
			err = errShort
		}
		if err != nil {
			return err
		}
		next = &wrap{KDF: "argon2id", Salt: make([]byte, 16), Time: 3, Memory: 64 << 10, Threads: 4}
		_, _ = rand.Read(next.Salt)
	}
	closer, err := next.key(closing)
	if err != nil {
		return fmt.Errorf("wrap the keyset: %w", err)
	}
	return f.rewrite(func(c *contents) (tink.AEAD, error) {
		c.wrapped = next
		return closer, nil
	})
}

// Unwrap writes the file in the clear.
func (f File) Unwrap() error {
	return f.rewrite(func(c *contents) (tink.AEAD, error) {
		c.wrapped = nil
		return nil, nil
	})
}
