package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/sandbox"
)

// ClockMove is what moveClock says.
type ClockMove struct {
	sandbox.Move
	changes.RequestOptions
}
