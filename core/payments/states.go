package payments

import (
	"bankgraph/core/fault"
	"bankgraph/core/states"
)

// State says where a payment stands, and so where its money is.
type State string

const (
	PendingApproval State = "PENDING_APPROVAL" // waits for a second person; no money has moved
	// one of two people has agreed; no money has moved
	PartlyApproved State = "PARTIALLY_APPROVED"
	Scheduled      State = "SCHEDULED" // waits for its day; no money has moved
	Queued         State = "QUEUED"    // waits for its network; the money is held
	Sent           State = "SENT"      // on its way; the money has left the account, and is in clearing
	Settled        State = "SETTLED"   // the money has moved
	Returned       State = "RETURNED"  // the other bank has sent it back; the money is on the account again
	Rejected       State = "REJECTED"  // the network or the other bank refused it; the money is on the account again
	Invalid        State = "INVALID"   // could not be carried out on its day; no money has moved
	Cancelled      State = "CANCELLED" // stopped before any money moved
)

// Status is a state as partners read it (rest/CONTRACT.md, payment states).
type Status string

const (
	StatusPendingApproval   Status = "PENDING_APPROVAL"
	StatusPartlyApproved    Status = "PARTIALLY_APPROVED"
	StatusFutureDated       Status = "FUTURE_DATED"
	StatusReadyToTransmit   Status = "READY_TO_TRANSMIT"
	StatusTransmitted       Status = "TRANSMITTED"
	StatusProcessed         Status = "PROCESSED"
	StatusValidationFailure Status = "VALIDATION_FAILURE"
	StatusReturned          Status = "RETURNED"
	StatusRejected          Status = "REJECTED"
	StatusCancelled         Status = "CANCELLED"
)

var statuses = map[State]Status{
	PendingApproval: StatusPendingApproval, PartlyApproved: StatusPartlyApproved, Scheduled: StatusFutureDated,
	Queued: StatusReadyToTransmit, Sent: StatusTransmitted, Settled: StatusProcessed, Returned: StatusReturned,
	Rejected: StatusRejected, Invalid: StatusValidationFailure, Cancelled: StatusCancelled,
}

// Status returns the published word for the state.
func (s State) Status() Status { return statuses[s] }

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
	PendingApproval, PartlyApproved, Scheduled, Queued, Sent, Settled, Returned, Rejected, Invalid, Cancelled,
}

// The steps that a payment can take.
var (
	agreeing  = states.Step[State]{From: []State{PendingApproval}, To: PartlyApproved, Else: ErrDecided}
	approving = states.Step[State]{
		From: []State{PendingApproval, PartlyApproved}, To: Settled, Else: ErrDecided,
	}
	cancelling = states.Step[State]{
		From: []State{PendingApproval, PartlyApproved, Scheduled, Queued}, To: Cancelled, Else: ErrOver,
	}
	settling  = states.Step[State]{From: []State{Sent}, To: Settled, Else: ErrLate}
	rejecting = states.Step[State]{From: []State{Sent}, To: Rejected, Else: ErrLate}
	returning = states.Step[State]{From: []State{Settled}, To: Returned, Else: ErrLate}
)

// ErrLate is what an answer of a network meets that no longer fits the payment. It is recorded, and nothing else
// happens.
var ErrLate = fault.New(fault.State, "payment.late", "the payment no longer waits for this")
