// Package accounts keeps the bank accounts of customers, their numbers, and the sweeps that are set for them.
// Balances belong to package ledger; package sweeps runs the sweeps.
package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// UID is an account's number in the bank's books; partners know it as accountUID. Contacts take their numbers
// from the same sequence.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads an account's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("account", field, fault.Number, "must be the digits of an account UID")
	}
	return UID(n), nil
}

// Type is Deposit or Loan.
type Type string

const (
	Deposit Type = "Deposit"
	Loan    Type = "Loan"
)

// Types lists all types.
var Types = []Type{Deposit, Loan}

// ParseType reads a type without regard to letter case.
func ParseType(field, text string) (Type, error) {
	if t, ok := ident.Word(text, Types...); ok {
		return t, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be Deposit or Loan")
}

// SubType is the kind of product.
type SubType string

const (
	Checking      SubType = "Checking"
	Savings       SubType = "Savings"
	HealthSavings SubType = "Health Savings Account"
	CD            SubType = "CD"
	MoneyMarket   SubType = "Money Market"
	Pseudo        SubType = "Pseudo" // a second number for another account, which it stands in front of (FBO)
	CreditCard    SubType = "Credit Card"
	Heloc         SubType = "Heloc"
	LineOfCredit  SubType = "Line of Credit"
)

// SubTypes lists all sub-types.
var SubTypes = []SubType{
	Checking, Savings, HealthSavings, CD, MoneyMarket, Pseudo, CreditCard, Heloc, LineOfCredit,
}

// formerSubTypes lists the spellings of older interfaces (rest/CONTRACT.md, account words).
var formerSubTypes = map[string]SubType{
	"saving": Savings, "psuedo": Pseudo, "hsa": HealthSavings, "hsa (health saving account)": HealthSavings,
	"moneymarket": MoneyMarket, "lineofcredit": LineOfCredit,
}

// ParseSubType reads a sub-type without regard to letter case, in its present and its former spellings.
func ParseSubType(field, text string) (SubType, error) {
	if t, ok := ident.Word(text, SubTypes...); ok {
		return t, nil
	}
	if t, ok := formerSubTypes[ident.Fold(text)]; ok {
		return t, nil
	}
	return "", fault.Field("account", field, fault.Malformed,
		"must be one of Checking, Savings, Health Savings Account, CD, Money Market, Pseudo, "+
			"Credit Card, Heloc, Line of Credit")
}

// Status is the state of an account.
type Status string

const (
	Active    Status = "Active"
	Inactive  Status = "Inactive"
	Closed    Status = "Closed"
	Pending   Status = "Pending"
	StatusNew Status = "New"
	Suspended Status = "Suspended"
	Deceased  Status = "Deceased"
)

// Statuses lists all statuses.
var Statuses = []Status{Active, Inactive, Closed, Pending, StatusNew, Suspended, Deceased}

// ParseStatus reads a status without regard to letter case.
func ParseStatus(field, text string) (Status, error) {
	if s, ok := ident.Word(text, Statuses...); ok {
		return s, nil
	}
	return "", fault.Field("account", field, fault.Malformed,
		"must be one of Active, Inactive, Closed, Pending, New, Suspended, Deceased")
}

// SystemOfRecord says which system keeps an account. Only the accounts of InternalCore have a balance here.
type SystemOfRecord string

const (
	InternalCore SystemOfRecord = "Internal Core"
	OtherCore    SystemOfRecord = "Other Core"
	External     SystemOfRecord = "External"
)

// SystemsOfRecord lists all systems of record (rest/CONTRACT.md, account words). InternalCore is the bank's
// own ledger; the others are published for accounts that partners open.
var SystemsOfRecord = []SystemOfRecord{InternalCore, OtherCore, External}

// elsewhere lists words that the name of the bank's own core never contains.
var elsewhere = []string{"other", "external", "another", "outside", "foreign", "third", "party", "not"}

// ParseSystemOfRecord reads a system of record without regard to letter case. The bank's own core may be
// given by its product's name, such as "Acme Core", because the published word is one. A name close to
// another word is refused as misspelt, so that no account is opened in the wrong books.
func ParseSystemOfRecord(field, text string) (SystemOfRecord, error) {
	if s, ok := ident.Word(text, SystemsOfRecord...); ok {
		return s, nil
	}
	words := strings.Fields(ident.Fold(text))
	last := len(words) - 1
	if last > 0 && words[last] == "core" && !slices.ContainsFunc(words[:last], isElsewhere) {
		return InternalCore, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be Internal Core, Other Core or External")
}

func isElsewhere(word string) bool {
	return slices.ContainsFunc(elsewhere, func(other string) bool {
		return word == other || len(other) > 4 && levenshtein.ComputeDistance(word, other) <= 2 &&
			word != "internal"
	})
}

// ParseNumber reads a required account number, as check.AccountNumber defines it.
func ParseNumber(field, text string) (string, error) {
	c := check.Of("account")
	c.Required(field, text)
	c.AccountNumber(field, text)
	if err := c.Err(); err != nil {
		return "", err
	}
	return text, nil
}

// The columns for which account numbers, the numbers behind Pseudo accounts, and the access tokens of other
// providers are sealed (seal.Place).
const (
	NumberColumn        = "accounts.number"
	FBONumberColumn     = "accounts.fbo_number"
	ExternalTokenColumn = "accounts.external_token"
)

// Account is one bank account (rest/CONTRACT.md, account answers). Amounts are minor units of Currency.
type Account struct {
	bun.BaseModel `bun:"table:accounts,alias:a" json:"-"`

	Tenant              access.Tenant `bun:"tenant,pk" json:"-"`
	UID                 UID           `bun:"uid,pk" json:"-"`
	Customer            customers.UID `bun:"customer" json:"-"`
	ExternalReferenceID string        `bun:"external_reference_id" json:"-"`
	Name                string        `bun:"name" json:"-"`
	Number              seal.Value    `bun:"embed:number_" json:"-"`
	// the number of the account behind a Pseudo account
	FBONumber                seal.Value     `bun:"embed:fbo_number_" json:"-"`
	Type                     Type           `bun:"type" json:"-"`
	SubType                  SubType        `bun:"sub_type" json:"-"`
	SystemOfRecord           SystemOfRecord `bun:"system_of_record" json:"-"`
	BalanceType              string         `bun:"balance_type" json:"-"`
	Currency                 money.Currency `bun:"currency" json:"-"`
	CountryCode              string         `bun:"country_code" json:"-"`
	Country                  string         `bun:"country" json:"-"`
	BankID                   string         `bun:"bank_id" json:"-"` // routing number, or BIC
	BankName                 string         `bun:"bank_name" json:"-"`
	BankIDType               BankIDType     `bun:"bank_id_type" json:"-"`
	MasterGL                 string         `bun:"master_gl" json:"-"`
	CostCenter               string         `bun:"cost_center" json:"-"`
	Reason                   string         `bun:"reason" json:"-"`
	Status                   Status         `bun:"status" json:"-"`
	EnableWires              bool           `bun:"enable_wires" json:"-"`
	EnableDomesticWires      bool           `bun:"enable_domestic_wires" json:"-"`
	EnableInternationalWires bool           `bun:"enable_international_wires" json:"-"`
	EnableCallbacks          bool           `bun:"enable_callbacks" json:"-"`
	// wires above this amount are confirmed by telephone
	CallbackLimit        *int64                `bun:"callback_limit" json:"-"`
	EnableACH            bool                  `bun:"enable_ach" json:"-"`
	EnableOffset         bool                  `bun:"enable_offset" json:"-"`
	DefaultOffset        bool                  `bun:"default_offset" json:"-"`
	Underwritten         bool                  `bun:"underwritten" json:"-"`
	ACHPrefund           bool                  `bun:"ach_prefund" json:"-"`
	DebitExposureLimit   *int64                `bun:"debit_exposure_limit" json:"-"`
	CreditExposureLimit  *int64                `bun:"credit_exposure_limit" json:"-"`
	ACHCompanyID         string                `bun:"ach_company_id" json:"-"`
	SECCodes             []string              `bun:"sec_codes,array" json:"-"`
	EnableFedNow         bool                  `bun:"enable_fednow" json:"-"`
	FedNowSend           bool                  `bun:"fednow_send" json:"-"`
	FedNowRFPSend        bool                  `bun:"fednow_rfp_send" json:"-"`
	EnableRTP            bool                  `bun:"enable_rtp" json:"-"`
	RTPSend              bool                  `bun:"rtp_send" json:"-"`
	RTPRFPSend           bool                  `bun:"rtp_rfp_send" json:"-"`
	RFPReceive           bool                  `bun:"rfp_receive" json:"-"` // may receive requests for payment
	RFPSend              bool                  `bun:"rfp_send" json:"-"`
	EnableSWIFT          bool                  `bun:"enable_swift" json:"-"`
	EnablePositivePay    bool                  `bun:"enable_positive_pay" json:"-"`
	AccountAnalysis      bool                  `bun:"account_analysis" json:"-"`
	FeeAccount           bool                  `bun:"fee_account" json:"-"`
	ReturnAccount        bool                  `bun:"return_account" json:"-"`
	ExternalProvider     string                `bun:"external_provider" json:"-"`
	ExternalID           string                `bun:"external_id" json:"-"`
	ExternalToken        seal.Value            `bun:"embed:external_token_" json:"-"`
	AdditionalAttributes []customers.Attribute `bun:"additional_attributes,type:jsonb" json:"-"`
	CreatedAt            time.Time             `bun:"created_at" json:"-"`
	UpdatedAt            time.Time             `bun:"updated_at" json:"-"`
	DeletedAt            *time.Time            `bun:"deleted_at" json:"-"`
	Version              int32                 `bun:"version" json:"-"`

	Balance Balance `bun:"embed:balance_" json:"-"` // from the ledger's table
}

// BankRefs name the account's bank in the directory of banks.
func (a *Account) BankRefs() banks.Refs {
	if a.BankIDType == BIC {
		return banks.Refs{banks.Coded(a.BankID)}
	}
	return banks.Refs{banks.National(cmp.Or(a.CountryCode, "US"), a.BankID)}
}

// BankIDType is the kind of number that BankID is.
type BankIDType string

const (
	NID BankIDType = "NID" // national id: in the United States the ABA routing number
	BIC BankIDType = "BIC"
)

// answeredBankIDTypes lists the words that the generations use in answers. They differ from those for
// requests, but a caller may send back what it has read.
var answeredBankIDTypes = map[string]BankIDType{"nationalbankcode": NID, "by aba": NID, "by address": BIC}

// ParseBankIDType reads a kind of bank id without regard to letter case.
func ParseBankIDType(field, text string) (BankIDType, error) {
	if t, ok := ident.Word(text, NID, BIC); ok {
		return t, nil
	}
	if t, ok := answeredBankIDTypes[ident.Fold(text)]; ok {
		return t, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be NID or BIC")
}

// Balance holds the ledger's columns of an account. Both are nil if another system keeps the account.
type Balance struct {
	LedgerMinor *int64 `bun:"ledger,scanonly"`
	HeldMinor   *int64 `bun:"held,scanonly"`
}

// Balances are the amounts of an account: available is ledger less held.
type Balances struct {
	Currency  money.Currency
	Ledger    money.Amount
	Held      money.Amount
	Available money.Amount
}

// Balances returns the account's amounts; nil if another system keeps them, or if they were not asked for.
func (a *Account) Balances() *Balances {
	if a.Balance.LedgerMinor == nil || a.Balance.HeldMinor == nil {
		return nil
	}
	ledger, held := *a.Balance.LedgerMinor, *a.Balance.HeldMinor
	return &Balances{
		Currency: a.Currency, Ledger: money.Of(ledger, a.Currency),
		Held: money.Of(held, a.Currency), Available: money.Of(ledger-held, a.Currency),
	}
}

// AvailableStatus returns the published word for the available balance: NSF (not sufficient funds) or
// Available (rest/CONTRACT.md, account words).
func (b *Balances) AvailableStatus() string {
	if b.Available.Minor <= 0 {
		return "NSF"
	}
	return "Available"
}

// Limit returns an amount in the account's currency; nil if it is unset.
func (a *Account) Limit(minor *int64) *money.Amount {
	if minor == nil {
		return nil
	}
	amount := money.Of(*minor, a.Currency)
	return &amount
}

// ShownFBONumber returns the masked number of the account behind a Pseudo account; nil for others.
func (a *Account) ShownFBONumber() *seal.Value { return a.FBONumber.Shown() }

// Features groups the networks and services that an account may use.
type Features Account

// Features returns the account's features, which are columns of the account itself.
func (a *Account) Features() *Features { return (*Features)(a) }

// Callback returns the amount above which wires are confirmed by telephone; nil if none is set.
func (f *Features) Callback() *money.Amount { return (*Account)(f).Limit(f.CallbackLimit) }

// DebitExposure returns the exposure limit of ACH debits; nil if none is set.
func (f *Features) DebitExposure() *money.Amount { return (*Account)(f).Limit(f.DebitExposureLimit) }

// CreditExposure returns the exposure limit of ACH credits; nil if none is set.
func (f *Features) CreditExposure() *money.Amount { return (*Account)(f).Limit(f.CreditExposureLimit) }

// ExternalAccount identifies the account at another provider. The provider's token is never shown.
type ExternalAccount struct {
	Provider string
	ID       string
}

// ExternalAccount returns the account's identity at another provider; nil if it has none.
func (a *Account) ExternalAccount() *ExternalAccount {
	if a.ExternalProvider == "" && a.ExternalID == "" {
		return nil
	}
	return &ExternalAccount{Provider: a.ExternalProvider, ID: a.ExternalID}
}

// ErrNotFound is returned for an account that does not exist, or that belongs to another customer.
var ErrNotFound = fault.New(fault.NotFound, "account.not_found", "no such account of this customer")
