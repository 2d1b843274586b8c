package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
)

type (
	FeeTierPayload = Payload[fees.Tier]
)

// FeeTierDraft is what mutations say about a fee tier.
type FeeTierDraft struct {
	Customer customers.UID
	UID      fees.ID
	fees.Draft
	changes.RequestOptions
}
