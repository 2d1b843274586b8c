package accounts

import (
	"reflect"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

// SweepDraft is what a request says about a sweep (rest/CONTRACT.md, sweeps). An update changes only the
// fields that are given.
type SweepDraft struct {
	BalanceType   *BalanceType   `json:"balanceType,omitzero"`
	TargetBalance given.Text     `json:"targetBalance,omitzero"`
	FromAmount    given.Text     `json:"fromAmount,omitzero"`
	ToAmount      given.Text     `json:"toAmount,omitzero"`
	FromContact   *contacts.UID  `json:"fromContact,omitzero"`
	FromMethod    *InMethod      `json:"fromMethod,omitzero"`
	ToContact     *contacts.UID  `json:"toContact,omitzero"`
	ToMethod      *OutMethod     `json:"toMethod,omitzero"`
	Frequency     *FrequencyType `json:"frequency,omitzero"`
	DayOfWeek     *Weekday       `json:"dayOfWeek,omitzero"`
	DayOfMonth    *int32         `json:"dayOfMonth,omitzero"`

	Maker *access.Maker `json:"maker,omitzero"` // who asks, be it that somebody else approves
	// the versions of the contacts that were asked for; nil in a request
	Seen map[contacts.UID]int32 `json:"seen,omitzero"`
}

// leaves lists the balance types that each direction allows.
var leaves = map[Direction][]BalanceType{Both: {Range}, Out: {Target, Zero}, In: {Target}}

// check validates the draft for a direction. setting marks a new sweep.
func (d *SweepDraft) check(direction Direction, setting bool) error {
	c := check.Of("sweep")
	if !setting && reflect.ValueOf(*d).IsZero() {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.checkBalance(c, direction, setting)
	need(c, "sweepFrom.contactId", direction != Out, setting, d.FromContact != nil)
	need(c, "sweepFrom.paymentMethod", direction != Out, setting, d.FromMethod != nil)
	need(c, "sweepTo.contactId", direction != In, setting, d.ToContact != nil)
	need(c, "sweepTo.paymentMethod", direction != In, setting, d.ToMethod != nil)
	need(c, "frequency.type", true, setting, d.Frequency != nil)
	if d.DayOfMonth != nil {
		day := int(*d.DayOfMonth)
		c.Range("frequency.dayOfMonth", &day, 1, 31)
	}
	return c.Err()
}

// stays is the message for an update that gives another balance type.
const stays = "cannot change: remove the sweep and set another one up"

func (d *SweepDraft) checkBalance(c *check.Fields, direction Direction, setting bool) {
	need(c, "balanceType", true, setting, d.BalanceType != nil)
	if d.BalanceType != nil {
		words := make([]string, len(leaves[direction]))
		fits := false
		for i, t := range leaves[direction] {
			words[i], fits = string(t), fits || t == *d.BalanceType
		}
		switch {
		case !fits && !setting: // the existing sweep cannot have this type
			c.Fail("balanceType", fault.Forbidden, stays)
		case !fits:
			c.Fail("balanceType", fault.Malformed, "must be "+strings.Join(words, " or ")+
				" in this direction")
		}
	}
	need(c, "range.fromAmount", direction == Both, setting, d.FromAmount.Value != "")
	need(c, "range.toAmount", direction == Both, setting, d.ToAmount.Value != "")
	// optional: a new sweep without it leaves nothing in the account
	need(c, "targetBalance", direction != Both, false, d.TargetBalance.Value != "")
	c.Between("range.fromAmount", d.FromAmount.Value, "0", highest)
	c.Between("range.toAmount", d.ToAmount.Value, "0", highest)
	c.Between("targetBalance", d.TargetBalance.Value, "0", highest)
}

// need demands a field if the direction has it, and otherwise refuses it.
func need(c *check.Fields, field string, has, setting, given bool) {
	switch {
	case given && !has:
		c.Fail(field, fault.Forbidden, "is not part of a sweep in this direction")
	case !given && has && setting:
		c.Fail(field, fault.Required, "is required")
	}
}

// to writes the given fields into a sweep.
func (d *SweepDraft) to(w *Sweep) error {
	c := check.Of("sweep")
	if d.BalanceType != nil && w.BalanceType != "" && w.BalanceType != *d.BalanceType {
		c.Fail("balanceType", fault.Forbidden, stays)
	}
	set(&w.BalanceType, d.BalanceType)
	if w.BalanceType != Range && w.TargetMinor == nil {
		w.TargetMinor = new(int64)
	}
	sumTo(c, "targetBalance", d.TargetBalance, w.Currency, &w.TargetMinor)
	sumTo(c, "range.fromAmount", d.FromAmount, w.Currency, &w.LowMinor)
	sumTo(c, "range.toAmount", d.ToAmount, w.Currency, &w.HighMinor)
	if w.BalanceType == Zero && w.TargetMinor != nil && *w.TargetMinor != 0 {
		c.Fail("targetBalance", fault.NoMatch, "must be 0 if the sweep is to leave nothing")
	}
	if w.LowMinor != nil && w.HighMinor != nil && *w.LowMinor >= *w.HighMinor {
		c.Fail("range.toAmount", fault.NoMatch, "must be above fromAmount")
	}
	if d.FromContact != nil {
		w.FromContact = d.FromContact
	}
	if d.ToContact != nil {
		w.ToContact = d.ToContact
	}
	set(&w.FromMethod, d.FromMethod)
	set(&w.ToMethod, d.ToMethod)
	set(&w.Frequency, d.Frequency)
	d.dayTo(c, w)
	return first(c.Err())
}

// dayTo writes the day on which a sweep runs, as its frequency needs it, and clears the others.
func (d *SweepDraft) dayTo(c *check.Fields, w *Sweep) {
	set(&w.DayOfWeek, d.DayOfWeek)
	set(&w.DayOfMonth, d.DayOfMonth)
	if w.Frequency != Weekly {
		w.DayOfWeek = ""
	} else if w.DayOfWeek == "" {
		c.Fail("frequency.dayOfWeek", fault.Required, "is required for a weekly sweep")
	}
	if w.Frequency != Monthly {
		w.DayOfMonth = 0
	} else if w.DayOfMonth == 0 {
		c.Fail("frequency.dayOfMonth", fault.Required, "is required for a monthly sweep")
	}
}

// sumTo writes an amount if it is given.
func sumTo(c *check.Fields, field string, text given.Text, in money.Currency, stored **int64) {
	if amount := c.Amount(field, text.Value, in); amount != nil {
		*stored = &amount.Minor
	}
}
