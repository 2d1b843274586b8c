package model

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
)

// HoldDraft is what mutations say about a hold.
type HoldDraft struct {
	UID       int64
	Account   accounts.UID
	Amount    string
	ExpiresAt *time.Time
	changes.RequestOptions
}
