package positivepay

import (
	"cmp"
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

// ExceptionUID is the number of an exception; partners know it as exceptionUID.
type ExceptionUID int64

func (u ExceptionUID) String() string { return strconv.FormatInt(int64(u), 10) }

// ExceptionObject is the name of exceptions in the record and in faults.
const ExceptionObject = "positivePayException"

// DecisionStatus is the state of an exception.
type DecisionStatus string

const (
	DecisionPending DecisionStatus = "PENDING"          // waits for people; no money has moved
	AutoMatched     DecisionStatus = "AUTO_MATCHED"     // a rule allows it
	Approved        DecisionStatus = "APPROVED"         // a person pays it
	Declined        DecisionStatus = "REJECTED"         // a person sends it back
	DefaultDecision DecisionStatus = "DEFAULT_DECISION" // nobody decided in time: the debit goes back
)

// DecisionStatuses lists all states of exceptions.
var DecisionStatuses = []DecisionStatus{DecisionPending, AutoMatched, Approved, Declined, DefaultDecision}

// ParseDecisionStatuses reads what a search for exceptions says of the status: one word or several with
// commas between them, without regard to letter case.
func ParseDecisionStatuses(field, text string) (all []DecisionStatus, err error) {
	for word := range strings.SplitSeq(text, ",") {
		status, ok := ident.Word(strings.TrimSpace(word), DecisionStatuses...)
		if !ok {
			return nil, fault.Field(ExceptionObject, field, fault.Malformed,
				"must be one of PENDING, AUTO_MATCHED, APPROVED, REJECTED, DEFAULT_DECISION, or several "+
					"with commas between them")
		}
		all = append(all, status)
	}
	return all, nil
}

// Exception is a debit that positive pay was asked about (rest/CONTRACT.md, exceptions). Amounts are minor
// units of Currency.
type Exception struct {
	bun.BaseModel `bun:"table:positive_pay_exceptions,alias:ppe" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      ExceptionUID  `bun:"uid,pk" json:"uid"`
	Payment  int64         `bun:"payment" json:"payment"` // the debit
	Customer customers.UID `bun:"customer" json:"-"`
	Account  accounts.UID  `bun:"account" json:"account"`
	Type     Type          `bun:"type" json:"type"`
	// the rule that allows it; 0 for none
	Rule                UID            `bun:"rule,nullzero" json:"rule,omitzero"`
	Minor               int64          `bun:"amount" json:"-"`
	Currency            money.Currency `bun:"currency" json:"currency"`
	ACHCompanyID        string         `bun:"ach_company_id" json:"achCompanyId"` // who debits
	BeneficiaryName     string         `bun:"beneficiary_name" json:"beneficiaryName"`
	BeneficiaryBankID   string         `bun:"beneficiary_bank_id" json:"beneficiaryBankId"`
	BeneficiaryBankName string         `bun:"beneficiary_bank_name" json:"beneficiaryBankName"`
	SECCode             string         `bun:"sec_code" json:"secCode"`
	IndividualID        string         `bun:"individual_id" json:"individualId"`
	DebitDate           time.Time      `bun:"debit_date,type:date" json:"debitDate"` // on which it settles
	Reason              Mismatch       `bun:"reason" json:"reason"`                  // '' where a rule allows it
	Status              DecisionStatus `bun:"status" json:"status"`
	CreatedAt           time.Time      `bun:"created_at" json:"-"`
	ExpiresAt           time.Time      `bun:"expires_at" json:"expiresAt"` // until which people may decide
	// nil while it waits for people
	DecidedAt     *time.Time   `bun:"decided_at" json:"decidedAt"`
	DecidedClient string       `bun:"decided_client" json:"-"` // who decided: '' if nobody did
	DecidedLogin  string       `bun:"decided_login" json:"-"`
	DecidedReach  access.Reach `bun:"decided_reach" json:"-"`
	UpdatedAt     time.Time    `bun:"updated_at" json:"-"`
	Version       int32        `bun:"version" json:"-"`
}

func newException(uid ExceptionUID, tenant access.Tenant, d *Screened, now time.Time) *Exception {
	return &Exception{
		Tenant: tenant, UID: uid, Payment: d.Payment, Customer: d.Customer, Account: d.Account, Type: d.Type,
		Minor: d.Amount.Minor, Currency: d.Amount.Currency, ACHCompanyID: d.CompanyID, BeneficiaryName: d.Name,
		BeneficiaryBankID: d.BankID, BeneficiaryBankName: d.BankName, SECCode: d.Class,
		IndividualID: d.IndividualID, DebitDate: d.DebitDate, Status: DecisionPending, CreatedAt: now,
		UpdatedAt: now, Version: 1,
	}
}

// Amount returns the amount of the debit.
func (e *Exception) Amount() money.Amount { return money.Of(e.Minor, e.Currency) }

// DecidedBy returns the login of the person who decided, or else the API key. It is "" if nobody did, and for
// callers outside the bank if one of the bank's own people or programs did.
func (e *Exception) DecidedBy() string { return cmp.Or(e.DecidedLogin, e.DecidedClient) }

// Decide decides on an exception that waits. Callers must hold its row locked.
func (e *Exception) Decide(to DecisionStatus, by access.Caller, now time.Time) error {
	switch {
	case e.Status != DecisionPending:
		return ErrExceptionDecided.Saying("the exception is decided already: " + string(e.Status)).
			With(string(e.Status))
	case to != DefaultDecision && !now.Before(e.ExpiresAt):
		return ErrExceptionLate.With(string(e.Status))
	}
	e.Status, e.DecidedAt, e.UpdatedAt, e.Version = to, &now, now, e.Version+1
	if to != DefaultDecision {
		e.DecidedClient, e.DecidedLogin, e.DecidedReach = by.Client, by.LoginID, by.Reach
	}
	return nil
}

// Recorded returns what the audit record shows of the exception in another form.
func (e *Exception) Recorded() map[string]audit.Field {
	return map[string]audit.Field{
		"Minor":     {Name: "amount", Value: e.Amount().String()},
		"DebitDate": {Name: "debitDate", Value: e.DebitDate.Format(time.DateOnly)},
	}
}

// The faults of exceptions.
var (
	ErrNoException = fault.New(fault.NotFound, "positivePayException.not_found",
		"no such exception of positive pay")
	ErrExceptionDecided = fault.New(fault.State, "positivePayException.decided",
		"the exception is decided already")
	// ErrExceptionLate is returned for a decision after the deadline.
	ErrExceptionLate = fault.New(fault.State, "positivePayException.late",
		"the deadline of the exception has passed")
)

// ShownException is an exception with what the record of its account says.
type ShownException struct {
	Exception `bun:",extend"`

	AccountLast4 string `bun:"account_last4,scanonly"`
}

// AccountNumber returns the masked number of the account.
func (e *ShownException) AccountNumber() string { return seal.Value{Last4: e.AccountLast4}.Masked() }
