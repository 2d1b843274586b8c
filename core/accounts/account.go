// Package accounts keeps the bank accounts of customers. What is in them is the ledger's to say.
package accounts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// UID is an account's number in the bank's books, partners' accountUID. Contacts share the sequence.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads digits.
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

// Types are all of them.
var Types = []Type{Deposit, Loan}

// ParseType reads a type without regard to letter case.
func ParseType(field, text string) (Type, error) {
	if t, ok := ident.Word(text, Types...); ok {
		return t, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be Deposit or Loan")
}

// SubType is the product.
type SubType string

const (
	Checking      SubType = "Checking"
	Savings       SubType = "Savings"
	HealthSavings SubType = "Health Savings Account"
	CD            SubType = "CD"
	MoneyMarket   SubType = "Money Market"
	Pseudo        SubType = "Pseudo" // a number of its own in front of another account (FBO)
	CreditCard    SubType = "Credit Card"
	Heloc         SubType = "Heloc"
	LineOfCredit  SubType = "Line of Credit"
)

// SubTypes are all of them.
var SubTypes = []SubType{
	Checking, Savings, HealthSavings, CD, MoneyMarket, Pseudo, CreditCard, Heloc, LineOfCredit,
}

// formerSubTypes are spellings that older interfaces use (rest/CONTRACT.md, account words).
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
		"must be one of Checking, Savings, Health Savings Account, CD, Money Market, Pseudo, Credit Card, Heloc, Line of Credit")
}

// Status is where an account is in its life.
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

// Statuses are all of them.
var Statuses = []Status{Active, Inactive, Closed, Pending, StatusNew, Suspended, Deceased}

// ParseStatus reads a status without regard to letter case.
func ParseStatus(field, text string) (Status, error) {
	if s, ok := ident.Word(text, Statuses...); ok {
		return s, nil
	}
	return "", fault.Field("account", field, fault.Malformed,
		"must be one of Active, Inactive, Closed, Pending, New, Suspended, Deceased")
}

// SystemOfRecord is where an account is kept. The balance of an account that another system keeps is that
// system's.
type SystemOfRecord string

const (
	InternalCore SystemOfRecord = "Internal Core"
	OtherCore    SystemOfRecord = "Other Core"
	External     SystemOfRecord = "External"
)

// SystemsOfRecord are all of them (rest/CONTRACT.md, account words). The last two are published for what
// partners open; the first is the bank's own ledger.
var SystemsOfRecord = []SystemOfRecord{InternalCore, OtherCore, External}

// elsewhere are words that no name of the bank's own core has.
var elsewhere = []string{"other", "external", "another", "outside", "foreign", "third", "party", "not"}

// ParseSystemOfRecord reads where an account is kept without regard to letter case. The bank's own core may
// be called by its product's name, as in "Acme Core": the published word for it is such a name. A name that
// could be another word, misspelt, is refused: an account would be opened in the wrong books.
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
		return word == other || len(other) > 4 && levenshtein.ComputeDistance(word, other) <= 2 && word != "internal"
	})
}

// ParseNumber reads an account number that must be given; what makes one right, check.AccountNumber says.
func ParseNumber(field, text string) (string, error) {
	c := check.Of("account")
	c.Required(field, text)
	c.AccountNumber(field, text)
	if err := c.Err(); err != nil {
		return "", err
	}
	return text, nil
}

// The places that account numbers, the numbers behind Pseudo accounts, and access tokens of other banks
// are sealed for.
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
	// the account behind a Pseudo account
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
	// wires above it are confirmed by telephone
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

// BankIDType says what kind of number BankID is.
type BankIDType string

const (
	NID BankIDType = "NID" // national id: in the United States the ABA routing number
	BIC BankIDType = "BIC"
)

// answeredBankIDTypes are the words that the generations answer with, which differ from those that they
// publish for requests: what a caller has read it may send back.
var answeredBankIDTypes = map[string]BankIDType{"nationalbankcode": NID, "by aba": NID, "by address": BIC}

// ParseBankIDType reads what kind of number names a bank without regard to letter case.
func ParseBankIDType(field, text string) (BankIDType, error) {
	if t, ok := ident.Word(text, NID, BIC); ok {
		return t, nil
	}
	if t, ok := answeredBankIDTypes[ident.Fold(text)]; ok {
		return t, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be NID or BIC")
}

// Balance is what the ledger says of an account. Both are nil for an account that another system keeps.
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

// Balances returns nil where another system keeps the balance, or where it was not asked for.
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

// AvailableStatus is the published word for what can be spent: NSF (not sufficient funds) or Available
// (rest/CONTRACT.md, account words).
func (b *Balances) AvailableStatus() string {
	if b.Available.Minor <= 0 {
		return "NSF"
	}
	return "Available"
}

// Limit returns an amount that may be unset, in the account's currency.
func (a *Account) Limit(minor *int64) *money.Amount {
	if minor == nil {
		return nil
	}
	amount := money.Of(*minor, a.Currency)
	return &amount
}

// ShownFBONumber is the masked number of the account behind a Pseudo account; nil for others.
func (a *Account) ShownFBONumber() *seal.Value { return a.FBONumber.Shown() }

// Features are the networks and services that an account may use, as a group.
type Features Account

// Features are part of the account's own columns.
func (a *Account) Features() *Features { return (*Features)(a) }

// Callback is the amount above which wires are confirmed by telephone; nil where none is set.
func (f *Features) Callback() *money.Amount { return (*Account)(f).Limit(f.CallbackLimit) }

// DebitExposure is the exposure limit of ACH debits; nil where none is set.
func (f *Features) DebitExposure() *money.Amount { return (*Account)(f).Limit(f.DebitExposureLimit) }

// CreditExposure is the exposure limit of ACH credits; nil where none is set.
func (f *Features) CreditExposure() *money.Amount { return (*Account)(f).Limit(f.CreditExposureLimit) }

// ExternalAccount is what another provider knows the account by. The provider's token is never shown.
type ExternalAccount struct {
	Provider string
	ID       string
}

// ExternalAccount is nil for accounts without another provider.
func (a *Account) ExternalAccount() *ExternalAccount {
	if a.ExternalProvider == "" && a.ExternalID == "" {
		return nil
	}
	return &ExternalAccount{Provider: a.ExternalProvider, ID: a.ExternalID}
}

// ErrNotFound is an account that does not exist, or that is not of this customer.
var ErrNotFound = fault.New(fault.NotFound, "account.not_found", "no such account of this customer")
