package keysets

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// Left says how many values of a table are not under the primary keys.
type Left struct {
	Of   string // the table
	Rows int
}

// scanned is how many rows one statement of a proof reads, at most.
const scanned = 1000

// Prove reads every row of the caller's bank that holds a sealed value, and returns for each table how many
// are not under the primary keys; tables with none are left out, and the others are moved again.
func (s *Service) Prove(ctx context.Context) (left []Left, looked int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, 0, err
	}
	for i := range tables {
		t, n, after := &tables[i], 0, ""
		for {
			rows, last, ends, err := window(ctx, s.db, t, caller.Tenant, after, scanned)
			if err != nil {
				return nil, looked, fmt.Errorf("look for old keys in %s of bank %d: %w", t.name, caller.Tenant, err)
			}
			for _, v := range rows {
				if !t.current(s.keys, v) {
					n++
				}
			}
			looked, after = looked+len(rows), last
			if ends {
				break
			}
		}
		if n == 0 {
			continue
		}
		left = append(left, Left{t.name, n})
		if err := s.again(ctx, caller, t); err != nil {
			return nil, looked, err
		}
	}
	return left, looked, nil
}

// again resets the progress of a table, so that it is moved once more.
func (s *Service) again(ctx context.Context, caller access.Caller, t *table) error {
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(
			`UPDATE keyset_rotations SET finished_at = NULL, pass = pass + 1, after = '', looked = 0, found = 0,
				left_over = 0
			WHERE tenant = ? AND of = ? AND finished_at IS NOT NULL`, caller.Tenant, t.name).Exec(ctx)
		return err
	})
}
