// Package contacts keeps the contacts of customers: whom they pay, and at which bank.
package contacts

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/banks"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
)

// UID is a contact's number; partners know it as contactUID. A payment names it as the receiver's accountUID,
// so contacts and accounts take their numbers from one sequence.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a contact's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("contact", field, fault.Number, "must be the digits of a contact UID")
	}
	return UID(n), nil
}

// Status is the state of a contact. A Refused one is not shown.
type Status string

const (
	Active  Status = "Active"
	Pending Status = "Pending" // waits for a second person
	Refused Status = "Refused" // the second person said no
)

// Contact is somebody whom a customer pays (rest/CONTRACT.md, contact answers).
type Contact struct {
	bun.BaseModel `bun:"table:contacts,alias:k" json:"-"`

	Tenant              access.Tenant `bun:"tenant,pk" json:"-"`
	UID                 UID           `bun:"uid,pk" json:"contactUID,string"`
	Customer            customers.UID `bun:"customer" json:"-"`
	ExternalReferenceID string        `bun:"external_reference_id" json:"externalReferenceId"`
	// the nickname, unique for the customer
	TemplateName     string           `bun:"template_name" json:"templateName"`
	Name             string           `bun:"name" json:"name"`
	Address          postal.Address   `bun:"embed:address_" json:"address"`
	EmailAddress     string           `bun:"email_address" json:"emailAddress"`
	PhoneNumber      string           `bun:"phone_number" json:"phoneNumber"`
	Bank             Bank             `bun:"embed:bank_" json:"contactBank"`
	Intermediary     IntermediaryBank `bun:"embed:intermediary_" json:"intermediaryBank"`
	BeneficiaryNotes string           `bun:"beneficiary_notes" json:"-"`
	OtherBankInfo    string           `bun:"other_bank_info" json:"-"`
	// the misspelt name is published
	RegulatoryReporting Report    `bun:"regulatory_reporting,type:jsonb" json:"regulartoryReporting"`
	Status              Status    `bun:"status" json:"-"`
	CreatedAt           time.Time `bun:"created_at" json:"-"`
	UpdatedAt           time.Time `bun:"updated_at" json:"-"`
	// when its account, or the way to it, was last changed; nil for never
	RedirectedAt *time.Time `bun:"redirected_at" json:"-"`
	Version      int32      `bun:"version" json:"-"`
}

// Recorded leaves out of the record of changes when payments last went elsewhere: the record says so itself.
func (k *Contact) Recorded() map[string]audit.Field {
	return map[string]audit.Field{"RedirectedAt": {}}
}

// Bank is the bank and the account of a contact.
type Bank struct {
	Country         string         `bun:"country" json:"country"` // the country's name
	AccountNumber   seal.Value     `bun:"embed:account_number_" json:"accountNo"`
	AccountCurrency money.Currency `bun:"account_currency" json:"accountCcy"`
	// Deposit, Loan or GL; '' where an older interface did not ask
	AccountType string `bun:"account_type" json:"-"`
	// Checking, Savings, Virtual, Line of Credit, Credit Card, Heloc, GL
	AccountSubType string         `bun:"account_sub_type" json:"-"`
	Name           string         `bun:"name" json:"name"`
	Address        postal.Address `bun:"embed:address_" json:"address"`
	NationalCode   string         `bun:"national_code" json:"nationalCode"`
	SWIFTCode      string         `bun:"swift_code" json:"swiftCode"`
}

// ShownAccountNumber returns the masked account number; nil if none is known.
func (b *Bank) ShownAccountNumber() *seal.Value { return b.AccountNumber.Shown() }

// sameAccount reports whether two are of one account: its number, its kind and where it is.
func (b *Bank) sameAccount(other *Bank) bool {
	return bytes.Equal(b.AccountNumber.Hash, other.AccountNumber.Hash) &&
		b.AccountType == other.AccountType &&
		b.AccountSubType == other.AccountSubType && b.Country == other.Country &&
		b.NationalCode == other.NationalCode &&
		b.SWIFTCode == other.SWIFTCode
}

// paidAlike reports whether payments to two go to the same account, over the same intermediary.
func (k *Contact) paidAlike(other *Contact) bool {
	over, others := &k.Intermediary, &other.Intermediary
	return k.Bank.sameAccount(&other.Bank) && over.NationalCode == others.NationalCode &&
		over.SWIFTCode == others.SWIFTCode
}

// Refs name the bank in the directory of banks.
func (b *Bank) Refs() banks.Refs { return refsOf(b.Country, b.NationalCode, b.SWIFTCode) }

// refsOf names a bank by its national code, in a country given by name, and by its BIC.
func refsOf(country, nationalCode, swiftCode string) banks.Refs {
	return banks.Refs{banks.National(codeOf(country), nationalCode), banks.Coded(swiftCode)}
}

// IntermediaryBank is a bank that passes a payment on to the contact's bank.
type IntermediaryBank struct {
	Country              string         `bun:"country" json:"country"`
	Name                 string         `bun:"name" json:"name"`
	NationalCode         string         `bun:"national_code" json:"nationalCode"`
	SWIFTCode            string         `bun:"swift_code" json:"swiftCode"`
	CoverMessageRequired bool           `bun:"cover_message_required" json:"coverMessageRequired"`
	Address              postal.Address `bun:"embed:address_" json:"address"`
	// only this address has a third line (rest/CONTRACT.md, contact update)
	AddressLine3 string `bun:"address_line3" json:"-"`
}

// Refs name the bank in the directory of banks.
func (b *IntermediaryBank) Refs() banks.Refs { return refsOf(b.Country, b.NationalCode, b.SWIFTCode) }

// ParseNumber reads the account number that a search asks for. Spaces in it do not count.
func ParseNumber(field, text string) (string, error) {
	c, number := check.Of("contact"), strings.ReplaceAll(text, " ", "")
	c.AccountNumber(field, number)
	if err := c.Err(); err != nil {
		return "", err
	}
	return number, nil
}

// NumberColumn names the column for which contacts' account numbers are sealed (seal.Place).
const NumberColumn = "contacts.bank_account_number"

// ErrNotFound is returned for a contact that does not exist, or that belongs to another customer.
var ErrNotFound = fault.New(fault.NotFound, "contact.not_found",
	"the contact is not associated with the customer")

// ErrApproveLimit is returned to who gives another account or intermediary to a contact whose payments are
// above what the caller may pay, and to who approves that and may not approve as much.
var ErrApproveLimit = fault.New(fault.State, "contact.approve_limit",
	"a payment that the contact gets by itself is above what the caller may pay, or approve")

// ErrTaken is returned when another contact of the customer has the nickname.
var ErrTaken = fault.New(fault.Conflict, "contact.taken", "another contact of the customer has this name").
	On("templateName")
