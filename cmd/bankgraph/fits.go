package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"bankgraph/core/access"
	"bankgraph/core/keysets"
)

// tried is how many banks are asked whether the keyset is theirs.
const tried = 20

// fits refuses a keyset that opens nothing of what the database holds. With it every API key would be called wrong, and
// new values would be sealed apart from those that are there. What this start has made in the keyset's place goes again.
func (b *bank) fits(ctx context.Context) error {
	all, err := b.Tenants.List(b.anywhere(ctx))
	if err != nil {
		return err
	}
	var foreign error
	for _, bank := range all[:min(len(all), tried)] {
		var fits bool
		fits, err = b.Keysets.Fits(access.Operator(ctx, bank.ID, bank.Code, bank.Location()))
		switch {
		case fits:
			return nil
		case errors.Is(err, keysets.ErrForeign):
			foreign = err
		case err != nil:
			return err
		}
	}
	if foreign == nil {
		return nil
	}
	if b.madeKeyset {
		if err := os.Remove(b.keyset); err != nil {
			return err
		}
		return fmt.Errorf("the keyset %s is missing, and the database has values that were sealed under it: put the copy back that was kept; "+
			"without it account numbers, tax ids and API keys are lost, and a bank is begun anew with another data folder (--data, BANKGRAPH_DATA) "+
			"or database", b.keyset)
	}
	return fmt.Errorf("the keyset %s is not the one of this database (%w): name the right one (--keyset, BANKGRAPH_KEYSET), "+
		"or put back the copy that was kept", b.keyset, foreign)
}
