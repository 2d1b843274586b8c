package payments

import (
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
)

// Details are what a payment over a network says beside what every payment says: who is paid, where, and what is
// told to the other side (rest/CONTRACT.md, credit requests).
type Details struct {
	bun.BaseModel `bun:"table:payment_details,alias:pd" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	Payment UID           `bun:"payment,pk" json:"-"`
	// the contact that was named; 0 for somebody described in full
	Contact        contacts.UID   `bun:"contact,nullzero" json:"receiver,omitzero"`
	Number         seal.Value     `bun:"embed:number_" json:"receiverAccountNumber"`
	Type           string         `bun:"type" json:"-"` // Deposit, Loan or GL; '' if nobody said
	SubType        string         `bun:"sub_type" json:"-"`
	Address        postal.Address `bun:"embed:address_" json:"-"`
	Email          string         `bun:"email_address" json:"-"`
	Phone          string         `bun:"phone_number" json:"-"`
	BankID         string         `bun:"bank_id" json:"receiverBankId"` // routing number
	BankName       string         `bun:"bank_name" json:"-"`
	Remittance     string         `bun:"remittance" json:"-"`
	Reference      string         `bun:"reference" json:"-"` // for who is paid
	OriginatorInfo string         `bun:"originator_information" json:"-"`
	BankInfo       string         `bun:"bank_information" json:"-"`
	Charges        string         `bun:"charges" json:"-"`
	CostCenter     string         `bun:"cost_center" json:"-"`
	RequestMethod  string         `bun:"request_method" json:"-"`
	OperationNote  string         `bun:"operation_note" json:"-"`
	Route          string         `bun:"route" json:"-"` // why this network
	UETR           string         `bun:"uetr" json:"-"`  // the UUID by which every bank on the way knows it
	ReturnCode     string         `bun:"return_code" json:"-"`
}

// NumberColumn names the column for which the account numbers of who is paid are sealed (seal.Place).
const NumberColumn = "payment_details.number"

// place is where the number of a payment is sealed.
func (d *Details) place() seal.Place {
	return seal.Place{Tenant: int64(d.Tenant), Column: NumberColumn, Row: int64(d.Payment)}
}
