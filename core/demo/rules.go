package demo

import (
	"fmt"

	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/positivepay"
	"bankgraph/core/seal"
)

// Rule returns the UID of the n-th customer's k-th rule of positive pay, k from 0.
func Rule(n int64, k int) positivepay.UID { return positivepay.UID(n*rulesAt + int64(k)) }

// rulesAt is how many numbers of rules each customer has.
const rulesAt = 4

// rulesOf returns the rules of positive pay for the first account of a customer: every active company whose
// account has positive pay lets its utility debit it. The first customer and the partner's first one have a
// rule in each state that there is.
func (b *bank) rulesOf(n int64) []*positivepay.Rule {
	shown := Customer(n) == First || Customer(n) == PartnersFirst
	if n == 0 || person(n) || status(n) != customers.Active || !shown && !b.account(n, 0).EnablePositivePay {
		return nil
	}
	utility := b.rule(n, 0, positivepay.ACH, "Lakefront Utilities Inc", 1_500_00, -60)
	utility.SECCode, utility.IndividualID = "CCD", fmt.Sprintf("METER-%d", n)
	if !shown {
		return []*positivepay.Rule{utility}
	}
	insurer := b.rule(n, 1, positivepay.ACH, "Harborline Insurance Corp", 250_00, -400)
	insurer.AmountType, insurer.ExpiryDate = positivepay.Exact, new(ledger.Day(b.start.AddDate(0, 0, -35)))
	insurer.NumberOfPayments = new(int32(12))
	drawn := b.rule(n, 2, positivepay.Fedwire, "Quarry Equipment Finance LLC", 25_000_00, 7)
	drawn.Frequency, drawn.ExpiryDate = positivepay.OneTime, new(ledger.Day(b.start.AddDate(0, 0, 37)))
	asked := b.rule(n, 3, positivepay.Instant, "Beacon Fuel Cards Inc", 800_00, -20)
	asked.Frequency, asked.State = positivepay.OnGoing, positivepay.Suspended
	return []*positivepay.Rule{utility, insurer, drawn, asked}
}

// rule makes an active rule of every month, from so many days after the start.
func (b *bank) rule(
	n int64, k int, over positivepay.Type, name string, most int64, days int,
) *positivepay.Rule {
	d := roll(topicRule, n<<8|int64(k))
	created := b.ago(d, 61, 400)
	r := &positivepay.Rule{
		Tenant: b.tenant, UID: Rule(n, k), Customer: Customer(n), Account: Account(n, 0), Type: over,
		BeneficiaryName: name, BeneficiaryBankID: usRouting(k), BeneficiaryBankName: usBanks[k], Minor: most,
		Currency: "USD", AmountType: positivepay.Maximum, Frequency: positivepay.Monthly,
		SECCode: positivepay.AllClasses, EffectiveDate: ledger.Day(b.start.AddDate(0, 0, days)),
		State: positivepay.Active, CreatedAt: created, UpdatedAt: created, Version: 1,
	}
	if over == positivepay.ACH {
		r.ACHCompanyID = "91" + d.digits(8)
	}
	r.BeneficiaryNumber = b.keys.Seal("4"+d.digits(9),
		seal.Place{Tenant: int64(b.tenant), Column: positivepay.NumberColumn, Row: int64(r.UID)})
	return r
}
