package positivepay

import (
	"time"

	"bankgraph/core/access"
	"bankgraph/core/money"
	"bankgraph/db"
)

// ExceptionWithRule is an exception and the rule that allows its debit.
type ExceptionWithRule struct {
	Exception `bun:",extend"`

	Allowing AllowingRule `bun:"embed:allowing_"`
}

// AllowingRule is what is told of the rule that allows a debit. Its UID is 0 where none does.
type AllowingRule struct {
	UID               UID            `bun:"uid,scanonly"`
	Type              Type           `bun:"type,scanonly"`
	ACHCompanyID      string         `bun:"ach_company_id,scanonly"`
	BeneficiaryName   string         `bun:"beneficiary_name,scanonly"`
	BeneficiaryBankID string         `bun:"beneficiary_bank_id,scanonly"`
	BeneficiaryLast4  string         `bun:"beneficiary_number_last4,scanonly"`
	Minor             int64          `bun:"amount,scanonly"`
	Currency          money.Currency `bun:"currency,scanonly"`
	AmountType        AmountType     `bun:"amount_type,scanonly"`
	Frequency         Frequency      `bun:"frequency,scanonly"`
	SECCode           string         `bun:"sec_code,scanonly"`
	EffectiveDate     *time.Time     `bun:"effective_date,scanonly"`
	ExpiryDate        *time.Time     `bun:"expiry_date,scanonly"`
	State             Status         `bun:"state,scanonly"` // as people set it
}

// Amount returns the amount that debits are compared with.
func (r *AllowingRule) Amount() money.Amount { return money.Of(r.Minor, r.Currency) }

var readingWithRules db.QueryCache[ExceptionWithRule]

// ExceptionsWithRules reads the exceptions of payments that a reader sees.
func ExceptionsWithRules(b *db.Batch, reader access.Caller, of []int64) *db.Many[int64, ExceptionWithRule] {
	text := readingWithRules.Get(reader.Reach, func() string {
		from := inExceptions(reader.Reach)
		for _, column := range []string{
			"type", "ach_company_id", "beneficiary_name", "beneficiary_bank_id", "currency", "amount_type",
			"frequency", "sec_code", "beneficiary_number_last4", "state",
		} {
			from["allowing_"+column] = "coalesce(pp." + column + ", '')"
		}
		for _, column := range []string{"uid", "amount"} {
			from["allowing_"+column] = "coalesce(pp." + column + ", 0)"
		}
		for _, column := range []string{"effective_date", "expiry_date"} {
			from["allowing_"+column] = "pp." + column
		}
		return db.Select[ExceptionWithRule](db.Columns{}, from).
			Join("LEFT JOIN positive_pay_rules AS pp ON pp.tenant = $1 AND pp.uid = ppe.rule").
			Where("ppe.tenant = $1").Where(reader.Reach.Scope("ppe.customer")).
			Where("ppe.payment = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(e *ExceptionWithRule) int64 { return e.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}
