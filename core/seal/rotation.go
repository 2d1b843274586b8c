package seal

import (
	"errors"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// A rotation has four steps. Every process must have the file of one step before the next:
//
//	Add      the new key opens and finds what others write under it, and writes nothing
//	Promote  the new key writes; the old one opens and finds what is not moved yet
//	Retire   nothing stands under the old key any more, and it is not used; Restore takes that back
//	Destroy  the old key is out of the file

// State says what a key is used for.
type State string

const (
	Added   State = "added"   // opens and finds; the next primary
	Primary State = "primary" // writes
	Old     State = "old"     // opens and finds what it wrote
	Retired State = "retired" // not used
)

// Key describes a key of a keyset to operators.
type Key struct {
	ID    uint32
	State State
	First bool // from a file of the first format
}

// Info describes a keyset without its secrets.
type Info struct {
	Wrapped            string // "a passphrase", the URI of a KMS key, or ""
	Sealing, Searching []Key
	Changed            time.Time // when the last step of a rotation was taken
}

func (c *contents) info() Info {
	info := Info{Wrapped: c.wrapped.String(), Sealing: states(c.sealing), Searching: states(c.searching)}
	for i := range info.Sealing {
		info.Sealing[i].First = unmarked(c.sealing, info.Sealing[i].ID)
	}
	for i := range info.Searching {
		info.Searching[i].First = info.Searching[i].ID == c.unmarked
	}
	for _, at := range c.changed {
		if at.After(info.Changed) {
			info.Changed = at
		}
	}
	return info
}

// states lists the keys of a keyset with their states, oldest first.
func states(h *keyset.Handle) []Key {
	var keys []Key
	state := Old
	for i := range h.Len() {
		entry, err := h.Entry(i)
		if err != nil {
			continue
		}
		key := Key{ID: entry.KeyID(), State: state}
		switch {
		case entry.IsPrimary():
			key.State, state = Primary, Added
		case entry.KeyStatus() != keyset.Enabled:
			key.State = Retired
		}
		keys = append(keys, key)
	}
	return keys
}

// unmarked reports whether a sealing key is of the first format, whose values have no mark.
func unmarked(h *keyset.Handle, id uint32) bool {
	for _, key := range h.KeysetInfo().GetKeyInfo() {
		if key.GetKeyId() == id {
			return key.GetOutputPrefixType() == tinkpb.OutputPrefixType_RAW
		}
	}
	return false
}

func in(keys []Key, state State) (ids []uint32) {
	for _, key := range keys {
		if key.State == state {
			ids = append(ids, key.ID)
		}
	}
	return ids
}

// Has reports whether a key of the file is in that state.
func (i Info) Has(state State) bool { return len(in(i.Sealing, state))+len(in(i.Searching, state)) > 0 }

// Primaries returns the ids of the primary keys.
func (i Info) Primaries() (sealing, searching uint32) {
	return in(i.Sealing, Primary)[0], in(i.Searching, Primary)[0]
}

// Info describes the keyset.
func (k *Keys) Info() Info { return k.ring.Load().info }

// The least time between two steps. A process reads a changed file within seconds.
const (
	settles = 10 * time.Second // before an added key becomes the primary
	drains  = time.Minute      // before the former primary is retired; transactions are far shorter
)

// The errors of a step that is not possible now.
var (
	ErrAdded     = errors.New("a key is added already: promote it")
	ErrRotating  = errors.New("an old key is still in use: retire it first")
	ErrNotAdded  = errors.New("no key is added: rotate first")
	ErrNoOld     = errors.New("no key is old")
	ErrNoRetired = errors.New("no key is retired")
)

func tooSoon(last, now time.Time, least time.Duration) error {
	if wait := last.Add(least).Sub(now); wait > 0 {
		return fmt.Errorf("other processes may not have the last change of the file yet: try again in %s",
			wait.Round(time.Second)+time.Second)
	}
	return nil
}

// Add adds a sealing key and, if hashes is true, a key of search hashes.
func (f File) Add(hashes bool, now time.Time) (Info, error) {
	return f.step(now, func(c *contents) ([]string, error) {
		info := c.info()
		switch {
		case info.Has(Added):
			return nil, ErrAdded
		case info.Has(Old):
			return nil, ErrRotating
		}
		if err := c.manage(sealingPart,
			func(m *keyset.Manager) error { return added(m, aead.AES256GCMKeyTemplate()) }); err != nil || !hashes {
			return []string{sealingPart}, err
		}
		return []string{sealingPart, searchingPart},
			c.manage(searchingPart, func(m *keyset.Manager) error { return added(m, prf.HMACSHA256PRFKeyTemplate()) })
	})
}

func added(m *keyset.Manager, template *tinkpb.KeyTemplate) error {
	_, err := m.Add(template)
	return err
}

// Promote makes the added keys the primary ones.
func (f File) Promote(now time.Time) (Info, error) {
	return f.step(now, func(c *contents) ([]string, error) {
		info := c.info()
		if !info.Has(Added) {
			return nil, ErrNotAdded
		}
		if err := tooSoon(info.Changed, now, settles); err != nil {
			return nil, err
		}
		return c.each(info, Added, (*keyset.Manager).SetPrimary)
	})
}

// Retire takes the old keys out of use. It calls proven first, which returns an error if anything is still
// under them.
func (f File) Retire(now time.Time, proven func() error) (Info, error) {
	return f.step(now, func(c *contents) ([]string, error) {
		info := c.info()
		if !info.Has(Old) {
			return nil, ErrNoOld
		}
		if err := tooSoon(info.Changed, now, drains); err != nil {
			return nil, err
		}
		if err := proven(); err != nil {
			return nil, err
		}
		return c.each(info, Old, (*keyset.Manager).Disable)
	})
}

// Restore puts retired keys into use again, as old ones.
func (f File) Restore(now time.Time) (Info, error) {
	return f.step(now, func(c *contents) ([]string, error) {
		info := c.info()
		if !info.Has(Retired) {
			return nil, ErrNoRetired
		}
		return c.each(info, Retired, (*keyset.Manager).Enable)
	})
}

// Destroy removes retired keys from the file for good. It calls proven first, like Retire.
func (f File) Destroy(now time.Time, proven func() error) (Info, error) {
	return f.step(now, func(c *contents) ([]string, error) {
		info := c.info()
		if !info.Has(Retired) {
			return nil, ErrNoRetired
		}
		if err := tooSoon(info.Changed, now, drains); err != nil {
			return nil, err
		}
		if err := proven(); err != nil {
			return nil, err
		}
		return c.each(info, Retired, (*keyset.Manager).Delete)
	})
}

// each applies do to the keys in a state, and returns the parts of the file that they belong to.
func (c *contents) each(
	info Info, state State, do func(*keyset.Manager, uint32) error,
) (parts []string, err error) {
	for _, of := range []struct {
		part string
		keys []Key
	}{{sealingPart, info.Sealing}, {searchingPart, info.Searching}} {
		for _, id := range in(of.keys, state) {
			parts = append(parts, of.part)
			if err := c.manage(of.part, func(m *keyset.Manager) error { return do(m, id) }); err != nil {
				return nil, err
			}
		}
	}
	return parts, nil
}

// manage changes one keyset.
func (c *contents) manage(part string, change func(*keyset.Manager) error) error {
	handle := &c.sealing
	if part == searchingPart {
		handle = &c.searching
	}
	manager := keyset.NewManagerFromHandle(*handle)
	if err := change(manager); err != nil {
		return err
	}
	changed, err := manager.Handle()
	if err == nil {
		*handle = changed
	}
	return err
}

// step takes a step of a rotation; change returns the parts of the file that it changed.
func (f File) step(now time.Time, change func(*contents) (parts []string, err error)) (info Info, err error) {
	err = f.rewrite(func(c *contents) (tink.AEAD, error) {
		parts, err := change(c)
		if err != nil {
			return nil, err
		}
		for _, name := range parts {
			c.changed[name] = now
		}
		info = c.info()
		return c.wrapped.key(f)
	})
	return info, err
}
