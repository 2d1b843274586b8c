package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/seal"
)

// looksAgain is after how long a bank that was done is looked at again: a proof may have found something.
const looksAgain = time.Minute

// moveKeys brings what banks have sealed under the primary keys, while old keys are in use. Banks take turns, a few rows each, and
// what goes wrong at one does not keep the others waiting. Half of the time is left to requests: each pause is as long as
// the work before it, so what is slow under load slows down.
func (b *bank) moveKeys(meters *meters, log *slog.Logger) func(context.Context) error {
	var moved, left atomic.Int64
	meters.gauge("bankgraph_keyset_moved_rows", "Rows that this process has brought under new keys.", nil, func() float64 { return float64(moved.Load()) })
	meters.gauge("bankgraph_keyset_banks_left", "Banks with values under old keys.", nil, func() float64 { return float64(left.Load()) })
	var under [2]uint32 // the primary keys that done is about
	done := map[access.Tenant]time.Time{}
	return func(ctx context.Context) error {
		info := b.Keys.Info()
		if !info.Has(seal.Old) {
			left.Store(0)
			return nil
		}
		if sealing, searching := info.Primaries(); under != [2]uint32{sealing, searching} {
			under = [2]uint32{sealing, searching}
			clear(done)
		}
		all, err := b.Tenants.List(access.Operator(ctx, 0, "", nil))
		if err != nil {
			return err
		}
		operators := map[access.Tenant]context.Context{}
		for _, bank := range all {
			if time.Since(done[bank.ID]) > looksAgain {
				operators[bank.ID] = access.Operator(ctx, bank.ID, bank.Code, nil)
			}
		}
		left.Store(int64(len(operators)))
		problems := []error(nil)
		for until := time.Now().Add(longestTick / 2); len(operators) > 0 && time.Now().Before(until); {
			for bank, operator := range operators {
				started := time.Now()
				did, err := b.Keysets.Move(operator)
				moved.Add(int64(did.Moved))
				if did.Trouble != nil {
					err = errors.Join(err, fmt.Errorf("bank %d: %w", bank, did.Trouble))
				}
				if problems = append(problems, err); err != nil || did.Idle || did.Done {
					delete(operators, bank)
				}
				if did.Done {
					if left.Add(-1); done[bank].IsZero() {
						log.Info("a bank's values are under the new keys", "bank", bank)
					}
					done[bank] = time.Now()
				}
				time.Sleep(time.Since(started))
			}
		}
		return errors.Join(problems...)
	}
}
