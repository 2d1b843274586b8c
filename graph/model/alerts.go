package model

import (
	"bankgraph/core/alerts"
	"bankgraph/core/changes"
)

type (
	BalanceAlertConnection = Connection[alerts.Alert]
	BalanceAlertEdge       = Edge[alerts.Alert]
	BalanceAlertPayload    = Payload[alerts.Alert]
)

// DeleteBalanceAlertPayload is the answer of deleteBalanceAlert.
type DeleteBalanceAlertPayload struct {
	UID      alerts.UID
	Approval *changes.Approval
	Replayed bool
}

// BalanceAlertDraft is what mutations say about a balance alert.
type BalanceAlertDraft struct {
	UID alerts.UID
	alerts.Draft
	changes.RequestOptions
}
