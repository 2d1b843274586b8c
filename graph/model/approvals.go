package model

import (
	"bankgraph/core/changes"
)

type (
	ApprovalConnection = Connection[changes.Approval]
	ApprovalEdge       = Edge[changes.Approval]
)

// Decision is what a second person says of a change.
type Decision struct {
	UID changes.UID
	changes.RequestOptions
}
