// Package signatories keeps the people who may act for a customer, each with an optional approval limit.
package signatories

import (
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// UID is a signatory's number; partners know it as id.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a signatory's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil || n == 0 {
		return 0, fault.Field("signatory", field, fault.Number, "must be the digits of a signatory's id")
	}
	return UID(n), nil
}

// Status is the state of a signatory. A Deleted one is not shown.
type Status string

const (
	Active  Status = "Active"
	Pending Status = "Pending"
	Deleted Status = "Deleted"
)

// Signatory is one person who may act for a customer (rest/CONTRACT.md, signatory bodies).
type Signatory struct {
	bun.BaseModel `bun:"table:signatories,alias:g" json:"-"`

	Tenant       access.Tenant `bun:"tenant,pk" json:"-"`
	UID          UID           `bun:"uid,pk" json:"id"`
	Customer     customers.UID `bun:"customer" json:"-"`
	FullName     string        `bun:"full_name" json:"fullName"`
	EmailAddress string        `bun:"email_address" json:"emailAddress"`
	Title        string        `bun:"title" json:"title"`
	PhoneNumber  string        `bun:"phone_number" json:"phoneNumber"` // E.164
	// minor units of Currency; nil: none was set
	LimitMinor *int64         `bun:"approval_limit" json:"-"`
	Currency   money.Currency `bun:"currency" json:"-"` // the bank's
	Status     Status         `bun:"status" json:"status"`
	CreatedAt  time.Time      `bun:"created_at" json:"-"`
	UpdatedAt  time.Time      `bun:"updated_at" json:"-"`
	Version    int32          `bun:"version" json:"-"`
}

// ApprovalLimit returns the largest amount that the person may approve; nil if none was set.
func (g *Signatory) ApprovalLimit() *money.Amount {
	if g.LimitMinor == nil {
		return nil
	}
	amount := money.Of(*g.LimitMinor, g.Currency)
	return &amount
}

// Recorded returns the limit as the audit record shows it.
func (g *Signatory) Recorded() map[string]audit.Field {
	limit := audit.Field{Name: "approvalLimit"}
	if amount := g.ApprovalLimit(); amount != nil {
		limit.Value = amount.String()
	}
	return map[string]audit.Field{"LimitMinor": limit}
}
