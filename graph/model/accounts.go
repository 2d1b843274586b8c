package model

import (
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
)

type (
	AccountConnection = Connection[accounts.Account]
	AccountEdge       = Edge[accounts.Account]
	AccountPayload    = Payload[accounts.Account]
)

// AccountBy names one account; exactly one field is set.
type AccountBy struct {
	UID    *accounts.UID
	Number *string
}

// AccountDraft is what mutations say about an account.
type AccountDraft struct {
	Customer customers.UID
	UID      accounts.UID
	accounts.Draft
	changes.RequestOptions
}
