// Package fees keeps the fee tiers that customers hold.
package fees

import (
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
)

// ID is a fee tier's number; partners know it as feeId.
type ID int64

func (i ID) String() string { return strconv.FormatInt(int64(i), 10) }

// Status is the state of a tier. Only an Active tier applies; a Refused one is not shown.
type Status string

const (
	Active  Status = "Active"
	Pending Status = "Pending" // waits for a second person
	Refused Status = "Refused" // the second person said no
)

// Tier is one tier of one fee that a customer holds (rest/CONTRACT.md, fee tiers).
type Tier struct {
	bun.BaseModel `bun:"table:fee_tiers,alias:f" json:"-"`

	Tenant      access.Tenant `bun:"tenant,pk" json:"-"`
	ID          ID            `bun:"id,pk" json:"id,string"`
	Customer    customers.UID `bun:"customer" json:"-"`
	Application string        `bun:"application" json:"application"`
	FeeTier     string        `bun:"fee_tier" json:"feeTier"`
	// the account that the tier applies to; nil: all accounts
	Account       *accounts.UID `bun:"account" json:"-"`
	AccountNumber AccountNumber `bun:"embed:account_" json:"accountNumber"`
	Product       string        `bun:"product" json:"product"`
	FeeName       string        `bun:"fee_name" json:"feeName"`
	Status        Status        `bun:"status" json:"-"`
	Version       int32         `bun:"version" json:"-"`
	UpdatedAt     time.Time     `bun:"updated_at" json:"-"`
}

// Counting returns the tiers that apply: the Active ones.
func Counting(tiers []*Tier) []*Tier {
	counting := make([]*Tier, 0, len(tiers))
	for _, t := range tiers {
		if t.Status == Active {
			counting = append(counting, t)
		}
	}
	return counting
}

// ShownAccountNumber returns the masked number of the account that the tier applies to; nil if it applies to
// all.
func (t *Tier) ShownAccountNumber() *seal.Value {
	return seal.Value{Last4: t.AccountNumber.Last4}.Shown()
}

// AccountNumber shows the account that a tier applies to, from the accounts table; empty for all.
type AccountNumber struct {
	Last4 string `bun:"last4,scanonly"`
}

func (n AccountNumber) Masked() string { return seal.Value{Last4: n.Last4}.Masked() }

func (n AccountNumber) MarshalJSON() ([]byte, error) { return seal.Value{Last4: n.Last4}.MarshalJSON() }
