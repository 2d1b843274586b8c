package webhooks

// The statements that make deliveries.
var (
	DeliverNew  = deliverNew
	TransactNew = transactNew
)

// WaitingText finds webhooks for which something waits, LookedAtATime of them at a time.
var WaitingText = waitingText

const LookedAtATime = lookedAtATime

// MostWaiting is how many deliveries of a webhook wait before it falls behind.
const MostWaiting = mostWaiting
