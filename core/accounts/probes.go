package accounts

import (
	"context"
	"errors"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
)

// Tried counts a number of this bank, or one that could be, which a caller pays to or collects from over a
// network, and reports whether the caller has named too many within the minute. They count apart from the
// other numbers, as payments that name too many go on, and end no searches.
func (s *Service) Tried(caller access.Caller) (spent bool) { return s.others.Add(caller, 1) != nil }

// numbering carries out a change that may give an account its number. Who names one hears whether somebody has
// it, whatever comes of it: also an account that gets the number, as a change can give it back. One that is
// opened with it stays in the record, and many may be opened in a day, so it counts within the minute alone;
// and not for the bank itself.
func (s *Service) numbering(
	ctx context.Context, o *changes.Operation[Draft, Saved], caller access.Caller,
	at changes.Target, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	named := draft.Number.Given && !seal.LooksMasked(draft.Number.Value)
	if named {
		if err := s.probes.Add(caller, 0); err != nil {
			return changes.Outcome[Saved]{}, err
		}
	}
	out, err := o.Do(ctx, caller, at, draft, options)
	switch {
	case errors.Is(err, ErrNumberTaken), named && probes.Tells(err), out.Result.renumbered:
		_ = s.probes.Add(caller, 1) // it has been answered already
	case named && err == nil && o == s.open && caller.Reach != access.OfBank:
		s.probes.Pace(caller)
	}
	out.Result.renumbered = false // a replay of the answer does not know it
	return out, err
}
