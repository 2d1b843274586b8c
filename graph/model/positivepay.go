package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/positivepay"
)

type (
	PositivePayRuleConnection = Connection[positivepay.Rule]
	PositivePayRuleEdge       = Edge[positivepay.Rule]
	PositivePayRulePayload    = Payload[positivepay.Rule]
)

// DeletePositivePayRulePayload is the answer of deletePositivePayRule.
type DeletePositivePayRulePayload struct {
	UID      positivepay.UID
	Approval *changes.Approval
	Replayed bool
}

// PositivePayRuleDraft is what mutations say about a rule.
type PositivePayRuleDraft struct {
	UID positivepay.UID
	positivepay.Draft
	changes.RequestOptions
}
