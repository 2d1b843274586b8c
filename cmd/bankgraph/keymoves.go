package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/seal"
)

// looksAgain is after how long a finished bank is checked again: a proof may have found more.
const looksAgain = time.Minute

// keyMoves moves the sealed values of banks to the primary keys while old keys are in use.
type keyMoves struct {
	*bank
	log   *slog.Logger
	moved atomic.Int64

	mu    sync.Mutex
	under [2]uint32 // the primary keys to which done refers
	done  map[access.Tenant]time.Time
	left  map[access.Tenant]bool
}

func (b *bank) moveKeys(meters *meters, log *slog.Logger) func(context.Context) (bool, error) {
	m := &keyMoves{bank: b, log: log, done: map[access.Tenant]time.Time{}, left: map[access.Tenant]bool{}}
	meters.gauge("bankgraph_keyset_moved_rows", "Rows that this process has brought under new keys.", nil,
		func() float64 { return float64(m.moved.Load()) })
	meters.gauge("bankgraph_keyset_banks_left", "Banks with values under old keys.", nil, func() float64 {
		m.mu.Lock()
		defer m.mu.Unlock()
		return float64(len(m.left))
	})
	return m.tick
}

// tick moves a few rows of one bank. The worker then pauses for as long as that took, so that half of the
// time is left to requests and the moves slow down under load.
func (m *keyMoves) tick(ctx context.Context) (busy bool, err error) {
	caller, err := access.Require(ctx)
	if err != nil || !m.due(caller.Tenant) {
		return false, err
	}
	did, err := m.Keysets.Move(ctx)
	m.moved.Add(int64(did.Moved))
	if did.Done {
		m.finished(caller.Tenant)
	}
	return !did.Idle && !did.Done, errors.Join(err, did.Trouble)
}

// due reports whether a bank may have values under old keys.
func (m *keyMoves) due(bank access.Tenant) bool {
	info := m.Keys.Info()
	sealing, searching := info.Primaries()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.under != [2]uint32{sealing, searching} {
		m.under = [2]uint32{sealing, searching}
		clear(m.done)
	}
	due := info.Has(seal.Old) && time.Since(m.done[bank]) > looksAgain
	if due {
		m.left[bank] = true
	} else {
		delete(m.left, bank)
	}
	return due
}

func (m *keyMoves) finished(bank access.Tenant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done[bank].IsZero() {
		m.log.Info("a bank's values are under the new keys", "bank", bank)
	}
	m.done[bank] = time.Now()
	delete(m.left, bank)
}
