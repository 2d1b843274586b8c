package calendar_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the zone is known on machines without a zone database

	"pgregory.net/rapid"

	"bankgraph/core/rails/calendar"
)

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// nth returns the nth weekday of a month, the last one if n is 0.
func nth(n int, weekday time.Weekday, month time.Month, year int) time.Time {
	if n == 0 {
		day := date(year, month+1, 0)
		return day.AddDate(0, 0, -int((day.Weekday()-weekday+7)%7))
	}
	day := date(year, month, 1)
	return day.AddDate(0, 0, int((weekday-day.Weekday()+7)%7)+7*(n-1))
}

// holidays are the eleven of the Federal Reserve's schedule in a year, as its pages state them.
func holidays(year int) map[time.Time]bool {
	free := map[time.Time]bool{
		nth(3, time.Monday, time.January, year):    true, // Martin Luther King
		nth(3, time.Monday, time.February, year):   true, // Washington
		nth(0, time.Monday, time.May, year):        true, // Memorial Day
		nth(1, time.Monday, time.September, year):  true, // Labor Day
		nth(2, time.Monday, time.October, year):    true, // Columbus
		nth(4, time.Thursday, time.November, year): true, // Thanksgiving
	}
	for _, fixed := range []time.Time{
		date(year, time.January, 1), date(year, time.June, 19), date(year, time.July, 4),
		date(year, time.November, 11), date(year, time.December, 25),
	} {
		free[fixed] = true
		if fixed.Weekday() == time.Sunday {
			free[fixed.AddDate(0, 0, 1)] = true
		}
	}
	return free
}

// banking is the rule of the Federal Reserve, written a second time.
func banking(day time.Time) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday && !holidays(day.Year())[day]
}

func TestTheBankingDaysOfManyYearsAreThoseOfTheFederalReserve(t *testing.T) {
	t.Parallel()
	for day := date(2022, 1, 1); day.Year() < 2065; day = day.AddDate(0, 0, 1) {
		if got := calendar.IsBankingDay(day); got != banking(day) {
			t.Errorf("%s: banking day %v", day.Format("Mon 2006-01-02"), got)
		}
		late := time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, calendar.Zone())
		if calendar.IsBankingDay(late) != banking(day) {
			t.Errorf("%s: the hour makes a difference", day.Format(time.DateOnly))
		}
	}
}

func TestHolidaysOfSundaysAreKeptOnMondayThoseOfSaturdaysNot(t *testing.T) {
	t.Parallel()
	for day, want := range map[time.Time]bool{
		date(2026, time.July, 3):      true, // a Friday before the 4th
		date(2026, time.July, 6):      true,
		date(2027, time.December, 24): true, // Christmas is a Saturday
		date(2027, time.December, 31): true, // New Year's Day is a Saturday
		date(2027, time.July, 5):      false,
		date(2028, time.January, 3):   true,
		date(2033, time.January, 1):   false,
		date(2034, time.January, 2):   false, // New Year's Day is a Sunday
		date(2033, time.June, 20):     false,
		date(2029, time.January, 20):  false, // a Saturday
		date(2026, time.November, 26): false,
		date(2026, time.November, 27): true,
	} {
		if calendar.IsBankingDay(day) != want {
			t.Errorf("%s: banking day %v", day.Format("Mon 2006-01-02"), !want)
		}
	}
}

func TestNextCountsBankingDaysBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := date(2026, 1, 10).AddDate(0, 0, rapid.IntRange(0, 3600).Draw(t, "day"))
		n := rapid.IntRange(-30, 30).Draw(t, "n")
		got := calendar.Next(from, n)
		if !banking(got) {
			t.Fatalf("%d after %s is %s, no banking day", n, from, got)
		}
		low, high, ends := from, got, 0 // banking days in (low, high], or [high, low) backwards
		if n < 0 {
			low, high, ends = got, from, 1
		}
		counted := 0
		for day := low.AddDate(0, 0, 1-ends); !day.After(high.AddDate(0, 0, -ends)); day = day.AddDate(0, 0, 1) {
			if banking(day) {
				counted++
			}
		}
		want := max(n, -n)
		if n == 0 && !banking(from) {
			want = 1
		}
		if counted != want {
			t.Fatalf("%d after %s is %s: %d banking days", n, from, got, counted)
		}
	})
}

func TestADayIsCountedInNewYork(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]time.Time{
		"2026-11-24T04:59:59Z":      date(2026, 11, 23),
		"2026-11-24T05:00:00Z":      date(2026, 11, 24),
		"2026-07-01T03:59:59Z":      date(2026, 6, 30), // summer time
		"2026-07-01T04:00:00Z":      date(2026, 7, 1),
		"2027-01-01T00:00:00-05:00": date(2027, 1, 1),
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := calendar.Today(instant); !got.Equal(want) {
			t.Errorf("%s is %s", at, got.Format(time.DateOnly))
		}
	}
}
