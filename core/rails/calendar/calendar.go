// Package calendar says on which days the networks settle, and when a payment is sent and settles.
//
// A day is a time at midnight UTC, as in the date columns of the database. The networks count their days and
// hours in New York, whatever zone a bank is in. Instant payments know no banking days.
package calendar

import (
	"sync"
	"time"

	"github.com/moov-io/base"
)

// zone is that of the networks. A program without a zone database has to import time/tzdata.
var zone = must(time.LoadLocation("America/New_York"))

func must(zone *time.Location, err error) *time.Location {
	if err != nil {
		panic("calendar: " + err.Error())
	}
	return zone
}

// Zone returns the zone in which the networks count days and hours, America/New_York.
func Zone() *time.Location { return zone }

// Today returns the day that it is in New York at an instant.
func Today(at time.Time) time.Time { return dayOf(at.In(zone)) }

// dayOf returns the day that a time shows on its own calendar.
func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// IsBankingDay reports whether the Federal Reserve Banks settle on a day: Monday to Friday, but for its
// eleven holidays. Of a holiday on a Sunday the Monday is free; of one on a Saturday no other day is.
func IsBankingDay(day time.Time) bool {
	if year := day.Year(); year >= firstYear && year < firstYear+len(years) {
		return years[year-firstYear]()[day.YearDay()]
	}
	return base.NewTime(dayOf(day)).IsBankingDay()
}

const firstYear = 2020

// years are the banking days of the years in which payments are made, by the day of the year from 1. Each
// is worked out when it is first asked for.
var years = func() (all [40]func() [367]bool) {
	for i := range all {
		all[i] = sync.OnceValue(func() (open [367]bool) {
			for day := time.Date(firstYear+i, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == firstYear+i; {
				open[day.YearDay()] = base.NewTime(day).IsBankingDay()
				day = day.AddDate(0, 0, 1)
			}
			return open
		})
	}
	return all
}()

// Next returns the nth banking day after a day; before it, if n is negative. With n = 0 it is the day
// itself, or the first banking day after it.
func Next(day time.Time, n int) time.Time {
	day = dayOf(day)
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	if n == 0 {
		day, n = day.AddDate(0, 0, -1), 1
	}
	for n > 0 {
		day = day.AddDate(0, 0, step)
		if IsBankingDay(day) {
			n--
		}
	}
	return day
}
