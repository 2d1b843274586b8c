// Package virtualaccounts keeps virtual accounts: account numbers for parts of the money in a customer's
// account, their master account. The money is in the books of the master account alone; a virtual account
// tells what part of it came in under its number.
package virtualaccounts

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
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/seal"
	"bankgraph/core/states"
)

// object is the name of virtual accounts in the record and in faults.
const object = "virtualAccount"

// UID is a virtual account's number in the bank. Partners name it by its account number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// Status is the state of a virtual account.
type Status string

const (
	Active    Status = "Active"
	Suspended Status = "Suspended" // it waits for a second person
	Closed    Status = "Closed"
)

// Statuses lists all statuses.
var Statuses = []Status{Active, Suspended, Closed}

// ParseStatus reads a status without regard to letter case.
func ParseStatus(field, text string) (Status, error) {
	if s, ok := ident.Word(text, Statuses...); ok {
		return s, nil
	}
	return "", fault.Field(object, field, fault.Malformed, "must be one of Active, Suspended, Closed")
}

// closing is the only change of status (rest/CONTRACT.md, virtual accounts).
var closing = states.Step[Status]{From: []Status{Active, Suspended}, To: Closed, Else: ErrClosed}

// LimitPeriod is the period for which the limit of a virtual account counts.
type LimitPeriod string

const (
	Monthly    LimitPeriod = "Monthly"
	Quarterly  LimitPeriod = "Quarterly"
	HalfYearly LimitPeriod = "HalfYearly"
	Annually   LimitPeriod = "Annually"
)

// LimitPeriods lists them all.
var LimitPeriods = []LimitPeriod{Monthly, Quarterly, HalfYearly, Annually}

// VirtualAccount is an account number for a part of the money in an account (rest/CONTRACT.md, virtual
// accounts). Amounts are minor units of Currency.
type VirtualAccount struct {
	bun.BaseModel `bun:"table:virtual_accounts,alias:va" json:"-"`

	Tenant                   access.Tenant  `bun:"tenant,pk" json:"-"`
	UID                      UID            `bun:"uid,pk" json:"uid"`
	Customer                 customers.UID  `bun:"customer" json:"-"`
	Account                  accounts.UID   `bun:"account" json:"masterAccount"`
	Number                   seal.Value     `bun:"embed:number_" json:"accountNumber"`
	Name                     string         `bun:"name" json:"accountName"`
	ProductCode              string         `bun:"product_code" json:"productCode"`
	Purpose                  string         `bun:"purpose" json:"purpose"`
	ExternalAccountReference string         `bun:"external_account_reference" json:"externalAccountReference"`
	SubmittedBy              string         `bun:"submitted_by" json:"submittedBy"` // as the request says
	Status                   Status         `bun:"status" json:"accountStatus"`
	Currency                 money.Currency `bun:"currency" json:"currency"` // that of the master account
	LimitPeriod              LimitPeriod    `bun:"limit_period" json:"limit"`
	LimitMinor               *int64         `bun:"limit_amount" json:"-"` // nil for none
	CreatedAt                time.Time      `bun:"created_at" json:"-"`
	UpdatedAt                time.Time      `bun:"updated_at" json:"-"`
	Version                  int32          `bun:"version" json:"-"`

	// BalanceMinor is changed by postings alone, which do not count up Version.
	BalanceMinor int64 `bun:"balance,scanonly" json:"-"`
	// Whole is the sealed number, for Service.NumberOf
	Whole []byte `bun:"whole,scanonly" json:"-"`
}

// Balance returns how much of the money in the master account came in under the number and has not gone back.
func (v *VirtualAccount) Balance() money.Amount { return money.Of(v.BalanceMinor, v.Currency) }

// Limit returns how much may come in within LimitPeriod; nil if there is no limit.
func (v *VirtualAccount) Limit() *money.Amount {
	if v.LimitMinor == nil {
		return nil
	}
	amount := money.Of(*v.LimitMinor, v.Currency)
	return &amount
}

// Recorded returns what the audit record shows of the virtual account in another form.
func (v *VirtualAccount) Recorded() map[string]audit.Field {
	limit := audit.Field{Name: "limitAmount"}
	if amount := v.Limit(); amount != nil {
		limit.Value = amount.String()
	}
	return map[string]audit.Field{
		"LimitMinor": limit, "SubmittedBy": {Name: "submittedBy", Value: v.SubmittedBy}, // what the request says
	}
}

// NumberColumn names the column for which the numbers are sealed (seal.Place).
const NumberColumn = accounts.VirtualNumberColumn

func place(tenant access.Tenant, uid UID) seal.Place {
	return seal.Place{Tenant: int64(tenant), Column: NumberColumn, Row: int64(uid)}
}

// Number is the number of a virtual account: digits without a leading zero, so that it can be a number in
// JSON, too.
type Number string

// ParseNumber reads the number of a virtual account. Digits of a form that the bank does not give are no
// fault: they are a number that nobody has.
func ParseNumber(field, text string) (Number, error) {
	c := check.Of(object)
	c.Required(field, text)
	c.Digits(field, text)
	c.AtMost(field, text, 35)
	if err := c.Err(); err != nil {
		return "", fault.Field(object, field, fault.Number, "must be the digits of a virtual account's number")
	}
	return Number(strings.TrimSpace(text)), nil
}

// FullNumber is the number of a virtual account, for callers who may see it in full.
type FullNumber struct{ Digits string }

// Whole returns the number as an integer. All numbers have few enough digits to be exact as a double.
func (n Number) Whole() int64 {
	whole, _ := strconv.ParseInt(string(n), 10, 64)
	return whole
}

// The faults of virtual accounts.
var (
	ErrNotFound = fault.New(fault.NotFound, "virtualAccount.not_found",
		"no such virtual account of this customer").
		On("accountNumber")
	// ErrMaster is returned for a master account that does not exist, or that is another customer's.
	ErrMaster = fault.New(fault.NotFound, "virtualAccount.master", "must be an account of the customer").
			On("masterAccountNumber")
	// ErrMasterState is returned for a master account that cannot have virtual accounts.
	ErrMasterState = fault.New(fault.State, "virtualAccount.master_state",
		"must be an active account that the bank's own core keeps").On("masterAccountNumber")
	// ErrMasterStays is returned for a change of the master account.
	ErrMasterStays = fault.New(fault.State, "virtualAccount.master_stays",
		"a virtual account stays with its master account: open another one there").On("masterAccountNumber")
	ErrClosed = fault.New(fault.State, "virtualAccount.closed",
		"the virtual account is closed for good: it cannot be changed any more")
)
