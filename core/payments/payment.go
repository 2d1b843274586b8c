package payments

import (
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
)

// UID is a payment's number; partners know it as paymentUID.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a payment's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("payment", field, fault.Number, "must be the digits of a payment UID")
	}
	return UID(n), nil
}

// Payment is one payment (rest/CONTRACT.md, payment answers). Amounts are minor units of Currency.
type Payment struct {
	bun.BaseModel `bun:"table:payments,alias:pay" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      UID           `bun:"uid,pk" json:"-"`
	Customer customers.UID `bun:"customer" json:"-"` // the owner: the bank's customer, or the payer if both are
	// In for one that another bank's message began
	Direction Direction `bun:"direction" json:"direction"`
	// who starts it: Debit if the payee asks for the money, and owns the payment
	EntryType rails.EntryType `bun:"entry_type" json:"entryType"`
	Rail      rails.Rail      `bun:"rail" json:"rail"`
	Speed     Speed           `bun:"speed" json:"speed,omitempty"` // "" for book transfers
	State     State           `bun:"state" json:"state"`
	Minor     int64           `bun:"amount" json:"-"`
	// the part of the amount that is given back
	ReturnedMinor int64          `bun:"returned" json:"-"`
	Currency      money.Currency `bun:"currency" json:"currency"`
	Exchange
	// the day on which the money moves, in the zone of the bank or the network; midnight UTC
	Date     time.Time `bun:"payment_date,type:date" json:"paymentDate"`
	FeeMinor int64     `bun:"fee" json:"-"`
	FeeName  string    `bun:"fee_name" json:"feeName"`
	FeeTier  string    `bun:"fee_tier" json:"feeTier"`
	// the fee that was asked for in place of the fee tier's; 0 if none was
	CustomFeeMinor      int64  `bun:"custom_fee" json:"-"`
	CustomFeeName       string `bun:"custom_fee_name" json:"-"`
	ExternalReferenceID string `bun:"external_reference_id" json:"externalReferenceId"`
	Notes               string `bun:"notes" json:"notes"`
	Channel             string `bun:"channel" json:"channel"`
	// 0 if the payer has its account at another bank
	SenderAccount accounts.UID `bun:"sender_account,nullzero" json:"senderAccount,omitzero"`
	SenderName    string       `bun:"sender_name" json:"senderName"`
	// 0 if the payee has its account at another bank
	ReceiverAccount  accounts.UID  `bun:"receiver_account,nullzero" json:"receiverAccount,omitzero"`
	ReceiverCustomer customers.UID `bun:"receiver_customer,nullzero" json:"-"`
	ReceiverName     string        `bun:"receiver_name" json:"receiverName"`
	// the virtual account that a credit of another bank names; 0 for others
	Virtual virtualaccounts.UID `bun:"virtual_account,nullzero" json:"virtualAccount,omitzero"`
	// when it may be sent to its network, and when it settles there without an answer, or a request for
	// payment expires; nil for book transfers
	SendAt    *time.Time `bun:"send_at" json:"-"`
	SettlesAt *time.Time `bun:"settles_at" json:"-"`
	// why it was cancelled, rejected or returned, or why it could not be carried out
	Reason string `bun:"reason" json:"reason"`
	// the series that it belongs to; 0 for a single payment
	Recurrence  RecurrenceUID `bun:"recurrence,nullzero" json:"recurrenceId,omitzero"`
	MakerClient string        `bun:"maker_client" json:"-"`
	MakerLogin  string        `bun:"maker_login" json:"-"`
	CreatedAt   time.Time     `bun:"created_at" json:"-"`
	UpdatedAt   time.Time     `bun:"updated_at" json:"-"`
	Version     int32         `bun:"version" json:"-"`

	Sender   Side `bun:"embed:sender_side_" json:"-"`
	Receiver Side `bun:"embed:receiver_side_" json:"-"`
	// the contact that was named; 0 for none
	Contact contacts.UID `bun:"contact,scanonly" json:"-"`
	details *Details     // of a new payment over a network
	entry   *Entry       // of a new one over ACH
	series  *Recurrence  // that a new one begins
	other   *Receiver    // of one that is about to go over its network
	asks    *Request     // of a new one that asks for payment, and of one that is sent
	order   *Order       // of a new one that waits for repair where it would be refused otherwise
	aside   *aside       // of a new one that waits for repair, and of one that is repaired
	// its repair changed what was asked for
	altered bool
	// the account in whose list it stands, one of the two; 0 outside such a list
	Listed accounts.UID `bun:"listed,scanonly" json:"-"`
}

// Side is what the accounts table says about an account of a payment.
type Side struct {
	Last4      string              `bun:"last4,scanonly"` // of its number
	Name       string              `bun:"name,scanonly"`
	Type       accounts.Type       `bun:"type,scanonly"`
	SubType    accounts.SubType    `bun:"sub_type,scanonly"`
	BankID     string              `bun:"bank_id,scanonly"`
	BankIDType accounts.BankIDType `bun:"bank_id_type,scanonly"`
	BankName   string              `bun:"bank_name,scanonly"`
}

// Masked returns the account's number as callers read it.
func (s Side) Masked() string { return seal.Value{Last4: s.Last4}.Masked() }

// SenderNumber returns the number of the account that is debited, masked; nil if it is not known.
func (p *Payment) SenderNumber() *seal.Value { return seal.Value{Last4: p.Sender.Last4}.Shown() }

// ReceiverNumber returns the number of the account that is credited, masked; nil if it is not known.
func (p *Payment) ReceiverNumber() *seal.Value { return seal.Value{Last4: p.Receiver.Last4}.Shown() }

// Amount returns what is paid.
func (p *Payment) Amount() money.Amount { return money.Of(p.Minor, p.Currency) }

// Fee returns what the payer is charged for the payment; nil if nothing.
func (p *Payment) Fee() *money.Amount {
	if p.FeeMinor == 0 {
		return nil
	}
	amount := money.Of(p.FeeMinor, p.Debited().Currency)
	return &amount
}

// Status returns the state as partners read it.
func (p *Payment) Status() Status { return p.State.Status() }

// BusinessFunction returns what a payment over Fedwire is, in the words of that network: CTR, a customer
// transfer, or DRC, a customer's drawdown request. It is "" for others.
func (p *Payment) BusinessFunction() string {
	switch {
	case p.Rail != rails.Fedwire:
		return ""
	case p.EntryType == rails.Debit:
		return "DRC"
	}
	return "CTR"
}

// MemoPost returns whether the payment is in the books.
func (p *Payment) MemoPost() MemoPost {
	if p.Asks() || p.Asked() || p.Enrols() {
		return NotApplicable
	}
	if p.Collects() && p.State == Sent {
		return NotPosted // its money comes when it settles
	}
	return p.State.MemoPost()
}

// ReturnStatus returns what became of asking for the money back; "" if nobody has asked.
func (p *Payment) ReturnStatus() ReturnStatus { return p.State.ReturnStatus() }

// Returned returns what is given back of the amount; nil if nothing is.
func (p *Payment) Returned() *money.Amount {
	if p.ReturnedMinor == 0 {
		return nil
	}
	amount := money.Of(p.ReturnedMinor, p.Currency)
	return &amount
}

// Incoming reports whether the payment came in over a network.
func (p *Payment) Incoming() bool { return p.Direction == In }

// OwnerPaid reports whether the payment credits its owner: the payer has its account at another bank.
func (p *Payment) OwnerPaid() bool { return p.Incoming() == (p.EntryType == rails.Credit) }

// Collects reports whether the payment takes money from an account at another bank, on behalf of its owner.
func (p *Payment) Collects() bool { return !p.Incoming() && p.EntryType == rails.Debit }

// WireType is the published word for the direction of a payment over a network.
type WireType string

const (
	OutgoingPayment WireType = "OUTGOING_PAYMENT"
	IncomingPayment WireType = "INCOMING_PAYMENT"
)

// WireType returns the direction as it is published; "" for a book transfer.
func (p *Payment) WireType() WireType {
	switch {
	case p.Rail == rails.Book:
		return ""
	case p.Incoming():
		return IncomingPayment
	}
	return OutgoingPayment
}

// Own returns the owner's account, which is here.
func (p *Payment) Own() accounts.UID {
	if p.OwnerPaid() {
		return p.ReceiverAccount
	}
	return p.SenderAccount
}

// OwnerName returns the name of the payment's owner.
func (p *Payment) OwnerName() string {
	if p.OwnerPaid() {
		return p.ReceiverName
	}
	return p.SenderName
}

// otherName returns the name of who is on the other side.
func (p *Payment) otherName() string {
	if p.OwnerPaid() {
		return p.SenderName
	}
	return p.ReceiverName
}

// Failed reports whether the reason of the payment says what went wrong.
func (s State) Failed() bool {
	return s == Repair || s == Invalid || s == Rejected || s == Expired || s == Returned ||
		s == ReversalRejected
}

// Recorded returns the amounts as the audit record shows them.
func (p *Payment) Recorded() map[string]audit.Field {
	fee := audit.Field{Name: "fee"}
	if amount := p.Fee(); amount != nil {
		fee.Value = amount.String()
	}
	returned := audit.Field{Name: "returnedAmount"}
	if amount := p.Returned(); amount != nil {
		returned.Value = amount.String()
	}
	sold := audit.Field{Name: "senderAmount"}
	if p.Trade != 0 {
		sold.Value = p.Debited().String()
	}
	custom := audit.Field{Name: "customFee"}
	if amount := p.CustomFee(); amount != nil {
		custom.Value = amount.String()
	}
	return map[string]audit.Field{
		"SoldMinor": sold, "CustomFeeMinor": custom,
		"Minor": {Name: "amount", Value: p.Amount().String()}, "FeeMinor": fee, "ReturnedMinor": returned,
		"State": {Name: "status", Value: string(p.Status())},
		"Date":  {Name: "paymentDate", Value: p.Date.Format(time.DateOnly)},
	}
}

// enter takes the payment to its next state, which becomes a step of its life.
func (p *Payment) enter(to State, by access.Caller, at time.Time, reason string) *Step {
	p.State, p.Reason, p.UpdatedAt, p.Version = to, reason, at, p.Version+1
	return &Step{
		Tenant: p.Tenant, Payment: p.UID, Number: p.Version, State: to, At: at, Client: by.Client,
		LoginID: by.LoginID, Reach: by.Reach, Reason: reason,
	}
}

// Step is one state in the life of a payment. The steps of a payment are numbered 1, 2, 3 …, and never
// change.
type Step struct {
	bun.BaseModel `bun:"table:payment_steps,alias:ps" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	Payment UID           `bun:"payment,pk" json:"-"`
	Number  int32         `bun:"number,pk" json:"number"` // the payment's version then
	State   State         `bun:"state" json:"state"`
	At      time.Time     `bun:"at" json:"at"` // by the bank's clock
	// who brought it about: an API key, or operator for the bank's own work
	Client  string       `bun:"client" json:"client"`
	LoginID string       `bun:"login_id" json:"loginId"`
	Reach   access.Reach `bun:"reach" json:"-"` // of who brought it about
	Reason  string       `bun:"reason" json:"reason"`
}

// Status returns the state as partners read it.
func (s *Step) Status() Status { return s.State.Status() }

// The faults of payments.
var (
	ErrNotFound = fault.New(fault.NotFound, "payment.not_found", "no such payment")
	// ErrAccount is returned for an account that does not exist, or that the caller may not see.
	ErrAccount = fault.New(fault.NotFound, "payment.account",
		"must be an account of the bank that the caller sees")
	ErrSame = fault.New(fault.Invalid, "payment.same_account",
		"must be another account than the one that is debited").On("receiverAccount")
	ErrElsewhere = fault.New(fault.State, "payment.account_elsewhere",
		"another system keeps the account: a book transfer moves money within the bank's own books")
	ErrAccountState = fault.New(fault.State, "payment.account_state", "the account is not active")
	ErrCurrencies   = fault.New(fault.Invalid, "payment.currencies",
		"must be in the currency of the account that is debited").On("receiverAccount")
	ErrOwnLimit = fault.New(fault.State, "payment.own_limit",
		"is above what the caller may pay in one payment").On("paymentAmount")
	ErrApproveLimit = fault.New(fault.State, "payment.approve_limit",
		"the payment is above what the caller may approve")
	// ErrNoNetwork is returned for a bank that is not connected to any network.
	ErrNoNetwork = fault.New(fault.State, "payment.no_network",
		"the bank is not connected to a network of this speed").On("speed")
	// ErrTradeOver is returned for the approval of a payment that can no longer settle on the value date of its
	// trade.
	ErrTradeOver = fault.New(fault.State, "payment.trade_over",
		"the value date of its trade can no longer be reached: refuse the payment")
	// ErrRequestOver is returned for the approval of a payment that pays another bank's request.
	ErrRequestOver = fault.New(fault.State, "payment.request_over",
		"the request for payment that it pays has expired: refuse the payment")
	// ErrRailOff is returned when no network of the speed is switched on for the account.
	ErrRailOff = fault.New(fault.State, "payment.rail_off",
		"the account may not send payments of this speed").On("speed")
	// ErrRoute is returned when no network of the speed reaches the payee's bank.
	ErrRoute = fault.New(fault.State, "payment.route",
		"no network of this speed reaches the other bank").On("speed")
	// ErrOwnAccount is returned for a payment over a network to, or from, an account of this bank.
	ErrOwnAccount = fault.New(fault.State, "payment.own_account",
		"the other account is at this bank: networks do not move money within it, a book transfer does").
		On("speed")
	// ErrNetworkLimit is returned for an amount above what every network of the speed carries.
	ErrNetworkLimit = fault.New(fault.State, "payment.network_limit",
		"is above what the network carries in one payment").On("paymentAmount")
	// ErrLimit is returned for a payment that would exceed a limit of the customer.
	ErrLimit = fault.New(fault.State, "payment.limit", "exceeds a limit of the customer").
			On("paymentAmount")
	ErrContact = fault.New(fault.NotFound, "payment.contact", "must be an active contact of the customer").
			On("receiver.accountUID")
	// ErrNoAccount is returned for a contact that says too little to be paid.
	ErrNoAccount = fault.New(fault.State, "payment.contact_incomplete",
		"the contact needs an account number and a bank in the United States with its routing number").
		On("receiver.accountUID")
	// ErrNoAccountAbroad is returned for a contact that says too little to be paid abroad.
	ErrNoAccountAbroad = fault.New(fault.State, "payment.contact_abroad_incomplete",
		"the contact needs an account number and a bank with its swiftCode").On("receiver.accountUID")
	// ErrNoCompany is returned for an account without an ACH company id, of its own or its customer's.
	ErrNoCompany = fault.New(fault.State, "payment.no_company",
		"neither the account nor its customer has an ACH company id").On("sender.achCompanyID")
	// ErrClass is returned for an entry class that neither the account nor its customer may send.
	ErrClass = fault.New(fault.State, "payment.class", "the account may not send entries of this class").
			On("additionalInfo.secCode")
	ErrBank = fault.New(fault.NotFound, "payment.bank", "must be a bank of the directory").
		On("receiver.bank.bankId")
	// ErrContract is returned for a trade that does not exist, or is another customer's.
	ErrContract = fault.New(fault.NotFound, "payment.contract", "must be a trade of the customer").
			On("additionalInfo.fxContractNumber")
	// ErrContractOver is returned for a trade that is cancelled.
	ErrContractOver = fault.New(fault.State, "payment.contract_over", "the trade is cancelled").
			On("additionalInfo.fxContractNumber")
	// ErrContractUsed is returned for a trade that pays another payment.
	ErrContractUsed = fault.New(fault.State, "payment.contract_used", "the trade pays another payment").
			On("additionalInfo.fxContractNumber")
	// ErrContractAmount is returned for an amount that is not the one that a trade buys.
	ErrContractAmount = fault.New(fault.Invalid, "payment.contract_amount",
		"must be the amount that the trade buys").
		On("paymentAmount")
	// ErrNoBIC is returned for a bank that has no BIC, by which SWIFT knows banks.
	ErrNoBIC = fault.New(fault.State, "payment.no_bic",
		"this bank has no BIC: it is set on the bank's own customer record").On("speed")
	ErrDay = fault.New(fault.Invalid, "payment.day",
		"the network does not settle on this day, or its last cut-off today has passed").
		On("paymentDate")
	// ErrNotInRepair is returned for the repair of a payment that does not wait for it.
	ErrNotInRepair = fault.New(fault.State, "payment.not_in_repair", "the payment does not wait for repair")
	ErrOver        = fault.New(fault.State, "payment.over", "the payment can no longer be cancelled")
	// ErrDecided is returned for a payment that no longer waits for a second person.
	ErrDecided = fault.New(fault.State, "payment.decided", "the payment no longer waits for approval")
	// ErrUnapproved is returned for a payment of a file that nobody had to approve when it was checked.
	ErrUnapproved = fault.New(fault.State, "payment.unapproved",
		"by now somebody has to approve this payment: send it again")
	// ErrNotIncoming is returned for the return of a payment that did not come in.
	ErrNotIncoming = fault.New(fault.State, "payment.not_incoming",
		"only what came in over a network can be returned")
	// ErrNotOutgoing is returned for the reversal of a payment that came in.
	ErrNotOutgoing = fault.New(fault.State, "payment.not_outgoing",
		"the payment came in: it can be returned but not reversed")
	// ErrNoReversal is returned for the reversal of a debit that went out.
	ErrNoReversal = fault.New(fault.State, "payment.no_reversal",
		"what debits have collected cannot be reversed")
	// ErrNotProcessed is returned for a payment that has not settled, or that is given back or asked back
	// already.
	ErrNotProcessed = fault.New(fault.State, "payment.not_processed",
		"only a PROCESSED payment can be returned or reversed, and only once")
	// ErrNotRecalled is returned for the refusal of a request that the other bank has not made, or that has
	// its answer.
	ErrNotRecalled = fault.New(fault.State, "payment.not_recalled",
		"the other bank has not asked for the money, or has its answer")
)
