package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"bankgraph/core/access"
	"bankgraph/core/keysets"
)

// tried is how many banks are tried with the keyset.
const tried = 50

// fits refuses a keyset that does not belong to this database: every API key would be called wrong, and new
// values would be sealed under other keys than the old ones. If the keyset fits some banks, it is the right
// one, and the other banks have a fault of their own. A wrong keyset that this start has created is removed.
func (b *bank) fits(ctx context.Context) error {
	all, err := b.Tenants.List(b.anywhere(ctx))
	if err != nil {
		return err
	}
	fits, foreign := false, error(nil)
	for _, bank := range all[:min(len(all), tried)] {
		known, err := b.Keysets.Fits(access.Operator(ctx, bank.ID, bank.Code, bank.Location()))
		switch {
		case errors.Is(err, keysets.ErrForeign):
			foreign = fmt.Errorf("bank %s: %w", bank.Code, err)
		case err != nil:
			return err
		case known:
			fits = true
		}
	}
	if foreign == nil {
		return nil
	}
	if fits {
		slog.Error("a bank's sealed values cannot be opened with this keyset", "error", foreign)
		return nil
	}
	if b.madeKeyset {
		if err := os.Remove(b.keyset); err != nil {
			return err
		}
		return fmt.Errorf(
			"the keyset %s is missing, and the database has values that were sealed under it: put the copy back "+
				"that was kept; without it account numbers, tax ids and API keys are lost, and a bank is begun anew "+
				"with another data folder (--data, BANKGRAPH_DATA) or database", b.keyset)
	}
	return fmt.Errorf(
		"the keyset %s is not the one of this database (%w): name the right one (--keyset, "+
			"BANKGRAPH_KEYSET), or put back the copy that was kept", b.keyset, foreign)
}
