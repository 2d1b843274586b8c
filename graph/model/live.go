package model

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/files"
	"bankgraph/core/live"
	"bankgraph/core/payments"
)

// Told is what a subscription says of a change, beside the object.
type Told struct {
	Cursor  string
	At      time.Time
	Action  string
	Version int32
}

// ToldOf says of a change what all subscriptions say.
func ToldOf(c *live.Change) Told {
	return Told{Cursor: c.Cursor.String(), At: c.At, Action: c.Action, Version: c.Version}
}

// PaymentChange is the answer of paymentChanged.
type PaymentChange struct {
	Told
	Payment *payments.Payment
}

// BalanceAlertChange is the answer of balanceAlertFired.
type BalanceAlertChange struct {
	Told
	Account *accounts.Account
}

// FileChange is the answer of fileChanged.
type FileChange struct {
	Told
	File *files.BulkFile
}
