package changes

import (
	"errors"
	"time"

	"bankgraph/db"
)

// longestWork is how long one call of WorkOff goes on: other work of the bank waits for it.
const longestWork = 500 * time.Millisecond

// WorkOff does one after another of the things that wait for a worker, until none does or it has worked long
// enough, and returns how many. do and giveUp return which one it was, also with an error, and zero if there
// was none. giveUp ends what do could not do, so that it holds up none of the others.
func WorkOff[K comparable](do func() (K, error), giveUp func(K) (K, error)) (done int, err error) {
	var none K
	for until := time.Now().Add(longestWork); time.Now().Before(until); {
		which, err := do()
		var why error
		if err != nil && which != none && !db.IsPassing(err) {
			why = err
			which, err = giveUp(which)
		}
		if err == nil && which != none {
			done++
		}
		if err = errors.Join(err, why); err != nil || which == none {
			return done, err
		}
	}
	return done, nil
}
