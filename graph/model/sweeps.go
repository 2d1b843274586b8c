package model

import (
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/sweeps"
)

type (
	SweepPayload       = Payload[accounts.Sweep]
	SweepRunConnection = Connection[sweeps.Run]
	SweepRunEdge       = Edge[sweeps.Run]
)

// SweepDraft is what mutations say about a sweep.
type SweepDraft struct {
	accounts.SweepName
	accounts.SweepDraft
	changes.RequestOptions
}
