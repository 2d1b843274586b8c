package webhooks

// The statements that make deliveries.
var (
	DeliverNew  = deliverNew
	TransactNew = transactNew
)

// WaitingText finds webhooks for which something waits, LookedAtATime of them at a time.
var WaitingText = waitingText

const LookedAtATime = lookedAtATime
