package changes

import "time"

// PaceBy returns a pace by a clock at which so much is done at a time.
func PaceBy(now func() time.Time, full int) *Pace {
	p := NewPace(full)
	p.now = now
	return p
}
