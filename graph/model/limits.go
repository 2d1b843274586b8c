package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
)

// LimitsPayload has the customer as its object.
type LimitsPayload = Payload[customers.Customer]

// LimitsDraft is what mutations say about a customer's limits.
type LimitsDraft struct {
	Customer customers.UID
	// Not limits.Draft, another name of the same type: with this one gqlgen always writes the same code.
	Limits []customers.Ceiling
	changes.RequestOptions
}
