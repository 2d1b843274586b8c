package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/aesgcm"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	"github.com/tink-crypto/tink-go/v2/prf/hmacprf"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// File says where a keyset is kept, and how it is opened.
type File struct {
	Path   string
	Create bool // make the file if it does not exist: see Load

	Passphrase func() (string, error)              // returns the passphrase of a wrapped file
	KMS        func(uri string) (tink.AEAD, error) // returns the KMS key that a file is wrapped by
}

// contents is an opened keyset file.
type contents struct {
	wrapped                     *wrap
	sealing, searching, secrets *keyset.Handle
	version                     uint32 // of the first format, or 0: what the values of its key begin with
	unmarked                    uint32 // the searching key whose hashes have no mark; 0 if none
	changed                     map[string]time.Time
}

// The parts of a file, by their names in it.
const (
	sealingPart   = "sealing"
	searchingPart = "searching"
	secretsPart   = "secrets"
)

// document is the JSON of the file; see the package comment.
type document struct {
	Format    int   `json:"format"`
	Wrapped   *wrap `json:"wrapped,omitempty"`
	Sealing   part  `json:"sealing"`
	Searching part  `json:"searching"`
	Secrets   part  `json:"secrets"`
}

type part struct {
	Keyset  json.RawMessage `json:"keyset"`
	First   uint32          `json:"first,omitempty"`
	Changed time.Time       `json:"changed,omitzero"`
}

// firstFormat is the JSON of the file in the first format, from before Tink.
type firstFormat struct {
	Current uint32            `json:"current"`
	Seal    map[uint32][]byte `json:"seal"` // AES-256 keys by version
	Hash    []byte            `json:"hash"` // the HMAC key of search hashes and secrets
}

// New makes a keyset of fresh random keys.
func New() *Keys {
	c, err := fresh()
	if err != nil {
		panic(err)
	}
	r, err := newRing(c)
	if err != nil {
		panic(err)
	}
	keys := new(Keys)
	keys.ring.Store(r)
	return keys
}

func fresh() (*contents, error) {
	c := &contents{changed: map[string]time.Time{}}
	var err error
	if c.sealing, err = keyset.NewHandle(aead.AES256GCMKeyTemplate()); err != nil {
		return nil, err
	}
	if c.searching, err = keyset.NewHandle(prf.HMACSHA256PRFKeyTemplate()); err != nil {
		return nil, err
	}
	c.secrets, err = keyset.NewHandle(prf.HMACSHA256PRFKeyTemplate())
	return c, err
}

// Load reads a keyset file that is not wrapped. If create is true, it makes a missing file; use that only for
// a new data folder, because values sealed under a lost keyset cannot be read again.
func Load(path string, create bool) (*Keys, error) { return File{Path: path, Create: create}.Load() }

// Load reads the file. Keys.Reload reads it again when it has changed.
func (f File) Load() (*Keys, error) {
	keys := &Keys{file: f}
	_, err := keys.Reload()
	if errors.Is(err, fs.ErrNotExist) && f.Create {
		if err = Create(f.Path); err == nil || errors.Is(err, fs.ErrExist) { // another command was quicker
			_, err = keys.Reload()
		}
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// Create makes a keyset file of fresh random keys, mode 0600. It fails if the file exists.
func Create(path string) error {
	c, err := fresh()
	if err != nil {
		return fmt.Errorf("make the keyset: %w", err)
	}
	text, err := c.text(nil)
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

// read reads and opens the file. Its errors do not quote the file.
func (f File) read() (*contents, os.FileInfo, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the keyset: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read the keyset: %w", err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(file); err != nil {
		return nil, nil, fmt.Errorf("read the keyset: %w", err)
	}
	c, err := f.parse(text.Bytes())
	if err == nil {
		err = private(info, c.wrapped != nil)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("keyset %s: %w", f.Path, err)
	}
	return c, info, nil
}

// private refuses a file that every user of the machine can write or, if it is not wrapped, read.
func private(info os.FileInfo, wrapped bool) error {
	mode := info.Mode().Perm()
	switch {
	case mode&0o002 != 0:
		return fmt.Errorf("everybody may write it (mode %04o): run \"chmod 600\" on it", mode)
	case mode&0o004 != 0 && !wrapped:
		return fmt.Errorf(
			"everybody may read it (mode %04o): run \"chmod 600\" on it, and rotate its keys if "+
				"somebody may have", mode)
	}
	return nil
}

var errDamaged = errors.New("it is not readable: damaged, or not a keyset")

func (f File) parse(text []byte) (*contents, error) {
	var d document
	if json.Unmarshal(text, &d) != nil {
		return nil, errDamaged
	}
	switch d.Format {
	case 0:
		return parseFirst(text)
	case 2:
	default:
		return nil, fmt.Errorf("its format %d is newer than this program", d.Format)
	}
	c := &contents{
		wrapped: d.Wrapped, version: d.Sealing.First, unmarked: d.Searching.First, changed: map[string]time.Time{},
	}
	opener, err := c.wrapped.key(f)
	if err != nil {
		return nil, err
	}
	for name, of := range map[string]struct {
		part   part
		handle **keyset.Handle
	}{
		sealingPart: {d.Sealing, &c.sealing}, searchingPart: {d.Searching, &c.searching},
		secretsPart: {d.Secrets, &c.secrets},
	} {
		if *of.handle, err = open(of.part.Keyset, opener, name); err != nil {
			return nil, err
		}
		c.changed[name] = of.part.Changed
	}
	if _, err := newRing(c); err != nil {
		return nil, errDamaged
	}
	return c, nil
}

// open reads one keyset of the file, decrypting it if opener is not nil.
func open(text []byte, opener tink.AEAD, name string) (h *keyset.Handle, err error) {
	reader := keyset.NewJSONReader(bytes.NewReader(text))
	if opener == nil {
		if h, err = insecurecleartextkeyset.Read(reader); err != nil {
			return nil, errDamaged
		}
		return h, nil
	}
	if h, err = keyset.ReadWithAssociatedData(reader, opener, associated(name)); err != nil {
		return nil, errors.Join(errWrapped, opener.(*wrapping).failure)
	}
	return h, nil
}

func associated(name string) []byte { return []byte("bankgraph keyset " + name) }

// text returns the JSON of the file, with its keysets encrypted if closer is not nil.
func (c *contents) text(closer tink.AEAD) ([]byte, error) {
	d := document{Format: 2, Wrapped: c.wrapped}
	d.Sealing.First, d.Searching.First = c.version, c.unmarked
	for name, of := range map[string]struct {
		part   *part
		handle *keyset.Handle
	}{
		sealingPart: {&d.Sealing, c.sealing}, searchingPart: {&d.Searching, c.searching},
		secretsPart: {&d.Secrets, c.secrets},
	} {
		var text bytes.Buffer
		var err error
		if closer == nil {
			err = insecurecleartextkeyset.Write(of.handle, keyset.NewJSONWriter(&text))
		} else {
			err = of.handle.WriteWithAssociatedData(keyset.NewJSONWriter(&text), closer, associated(name))
		}
		if err != nil {
			return nil, err
		}
		of.part.Keyset, of.part.Changed = text.Bytes(), c.changed[name].UTC()
	}
	return json.MarshalIndent(d, "", " ")
}

// parseFirst reads a file of the first format into Tink keysets.
func parseFirst(text []byte) (*contents, error) {
	var f firstFormat
	if json.Unmarshal(text, &f) != nil {
		return nil, errDamaged
	}
	if f.Seal[f.Current] == nil || len(f.Hash) != 32 {
		return nil, errors.New("keyset lacks its current seal key or its 32-byte hash key")
	}
	c := &contents{version: f.Current, changed: map[string]time.Time{}}
	gcm, err := aesgcm.NewParameters(aesgcm.ParametersOpts{
		KeySizeInBytes: 32, IVSizeInBytes: 12, TagSizeInBytes: 16, Variant: aesgcm.VariantNoPrefix,
	})
	if err != nil {
		return nil, err
	}
	sealing := keyset.NewManager()
	for _, version := range slices.Sorted(maps.Keys(f.Seal)) {
		if len(f.Seal[version]) != 32 || version>>24 != 0 {
			return nil, fmt.Errorf("seal key %d is not 32 bytes", version)
		}
		key, err := aesgcm.NewKey(secret(f.Seal[version]), 0, gcm)
		if err != nil {
			return nil, err
		}
		id, err := sealing.AddKey(key)
		if err == nil && version == f.Current {
			err = sealing.SetPrimary(id)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.sealing, err = sealing.Handle(); err != nil {
		return nil, err
	}
	if c.searching, err = hashing(f.Hash); err != nil {
		return nil, err
	}
	primary, err := c.searching.Primary()
	if err != nil {
		return nil, err
	}
	c.unmarked = primary.KeyID()
	c.secrets, err = hashing(f.Hash)
	return c, err
}

// hashing makes a keyset of one HMAC key.
func hashing(bits []byte) (*keyset.Handle, error) {
	hmac, err := hmacprf.NewParameters(len(bits), hmacprf.SHA256)
	if err != nil {
		return nil, err
	}
	key, err := hmacprf.NewKey(secret(bits), hmac)
	if err != nil {
		return nil, err
	}
	manager := keyset.NewManager()
	id, err := manager.AddKey(key)
	if err == nil {
		err = manager.SetPrimary(id)
	}
	if err != nil {
		return nil, err
	}
	return manager.Handle()
}

func secret(bits []byte) secretdata.Bytes {
	return secretdata.NewBytesFromData(bits, insecuresecretdataaccess.Token{})
}
