package access_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"bankgraph/core/access"
)

func civil(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// A day begins with the first moment that has its date, in zones too whose clocks change at midnight.
func TestADayBeginsWithItsFirstMoment(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "America/New_York", "America/Sao_Paulo", "America/Havana", "Asia/Beirut", "Atlantic/Azores",
		"Africa/Cairo", "Asia/Tehran", "Pacific/Auckland", "America/Asuncion",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
		for ; day.Year() < 2020; day = day.AddDate(0, 0, 1) {
			start := access.StartOf(day, zone)
			if !civil(start.In(zone)).Equal(day) {
				t.Errorf("%s: %s begins at %s", name, day.Format(time.DateOnly), start.In(zone))
			}
			// No moment of the day lies before it: none of the same date, back to more than any change of
			// clocks.
			for back := time.Minute; back <= 3*time.Hour; back += time.Minute {
				if civil(start.Add(-back).In(zone)).Equal(day) {
					t.Errorf("%s: %s begins at %s, and is there %s earlier", name, day.Format(time.DateOnly),
						start.In(zone), back)
					break
				}
			}
		}
	}
}
