package keysets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"bankgraph/core/access"
	"bankgraph/core/seal"
)

// ErrForeign is returned when a bank's values are sealed under keys that the keyset lacks.
var ErrForeign = errors.New("the bank's values are sealed under keys that the keyset does not have")

// sampled is how many rows of each table Fits checks.
const sampled = 3

// Fits returns ErrForeign if the keyset lacks the keys of the last sealed rows of the caller's bank; known is
// false for a bank that has sealed nothing yet. To write under a wrong keyset would give values that the
// right one cannot read, and let an account number be taken twice. Damaged values do not count: while others
// open, the name of a key counts only if two values bear it, and the log tells of one.
func (s *Service) Fits(ctx context.Context) (known bool, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return false, err
	}
	opened, foreign, lacks := 0, error(nil), map[uint32]error{}
	for i := range tables {
		t := &tables[i]
		rows, err := read(ctx, s.db, t,
			fmt.Sprintf("SELECT %s FROM %s WHERE tenant = ? ORDER BY %s DESC LIMIT ?", t.selected(), t.name, t.key),
			caller.Tenant, sampled)
		if err != nil {
			return false, fmt.Errorf("look at what %s of bank %d are sealed under: %w", t.name, caller.Tenant, err)
		}
		for _, row := range rows {
			for i, c := range t.columns {
				sealed := row.pairs[i][0]
				if c.place == nil || len(sealed) == 0 {
					continue
				}
				if _, err := s.keys.Open(seal.Value{Sealed: sealed}, c.place(caller.Tenant, row.key)); err == nil {
					opened++
					continue
				}
				id, why := s.lacks(sealed)
				if why == nil {
					foreign = ErrForeign
				} else if lacks[id] != nil {
					return true, why
				} else {
					foreign, lacks[id] = why, why
				}
			}
		}
	}
	if opened == 0 {
		return foreign != nil, foreign
	}
	for id, why := range lacks {
		if _, known := s.warned.LoadOrStore(fmt.Sprint(caller.Tenant, id), true); !known {
			slog.WarnContext(ctx, "a value may be damaged, as none beside it names its key", "tenant",
				caller.TenantCode,
				"error", why)
		}
	}
	return true, nil
}

// lacks returns the key that a value names, and why it is not there; nil if it is, or if the value names
// none.
func (s *Service) lacks(sealed []byte) (id uint32, why error) {
	id, state := s.keys.Under(sealed)
	switch {
	case state == seal.Retired:
		why = fmt.Errorf("%w, or run \"bankgraph keyset restore\": key %d is retired", ErrForeign, id)
	case id != 0 && state == "":
		why = fmt.Errorf("%w: key %d is not in it", ErrForeign, id)
	}
	return id, why
}
