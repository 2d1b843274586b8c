// Package positivepay keeps the rules of positive pay, which say which debits of other banks may be paid from
// an account, and the exceptions, the debits that no rule allows and people decide on. What a decision does
// to the payment is in package payments.
package positivepay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// UID is a rule's number; partners know it as ruleUID.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a rule's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field(object, field, fault.Number, "must be the digits of a rule UID")
	}
	return UID(n), nil
}

// object is the name of rules in the record and in faults.
const object = "positivePayRule"

// Type says over which networks the debits of a rule come.
type Type string

const (
	ACH     Type = "ACH"     // debits of ACH
	Fedwire Type = "FEDWIRE" // drawdown requests
	Instant Type = "INSTANT" // requests for payment over RTP and FedNow
)

// Types lists all types.
var Types = []Type{ACH, Fedwire, Instant}

// ParseType reads a type without regard to letter case. RFP is the former name of INSTANT.
func ParseType(field, text string) (Type, error) {
	if t, ok := ident.Word(text, Types...); ok {
		return t, nil
	}
	if ident.Same(text, "RFP") {
		return Instant, nil
	}
	return "", fault.Field(object, field, fault.Malformed, "must be one of ACH, FEDWIRE, INSTANT")
}

// AmountType says how the amount of a debit compares with that of a rule.
type AmountType string

const (
	Exact   AmountType = "Exact"   // it equals the rule's
	Maximum AmountType = "Maximum" // it is not above the rule's
)

// ParseAmountType reads an amount type without regard to letter case.
func ParseAmountType(field, text string) (AmountType, error) {
	if t, ok := ident.Word(text, Exact, Maximum); ok {
		return t, nil
	}
	return "", fault.Field(object, field, fault.Malformed, "must be EXACT or MAXIMUM")
}

// Frequency says how often a rule may allow a debit.
type Frequency string

const (
	OnGoing    Frequency = "ON_GOING" // at any time
	OneTime    Frequency = "ONE_TIME" // once
	Daily      Frequency = "DAILY"
	Weekly     Frequency = "WEEKLY"
	BiWeekly   Frequency = "BI_WEEKLY" // every second week
	Monthly    Frequency = "MONTHLY"
	Quarterly  Frequency = "QUARTERLY"
	SemiAnnual Frequency = "SEMI_ANNUAL"
	Annual     Frequency = "ANNUAL"
)

// Frequencies lists them all.
var Frequencies = []Frequency{
	OnGoing, OneTime, Daily, Weekly, BiWeekly, Monthly, Quarterly, SemiAnnual, Annual,
}

// ParseFrequency reads a frequency in both published spellings, ONE_TIME and Onetime, BI_WEEKLY and
// Bi-weekly, without regard to letter case (rest/CONTRACT.md, positive pay).
func ParseFrequency(field, text string) (Frequency, error) {
	letters := strings.NewReplacer("_", "", "-", "", " ", "")
	for _, f := range Frequencies {
		if ident.Same(letters.Replace(text), letters.Replace(string(f))) {
			return f, nil
		}
	}
	return "", fault.Field(object, field, fault.Malformed,
		"must be one of Ongoing, Onetime, Daily, Weekly, Bi-weekly, Monthly, Quarterly, Semi-annual, Annual")
}

// AllClasses stands for every entry class.
const AllClasses = "ALL"

// classes lists what a rule may give as its entry class.
var classes = strings.Fields(AllClasses +
	` WEB PPD CCD CTX POP COR TEL CIE ARC BOC POS RCK ADV ATX DNE MTE SHR TRC TRX XCK IAT NA`)

// Status is the state of a rule.
type Status string

const (
	PendingApproval Status = "PendingApproval" // waits for a second person
	Pending         Status = "Pending"         // not before its first day
	Active          Status = "Active"
	Suspended       Status = "Suspended" // by people, until they activate it
	Expired         Status = "Expired"   // its last day has passed, or it has allowed all debits that it may
	Deleted         Status = "Deleted"   // never shown
)

// Statuses lists the statuses that are shown.
var Statuses = []Status{PendingApproval, Pending, Active, Suspended, Expired}

// Rule says which debits may be paid from an account (rest/CONTRACT.md, positive pay). Amount is in minor
// units of Currency.
type Rule struct {
	bun.BaseModel `bun:"table:positive_pay_rules,alias:pp" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      UID           `bun:"uid,pk" json:"uid"`
	Customer customers.UID `bun:"customer" json:"-"`
	Account  accounts.UID  `bun:"account" json:"account"`
	Type     Type          `bun:"type" json:"type"`
	// who debits over ACH; '' for anybody
	ACHCompanyID string `bun:"ach_company_id" json:"achCompanyId"`
	// the payee; '' where the rule does not say
	BeneficiaryName     string         `bun:"beneficiary_name" json:"beneficiaryName"`
	BeneficiaryBankID   string         `bun:"beneficiary_bank_id" json:"beneficiaryBankId"`
	BeneficiaryBankName string         `bun:"beneficiary_bank_name" json:"beneficiaryBankName"`
	BeneficiaryNumber   seal.Value     `bun:"embed:beneficiary_number_" json:"beneficiaryAccountNumber"`
	Minor               int64          `bun:"amount" json:"-"`
	Currency            money.Currency `bun:"currency" json:"currency"`
	AmountType          AmountType     `bun:"amount_type" json:"amountType"`
	Frequency           Frequency      `bun:"frequency" json:"frequency"`
	SECCode             string         `bun:"sec_code" json:"secCode"` // ALL, or the one entry class
	// that the entry has to have; '' for any
	IndividualID  string    `bun:"individual_id" json:"individualId"`
	EffectiveDate time.Time `bun:"effective_date,type:date" json:"effectiveDate"`
	// the last day; nil for none
	ExpiryDate       *time.Time `bun:"expiry_date,type:date" json:"expiryDate"`
	NumberOfPayments *int32     `bun:"number_of_payments" json:"numberOfPayments"`
	// as people set it: never Pending or Expired
	State Status `bun:"state" json:"status"`
	// of who suspended it; '' if it is not, or that is not known
	SuspendedBy access.Reach `bun:"suspended_by" json:"-"`
	// how many people beside who asked for it approved it as it is, and whether the last was one of the
	// bank's
	Approvers int32      `bun:"approvers" json:"-"`
	ByBank    bool       `bun:"by_bank" json:"-"`
	Used      int32      `bun:"used" json:"-"`                // how many debits it has allowed
	LastUsed  *time.Time `bun:"last_used,type:date" json:"-"` // the day of the last one
	CreatedAt time.Time  `bun:"created_at" json:"-"`
	UpdatedAt time.Time  `bun:"updated_at" json:"-"`
	Version   int32      `bun:"version" json:"-"`

	Today time.Time `bun:"today,scanonly" json:"-"` // the bank's day when it was read; midnight UTC
}

// Amount returns the amount that debits are compared with.
func (r *Rule) Amount() money.Amount { return money.Of(r.Minor, r.Currency) }

// BeneficiaryAccountNumber returns the masked number of the payee's account; nil if the rule does not name
// one.
func (r *Rule) BeneficiaryAccountNumber() *seal.Value { return r.BeneficiaryNumber.Shown() }

// ApprovedAs reports whether at least so many people approved the rule and, if it has to be the bank's, one
// of them was.
func (r *Rule) ApprovedAs(people int32, byBank bool) bool {
	return r.Approvers >= people && (r.ByBank || !byBank)
}

// Status returns the state of the rule on the day on which it was read.
func (r *Rule) Status() Status { return r.StatusOn(r.Today) }

// StatusOn returns the state of the rule on a day. Its first and its last day both count.
func (r *Rule) StatusOn(day time.Time) Status {
	if (r.State == Active || r.State == Suspended) && r.UsedUp() {
		return Expired
	}
	return r.statedOn(day)
}

// statedOn is StatusOn without regard to how often the rule was used.
func (r *Rule) statedOn(day time.Time) Status {
	switch {
	case r.State != Active && r.State != Suspended:
		return r.State
	case r.ExpiryDate != nil && r.ExpiryDate.Before(day):
		return Expired
	case r.State == Active && r.EffectiveDate.After(day):
		return Pending
	}
	return r.State
}

// statusOn is StatusOn in SQL.
func statusOn(day string) string {
	return "CASE WHEN pp.state NOT IN ('Active', 'Suspended') THEN pp.state WHEN pp.expiry_date < " +
		day + " OR " + usedUp +
		" THEN 'Expired' WHEN pp.state = 'Active' AND pp.effective_date > " + day +
		" THEN 'Pending' ELSE pp.state END"
}

// Recorded returns what the audit record shows of the rule in another form.
func (r *Rule) Recorded() map[string]audit.Field {
	expiry := ""
	if r.ExpiryDate != nil {
		expiry = r.ExpiryDate.Format(time.DateOnly)
	}
	return map[string]audit.Field{
		"Minor":         {Name: "amount", Value: r.Amount().String()},
		"EffectiveDate": {Name: "effectiveDate", Value: r.EffectiveDate.Format(time.DateOnly)},
		"ExpiryDate":    {Name: "expiryDate", Value: expiry},
		"SuspendedBy":   {}, "Approvers": {}, "ByBank": {},
	}
}

// NumberColumn names the column for which the account numbers of payees are sealed (seal.Place).
const NumberColumn = "positive_pay_rules.beneficiary_number"

func (r *Rule) place() seal.Place {
	return seal.Place{Tenant: int64(r.Tenant), Column: NumberColumn, Row: int64(r.UID)}
}

// mostOfAccount is how many rules an account may have: all of them are read when a debit comes, together with
// those of all accounts that its file is for.
const mostOfAccount = 1000

// mostOfCustomer is how many rules the accounts of a customer may have together: all those of a partner's
// making are suspended at once when the customer leaves it (leaveTx).
const mostOfCustomer = 5_000

// The faults of rules.
var (
	ErrNotFound = fault.New(fault.NotFound, "positivePayRule.not_found", "no such rule of positive pay")
	// ErrAccount is returned for an account that does not exist, or that the caller may not see.
	ErrAccount = fault.New(fault.NotFound, "positivePayRule.account", "must be an account of the customer").
			On("customerAccountNumber")
	// ErrAccountState is returned for an account that cannot be debited in US dollars.
	ErrAccountState = fault.New(fault.State, "positivePayRule.account_state",
		"must be an account in USD that is not closed").
		On("customerAccountNumber")
	// ErrMany is returned for an account that has as many rules as it may have.
	ErrMany = fault.New(fault.State, "positivePayRule.many",
		fmt.Sprintf("the account has %d rules, as many as it may have: delete one that you no longer need",
			mostOfAccount)).
		On("customerAccountNumber")
	// ErrManyOfCustomer is returned for a customer that has as many rules as it may have.
	ErrManyOfCustomer = fault.New(fault.State, "positivePayRule.many_of_customer",
		"the customer has 5,000 rules, as many as it may have: delete one that you no longer need").
		On("customerAccountNumber")
	// ErrOwnLimit is returned for a rule above what the person who makes, changes or approves it may pay, or
	// approve, in one payment.
	ErrOwnLimit = fault.New(fault.State, "positivePayRule.own_limit",
		"is above what the caller may pay, or approve, in one payment").On("amount")
	// ErrStatus is returned for a change that the state of the rule does not allow.
	ErrStatus = fault.New(fault.State, "positivePayRule.status", "the state of the rule does not allow this")
	// ErrWider is returned to who wants to activate, change or delete a rule that somebody of wider reach
	// suspended, or to make one for the same debits.
	ErrWider = fault.New(fault.Denied, "positivePayRule.suspended_by_wider",
		"a rule that the bank suspended the bank alone activates, changes, deletes or makes anew, and one that "+
			"a partner suspended, that partner or the bank")
	// ErrExpired is returned for a change that leaves an expired rule expired.
	ErrExpired = fault.New(fault.State, "positivePayRule.expired",
		"the rule has expired: give it a later expiryDate").
		On("expiryDate")
)
