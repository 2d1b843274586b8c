package payments

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
)

// RecurrenceUID is the number of a series; partners know it as recurrenceId.
type RecurrenceUID int64

func (u RecurrenceUID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseRecurrenceUID reads the number of a series from decimal digits.
func ParseRecurrenceUID(field, text string) (RecurrenceUID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("recurrence", field, fault.Number, "must be the digits of a recurrence id")
	}
	return RecurrenceUID(n), nil
}

// Recurrence is a series: payments alike that are made on a date and on others after it (rest/CONTRACT.md,
// recurrences). Each of its payments is drawn on its own day from what the first one said.
type Recurrence struct {
	bun.BaseModel `bun:"table:recurrences,alias:rec" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      RecurrenceUID `bun:"uid,pk" json:"-"`
	Customer customers.UID `bun:"customer" json:"-"` // the payer; of debits the payee
	Account  accounts.UID  `bun:"account" json:"account"`
	// DEBIT: each payment collects from an account at another bank
	EntryType rails.EntryType `bun:"entry_type" json:"entryType"`
	Rail      rails.Rail      `bun:"rail" json:"rail"`             // of the newest payment
	Speed     Speed           `bun:"speed" json:"speed,omitempty"` // "" for book transfers
	Minor     int64           `bun:"amount" json:"-"`              // of the payments to come
	Currency  money.Currency  `bun:"currency" json:"currency"`
	Frequency Frequency       `bun:"frequency" json:"frequency"`
	Until     PayUntil        `bun:"pay_until" json:"payUntil"`
	Start     time.Time       `bun:"start_date,type:date" json:"startDate"` // of the first payment
	// the date from which the others are counted: the first one, or that of the last change
	CountsFrom time.Time  `bun:"counts_from,type:date" json:"-"`
	End        *time.Time `bun:"end_date,type:date" json:"endDate"`
	Number     *int32     `bun:"number_of_payments" json:"numberOfPayments"`
	// payments so far, without skipped ones
	Made int32 `bun:"made" json:"-"`
	// of the next one to be made; nil for none
	Next *time.Time `bun:"next_date,type:date" json:"nextPaymentDate"`
	Last UID        `bun:"last_payment" json:"-"` // the newest payment
	// Pending until the first payment is approved
	Status      RecurrenceStatus `bun:"status" json:"status"`
	Reason      string           `bun:"reason" json:"reason"` // why it was cancelled
	Source      string           `bun:"source" json:"source"` // where that was asked for
	Draft       []byte           `bun:"draft_sealed" json:"-"`
	MakerClient string           `bun:"maker_client" json:"-"`
	MakerLogin  string           `bun:"maker_login" json:"-"`
	CreatedAt   time.Time        `bun:"created_at" json:"-"`
	UpdatedAt   time.Time        `bun:"updated_at" json:"-"`
	Version     int32            `bun:"version" json:"-"`
	Changed     int32            `bun:"changed_version" json:"-"` // Version when people last changed it
}

// Frequency says how often a payment repeats.
type Frequency string

const (
	Daily        Frequency = "Daily" // over a network that rests: each day on which it settles
	Weekly       Frequency = "Weekly"
	BiWeekly     Frequency = "BiWeekly" // every second week
	Monthly      Frequency = "Monthly"
	Quarterly    Frequency = "Quarterly"
	SemiAnnually Frequency = "SemiAnnually"
	Yearly       Frequency = "Yearly"
)

// Frequencies lists them all.
var Frequencies = []Frequency{Daily, Weekly, BiWeekly, Monthly, Quarterly, SemiAnnually, Yearly}

// apart is how far the payments of a series are apart.
var apart = map[Frequency]struct{ days, months int }{
	Daily: {days: 1}, Weekly: {days: 7}, BiWeekly: {days: 14}, Monthly: {months: 1}, Quarterly: {months: 3},
	SemiAnnually: {months: 6}, Yearly: {months: 12},
}

// next returns the first date of a series later than after. Dates are counted from from; in a month that
// is too short the date is its last day.
func (f Frequency) next(from, after time.Time) time.Time {
	step := apart[f]
	if after.Before(from) {
		return from
	}
	if step.days > 0 {
		passed := int(after.Sub(from).Hours()) / 24
		return from.AddDate(0, 0, (passed/step.days+1)*step.days)
	}
	months := 12*(after.Year()-from.Year()) + int(after.Month()-from.Month())
	for n := months / step.months; ; n++ {
		first := time.Date(from.Year(), from.Month()+time.Month(n*step.months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1)
		if day := first.AddDate(0, 0, min(from.Day(), last.Day())-1); day.After(after) {
			return day
		}
	}
}

// PayUntil says what ends a series.
type PayUntil string

const (
	UntilCancelled PayUntil = "Cancelled"
	UntilEndDate   PayUntil = "EndDate"          // no payment is later than this
	UntilNumber    PayUntil = "NumberOfPayments" // so many payments; skipped ones do not count
)

// PayUntils lists them all.
var PayUntils = []PayUntil{UntilCancelled, UntilEndDate, UntilNumber}

// RecurrenceStatus says whether a series goes on.
type RecurrenceStatus string

const (
	RecurrencePending   RecurrenceStatus = "Pending" // its first payment waits for a second person
	RecurrenceActive    RecurrenceStatus = "Active"
	RecurrenceCompleted RecurrenceStatus = "Completed" // all its payments are made
	RecurrenceCancelled RecurrenceStatus = "Cancelled"
)

// Amount returns what the payments to come are of.
func (r *Recurrence) Amount() money.Amount { return money.Of(r.Minor, r.Currency) }

// Recorded returns what the audit record shows of the series in another form.
func (r *Recurrence) Recorded() map[string]audit.Field {
	return map[string]audit.Field{
		"Minor": {Name: "amount", Value: r.Amount().String()}, "Start": {Name: "startDate", Value: iso(&r.Start)},
		"End": {Name: "endDate", Value: iso(r.End)}, "Next": {Name: "nextPaymentDate", Value: iso(r.Next)},
	}
}

func iso(day *time.Time) string {
	if day == nil {
		return ""
	}
	return day.Format(time.DateOnly)
}

// advance sets the date of the next payment: the first one of the series after that of another payment. If
// there is none, the series is complete.
func (r *Recurrence) advance(after time.Time) {
	if r.everyBankingDay() {
		after = calendar.Next(after, 0) // a day of rest, which changes of older releases have set
	}
	r.goOn(r.after(after))
}

// goOn sets the date of the next payment. If it is none of the series any more, the series is complete.
func (r *Recurrence) goOn(next time.Time) {
	if r.Next = &next; r.over() {
		r.Status, r.Next = RecurrenceCompleted, nil
	}
}

// after returns the first date of the series after a day, whatever ends the series.
func (r *Recurrence) after(day time.Time) time.Time {
	next := r.Frequency.next(r.CountsFrom, day)
	if r.everyBankingDay() {
		next = calendar.Next(next, 0)
	}
	return next
}

// before returns the nth date of the series before one of them, or the first one if there are fewer.
func (r *Recurrence) before(date time.Time, n int) time.Time {
	dates := []time.Time{}
	for day := r.after(r.CountsFrom.AddDate(0, 0, -1)); day.Before(date); day = r.after(day) {
		dates = append(dates, day)
	}
	if len(dates) == 0 {
		return date
	}
	return dates[max(0, len(dates)-n)]
}

// everyBankingDay reports whether the dates of the series are the days on which its network settles.
func (r *Recurrence) everyBankingDay() bool {
	return r.Frequency == Daily && r.Speed != "" && r.Speed != Instant
}

// Advance sets the date of the second payment of a new series.
func (r *Recurrence) Advance() { r.advance(r.Start) }

// over reports whether no payment is to be made any more.
func (r *Recurrence) over() bool {
	return r.Number != nil && r.Made >= *r.Number || r.End != nil && r.Next != nil && r.Next.After(*r.End)
}

// Upcoming returns the dates of the payments to come, at most n. If a network is closed on a date, its
// payment settles on the next day on which it is open.
func (r *Recurrence) Upcoming(n int) (days []time.Time) {
	ahead := *r
	for range n {
		if ahead.Next == nil || ahead.Status != RecurrenceActive && ahead.Status != RecurrencePending {
			break
		}
		days = append(days, *ahead.Next)
		ahead.Made++
		ahead.advance(*ahead.Next)
	}
	return days
}

// MostUpcoming is how many dates to come UpcomingDates returns.
const MostUpcoming = 6

// UpcomingDates returns the dates of the next payments, at most MostUpcoming.
func (r *Recurrence) UpcomingDates() []time.Time { return r.Upcoming(MostUpcoming) }

// DraftColumn names the column for which the drafts of series are sealed (seal.Place).
const DraftColumn = "recurrences.draft"

func (r *Recurrence) place() seal.Place {
	return seal.Place{Tenant: int64(r.Tenant), Column: DraftColumn, Row: int64(r.UID)}
}

// Repetition is what a request for a payment says about repeating it (rest/CONTRACT.md, recurrences).
type Repetition struct {
	Frequency string    `json:"frequency"`
	Until     string    `json:"payUntil"`
	End       time.Time `json:"endDate,omitzero"` // midnight UTC; zero if absent
	Number    *int32    `json:"numberOfPayments,omitempty"`
}

// endsAfter returns a fault for a series that ends before its second payment.
func (d *Repetition) endsAfter(first time.Time) error {
	if d == nil || d.End.IsZero() || d.End.After(first) {
		return nil
	}
	return fault.Field("payment", "recurrence.endDate", fault.Min,
		"must be after the date of the first payment")
}

// check checks the form of a repetition; first is the date of the first payment, if it is given.
func (d *Repetition) check(c *check.Fields, first time.Time, most int32) {
	if d == nil {
		return
	}
	c.Required("frequency", d.Frequency)
	c.Required("payUntil", d.Until)
	d.Frequency = string(check.OneOf(c, "frequency", d.Frequency, Frequencies...))
	d.Until = string(check.OneOf(c, "payUntil", d.Until, PayUntils...))
	switch {
	case PayUntil(d.Until) == UntilEndDate && d.End.IsZero():
		c.Fail("endDate", fault.Required, "is required where payUntil is EndDate")
	case PayUntil(d.Until) != UntilEndDate && !d.End.IsZero():
		c.Fail("endDate", fault.Forbidden, "is for payUntil EndDate")
	case !d.End.IsZero() && !first.IsZero() && !d.End.After(first):
		c.Fail("endDate", fault.Min, "must be after the date of the first payment")
	}
	switch {
	case PayUntil(d.Until) == UntilNumber && d.Number == nil:
		c.Fail("numberOfPayments", fault.Required, "is required where payUntil is NumberOfPayments")
	case PayUntil(d.Until) != UntilNumber && d.Number != nil:
		c.Fail("numberOfPayments", fault.Forbidden, "is for payUntil NumberOfPayments")
	case d.Number != nil && *d.Number < 1:
		c.Fail("numberOfPayments", fault.Min, "must be at least 1")
	case d.Number != nil && *d.Number > most:
		c.Fail("numberOfPayments", fault.Max, "must be at most "+strconv.Itoa(int(most)))
	}
}

// mostPayments and mostPaymentsStrict bound the payments of a series, of the older and of the current form.
const (
	mostPayments       = 1000
	mostPaymentsStrict = 9999
)

// The faults of series.
var (
	ErrNoRecurrence = fault.New(fault.NotFound, "recurrence.not_found", "no such series of payments")
	// ErrRecurrenceOver is returned for a series that is complete or cancelled, and for one that waits for
	// approval.
	ErrRecurrenceOver = fault.New(fault.State, "recurrence.over", "the series is not active")
	// ErrManySeries is returned for another series of a customer that has as many as it may have.
	ErrManySeries = fault.New(fault.State, "recurrence.many",
		fmt.Sprintf("the customer has %d series that go on, as many as it may have: end one that you no longer need",
			mostSeries)).On("recurrence")
)
