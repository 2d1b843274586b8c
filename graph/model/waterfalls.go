package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/waterfalls"
)

type (
	WaterfallConnection     = Connection[waterfalls.Waterfall]
	WaterfallEdge           = Edge[waterfalls.Waterfall]
	WaterfallPayload        = Payload[waterfalls.Waterfall]
	WaterfallStepConnection = Connection[waterfalls.Step]
	WaterfallStepEdge       = Edge[waterfalls.Step]
)

// WaterfallBy names one batch; exactly one field is set.
type WaterfallBy struct {
	UID         *waterfalls.UID
	WaterfallID *string
}

// WaterfallDraft is what a mutation says about a batch.
type WaterfallDraft struct {
	waterfalls.Draft
	changes.RequestOptions
}
