package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
)

type (
	CustomerConnection = Connection[customers.Customer]
	CustomerEdge       = Edge[customers.Customer]
	CustomerPayload    = Payload[customers.Customer]
)

// CustomerBy names one customer; exactly one field is set.
type CustomerBy struct {
	UID           *customers.UID
	AccountNumber *string
	CustomerID    *string
	ShortName     *string
}

// CustomerDraft is what mutations say about a customer.
type CustomerDraft struct {
	UID customers.UID
	customers.Draft
	changes.RequestOptions
}
