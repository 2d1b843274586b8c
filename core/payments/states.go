package payments

import "bankgraph/core/states"

// State says where a payment stands, and so where its money is.
type State string

const (
	PendingApproval State = "PENDING_APPROVAL" // waits for a second person; no money has moved
	// one of two people has agreed; no money has moved
	PartlyApproved State = "PARTIALLY_APPROVED"
	Scheduled      State = "SCHEDULED" // waits for its day; no money has moved
	Settled        State = "SETTLED"   // the money has moved
	Invalid        State = "INVALID"   // could not be carried out on its day; no money has moved
	Cancelled      State = "CANCELLED" // stopped before any money moved
)

// Status is a state as partners read it (rest/CONTRACT.md, payment states).
type Status string

const (
	StatusPendingApproval   Status = "PENDING_APPROVAL"
	StatusPartlyApproved    Status = "PARTIALLY_APPROVED"
	StatusFutureDated       Status = "FUTURE_DATED"
	StatusProcessed         Status = "PROCESSED"
	StatusValidationFailure Status = "VALIDATION_FAILURE"
	StatusCancelled         Status = "CANCELLED"
)

var statuses = map[State]Status{
	PendingApproval: StatusPendingApproval, PartlyApproved: StatusPartlyApproved, Scheduled: StatusFutureDated,
	Settled: StatusProcessed, Invalid: StatusValidationFailure, Cancelled: StatusCancelled,
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
var States = []State{PendingApproval, PartlyApproved, Scheduled, Settled, Invalid, Cancelled}

// The steps that a payment can take.
var (
	agreeing  = states.Step[State]{From: []State{PendingApproval}, To: PartlyApproved, Else: ErrDecided}
	approving = states.Step[State]{
		From: []State{PendingApproval, PartlyApproved}, To: Settled, Else: ErrDecided,
	}
	cancelling = states.Step[State]{
		From: []State{PendingApproval, PartlyApproved, Scheduled}, To: Cancelled, Else: ErrOver,
	}
)
