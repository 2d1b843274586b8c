package webhooks

// The statements that make deliveries.
var (
	DeliverNew  = deliverNew
	TransactNew = transactNew
)
