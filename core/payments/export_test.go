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

// NextToSend finds the payments that are sent next.
var NextToSend = nextToSend

// DecideUntil returns the deadline of a decision on a debit.
var DecideUntil = decideUntil

// FindToSend finds the payments that are sent next.
func (s *Service) FindToSend(ctx context.Context) ([]UID, error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return nil, err
	}
	return s.nextToSend(ctx, caller, now)
}

// FindDue finds the payments whose day has come, from the first customers on.
func (s *Service) FindDue(ctx context.Context) (uids []UID, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return nil, err
	}
	due, err := s.nextDue(ctx, caller, now, duePlaces{}, []int64{})
	for _, d := range due {
		uids = append(uids, d.UID)
	}
	return uids, err
}

// TakeFilesFor bounds how long one call of Receive takes in files.
func (s *Service) TakeFilesFor(d time.Duration) { s.filesFor = d }
