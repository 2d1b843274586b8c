package calendar

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Service is what a network does with a payment, by the words that partners know (paymentType of webhooks).
type Service string

const (
	ACH        Service = "REGULAR_ACH"
	SameDayACH Service = "SAME_DAY_ACH"
	Wire       Service = "WIRE"
	RTP        Service = "REALTIME_RTP"
	FedNow     Service = "REALTIME_FEDNOW"
	Book       Service = "BOOK_TRANSFER"

	SpotSWIFT    Service = "SPOT_SWIFT"
	SameDaySWIFT Service = "SAME_DAY_SWIFT"
	NextDaySWIFT Service = "NEXT_DAY_SWIFT"
)

// Clock is a time of the day in New York, in minutes after midnight.
type Clock int

// ParseClock reads a time of the day from 00:00 to 23:59, of exactly five characters.
func ParseClock(text string) (Clock, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is no time of the day, such as 18:00", text)
	}
	return at(t.Hour(), t.Minute()), nil
}

func at(hour, minute int) Clock { return Clock(60*hour + minute) }

// String returns the time as in 18:00.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// On returns the instant at which clocks in New York show the time on a day.
func (c Clock) On(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 0, int(c), 0, 0, zone)
}

// Schedule says when a bank hands payments to the networks. Cut-offs end what they bound: a payment that
// comes at 18:00:00 has missed the cut-off of 18:00.
type Schedule struct {
	// when files of ACH are sealed and sent on a banking day, in ascending order
	SameDayACH, ACH []Clock
	// ACHDays is how many banking days after it is sent a regular entry settles, one or two.
	ACHDays int
	// WireOpens is in the evening before the banking day; WireCutOff, on the day, is that of customers.
	WireOpens, WireCutOff Clock
	// SWIFTCutOff is when the bank sends the last international payments of a day.
	SWIFTCutOff Clock
}

// Default returns the schedule of a bank that has set none.
func Default() Schedule {
	sameDay := []Clock{at(10, 0), at(14, 0), at(16, 0)}
	return Schedule{
		SameDayACH: sameDay, ACH: append(slices.Clone(sameDay), at(19, 30), at(22, 30)), ACHDays: 1,
		WireOpens: at(21, 0), WireCutOff: at(18, 0), SWIFTCutOff: at(17, 0),
	}
}

// The end of the networks' own days: of the last window of same-day ACH, and of customers' wires.
var (
	sameDayEnds = at(16, 45)
	wireEnds    = at(18, 45)
)

// settlements are when same-day ACH settles, by the end of the window in which the network took the file.
var settlements = []struct{ taken, settles Clock }{
	{at(10, 30), at(13, 0)}, {at(14, 45), at(17, 0)}, {sameDayEnds, at(18, 0)},
}

// SettlesAt returns the instant at which entries of ACH settle on a day, if the network has taken their file
// at another one: those of the same day some hours after, all others at 08:30 in New York.
func SettlesAt(service Service, day, taken time.Time) time.Time {
	if service != SameDayACH {
		return at(8, 30).On(day)
	}
	for _, window := range settlements {
		if taken.Before(window.taken.On(day)) {
			return window.settles.On(day)
		}
	}
	return settlements[len(settlements)-1].settles.On(day)
}

// Starts returns the day on which a payment has to be sent to settle on a day: for regular ACH ACHDays
// banking days before.
func (s Schedule) Starts(service Service, day time.Time) time.Time {
	if service == ACH {
		return Next(day, -s.ACHDays)
	}
	return day
}

// SettledIf returns the last day on which a payment settles that is sent on a day.
func (s Schedule) SettledIf(service Service, sent time.Time) time.Time {
	if service == ACH {
		return Next(sent, s.ACHDays)
	}
	return sent
}

// Check returns an error that says what of a schedule no network would do.
func (s Schedule) Check() error {
	switch {
	case !ascending(s.SameDayACH) || !ascending(s.ACH):
		return errors.New("the times at which files are sent must be times of one day in ascending order")
	case s.SameDayACH[len(s.SameDayACH)-1] > sameDayEnds:
		return fmt.Errorf("the last window of same-day ACH ends at %s", sameDayEnds)
	case s.ACHDays != 1 && s.ACHDays != 2:
		return errors.New("regular ACH settles one or two banking days after it is sent")
	case s.WireCutOff <= 0 || s.WireCutOff > wireEnds:
		return fmt.Errorf("the cut-off of wires must not be after %s", wireEnds)
	case s.WireOpens < at(21, 0) || s.WireOpens >= at(24, 0):
		return errors.New("wires open at 21:00 of the evening before, or later that evening")
	}
	return nil
}

func ascending(clocks []Clock) bool {
	for i, c := range clocks {
		if c < 0 || c >= at(24, 0) || i > 0 && c <= clocks[i-1] {
			return false
		}
	}
	return len(clocks) > 0
}

// Slot is when a payment is handed to its network.
type Slot struct {
	CutOff  time.Time // a payment that comes then, or later, gets a later slot; zero if there is none
	Sent    time.Time // not before the payment came
	Settles time.Time // the day, midnight UTC
}

// Plan returns the first slot for a payment that is ready at an instant and shall not settle before a day,
// the zero time for the first that there is. If no payment settles on that day, it settles on the next
// day that has settlements; callers that would rather refuse compare the days.
//
// A schedule that has no times for a service's files gives the zero slot; Check refuses it.
//
// Regular ACH for a later day is sent ACHDays banking days before it. Wires for a later day are sent when the
// network opens for it. Instant payments and book transfers are done at once, or when their day begins, and
// have no cut-off; any other service is planned like these.
func (s Schedule) Plan(service Service, ready, wanted time.Time) Slot {
	switch service {
	case ACH:
		return files(s.ACH, s.ACHDays, ready, wanted)
	case SameDayACH:
		return files(s.SameDayACH, 0, ready, wanted)
	case Wire:
		return s.wire(ready, wanted)
	}
	slot := Slot{Sent: ready, Settles: Today(ready)}
	if wanted = dayOf(wanted); wanted.After(slot.Settles) {
		slot.Sent, slot.Settles = Clock(0).On(wanted), wanted
	}
	return slot
}

// files plans entries of files that settle some banking days after they were sent.
func files(sent []Clock, days int, ready, wanted time.Time) Slot {
	day := Today(ready)
	if len(sent) == 0 {
		return Slot{}
	}
	if wanted = dayOf(wanted); wanted.After(day) {
		day = later(day, Next(Next(wanted, 0), -days))
	}
	for day = Next(day, 0); ; day = Next(day, 1) {
		for _, clock := range sent {
			if cutOff := clock.On(day); ready.Before(cutOff) {
				return Slot{CutOff: cutOff, Sent: cutOff, Settles: Next(day, days)}
			}
		}
	}
}

func (s Schedule) wire(ready, wanted time.Time) Slot {
	day := later(Today(ready), dayOf(wanted))
	for day = Next(day, 0); ; day = Next(day, 1) {
		if cutOff := s.WireCutOff.On(day); ready.Before(cutOff) {
			opens := s.WireOpens.On(day.AddDate(0, 0, -1))
			return Slot{CutOff: cutOff, Sent: later(ready, opens), Settles: day}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
