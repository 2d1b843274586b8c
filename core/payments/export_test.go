package payments

import (
	"context"
	"time"

	"bankgraph/db"
)

// FillFilesUpTo bounds the entries of a file of ACH.
func (s *Service) FillFilesUpTo(most int) { s.entriesOfFile = most }

// Uncommon is the condition that a payment is in a state in which few are.
const Uncommon = uncommon

// NextDue finds payments whose day has come, and NextRuns series.
var NextDue, NextRuns = nextDue, nextRuns

// Narrows returns the conditions of a search of the whole bank.
func (s *Service) Narrows(by Search) []string { return by.where(s, 1, new(db.Params)) }

// DecideUntil returns the deadline of a decision on a debit.
var DecideUntil = decideUntil

// AllOrEach does work on many numbers at a time, or else on each.
func AllOrEach(ctx context.Context, at *Pace, all []int, work func([]int) (int, error)) (int, error) {
	return allOrEach(ctx, at, all, func(n int) thing { return ofNumber(int64(n)) }, work)
}

// Pace is how much of a job is done at a time.
type Pace = pace

// NewPace returns a pace at which so much is done at a time, by a clock.
func NewPace(full int, now func() time.Time) *Pace {
	p := newPace(full)
	p.now = now
	return p
}

// Size returns how much is done at a time at present.
func (p *pace) Size() int { return p.size() }

// TryAllAgain forgets what was left out.
func (s *Service) TryAllAgain() {
	s.paces.mu.Lock()
	defer s.paces.mu.Unlock()
	s.paces.of = nil
}
