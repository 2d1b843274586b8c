package payments

import (
	"slices"

	"bankgraph/core/fault"
	"bankgraph/core/states"
)

// State says where a payment stands, and so where its money is.
type State string

const (
	Repair           State = "REPAIR"
	PendingApproval  State = "PENDING_APPROVAL"
	PartlyApproved   State = "PARTIALLY_APPROVED"
	Scheduled        State = "SCHEDULED"
	OnHold           State = "HOLD"
	Validated        State = "VALIDATED"
	Screening        State = "SCREENING"
	Queued           State = "QUEUED"
	Sent             State = "SENT"
	Settled          State = "SETTLED"
	Recalling        State = "RECALLING"
	Recalled         State = "RECALLED"
	Returning        State = "RETURNING"
	Returned         State = "RETURNED"
	ReversalAccepted State = "REVERSAL_ACCEPTED"
	ReversalPartly   State = "REVERSAL_PARTIALLY_ACCEPTED"
	ReversalRejected State = "REVERSAL_REJECTED"
	Rejected         State = "REJECTED"
	Expired          State = "EXPIRED"
	Invalid          State = "INVALID"
	Cancelled        State = "CANCELLED"
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
	StatusScreening         Status = "COMPLIANCE_SUBMITTED"
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

// wording is how partners read a state, and what they are told about it.
type wording struct {
	status Status
	memo   MemoPost
	asked  ReturnStatus
	means  string
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
	Repair: {
		StatusRepair, NotPosted, "",
		"cannot be carried out as it was asked for: the bank's people repair or cancel it; no money has moved",
	},
	PendingApproval: {StatusPendingApproval, NotPosted, "", "waits for a second person; no money has moved"},
	PartlyApproved: {
		StatusPartlyApproved, NotPosted, "",
		"one of two people has approved it; no money has moved",
	},
	Scheduled: {StatusFutureDated, NotPosted, "", "waits for its day; no money has moved"},
	OnHold: {
		StatusHold, NotPosted, "",
		"a debit of another bank, or its request for payment, that no rule of positive pay allows: people " +
			"decide; no money has moved",
	},
	Validated: {
		StatusValidated, NotPosted, "",
		"an entry of another bank over ACH, which is booked when it settles, or its request for " +
			"payment, which is paid on its day; no money has moved",
	},
	Screening: {
		StatusScreening, NotPosted, "",
		"the bank's compliance people look at it; amount and fee are held, of a debit nothing, " +
			"and of what came in nothing has reached the account; it cannot be cancelled",
	},
	Queued: {
		StatusReadyToTransmit, NotPosted, "",
		"waits for its network; amount and fee are held, of a debit nothing",
	},
	Sent: {
		StatusTransmitted, Posted, "",
		"on its way; the money has left the account, of a debit it is still to come and NOT_POSTED",
	},
	Settled: {StatusProcessed, Posted, "", "the money has moved"},
	Recalling: {
		StatusProcessed, Posted, RequestSent,
		"the bank that was paid is asked for the money, and has not answered",
	},
	Recalled: {
		StatusProcessed, Posted, RequestReceived,
		"came in; the bank that paid asks for the money, and has no answer",
	},
	Returning: {
		StatusReturnInitiated, ReturnInitiated, "",
		"came in, and is on its way back; what is given back has left the account",
	},
	Returned: {
		StatusReturned, ReturnInitiated, "",
		"given back, or a part of it: by the other bank, with what came back on the account again; " +
			"or to it, of what came in",
	},
	ReversalAccepted: {
		StatusReversalAccepted, ReceivedReversal, RequestAccepted,
		"was asked back; all of the money is on the account again",
	},
	ReversalPartly: {
		StatusReversalPartly, ReceivedReversal, RequestPartly,
		"was asked back; a part of the money is on the account again",
	},
	ReversalRejected: {
		StatusReversalRejected, Posted, RequestRejected, "was asked back in vain; the money stays where it is",
	},
	Rejected: {
		StatusRejected, MemoFailure, "",
		"refused by the network or the other bank; the money is on the account again, " +
			"and the fee. A request that came in: refused here; no money has moved",
	},
	Expired: {
		StatusExpired, NotApplicable, "",
		"a request for payment, ours or that of another bank, that nobody has paid in time",
	},
	Invalid: {
		StatusValidationFailure, MemoFailure, "",
		"could not be carried out when it was to go, for the reason that `memoPostFailureReason` gives; no " +
			"money has moved",
	},
	Cancelled: {
		StatusCancelled, NotPosted, "",
		"stopped, or refused by the second person, before any money moved",
	},
}

// Status returns the published word for the state.
func (s State) Status() Status { return wordings[s].status }

// MemoPost returns whether the payment is in the books.
func (s State) MemoPost() MemoPost { return wordings[s].memo }

// ReturnStatus returns what became of asking for the money back.
func (s State) ReturnStatus() ReturnStatus { return wordings[s].asked }

// Means returns what partners are told about the state.
func (s State) Means() string { return wordings[s].means }

// Next returns the states that can come after this one; of "", those that a payment can begin with.
func (s State) Next() []State { return nextStates[s] }

// MayBeCancelled reports whether the payer can still cancel the payment. A payment that compliance looks at
// becomes Cancelled if they reject it, but nobody else ends it.
func (s State) MayBeCancelled() bool { return slices.Contains(cancelling.From, s) }

// StatesOf returns the states that partners read as this word; an empty slice, not nil, if there is no such
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
	Repair, PendingApproval, PartlyApproved, Scheduled, OnHold, Validated, Screening, Queued, Sent, Settled,
	Recalling, Recalled, Returning, Returned,
	ReversalAccepted, ReversalPartly, ReversalRejected, Rejected, Expired, Invalid, Cancelled,
}

// nextStates lists the states that can come after each; "" stands before the first. The proof of the books
// holds every payment to it, and rest/CONTRACT.md shows it.
var nextStates = map[State][]State{
	"": {
		Repair, PendingApproval, Scheduled, Screening, Queued, Settled,
		OnHold, Validated, Returned, // what comes in
		Invalid, // of a series, on its day
	},
	Repair:          {PendingApproval, Scheduled, Screening, Queued, Cancelled},
	PendingApproval: {PartlyApproved, Scheduled, Screening, Queued, Settled, Cancelled},
	PartlyApproved:  {Scheduled, Screening, Queued, Settled, Cancelled},
	// Scheduled again, for a later day, if its network is closed
	Scheduled: {Scheduled, Screening, Queued, Settled, Invalid, Cancelled},
	Screening: {
		Queued, Cancelled,
		Settled, Recalled, Returning, Returned, OnHold, Validated, // what came in
	},
	OnHold:    {Validated, Settled, Returned, Rejected, Expired},
	Validated: {Settled, Returned, Rejected},
	// Queued again, for a later day, if it did not leave in time
	Queued:           {Queued, Sent, Expired, Invalid, Cancelled},
	Sent:             {Sent, Settled, Rejected, Returned, Expired}, // again, with a notice of change
	Settled:          {Settled, Recalling, Recalled, Returning, Returned, ReversalAccepted},
	Returned:         {Returned}, // where more of what went out comes back
	Recalling:        {Settled, ReversalAccepted, ReversalPartly, ReversalRejected},
	Recalled:         {Returning, Settled},
	Returning:        {Returned, Settled, Recalled, Screening},
	ReversalAccepted: {ReversalRejected}, // where the other bank sends the reversal back
	ReversalPartly:   {ReversalAccepted, ReversalPartly},
	ReversalRejected: {Returned},
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
	expiring  = states.Step[State]{From: []State{Queued, Sent}, To: Expired, Else: ErrLate}
	// of entries of other banks over ACH
	crediting   = states.Step[State]{From: []State{Validated}, To: Settled, Else: ErrLate}
	admitting   = states.Step[State]{From: []State{OnHold}, To: Validated, Else: ErrLate}
	paying      = states.Step[State]{From: []State{OnHold, Validated}, To: Settled, Else: ErrLate}
	sendingBack = states.Step[State]{
		From: []State{OnHold, Validated, Screening}, To: Returned, Else: ErrLate,
	}
	// of requests of other banks for payment
	meeting = states.Step[State]{From: []State{OnHold, Validated}, To: Settled, Else: ErrLate}
	denying = states.Step[State]{From: []State{OnHold, Validated}, To: Rejected, Else: ErrLate}
	lapsing = states.Step[State]{From: []State{OnHold}, To: Expired, Else: ErrLate}

	takingBack = states.Step[State]{From: []State{Settled}, To: Returned, Else: ErrNotProcessed}
	// what the debtor's bank does not pay, or takes back after it had
	uncollected = states.Step[State]{From: []State{Sent, Settled}, To: Returned, Else: ErrLate}
	// what the other bank gives back of its own accord, over ACH even before it settles, or after it had refused
	// to, or the rest of it
	returning = states.Step[State]{
		From: []State{Sent, Settled, ReversalRejected, Returned}, To: Returned, Else: ErrLate,
	}

	// of a payment that is to be taken back
	recalling = states.Step[State]{From: []State{Settled}, To: Recalling, Else: ErrNotProcessed}
	undoing   = states.Step[State]{From: []State{Settled}, To: ReversalAccepted, Else: ErrNotProcessed}
	reversing = states.Step[State]{
		From: []State{Recalling, ReversalPartly}, To: ReversalAccepted, Else: ErrLate,
	}
	partly = states.Step[State]{
		From: []State{Recalling, ReversalPartly}, To: ReversalPartly, Else: ErrLate,
	}
	notAsked     = states.Step[State]{From: []State{Recalling}, To: Settled, Else: ErrLate}
	notGiving    = states.Step[State]{From: []State{Recalling}, To: ReversalRejected, Else: ErrLate}
	askingBack   = states.Step[State]{From: []State{Settled}, To: Recalled, Else: ErrLate}
	givingBack   = states.Step[State]{From: []State{Settled, Recalled}, To: Returning, Else: ErrNotProcessed}
	keeping      = states.Step[State]{From: []State{Recalled}, To: Settled, Else: ErrNotRecalled}
	givenBack    = states.Step[State]{From: []State{Returning}, To: Returned, Else: ErrLate}
	lookingAgain = states.Step[State]{From: []State{Returning}, To: Screening, Else: ErrLate}
	notGoneBack  = states.Step[State]{From: []State{Returning}, To: Settled, Else: ErrLate}
	owedStill    = states.Step[State]{From: []State{Returning}, To: Recalled, Else: ErrLate}
)

// ErrLate is returned for an answer of a network that no longer fits the payment. The answer is recorded, and
// changes nothing.
var ErrLate = fault.New(fault.State, "payment.late", "the payment no longer waits for this")
