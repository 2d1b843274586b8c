package payments

import (
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// needsApproval reports whether a payment needs a second person.
func (f *facts) needsApproval(p *Payment) bool {
	return p.altered || f.needsSecond(p.Own()) || f.callback(p)
}

// needsSecond reports whether it takes a second person to take money from an account.
func (f *facts) needsSecond(account accounts.UID) bool { return f.bank.Dual || f.parties[account].Dual }

// callback reports whether a wire is above the amount from which the bank's own people confirm it. A drawdown
// request needs no callback, as it only asks for money.
func (f *facts) callback(p *Payment) bool {
	return (p.Rail == rails.Fedwire || p.Rail == rails.SWIFT) && !p.Collects() &&
		f.parties[p.Own()].above(p.Debited())
}

// above reports whether a wire of an amount from the account is above that amount.
func (a *party) above(amount money.Amount) bool {
	return a.CallbackLimit != nil && amount.Minor > *a.CallbackLimit
}

// approvers returns how many people beside the maker have to approve a payment, and the least reach that they
// need.
func (f *facts) approvers(p *Payment) (people int32, by access.Reach) {
	people, by = f.approversOf(p.Own(), p.Debited())
	if f.callback(p) {
		by = access.OfBank
	}
	return people, by
}

// approversOf returns how many people beside the maker have to approve that an amount is taken from an
// account, and the least reach that they need (rest/CONTRACT.md, approval of payments). Bounds in the bank's
// currency do not ease payments in another one.
func (f *facts) approversOf(account accounts.UID, amount money.Amount) (people int32, by access.Reach) {
	people = 1
	for _, rule := range []approval{f.bank.approval, f.parties[account].approval} {
		if !rule.Dual {
			continue
		}
		within := func(most customers.Cents) bool {
			return amount.Currency == f.bank.Currency && money.AtMost(amount, most.Amount())
		}
		if rule.People > 1 && (rule.First == 0 || !within(rule.First)) {
			people = 2
		}
		if rule.Second > 0 && !within(rule.Second) {
			by = access.OfBank
		}
	}
	return people, by
}
