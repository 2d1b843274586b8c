package keysets

import (
	"context"
	"errors"
	"fmt"

	"bankgraph/core/access"
)

// ErrForeign is returned for a keyset that opens nothing of what a bank has sealed: it is another one than the bank's, or
// older than its last rotation.
var ErrForeign = errors.New("the keyset opens nothing of what the bank has sealed")

// sampled is how many rows of each table are tried: a few may be damaged, or hold nothing.
const sampled = 20

// Fits reports whether the keyset opens what the caller's bank has sealed. The first value that opens settles it, so a
// damaged one keeps nobody from starting. A bank that has sealed nothing yet answers false without an error.
func (s *Service) Fits(ctx context.Context) (bool, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return false, err
	}
	sealed := false
	for i := range tables {
		t := &tables[i]
		rows, _, err := window(ctx, s.db, t, caller.Tenant, "", sampled)
		if err != nil {
			return false, fmt.Errorf("look for sealed values in %s of bank %d: %w", t.name, caller.Tenant, err)
		}
		for _, v := range rows {
			if !t.holds(v) {
				continue
			}
			if _, err := t.renew(s.keys, caller.Tenant, v); err == nil {
				return true, nil
			}
			sealed = true
		}
	}
	if sealed {
		return false, fmt.Errorf("bank %d: %w", caller.Tenant, ErrForeign)
	}
	return false, nil
}

// holds reports whether a row has a sealed value, besides entries for regulators, which may still be in the clear.
func (t *table) holds(v values) bool {
	for i, c := range t.columns {
		if !c.report && len(v.pairs[i][0]) > 0 {
			return true
		}
	}
	return false
}
