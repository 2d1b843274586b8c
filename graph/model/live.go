package model

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/files"
	"bankgraph/core/live"
	"bankgraph/core/payments"
)

// ChangeHeader is what a subscription says of a change, beside the object.
type ChangeHeader struct {
	Cursor  string
	At      time.Time
	Action  string
	Version int32
}

// ChangeHeaderOf returns what all subscriptions say of a change.
func ChangeHeaderOf(c *live.Change) ChangeHeader {
	return ChangeHeader{Cursor: c.Cursor.String(), At: c.At, Action: c.Action, Version: c.Version}
}

// PaymentChange is the answer of paymentChanged.
type PaymentChange struct {
	ChangeHeader
	Payment *payments.Payment
}

// BalanceAlertChange is the answer of balanceAlertFired.
type BalanceAlertChange struct {
	ChangeHeader
	Account *accounts.Account
}

// FileChange is the answer of fileChanged.
type FileChange struct {
	ChangeHeader
	File *files.BulkFile
}
