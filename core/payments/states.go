package payments

import (
	"bankgraph/core/fault"
	"bankgraph/core/states"
)

// State says where a payment stands, and so where its money is.
type State string

const (
	// Repair is that of a payment which cannot be carried out as it was asked for: the bank's people repair or
	// cancel it; no money has moved
	Repair          State = "REPAIR"
	PendingApproval State = "PENDING_APPROVAL" // waits for a second person; no money has moved
	// one of two people has agreed; no money has moved
	PartlyApproved State = "PARTIALLY_APPROVED"
	Scheduled      State = "SCHEDULED" // waits for its day; no money has moved
	OnHold         State = "HOLD"      // a debit of another bank that no rule allows; people decide, no money has moved
	Validated      State = "VALIDATED" // an entry of another bank over ACH that is booked when it settles; no money has moved
	Queued         State = "QUEUED"    // waits for its network; the money is held
	Sent           State = "SENT"      // on its way; the money has left the account, and is in clearing
	Settled        State = "SETTLED"   // the money has moved
	Recalling      State = "RECALLING" // settled; the bank that was paid is asked for the money, and has not answered
	Recalled       State = "RECALLED"  // came in and settled; the bank that paid asks for the money, and has no answer
	// came in, and goes back: what is given back has left the account, and is in clearing
	Returning State = "RETURNING"
	// given back after it had settled: to the account, by the other bank; or by us, of what came in
	Returned         State = "RETURNED"
	ReversalAccepted State = "REVERSAL_ACCEPTED"           // was asked back; the money is on the account again
	ReversalPartly   State = "REVERSAL_PARTIALLY_ACCEPTED" // was asked back; a part is on the account again
	ReversalRejected State = "REVERSAL_REJECTED"           // was asked back in vain; the money stays where it is
	Rejected         State = "REJECTED"                    // the network or the other bank refused it; the money is on the account again
	Expired          State = "EXPIRED"                     // a request for payment that nobody has paid in time
	Invalid          State = "INVALID"                     // could not be carried out on its day; no money has moved
	Cancelled        State = "CANCELLED"                   // stopped before any money moved
)

// Status is a state as partners read it (rest/CONTRACT.md, payment states).
type Status string

const (
	StatusRepair            Status = "REPAIR"
	StatusPendingApproval   Status = "PENDING_APPROVAL"
	StatusPartlyApproved    Status = "PARTIALLY_APPROVED"
	StatusFutureDated       Status = "FUTURE_DATED"
	StatusHold              Status = "HOLD"
	StatusValidated         Status = "VALIDATED"
	StatusReadyToTransmit   Status = "READY_TO_TRANSMIT"
	StatusTransmitted       Status = "TRANSMITTED"
	StatusProcessed         Status = "PROCESSED"
	StatusReturnInitiated   Status = "RETURN_INITIATED"
	StatusReversalAccepted  Status = "REVERSAL_ACCEPTED"
	StatusReversalPartly    Status = "REVERSAL_PARTIALLY_ACCEPTED"
	StatusReversalRejected  Status = "REVERSAL_REJECTED"
	StatusValidationFailure Status = "VALIDATION_FAILURE"
	StatusReturned          Status = "RETURNED"
	StatusRejected          Status = "REJECTED"
	StatusExpired           Status = "EXPIRED"
	StatusCancelled         Status = "CANCELLED"
)

// wording is how partners read a state.
type wording struct {
	status Status
	memo   MemoPost
	asked  ReturnStatus
}

// MemoPost says whether a payment is in the books (rest/CONTRACT.md, payment states).
type MemoPost string

const (
	NotPosted        MemoPost = "NOT_POSTED"
	Posted           MemoPost = "POSTED"
	MemoFailure      MemoPost = "FAILURE"
	ReturnInitiated  MemoPost = "NA_RETURN_INITIATED"
	ReceivedReversal MemoPost = "NA_RECEIVED_REVERSAL"
	NotApplicable    MemoPost = "NOT_APPLICABLE" // no money moves by it
)

// ReturnStatus says what became of asking for a payment's money back; "" if nobody has asked.
type ReturnStatus string

const (
	RequestSent     ReturnStatus = "RETURN_REQUEST_SENT"
	RequestReceived ReturnStatus = "RETURN_REQUEST_RECEIVED"
	RequestAccepted ReturnStatus = "REVERSAL_ACCEPTED"
	RequestPartly   ReturnStatus = "REVERSAL_PARTIALLY_ACCEPTED"
	RequestRejected ReturnStatus = "REVERSAL_REJECTED"
)

var wordings = map[State]wording{
	Repair:          {StatusRepair, NotPosted, ""},
	PendingApproval: {StatusPendingApproval, NotPosted, ""}, PartlyApproved: {StatusPartlyApproved, NotPosted, ""},
	Scheduled: {StatusFutureDated, NotPosted, ""}, OnHold: {StatusHold, NotPosted, ""},
	Validated: {StatusValidated, NotPosted, ""}, Queued: {StatusReadyToTransmit, NotPosted, ""},
	Sent: {StatusTransmitted, Posted, ""}, Settled: {StatusProcessed, Posted, ""},
	Recalling: {StatusProcessed, Posted, RequestSent}, Recalled: {StatusProcessed, Posted, RequestReceived},
	Returning: {StatusReturnInitiated, ReturnInitiated, ""}, Returned: {StatusReturned, ReturnInitiated, ""},
	ReversalAccepted: {StatusReversalAccepted, ReceivedReversal, RequestAccepted},
	ReversalPartly:   {StatusReversalPartly, ReceivedReversal, RequestPartly},
	ReversalRejected: {StatusReversalRejected, Posted, RequestRejected},
	Expired:          {StatusExpired, NotApplicable, ""},
	Rejected:         {StatusRejected, MemoFailure, ""}, Invalid: {StatusValidationFailure, MemoFailure, ""},
	Cancelled: {StatusCancelled, NotPosted, ""},
}

// Status returns the published word for the state.
func (s State) Status() Status { return wordings[s].status }

// MemoPost returns whether the payment is in the books.
func (s State) MemoPost() MemoPost { return wordings[s].memo }

// ReturnStatus returns what became of asking for the money back.
func (s State) ReturnStatus() ReturnStatus { return wordings[s].asked }

// StatesOf returns the states that partners read as this word. They are none, and not nil, if there is no such
// word.
func StatesOf(status Status) []State {
	all := []State{}
	for _, s := range States {
		if s.Status() == status {
			all = append(all, s)
		}
	}
	return all
}

// States lists all states, in the order of a payment's life.
var States = []State{
	Repair, PendingApproval, PartlyApproved, Scheduled, OnHold, Validated, Queued, Sent, Settled, Recalling, Recalled,
	Returning, Returned,
	ReversalAccepted, ReversalPartly, ReversalRejected, Rejected, Expired, Invalid, Cancelled,
}

// The steps that a payment can take.
var (
	agreeing  = states.Step[State]{From: []State{PendingApproval}, To: PartlyApproved, Else: ErrDecided}
	approving = states.Step[State]{
		From: []State{PendingApproval, PartlyApproved}, To: Settled, Else: ErrDecided,
	}
	cancelling = states.Step[State]{
		From: []State{Repair, PendingApproval, PartlyApproved, Scheduled, Queued}, To: Cancelled, Else: ErrOver,
	}
	repairing = states.Step[State]{From: []State{Repair}, To: Queued, Else: ErrNotInRepair}
	settling  = states.Step[State]{From: []State{Sent}, To: Settled, Else: ErrLate}
	rejecting = states.Step[State]{From: []State{Sent}, To: Rejected, Else: ErrLate}
	expiring  = states.Step[State]{From: []State{Sent}, To: Expired, Else: ErrLate}
	// of entries of other banks over ACH
	crediting   = states.Step[State]{From: []State{Validated}, To: Settled, Else: ErrLate}
	admitting   = states.Step[State]{From: []State{OnHold}, To: Validated, Else: ErrLate}
	paying      = states.Step[State]{From: []State{OnHold, Validated}, To: Settled, Else: ErrLate}
	sendingBack = states.Step[State]{From: []State{OnHold, Validated}, To: Returned, Else: ErrLate}
	takingBack  = states.Step[State]{From: []State{Settled}, To: Returned, Else: ErrNotProcessed}
	// what the debtor's bank does not pay, or takes back after it had
	uncollected = states.Step[State]{From: []State{Sent, Settled}, To: Returned, Else: ErrLate}
	// what the other bank gives back of its own accord, be it after it had refused to
	returning = states.Step[State]{From: []State{Settled, ReversalRejected}, To: Returned, Else: ErrLate}

	// of a payment that is to be taken back
	recalling   = states.Step[State]{From: []State{Settled}, To: Recalling, Else: ErrNotProcessed}
	undoing     = states.Step[State]{From: []State{Settled}, To: ReversalAccepted, Else: ErrNotProcessed}
	reversing   = states.Step[State]{From: []State{Recalling}, To: ReversalAccepted, Else: ErrLate}
	partly      = states.Step[State]{From: []State{Recalling}, To: ReversalPartly, Else: ErrLate}
	notGiving   = states.Step[State]{From: []State{Recalling}, To: ReversalRejected, Else: ErrLate}
	askingBack  = states.Step[State]{From: []State{Settled}, To: Recalled, Else: ErrLate}
	givingBack  = states.Step[State]{From: []State{Settled, Recalled}, To: Returning, Else: ErrNotProcessed}
	keeping     = states.Step[State]{From: []State{Recalled}, To: Settled, Else: ErrNotRecalled}
	givenBack   = states.Step[State]{From: []State{Returning}, To: Returned, Else: ErrLate}
	notGoneBack = states.Step[State]{From: []State{Returning}, To: Settled, Else: ErrLate}
)

// ErrLate is what an answer of a network meets that no longer fits the payment. It is recorded, and nothing else
// happens.
var ErrLate = fault.New(fault.State, "payment.late", "the payment no longer waits for this")
