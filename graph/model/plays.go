package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// IncomingCredit is what playIncomingCredit says.
type IncomingCredit struct {
	sandbox.Credit
	Currency money.Currency
	Rail     rails.Rail
	changes.RequestOptions
}

// IncomingDebit is what playIncomingDebit says.
type IncomingDebit struct {
	sandbox.Debit
	changes.RequestOptions
}

// IncomingRequest is what playIncomingRequest says.
type IncomingRequest struct {
	sandbox.Request
	Rail rails.Rail
	changes.RequestOptions
}

// IncomingRecall is what playRecall says.
type IncomingRecall struct {
	sandbox.Recall
	changes.RequestOptions
}

// PlayedAnswer is what playAnswer says.
type PlayedAnswer struct {
	sandbox.Answer
	changes.RequestOptions
}

// PlayPayload is the answer to a play.
type PlayPayload struct {
	sandbox.Played
	Replayed bool
}
