package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
)

type (
	PositivePayRuleConnection = Connection[positivepay.Rule]
	PositivePayRuleEdge       = Edge[positivepay.Rule]
	PositivePayRulePayload    = Payload[positivepay.Rule]

	PositivePayExceptionConnection = Connection[positivepay.Exception]
	PositivePayExceptionEdge       = Edge[positivepay.Exception]
	PositivePayExceptionPayload    = Payload[positivepay.Exception]
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

// ExceptionDecision is what a mutation says that decides on a debit.
type ExceptionDecision struct {
	Payment payments.UID
	payments.DecisionDraft
	changes.RequestOptions
}

// ExceptionDecisions is what a mutation says that decides on many debits.
type ExceptionDecisions struct {
	payments.ManyDecisions
	changes.RequestOptions
}

// ExceptionDecisionsPayload is the answer of decidePositivePayExceptions.
type ExceptionDecisionsPayload struct {
	Decisions []*payments.DecidedException
	Approval  *changes.Approval
	Replayed  bool
}
