package model

import (
	"bankgraph/core/changes"
)

type (
	ApprovalConnection = Connection[changes.Approval]
	ApprovalEdge       = Edge[changes.Approval]
)

// Decision is what a checker says of a proposal.
type Decision struct {
	UID changes.UID
	changes.RequestOptions
}
