package accounts

import (
	"bytes"
	"slices"

	"bankgraph/core/fault"
)

// fitting lists the sub-types of each type. Health Savings Account is in neither published list; it holds the
// customer's money, so it is a deposit (rest/CONTRACT.md, account rules).
var fitting = map[Type][]SubType{
	Deposit: {Checking, Savings, HealthSavings, CD, MoneyMarket, Pseudo},
	Loan:    {CreditCard, Heloc, LineOfCredit},
}

// rules lists what must not hold between the fields of an account (rest/CONTRACT.md, account rules).
var rules = []struct {
	field   string
	problem fault.Problem
	message string
	broken  func(*Account) bool
	older   bool // applies to the older interfaces too, which have no switch for ACH
}{
	{"accountSubType", fault.NoMatch, "does not fit the account type", func(a *Account) bool {
		return !slices.Contains(fitting[a.Type], a.SubType)
	}, true},
	{"fboAccountNumber", fault.Required, "is required for a Pseudo account", func(a *Account) bool {
		return a.SubType == Pseudo && a.FBONumber.Hash == nil
	}, true},
	{"callbackLimit", fault.Forbidden, "is not allowed for a Pseudo account", func(a *Account) bool {
		return a.SubType == Pseudo && a.CallbackLimit != nil
	}, true},
	{"enableWire", fault.NoMatch, "needs domestic or international wires to be on", func(a *Account) bool {
		return a.EnableWires && !a.EnableDomesticWires && !a.EnableInternationalWires
	}, true},
	{"enableWire", fault.NoMatch, "must be on for domestic or international wires", func(a *Account) bool {
		return !a.EnableWires && (a.EnableDomesticWires || a.EnableInternationalWires)
	}, true},
	{"enableCallbacks", fault.NoMatch, "needs domestic wires to be on", func(a *Account) bool {
		return a.EnableCallbacks && !a.EnableDomesticWires
	}, true},
	{"callbackLimit", fault.NoMatch, "applies only where callbacks are on", func(a *Account) bool {
		return a.CallbackLimit != nil && !a.EnableCallbacks
	}, true},
	{"enableACH", fault.NoMatch, "must be on for any feature of ACH", func(a *Account) bool {
		return !a.EnableACH &&
			(a.EnableOffset || a.DefaultOffset || a.Underwritten || a.ACHPrefund || a.ACHCompanyID != "" ||
				len(a.SECCodes) > 0)
	}, false},
	{"achCompanyId", fault.Required, "is required where ACH is on", func(a *Account) bool {
		return a.EnableACH && a.ACHCompanyID == ""
	}, true},
	{
		"enableAchPrefund", fault.NoMatch, "an account is underwritten or prefunded, not both",
		func(a *Account) bool {
			return a.Underwritten && a.ACHPrefund
		}, true,
	},
	{
		"debitExposureLimit", fault.NoMatch, "needs the account to be underwritten or prefunded",
		func(a *Account) bool {
			return a.DebitExposureLimit != nil && !a.Underwritten && !a.ACHPrefund
		}, true,
	},
	{"creditExposureLimit", fault.NoMatch, "needs the account to be underwritten", func(a *Account) bool {
		return a.CreditExposureLimit != nil && !a.Underwritten
	}, true},
	{
		"defaultOffset", fault.NoMatch, "a default offset account must be an offset account",
		func(a *Account) bool {
			return a.DefaultOffset && !a.EnableOffset
		}, true,
	},
}

// follows returns the fault of the first rule that a change breaks. Rules that were broken before do not
// count.
func follows(was, a *Account, older bool) error {
	for _, rule := range rules {
		if rule.broken(a) && (rule.older || !older) && (was == nil || !rule.broken(was)) {
			return fault.Field("account", rule.field, rule.problem, rule.message)
		}
	}
	return nil
}

// unguarded reports whether debits and requests of other banks are no longer compared with rules of positive
// pay.
func (a *Account) unguarded(was *Account) bool { return was.EnablePositivePay && !a.EnablePositivePay }

// renumbered reports whether an account that is kept here has another number than it had. Payments to
// the former one go to whoever has that by then, so the bank decides.
func (a *Account) renumbered(was *Account) bool {
	return was.SystemOfRecord == InternalCore && len(was.Number.Hash) > 0 &&
		!bytes.Equal(was.Number.Hash, a.Number.Hash)
}

// laxer reports whether wires go out unconfirmed of an account which, as it was, needed a call back.
func (a *Account) laxer(was *Account) bool {
	if !was.EnableCallbacks || was.CallbackLimit == nil {
		return false
	}
	return !a.EnableCallbacks || a.CallbackLimit == nil || *a.CallbackLimit > *was.CallbackLimit
}
