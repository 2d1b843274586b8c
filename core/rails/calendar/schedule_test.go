package calendar_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"bankgraph/core/rails/calendar"
)

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04:05", text, calendar.Zone())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestWhenAPaymentIsSentAndSettles(t *testing.T) {
	t.Parallel()
	two := calendar.Default()
	two.ACHDays = 2
	for name, c := range map[string]struct {
		in                 calendar.Schedule
		of                 calendar.Service
		ready              string
		wanted             time.Time
		cutOff, sent, done string
	}{
		"the first window of the day": {
			of: calendar.SameDayACH, ready: "2026-11-23 08:00:00", cutOff: "2026-11-23 10:00:00", done: "2026-11-23",
		},
		"a second before a window": {
			of: calendar.SameDayACH, ready: "2026-11-23 13:59:59", cutOff: "2026-11-23 14:00:00", done: "2026-11-23",
		},
		"at the window it is too late": {
			of: calendar.SameDayACH, ready: "2026-11-23 14:00:00", cutOff: "2026-11-23 16:00:00", done: "2026-11-23",
		},
		"after the last window, with a holiday next": {
			of: calendar.SameDayACH, ready: "2026-11-25 16:00:00", cutOff: "2026-11-27 10:00:00", done: "2026-11-27",
		},
		"the last file of the day settles on the next": {
			of: calendar.ACH, ready: "2026-11-23 22:29:59", cutOff: "2026-11-23 22:30:00", done: "2026-11-24",
		},
		"on Friday evening it is sent on Monday": {
			of: calendar.ACH, ready: "2026-11-20 22:30:00", cutOff: "2026-11-23 10:00:00", done: "2026-11-24",
		},
		"over Christmas, in two days": {
			in: two, of: calendar.ACH, ready: "2026-12-24 09:00:00", cutOff: "2026-12-24 10:00:00", done: "2026-12-29",
		},
		"for a later day, two days before": {
			in: two, of: calendar.ACH, ready: "2026-12-01 09:00:00", wanted: date(2027, 1, 4),
			cutOff: "2026-12-30 10:00:00", done: "2027-01-04",
		},
		"for a Sunday, on the day after": {
			of: calendar.ACH, ready: "2026-12-01 09:00:00", wanted: date(2027, 1, 3),
			cutOff: "2026-12-31 10:00:00", done: "2027-01-04",
		},
		"a day that is too near": {
			of: calendar.ACH, ready: "2026-12-01 23:00:00", wanted: date(2026, 12, 2),
			cutOff: "2026-12-02 10:00:00", done: "2026-12-03",
		},
		"a wire at noon": {
			of: calendar.Wire, ready: "2026-11-23 12:00:00", cutOff: "2026-11-23 18:00:00",
			sent: "2026-11-23 12:00:00", done: "2026-11-23",
		},
		"a wire after its cut-off": {
			of: calendar.Wire, ready: "2026-11-23 18:00:00", cutOff: "2026-11-24 18:00:00",
			sent: "2026-11-23 21:00:00", done: "2026-11-24",
		},
		"a wire late on Sunday is Monday's": {
			of: calendar.Wire, ready: "2026-11-22 21:30:00", cutOff: "2026-11-23 18:00:00",
			sent: "2026-11-22 21:30:00", done: "2026-11-23",
		},
		"a wire of Saturday": {
			of: calendar.Wire, ready: "2026-11-21 12:00:00", cutOff: "2026-11-23 18:00:00",
			sent: "2026-11-22 21:00:00", done: "2026-11-23",
		},
		"a wire for a holiday": {
			of: calendar.Wire, ready: "2026-11-23 12:00:00", wanted: date(2026, 11, 26), cutOff: "2026-11-27 18:00:00",
			sent: "2026-11-26 21:00:00", done: "2026-11-27",
		},
		"an instant payment at night on a holiday": {
			of: calendar.FedNow, ready: "2026-12-25 03:00:00", sent: "2026-12-25 03:00:00", done: "2026-12-25",
		},
		"an instant payment for a Sunday": {
			of: calendar.RTP, ready: "2026-11-20 12:00:00", wanted: date(2026, 11, 22),
			sent: "2026-11-22 00:00:00", done: "2026-11-22",
		},
		"a book transfer for yesterday": {
			of: calendar.Book, ready: "2026-11-22 12:00:00", wanted: date(2026, 11, 21),
			sent: "2026-11-22 12:00:00", done: "2026-11-22",
		},
	} {
		if c.in.ACHDays == 0 {
			c.in = calendar.Default()
		}
		want := calendar.Slot{Sent: instant(t, either(c.sent, c.cutOff)), Settles: instant(t, c.done+" 00:00:00")}
		if c.cutOff != "" {
			want.CutOff = instant(t, c.cutOff)
		}
		got := c.in.Plan(c.of, instant(t, c.ready), c.wanted)
		if !got.CutOff.Equal(want.CutOff) || !got.Sent.Equal(want.Sent) ||
			got.Settles.Format(time.DateOnly) != c.done || got.Settles.Location() != time.UTC {
			t.Errorf("%s: cut-off %s, sent %s, settles %s", name, got.CutOff, got.Sent, got.Settles)
		}
	}
}

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// Clocks in New York are put back at 06:00 UTC on 1 November 2026: 01:30 comes twice. They are put forward at
// 07:00 UTC on 14 March 2027.
func TestTheRepeatedHourAndTheMissingOneChangeNoCutOff(t *testing.T) {
	t.Parallel()
	schedule := calendar.Default()
	for _, night := range []string{
		"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2027-03-14T06:59:59Z", "2027-03-14T07:00:00Z",
	} {
		ready, err := time.Parse(time.RFC3339, night)
		if err != nil {
			t.Fatal(err)
		}
		sunday := calendar.Today(ready)
		wire := schedule.Plan(calendar.Wire, ready, time.Time{})
		if wire.Sent.In(calendar.Zone()).Format("15:04") != "21:00" ||
			!calendar.Today(wire.Sent).Equal(sunday) {
			t.Errorf("%s: the wire is sent at %s", night, wire.Sent.In(calendar.Zone()))
		}
		file := schedule.Plan(calendar.SameDayACH, ready, time.Time{})
		if file.Sent.In(calendar.Zone()).Format("15:04") != "10:00" ||
			!file.Settles.Equal(sunday.AddDate(0, 0, 1)) {
			t.Errorf("%s: the file is sent at %s", night, file.Sent.In(calendar.Zone()))
		}
		if now := schedule.Plan(calendar.RTP, ready, sunday); !now.Sent.Equal(ready) ||
			!now.Settles.Equal(sunday) {
			t.Errorf("%s: the instant payment is sent at %s", night, now.Sent)
		}
	}
}

// The slot of a file is the first of all cut-offs of some weeks that is still ahead and early enough.
func TestTheSlotOfAFileIsTheFirstOneThatFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schedule := calendar.Default()
		schedule.ACHDays = rapid.IntRange(1, 2).Draw(t, "days")
		service := rapid.SampledFrom([]calendar.Service{calendar.ACH, calendar.SameDayACH}).Draw(t, "service")
		first := date(2026, 1, 2).AddDate(0, 0, rapid.IntRange(0, 3600).Draw(t, "day"))
		ready := first.Add(time.Duration(rapid.IntRange(0, 86399).Draw(t, "second")) * time.Second)
		wanted := first.AddDate(0, 0, rapid.IntRange(-3, 30).Draw(t, "wanted"))
		got := schedule.Plan(service, ready, wanted)
		hours, days := [][2]int{{10, 0}, {14, 0}, {16, 0}}, 0
		if service == calendar.ACH {
			hours, days = append(hours, [2]int{19, 30}, [2]int{22, 30}), schedule.ACHDays
		}
		for day := first.AddDate(0, 0, -1); ; day = day.AddDate(0, 0, 1) {
			if !banking(day) {
				continue
			}
			settles := day
			for left := days; left > 0; {
				if settles = settles.AddDate(0, 0, 1); banking(settles) {
					left--
				}
			}
			for _, hour := range hours {
				cutOff := time.Date(day.Year(), day.Month(), day.Day(), hour[0], hour[1], 0, 0, calendar.Zone())
				if !cutOff.After(ready) || settles.Before(wanted) {
					continue
				}
				if !got.CutOff.Equal(cutOff) || !got.Sent.Equal(cutOff) || !got.Settles.Equal(settles) {
					t.Fatalf("%s, ready %s, for %s: %v, not sent %s and settled %s",
						service, ready, wanted, got, cutOff, settles)
				}
				return
			}
		}
	})
}

func TestAWireIsSentWhileItsDayIsOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := date(2026, 1, 2).AddDate(0, 0, rapid.IntRange(0, 3600).Draw(t, "day"))
		ready := first.Add(time.Duration(rapid.IntRange(0, 86399).Draw(t, "second")) * time.Second)
		wanted := first.AddDate(0, 0, rapid.IntRange(-3, 30).Draw(t, "wanted"))
		got := calendar.Default().Plan(calendar.Wire, ready, wanted)
		for day := first.AddDate(0, 0, -1); ; day = day.AddDate(0, 0, 1) {
			ends := time.Date(day.Year(), day.Month(), day.Day(), 18, 0, 0, 0, calendar.Zone())
			if !banking(day) || !ends.After(ready) || day.Before(wanted) {
				continue
			}
			sent := time.Date(day.Year(), day.Month(), day.Day()-1, 21, 0, 0, 0, calendar.Zone())
			if ready.After(sent) {
				sent = ready
			}
			if !got.Settles.Equal(day) || !got.CutOff.Equal(ends) || !got.Sent.Equal(sent) {
				t.Fatalf("ready %s, for %s: %v, not sent %s", ready, wanted, got, sent)
			}
			return
		}
	})
}

func TestASchedulesTimesAreThoseOfTheNetworks(t *testing.T) {
	t.Parallel()
	if err := calendar.Default().Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*calendar.Schedule){
		"no files":              func(s *calendar.Schedule) { s.ACH = nil },
		"no files of same day":  func(s *calendar.Schedule) { s.SameDayACH = nil },
		"a time twice":          func(s *calendar.Schedule) { s.ACH = []calendar.Clock{600, 600} },
		"before midnight":       func(s *calendar.Schedule) { s.ACH = []calendar.Clock{-1} },
		"after midnight":        func(s *calendar.Schedule) { s.ACH = []calendar.Clock{24 * 60} },
		"same day in the night": func(s *calendar.Schedule) { s.SameDayACH = []calendar.Clock{17 * 60} },
		"three days":            func(s *calendar.Schedule) { s.ACHDays = 3 },
		"no days":               func(s *calendar.Schedule) { s.ACHDays = 0 },
		"a late cut-off":        func(s *calendar.Schedule) { s.WireCutOff = 18*60 + 46 },
		"no cut-off":            func(s *calendar.Schedule) { s.WireCutOff = 0 },
		"opens in the morning":  func(s *calendar.Schedule) { s.WireOpens = 9 * 60 },
		"opens at midnight":     func(s *calendar.Schedule) { s.WireOpens = 24 * 60 },
	} {
		schedule := calendar.Default()
		change(&schedule)
		if schedule.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if got := (calendar.Schedule{}).Plan(calendar.ACH, date(2026, 1, 1), time.Time{}); got != (calendar.Slot{}) {
		t.Errorf("without files there is a slot: %v", got)
	}
}

func TestATimeOfTheDayIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"00:00", "09:05", "18:45", "23:59"} {
		if clock, err := calendar.ParseClock(text); err != nil || clock.String() != text {
			t.Errorf("%s is %s (%v)", text, clock, err)
		}
	}
	for _, text := range []string{"", "9:05", "24:00", "18:60", "18.45", "18:45:00", " 18:45", "6 pm", "-1:00"} {
		if clock, err := calendar.ParseClock(text); err == nil {
			t.Errorf("%q is %s", text, clock)
		}
	}
}
