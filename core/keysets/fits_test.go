package keysets_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/keysets"
	"bankgraph/core/seal"
)

// under returns the bank in a process with another keyset file.
func (h *house) under(f seal.File) *core.Core {
	h.Helper()
	keys, err := f.Load()
	h.must(err)
	return core.New(core.Options{DB: h.DB, Keys: keys, Now: h.Now})
}

func TestForeignKeysetIsRecognized(t *testing.T) {
	t.Parallel()
	h := build(t)
	other := seal.File{Path: filepath.Join(t.TempDir(), "other.json")}
	h.must(seal.Create(other.Path))
	s := h.stock()
	if known, err := h.Keysets.Fits(h.operator); !known || err != nil {
		t.Errorf("the right file: %v, %v", known, err)
	}
	if _, err := h.under(other).Keysets.Fits(h.operator); !errors.Is(err, keysets.ErrForeign) {
		t.Errorf("another file: %v", err)
	}
	text, err := os.ReadFile(h.file.Path)
	h.must(err)
	h.must(os.WriteFile(other.Path, text, 0o600))
	h.promoted()
	h.reload(h.Core)
	h.Customer()
	h.Customer()
	if _, err := h.under(other).Keysets.Fits(h.operator); !errors.Is(err, keysets.ErrForeign) {
		t.Errorf("an older copy: %v", err)
	}
	_, err = h.Owner().NewRaw(`UPDATE customers SET tax_id_sealed = ? WHERE tenant = ? AND uid = ?`,
		[]byte("\x00damaged"), h.Tenant, bun.Safe(s.customer.UID.String())).Exec(t.Context())
	h.must(err)
	if known, err := h.Keysets.Fits(h.operator); !known || err != nil {
		t.Errorf("a damaged value among others: %v, %v", known, err)
	}
	if _, err := h.Keysets.Fits(h.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by staff: %v", err)
	}
}

// One value that names a key which nobody has is damaged, whatever the others are.
func TestOneDamagedNameOfAKeyIsNotAForeignKeyset(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.stock()
	h.Exec(`UPDATE customers SET tax_id_sealed = set_byte(tax_id_sealed, 1, get_byte(tax_id_sealed, 1) # 85)
		WHERE tenant = ? AND uid = ?`, h.Tenant, s.customer.UID)
	if known, err := h.Keysets.Fits(h.operator); !known || err != nil {
		t.Errorf("a damaged name of a key: %v, %v", known, err)
	}
}
