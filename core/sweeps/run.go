// Package sweeps runs the sweeps of accounts: on its day, each makes one payment that brings the balance
// where it is wanted, and what became of that is kept.
package sweeps

import (
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/payments"
)

// RunUID is the number of a run.
type RunUID int64

func (u RunUID) String() string { return strconv.FormatInt(int64(u), 10) }

// RunOutcome says what became of a run (rest/CONTRACT.md, runs of sweeps).
type RunOutcome string

const (
	Paid RunOutcome = "PAID" // it made a payment to the contact
	// it made a debit of the contact's account, or asked the contact to pay
	Collected   RunOutcome = "COLLECTED"
	NothingToDo RunOutcome = "NOTHING_TO_DO" // the balance is where it is wanted, or on its way there
	Failed      RunOutcome = "FAILED"        // no payment could be made
)

// Run is what a sweep did on one day. Amounts are minor units of Currency.
type Run struct {
	bun.BaseModel `bun:"table:sweep_runs,alias:sr" json:"-"`

	Tenant    access.Tenant      `bun:"tenant,pk" json:"-"`
	UID       RunUID             `bun:"uid,pk" json:"uid"`
	Account   accounts.UID       `bun:"account" json:"account"`
	Customer  customers.UID      `bun:"customer" json:"-"`          // whose account it is
	Direction accounts.Direction `bun:"direction" json:"direction"` // of the sweep
	Day       time.Time          `bun:"day,type:date" json:"-"`     // in the bank's zone; midnight UTC
	Outcome   RunOutcome         `bun:"outcome" json:"outcome"`
	Currency  money.Currency     `bun:"currency" json:"-"`
	// what was available, before; nil where the run failed before it looked
	AvailableMinor *int64 `bun:"balance" json:"-"`
	// what was to be paid or collected; 0 for nothing
	Minor    int64        `bun:"amount" json:"-"`
	FeeMinor int64        `bun:"fee" json:"-"` // what its payment costs, as things were
	Payment  payments.UID `bun:"payment,nullzero" json:"payment,omitzero"`
	Reason   string       `bun:"reason" json:"reason"` // why it failed
	At       time.Time    `bun:"at" json:"at"`         // by the bank's clock
}

// Available is what was available on the account, before; nil where the run failed before it looked.
func (r *Run) Available() *money.Amount {
	if r.AvailableMinor == nil {
		return nil
	}
	amount := money.Of(*r.AvailableMinor, r.Currency)
	return &amount
}

// Amount is what was to be paid or collected; nil for nothing.
func (r *Run) Amount() *money.Amount {
	if r.Minor == 0 {
		return nil
	}
	amount := money.Of(r.Minor, r.Currency)
	return &amount
}

// Recorded returns what the record of changes shows of the run in another way.
func (r *Run) Recorded() map[string]audit.Field {
	shown := func(name string, amount *money.Amount) audit.Field {
		if amount == nil {
			return audit.Field{}
		}
		return audit.Field{Name: name, Value: amount.String()}
	}
	return map[string]audit.Field{
		"AvailableMinor": shown("available", r.Available()), "Minor": shown("amount", r.Amount()), "FeeMinor": {},
		"Day": {Name: "day", Value: r.Day.Format(time.DateOnly)}, "Customer": {}, "UID": {}, "At": {},
	}
}
