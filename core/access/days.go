package access

import "time"

// StartOf returns the first moment of a day in a zone: where clocks are set back or forward over midnight,
// not every day begins at 0:00, and some do so twice.
func StartOf(day time.Time, zone *time.Location) time.Time {
	at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	begins, ends := at.ZoneBounds()
	// there is no 0:00, and this is before the clocks were set forward
	if year, month, d := at.Date(); time.Date(year, month, d, 0, 0, 0, 0, time.UTC).Before(day) {
		return ends
	}
	if begins.IsZero() {
		return at
	}
	_, offset := at.Zone()
	_, before := begins.Add(-1).Zone()
	if again := at.Add(time.Duration(offset-before) * time.Second); again.Before(begins) && again.Before(at) {
		return again
	}
	return at
}
