package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/virtualaccounts"
)

type (
	VirtualAccountConnection = Connection[virtualaccounts.VirtualAccount]
	VirtualAccountEdge       = Edge[virtualaccounts.VirtualAccount]
	VirtualAccountPayload    = Payload[virtualaccounts.VirtualAccount]

	VirtualTransactionConnection = Connection[virtualaccounts.VirtualPosting]
	VirtualTransactionEdge       = Edge[virtualaccounts.VirtualPosting]
)

// VirtualAccountBy names one virtual account; exactly one field is set.
type VirtualAccountBy struct {
	UID    *virtualaccounts.UID
	Number *string
}

// VirtualAccountDraft is what mutations say about a virtual account.
type VirtualAccountDraft struct {
	Customer customers.UID
	UID      virtualaccounts.UID
	virtualaccounts.Draft
	changes.RequestOptions
}
