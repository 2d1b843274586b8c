// Package holds keeps the holds that people of the bank place on accounts: money that stays there, and that
// nobody can spend until it is released, or the hold expires.
package holds

import (
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
)

// UID is a hold's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// Status is the state of a hold.
type Status string

const (
	Pending  Status = "Pending"  // waits for a second person; nothing is held
	Active   Status = "Active"   // the books hold its amount
	Released Status = "Released" // by people
	Expired  Status = "Expired"  // by itself
	Refused  Status = "Refused"  // the second person said no
)

// Hold is an amount of an account that people have reserved.
type Hold struct {
	bun.BaseModel `bun:"table:account_holds,alias:ah" json:"-"`

	Tenant      access.Tenant  `bun:"tenant,pk" json:"-"`
	UID         UID            `bun:"uid,pk" json:"uid"`
	Account     accounts.UID   `bun:"account" json:"account"`
	Customer    customers.UID  `bun:"customer" json:"-"`
	Minor       int64          `bun:"amount" json:"-"`
	Currency    money.Currency `bun:"currency" json:"currency"`
	Reason      string         `bun:"reason" json:"reason"`
	ExpiresAt   *time.Time     `bun:"expires_at" json:"expiresAt"` // nil: until it is released
	Status      Status         `bun:"status" json:"status"`
	MakerClient string         `bun:"maker_client" json:"-"`
	MakerLogin  string         `bun:"maker_login" json:"-"`
	Reach       access.Reach   `bun:"reach" json:"-"` // of who placed it
	CreatedAt   time.Time      `bun:"created_at" json:"-"`
	UpdatedAt   time.Time      `bun:"updated_at" json:"-"`
	Version     int32          `bun:"version" json:"-"`
}

// Amount returns what is held.
func (h *Hold) Amount() money.Amount { return money.Of(h.Minor, h.Currency) }

// Recorded returns the amount as the audit record shows it.
func (h *Hold) Recorded() map[string]audit.Field {
	return map[string]audit.Field{"Minor": {Name: "amount", Value: h.Amount().String()}}
}

// Draft is what a request says about a hold. Its reason is that of the request.
type Draft struct {
	Account   accounts.UID `json:"account"`
	Amount    string       `json:"amount"` // decimal, in the account's currency
	ExpiresAt *time.Time   `json:"expiresAt,omitempty"`
}

// mostDigits is how many digits an amount has at most before the point.
const mostDigits = 15

// check validates the form of a hold.
func (d *Draft) check(reason string) error {
	c := check.Of("hold")
	c.Required("amount", d.Amount)
	c.BankAmount("amount", d.Amount, mostDigits)
	if d.Amount != "" && (d.Amount[0] == '-' || strings.Trim(d.Amount, "0.") == "") {
		c.Fail("amount", fault.Min, "must be greater than 0")
	}
	c.Required("reason", strings.TrimSpace(reason))
	return c.Err()
}

// The faults of holds.
var (
	ErrNotFound = fault.New(fault.NotFound, "hold.not_found", "no such hold that people have placed")
	// ErrAccount is returned for an account that does not exist, or that the caller may not see.
	ErrAccount = fault.New(fault.NotFound, "hold.account", "must be an account of the bank").On("account")
	// ErrElsewhere is returned for an account that another system keeps, or that is closed.
	ErrElsewhere = fault.New(fault.State, "hold.account_state",
		"only an account of the bank's own books that is not closed can have a hold").On("account")
	// ErrBanks is returned when a caller outside the bank is to release a hold that the bank placed.
	ErrBanks = fault.New(fault.Denied, "hold.banks", "the bank placed this hold: only the bank can release it")
	// ErrOver is returned for a hold that does not hold anything any more.
	ErrOver = fault.New(fault.State, "hold.over", "the hold has ended already")
)
