// Package states has the shape in which a domain tables what may become of a status.
package states

import (
	"slices"

	"bankgraph/core/fault"
)

// Step leads what has one of some statuses to another one.
type Step[S ~string] struct {
	From    []S
	To      S
	Refused map[S]*fault.Fault // why there is no step from these
	Else    *fault.Fault       // and none from the rest
}

// Take returns the status after the step. Where it does not lead on, the fault's detail is the status now.
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
