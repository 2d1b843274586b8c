package accounts

import (
	"bytes"
	"context"
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
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

// leaves reports whether an account that was kept here no longer is, or has another number than it had.
// Payments to the former number go to whoever has that by then, and the accounts that are kept here measure
// what the bank confirms, so the bank decides.
func (a *Account) leaves(was *Account) bool {
	return was.SystemOfRecord == InternalCore && (a.SystemOfRecord != InternalCore ||
		len(was.Number.Hash) > 0 && !bytes.Equal(was.Number.Hash, a.Number.Hash))
}

// reservedTx reports whether only the bank's own people may decide on what somebody outside the bank does
// with an account; was is the account before, or nil.
func reservedTx(ctx context.Context, tx *changes.Tx, was, a *Account) (bool, error) {
	if tx.Caller.Reach == access.OfBank {
		return false, nil
	}
	if was != nil {
		confirmed := was.confirmedFrom()
		if a.unconfirmed(confirmed) || confirmed != nil && a.Currency != was.Currency || a.leaves(was) {
			return true, nil
		}
	}
	if around, err := aroundCallbacksTx(ctx, tx, was, a); err != nil || around {
		return true, err
	}
	if elsewhere, err := elsewhereTx(ctx, tx, was, a); err != nil || elsewhere {
		return true, err
	}
	var former string
	if was != nil {
		former = was.ACHCompanyID
	}
	return customers.CompanyTakenTx(ctx, tx, former, a.ACHCompanyID)
}

// confirmedFrom returns the amount above which the bank's own people confirm wires; nil if they confirm none.
func (a *Account) confirmedFrom() *int64 {
	if !a.EnableCallbacks {
		return nil
	}
	return a.CallbackLimit
}

// unconfirmed reports whether wires go out of an account unconfirmed which the bank confirms elsewhere, from
// an amount on.
func (a *Account) unconfirmed(elsewhere *int64) bool {
	own := a.confirmedFrom()
	return elsewhere != nil && (own == nil || *own > *elsewhere)
}

// aroundCallbacksTx reports whether wires go out of an account, as they did not, that would be confirmed if
// they went out of another account of the customer. Amounts are compared in one currency; where the bank
// confirms only wires in others, all go unconfirmed that the account's own limit lets through.
func aroundCallbacksTx(ctx context.Context, tx *changes.Tx, was, a *Account) (bool, error) {
	wires := func(a *Account) bool { return a != nil && a.EnableWires && a.SystemOfRecord == InternalCore }
	if !wires(a) || wires(was) {
		return false, nil
	}
	var least *int64
	var others bool
	err := tx.NewSelect().Model((*Account)(nil)).
		ColumnExpr("min(a.callback_limit) FILTER (WHERE a.currency = ?)", a.Currency).
		ColumnExpr("coalesce(bool_or(a.callback_limit IS NOT NULL), false)").
		Where("a.tenant = ?", a.Tenant).Where("a.customer = ?", a.Customer).Where("a.enable_callbacks").
		Where("a.uid <> ? AND a.status <> 'Pending' AND a.deleted_at IS NULL", a.UID).
		Where("a.system_of_record = 'Internal Core'").Scan(ctx, &least, &others)
	return a.unconfirmed(least) || least == nil && others, err
}

// ConfirmsSinceTx reports whether the bank's own people confirm wires of an amount in dollars, in minor
// units, out of an account of a customer that was changed since a time.
func ConfirmsSinceTx(
	ctx context.Context, tx *changes.Tx, of customers.UID, minor int64, since time.Time,
) (confirms bool, err error) {
	return tx.NewSelect().Model((*Account)(nil)).Where("a.tenant = ?", tx.Caller.Tenant).
		Where("a.customer = ?", of).Where("a.updated_at >= ?", since).Where("a.enable_callbacks").
		Where("a.currency = 'USD'").Where("a.callback_limit < ?", minor).Exists(ctx)
}

// elsewhereTx reports whether an account in the bank's own books is at a routing number, or BIC, at which the
// bank has none so far, unless its own record has the BIC. Payments to accounts there would stay in its
// books.
func elsewhereTx(ctx context.Context, tx *changes.Tx, was, a *Account) (bool, error) {
	if a.SystemOfRecord != InternalCore ||
		was != nil && was.SystemOfRecord == InternalCore && was.BankID == a.BankID {
		return false, nil
	}
	has, err := tx.NewSelect().Model((*Account)(nil)).Where("a.tenant = ?", a.Tenant).
		Where("a.bank_id = ?", a.BankID).Where("a.uid <> ?", a.UID).
		Where("a.system_of_record = 'Internal Core' AND a.status <> 'Pending' AND a.deleted_at IS NULL").
		Exists(ctx)
	if err != nil || has || a.BankIDType != BIC {
		return err == nil && !has, err
	}
	own, err := tx.NewSelect().TableExpr("customers AS c").Where("c.tenant = ?", a.Tenant).
		Where("c.relationship_type = 'Self' AND c.swift_code <> ''").
		Where("left(c.swift_code, 8) = left(?, 8)", a.BankID).Exists(ctx)
	return !own, err
}
