// Package states describes the allowed changes of a status.
package states

import (
	"slices"

	"bankgraph/core/fault"
)

// Step is a change from one of some statuses to another.
type Step[S ~string] struct {
	From    []S
	To      S
	Refused map[S]*fault.Fault // the faults of these other statuses
	Else    *fault.Fault       // the fault of all others
}

// Take returns the status after the step. If the step is not allowed, it returns a fault whose detail is the
// present status.
func (s Step[S]) Take(now S) (S, error) {
	if slices.Contains(s.From, now) {
		return s.To, nil
	}
	why, ok := s.Refused[now]
	if !ok {
		why = s.Else
	}
	return now, why.With(string(now))
}
