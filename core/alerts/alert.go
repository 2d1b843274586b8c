// Package alerts tells customers when the balance of an account falls below an amount, or rises above it.
package alerts

import (
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// UID is an alert's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// Balance says which balance of an account an alert watches.
type Balance string

const (
	Available Balance = "AVAILABLE" // ledger less what is held
	Ledger    Balance = "LEDGER"    // what is booked
)

// Balances lists them.
var Balances = []Balance{Available, Ledger}

// Direction says which way the balance goes when an alert fires.
type Direction string

const (
	Below Direction = "BELOW"
	Above Direction = "ABOVE"
)

// Directions lists them.
var Directions = []Direction{Below, Above}

// Status is the state of an alert. A Deleted one is not shown.
type Status string

const (
	Pending Status = "PENDING_APPROVAL" // waits for a second person
	Active  Status = "ACTIVE"
	Deleted Status = "DELETED"
)

// Alert is what somebody wants to be told of a balance. It fires once when the balance goes beyond the
// threshold, and is armed again once the balance has come back.
type Alert struct {
	bun.BaseModel `bun:"table:balance_alerts,alias:ba" json:"-"`

	Tenant       access.Tenant  `bun:"tenant,pk" json:"-"`
	UID          UID            `bun:"uid,pk" json:"uid"`
	Account      accounts.UID   `bun:"account" json:"account"`
	Customer     customers.UID  `bun:"customer" json:"-"` // whose account it is
	Balance      Balance        `bun:"balance" json:"balance"`
	Direction    Direction      `bun:"direction" json:"direction"`
	Minor        int64          `bun:"threshold" json:"-"`
	Currency     money.Currency `bun:"currency" json:"currency"` // the account's
	Status       Status         `bun:"status" json:"status"`
	Armed        bool           `bun:"armed" json:"-"`         // fires with the next crossing
	FiredAt      *time.Time     `bun:"fired_at" json:"-"`      // last, by the bank's clock
	FiredBalance *int64         `bun:"fired_balance" json:"-"` // in minor units, then
	CreatedAt    time.Time      `bun:"created_at" json:"-"`
	UpdatedAt    time.Time      `bun:"updated_at" json:"-"`
	Version      int32          `bun:"version" json:"-"`
}

// Threshold is what the balance is compared with.
func (a *Alert) Threshold() money.Amount { return money.Of(a.Minor, a.Currency) }

// Fired is what the balance was when the alert fired last; nil if it never has.
func (a *Alert) Fired() *money.Amount {
	if a.FiredBalance == nil {
		return nil
	}
	amount := money.Of(*a.FiredBalance, a.Currency)
	return &amount
}

// Recorded returns the amounts as the audit record shows them.
func (a *Alert) Recorded() map[string]audit.Field {
	fired := audit.Field{}
	if balance := a.Fired(); balance != nil {
		fired = audit.Field{Name: "firedBalance", Value: balance.String()}
	}
	return map[string]audit.Field{
		"Minor": {Name: "threshold", Value: a.Threshold().String()}, "FiredBalance": fired, "Armed": {},
	}
}

// of returns the balance that the alert watches, of what is booked and held on its account.
func (a *Alert) of(ledger, held int64) int64 {
	if a.Balance == Available {
		return ledger - held
	}
	return ledger
}

// beyond reports whether a balance is where the alert tells of it. At the threshold itself it is not.
func (a *Alert) beyond(balance int64) bool {
	if a.Direction == Below {
		return balance < a.Minor
	}
	return balance > a.Minor
}

// look compares the alert with a balance. It reports whether the balance has crossed the threshold: the alert
// fires if it was armed, and is armed if it was not.
func (a *Alert) look(balance int64, now time.Time) (crossed bool) {
	if a.Armed != a.beyond(balance) {
		return false
	}
	if a.Armed {
		a.FiredAt, a.FiredBalance = &now, &balance
	}
	a.Armed = !a.Armed
	return true
}

// mostOfAccount is how many alerts an account may have.
const mostOfAccount = 10

// The faults of alerts.
var (
	ErrNotFound = fault.New(fault.NotFound, "balanceAlert.not_found", "no such balance alert")
	// ErrAccount is returned for an account that does not exist, or that the caller may not see.
	ErrAccount = fault.New(fault.NotFound, "balanceAlert.account",
		"must be an account of the bank").On("account")
	// ErrElsewhere is returned for an account that another system keeps, or that is closed.
	ErrElsewhere = fault.New(fault.State, "balanceAlert.account_state",
		"only an account of the bank's own books that is not closed can have an alert").On("account")
	// ErrSame is returned for an alert that another one of the account is the same as.
	ErrSame = fault.New(fault.Conflict, "balanceAlert.same",
		"the account has an alert for this balance, direction and threshold already").On("threshold")
	// ErrMany is returned for an account that has as many alerts as it may have.
	ErrMany = fault.New(fault.State, "balanceAlert.many",
		"the account has as many alerts as it may have").On("account")
)
