package accounts

import (
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
)

// Direction says which way a sweep moves money: into the account, out of it, or both.
type Direction string

const (
	In   Direction = "in"
	Out  Direction = "out"
	Both Direction = "both"
)

// ParseDirection reads a direction. An older interface writes inout for both.
func ParseDirection(field, text string) (Direction, error) {
	switch d := Direction(ident.Fold(text)); d {
	case In, Out, Both:
		return d, nil
	case "inout":
		return Both, nil
	}
	return "", fault.Field("sweep", field, fault.Malformed, "must be in, out or both")
}

// BalanceType says what balance a sweep leaves in the account.
type BalanceType string

const (
	Target BalanceType = "Target" // a fixed amount
	Range  BalanceType = "Range"  // between two amounts
	Zero   BalanceType = "Zero"   // nothing
)

// InMethod is how a sweep collects money from a contact.
type InMethod string

const (
	ACHDebit     InMethod = "AchDebit"
	WireDrawdown InMethod = "WireDrawdown"
	InstantRFP   InMethod = "InstantRFP"
)

// OutMethod is how a sweep pays money to a contact.
type OutMethod string

const (
	ACHCredit      OutMethod = "AchCredit"
	WirePayment    OutMethod = "WirePayment"
	InstantPayment OutMethod = "InstantPayment"
)

// FrequencyType is how often a sweep runs.
type FrequencyType string

const (
	Daily   FrequencyType = "Daily"
	Weekly  FrequencyType = "Weekly"
	Monthly FrequencyType = "Monthly"
)

// Weekday is a day of the week, as partners write it (rest/CONTRACT.md, sweeps).
type Weekday string

const (
	Monday    Weekday = "MONDAY"
	Tuesday   Weekday = "TUESDAY"
	Wednesday Weekday = "WEDNESDAY"
	Thursday  Weekday = "THURSDAY"
	Friday    Weekday = "FRIDAY"
	Saturday  Weekday = "SATURDAY"
	Sunday    Weekday = "SUNDAY"
)

// Sweep moves money on certain days to bring an account's balance to a target (rest/CONTRACT.md, sweeps).
// Amounts are minor units of Currency, which is the account's.
type Sweep struct {
	bun.BaseModel `bun:"table:sweeps,alias:w" json:"-"`

	Tenant      access.Tenant  `bun:"tenant,pk" json:"-"`
	Account     UID            `bun:"account,pk" json:"-"`
	Direction   Direction      `bun:"direction,pk" json:"-"`
	BalanceType BalanceType    `bun:"balance_type" json:"-"`
	Currency    money.Currency `bun:"currency" json:"-"`
	TargetMinor *int64         `bun:"target_balance" json:"-"` // nil for a range
	LowMinor    *int64         `bun:"range_from" json:"-"`     // below it money comes in
	HighMinor   *int64         `bun:"range_to" json:"-"`       // above it money goes out
	FromContact *contacts.UID  `bun:"from_contact" json:"-"`
	FromMethod  InMethod       `bun:"from_method" json:"-"`
	ToContact   *contacts.UID  `bun:"to_contact" json:"-"`
	ToMethod    OutMethod      `bun:"to_method" json:"-"`
	Frequency   FrequencyType  `bun:"frequency" json:"-"`
	DayOfWeek   Weekday        `bun:"day_of_week" json:"-"`  // empty unless it runs weekly
	DayOfMonth  int32          `bun:"day_of_month" json:"-"` // 0 unless it runs monthly
	CreatedAt   time.Time      `bun:"created_at" json:"-"`
	UpdatedAt   time.Time      `bun:"updated_at" json:"-"`
	Version     int32          `bun:"version" json:"-"`

	// whose account it is, by which it takes its turn; 0 where the release before has set it up
	Customer customers.UID `bun:"customer" json:"-"`
	// who last set it up, in whose name its payments are made
	Maker access.Maker `bun:"maker,type:jsonb" json:"-"`
	// the next day of its frequency that it has not run for; nil where that is still to be found
	Next     *time.Time `bun:"next_date,type:date" json:"-"`
	FailedAt *time.Time `bun:"failed_at" json:"-"` // since when its runs fail; nil if the last one did not
	Failure  string     `bun:"failure" json:"-"`   // why the last one did

	Today time.Time `bun:"today,scanonly" json:"-"` // the bank's civil day at the read; midnight UTC
}

// TargetBalance returns the balance that the sweep leaves; nil for a range.
func (w *Sweep) TargetBalance() *money.Amount { return w.amount(w.TargetMinor) }

// FromAmount returns the lower bound of a range; nil for others.
func (w *Sweep) FromAmount() *money.Amount { return w.amount(w.LowMinor) }

// ToAmount returns the upper bound of a range; nil for others.
func (w *Sweep) ToAmount() *money.Amount { return w.amount(w.HighMinor) }

func (w *Sweep) amount(minor *int64) *money.Amount {
	if minor == nil {
		return nil
	}
	amount := money.Of(*minor, w.Currency)
	return &amount
}

// NextSweepDate returns the next day on which the sweep runs: after Today, unless it has not run yet on a day
// that has come.
func (w *Sweep) NextSweepDate() time.Time {
	next := w.NextAfter(w.Today)
	if w.Next != nil {
		next = *w.Next
	}
	if next.Before(w.Today) {
		next = w.Today
	}
	return calendar.Next(next, 0)
}

// RunsAfter returns the first day after today on which the sweep runs: of a day of its frequency that is no
// banking day, the next one that is.
func (w *Sweep) RunsAfter(today time.Time) time.Time { return calendar.Next(w.NextAfter(today), 0) }

// NextAfter returns the first day of the sweep's frequency after today; both are midnights UTC. If a month
// has no such day, its last day counts.
func (w *Sweep) NextAfter(today time.Time) time.Time {
	next := today.AddDate(0, 0, 1)
	switch w.Frequency {
	case Weekly:
		for range 6 {
			if strings.EqualFold(next.Weekday().String(), string(w.DayOfWeek)) {
				break
			}
			next = next.AddDate(0, 0, 1)
		}
	case Monthly:
		next = inMonth(today.Year(), today.Month(), int(w.DayOfMonth))
		if !next.After(today) {
			next = inMonth(today.Year(), today.Month()+1, int(w.DayOfMonth))
		}
	}
	return next
}

// inMonth returns a day of a month, or the month's last day if that is earlier.
func inMonth(year int, month time.Month, day int) time.Time {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return last.AddDate(0, 0, min(day, last.Day())-last.Day())
}

// Recorded leaves out of the record of changes what the bank keeps with the sweep to run it.
func (w *Sweep) Recorded() map[string]audit.Field {
	return map[string]audit.Field{"Customer": {}, "Next": {}, "FailedAt": {}, "Failure": {}}
}

var (
	// ErrNoSweep is returned when no sweep is set up in the direction.
	ErrNoSweep = fault.New(fault.NotFound, "sweep.not_found",
		"no sweep is set up for the account in this direction").On("direction")
	// ErrSweepExists is returned for a second sweep in one direction.
	ErrSweepExists = fault.New(fault.Conflict, "sweep.exists",
		"a sweep is set up for the account in this direction already").On("direction")
	// ErrSweepBeside is returned for a sweep in both directions beside one in a single direction.
	ErrSweepBeside = fault.New(fault.Conflict, "sweep.beside",
		"a sweep in both directions stands alone: remove the other one first").On("direction")
	// ErrNotActive is returned for an account that may not be swept.
	ErrNotActive = fault.New(fault.State, "sweep.not_active", "only an active account can be swept").
			On("accountUID")
)
