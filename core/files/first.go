package files

import (
	"context"
	"slices"
	"sync"

	"bankgraph/core/access"
)

// firstReadings remembers what the first reading of NACHA files has found, of a few files at a time: each
// call that goes on with a large one would have to read all of it again. A file that is forgotten, or that
// another process goes on with, is read again. What is kept is never changed.
type firstReadings struct {
	mu   sync.Mutex
	kept []*firstReading // the one that was asked for last is the first
}

// mostReadings is how many are kept; one has at most mostBatches batches.
const mostReadings = 4

// firstReading is what the first reading of a file has found.
type firstReading struct {
	tenant         access.Tenant
	file           FileUID
	batches        batches
	whole, entries Faults
}

func (r *firstReading) is(f *BulkFile) bool { return r.tenant == f.Tenant && r.file == f.UID }

// of returns the first reading of a file; nil if it is not known.
func (r *firstReadings) of(f *BulkFile) *firstReading {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.kept, func(one *firstReading) bool { return one.is(f) })
	if at < 0 {
		return nil
	}
	found := r.kept[at]
	r.kept = slices.Insert(slices.Delete(r.kept, at, at+1), 0, found)
	return found
}

func (r *firstReadings) keep(one *firstReading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = slices.Insert(r.kept, 0, one)
	r.kept = slices.Delete(r.kept, min(len(r.kept), mostReadings), len(r.kept))
}

// forget drops what is known of a file.
func (r *firstReadings) forget(f *BulkFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = slices.DeleteFunc(r.kept, func(one *firstReading) bool { return one.is(f) })
}

// firstReading reads a NACHA file for the first time, unless it is known what that finds.
func (s *Service) firstReading(ctx context.Context, f *BulkFile) (*firstReading, error) {
	if found := s.readings.of(f); found != nil {
		return found, nil
	}
	text, err := s.text(ctx, f, 0)
	if err != nil {
		return nil, err
	}
	found := &firstReading{tenant: f.Tenant, file: f.UID}
	if found.batches, found.whole, found.entries, err = readBatches(text, f); err != nil {
		return nil, err
	}
	if err := s.payFrom(ctx, f, found.batches); err != nil {
		return nil, err
	}
	s.readings.keep(found)
	return found, nil
}
