package accounts

import (
	"slices"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/states"
)

// Action is a change of an account's status (rest/CONTRACT.md, account actions).
type Action string

const (
	Activate Action = "Activate"
	Close    Action = "Close"
)

// ParseAction reads an action without regard to letter case.
func ParseAction(field, text string) (Action, error) {
	if a, ok := ident.Word(text, Activate, Close); ok {
		return a, nil
	}
	return "", fault.Field("account", field, fault.Malformed, "must be Activate or Close")
}

// The allowed changes of status (rest/CONTRACT.md, account statuses).
var (
	activating = states.Step[Status]{
		From: []Status{StatusNew, Pending, Inactive, Suspended}, To: Active,
		Refused: map[Status]*fault.Fault{Active: ErrActive}, Else: ErrClosed,
	}
	reopening  = states.Step[Status]{From: []Status{Closed}, To: Active, Else: ErrClosed}
	suspending = states.Step[Status]{
		From: []Status{Active, Inactive, StatusNew}, To: Suspended,
		Refused: map[Status]*fault.Fault{Suspended: ErrSuspended}, Else: ErrClosed,
	}
	closing = states.Step[Status]{
		From: []Status{Active, Inactive, Suspended, StatusNew, Pending}, To: Closed, Else: ErrClosed,
	}
)

// final reports whether a status is final. An account in a final status cannot be changed at all.
func (s Status) final() bool { return !slices.Contains(closing.From, s) }

// The faults of an account's state, and of what depends on the account.
var (
	ErrClosed = fault.New(fault.State, "account.closed",
		"the account is closed for good: it cannot be changed any more")
	ErrActive = fault.New(fault.State, "account.active", "the account is active already")
	// ErrSuspended is returned when an account is to be suspended that is.
	ErrSuspended = fault.New(fault.State, "account.suspended", "the account is suspended already")
	// ErrBankSuspends is returned to callers outside the bank who suspend an account, or activate, close, delete
	// or renumber one that is suspended.
	ErrBankSuspends = fault.New(fault.Denied, "account.bank_suspends",
		"the bank alone suspends an account, and activates, closes, deletes or renumbers one that is suspended")
	ErrMoney = fault.New(fault.State, "account.money",
		"there is money in the account, or held for payments under way")
	// ErrUnderWay is returned while a payment brings money to the account, or may do so: one that is collected,
	// or that its network may refuse. A request for payment is none: its debtor pays no account that is closed.
	ErrUnderWay = fault.New(fault.State, "account.under_way",
		"payments of the account are under way: cancel them, or wait until they have settled")
	ErrBooked = fault.New(fault.State, "account.booked",
		"there are bookings on the account: it can be closed, not deleted")
	ErrFormerCurrency = fault.New(fault.State, "account.former_currency",
		"there are bookings on the account: its currency cannot change any more").On("currency")
	ErrNamedCurrency = fault.New(fault.State, "account.named_currency",
		"a payment, a hold, a virtual account, an alert or a rule of the account is in its currency, which "+
			"cannot change any more").On("currency")
	ErrInFront = fault.New(fault.State, "account.in_front",
		"a Pseudo account stands in front of the account: change or close that first")
	ErrDefaultOffset = fault.New(fault.State, "account.default_offset",
		"the account is the default offset account of others with its ACH company id: make another "+
			"account the default first")
	ErrCharged = fault.New(fault.State, "account.charged",
		"a fee tier counts for the account: change that first")
	ErrSwept = fault.New(fault.State, "account.swept", "a sweep is set up for the account: remove that first")

	// ErrNumberTaken is returned when another account of the bank has the number.
	ErrNumberTaken = fault.New(fault.Conflict, "account.number_taken",
		"another account of the bank has this account number").On("accountNumber")
	// ErrOffsetTaken is returned for a second default offset account.
	ErrOffsetTaken = fault.New(fault.Conflict, "account.offset_taken",
		"another account of the customer is the default offset account of this ACH company id").
		On("defaultOffset")
)
