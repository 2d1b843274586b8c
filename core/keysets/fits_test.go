package keysets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/keysets"
	"bankgraph/core/seal"
)

// A keyset that opens nothing of a bank is told from one that does, also where the first value it meets is damaged.
func TestKeysetOfAnotherBankDoesNotFit(t *testing.T) {
	t.Parallel()
	b := coretest.Alone(t)
	operator := access.Operator(t.Context(), b.Tenant, b.Code, nil)
	customer := b.Customer()
	b.Customer()
	if fits, err := b.Keysets.Fits(operator); err != nil || !fits {
		t.Errorf("its own keyset: %t, %v", fits, err)
	}
	foreign := core.New(core.Options{DB: b.DB, Keys: seal.New()})
	if fits, err := foreign.Keysets.Fits(operator); fits || !errors.Is(err, keysets.ErrForeign) {
		t.Errorf("the keyset of another bank: %t, %v", fits, err)
	}
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE customers SET tax_id_sealed = '\x00' WHERE tenant = ? AND uid <= ?`, b.Tenant, customer.UID).Exec(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if fits, err := b.Keysets.Fits(operator); err != nil || !fits {
		t.Errorf("with a damaged value: %t, %v", fits, err)
	}
	if _, err := b.Keysets.Fits(b.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("staff: %v", err)
	}
}
