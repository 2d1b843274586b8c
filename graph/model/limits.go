package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
)

// LimitsPayload shows the customer.
type LimitsPayload = Payload[customers.Customer]

// LimitsDraft is what mutations say about a customer's limits.
type LimitsDraft struct {
	Customer customers.UID
	// by this name gqlgen writes the same code each time; limits.Draft is another for it
	Limits []customers.Ceiling
	changes.RequestOptions
}
