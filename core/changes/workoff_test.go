package changes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"bankgraph/core/changes"
)

// Whoever lets thousands of sweeps be due at once keeps the payments of others, for which the same workers
// work, waiting for half a second at most, and for the last one.
func TestWorkThatWaitsIsDoneInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		one := 1
		done, err := changes.WorkOff(func() (*int, error) {
			time.Sleep(20 * time.Millisecond)
			return &one, nil
		}, nil)
		if took := time.Since(began); err != nil || done == 0 || took > 500*time.Millisecond {
			t.Errorf("%d things in a row take %v, %v", done, took, err)
		}
	})
}
