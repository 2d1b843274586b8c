package model

import (
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
)

type (
	SweepPayload = Payload[accounts.Sweep]
)

// SweepDraft is what mutations say about a sweep.
type SweepDraft struct {
	accounts.SweepName
	accounts.SweepDraft
	changes.RequestOptions
}
