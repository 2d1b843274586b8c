package rest

import (
	"strings"

	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

var sweepsV1 = dialect{
	success: bare, failure: failureSweep, lines: table("SWEEP_VALIDATION_ERROR", notAuthorized,
		because(customers.ErrNotFound, "SWEEP_CUSTOMERUID_NOTFOUND").exactly(),
		because(customers.ErrOutOfScope, "SWEEP_CUSTOMERUID_NOTFOUND").toldAs(customers.ErrNotFound).exactly(),
		because(accounts.ErrNotFound, "SWEEP_ACCOUNTUID_NOTFOUND").exactly(),
		because(customers.ErrInactive, "SWEEP_CUSTOMERUID_STATUS").exactly(),
		because(accounts.ErrNotActive, "SWEEP_ACCOUNTUID_STATUS").exactly(),
		because(accounts.ErrNoSweep, "SWEEP_DIRECTION_NOTFOUND").exactly(),
		because(accounts.ErrSweepExists, "SWEEP_DIRECTION_NOTALLOWED").exactly(),
		because(accounts.ErrSweepBeside, "SWEEP_DIRECTION_NOTALLOWED").exactly()),
}

// sweepDraft reads a sweep (rest/CONTRACT.md, sweeps).
func sweepDraft(body fields) accounts.SweepDraft {
	from, to, marks, frequency := body.object("sweepFrom"), body.object("sweepTo"), body.object("range"),
		body.object("frequency")
	return accounts.SweepDraft{
		BalanceType:   oneOf(body, "balanceType", accounts.Target, accounts.Range, accounts.Zero),
		TargetBalance: body.number("targetBalance"), FromAmount: marks.number("fromAmount"),
		ToAmount:    marks.number("toAmount"),
		FromContact: idIn(from, notZero(contacts.ParseUID), "contactId"),
		ToContact:   idIn(to, notZero(contacts.ParseUID), "contactId"),
		FromMethod:  oneOf(from, "paymentMethod", accounts.ACHDebit, accounts.WireDrawdown, accounts.InstantRFP),
		ToMethod:    oneOf(to, "paymentMethod", accounts.ACHCredit, accounts.WirePayment, accounts.InstantPayment),
		Frequency:   oneOf(frequency, "type", accounts.Daily, accounts.Weekly, accounts.Monthly),
		DayOfWeek: oneOf(frequency, "dayOfWeek", accounts.Monday, accounts.Tuesday, accounts.Wednesday,
			accounts.Thursday,
			accounts.Friday, accounts.Saturday, accounts.Sunday),
		DayOfMonth: frequency.whole("dayOfMonth"),
	}
}

// oneOf reads one of the given words in any letter case. It returns nil if none was given.
func oneOf[T ~string](f fields, name string, words ...T) *T {
	return wordIn(f, func(field, text string) (T, error) {
		if word, ok := ident.Word(text, words...); ok {
			return word, nil
		}
		all := each(words, func(word T) string { return string(word) })
		return "", fault.Field("request", field, fault.Malformed, "must be one of "+strings.Join(all, ", "))
	}, name)
}

// sweep is the answer. It has the frequency on each side, and the frequency's type is not in capitals.
type sweep struct {
	BalanceType   accounts.BalanceType `json:"balanceType"`
	TargetBalance *money.Amount        `json:"targetBalance,omitzero"`
	Range         *sweepRange          `json:"range,omitzero"`
	SweepFrom     *sweepFrom           `json:"sweepFrom,omitzero"`
	SweepTo       *sweepTo             `json:"sweepTo,omitzero"`
}

type sweepRange struct {
	FromAmount *money.Amount `json:"fromAmount,omitzero"`
	ToAmount   *money.Amount `json:"toAmount,omitzero"`
}

type sweepFrom struct {
	ContactID     string            `json:"contactId"`
	PaymentMethod accounts.InMethod `json:"paymentMethod"`
	Frequency     sweepFrequency    `json:"frequency"`
}

type sweepTo struct {
	ContactID     string             `json:"contactId"`
	PaymentMethod accounts.OutMethod `json:"paymentMethod"`
	Frequency     sweepFrequency     `json:"frequency"`
}

type sweepFrequency struct {
	Type       accounts.FrequencyType `json:"type"`
	DayOfWeek  accounts.Weekday       `json:"dayOfWeek,omitzero"`  // of a weekly sweep
	DayOfMonth int32                  `json:"dayOfMonth,omitzero"` // of a monthly one
}

func sweepOf(w *accounts.Sweep) sweep {
	view := sweep{BalanceType: w.BalanceType, TargetBalance: w.TargetBalance()}
	frequency := sweepFrequency{w.Frequency, w.DayOfWeek, w.DayOfMonth}
	if w.BalanceType == accounts.Range {
		view.Range = &sweepRange{w.FromAmount(), w.ToAmount()}
	}
	if w.FromContact != nil {
		view.SweepFrom = &sweepFrom{w.FromContact.String(), w.FromMethod, frequency}
	}
	if w.ToContact != nil {
		view.SweepTo = &sweepTo{w.ToContact.String(), w.ToMethod, frequency}
	}
	return view
}
