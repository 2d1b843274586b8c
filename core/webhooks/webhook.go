// Package webhooks tells others what becomes of payments: it posts each event to the addresses that are
// registered for it, signed, again and again until it has arrived, and lets callers read the same events from
// a feed.
package webhooks

import (
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/states"
)

// UID is a webhook's number.
type UID int64

func (u UID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseUID reads a webhook's number from decimal digits.
func ParseUID(field, text string) (UID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil || n == 0 {
		return 0, fault.Field("webhook", field, fault.Number, "must be the digits of a webhook's number")
	}
	return UID(n), nil
}

// Status is the state of a webhook. A Deleted one is not shown.
type Status string

const (
	Pending  Status = "Pending"
	Active   Status = "Active"
	Disabled Status = "Disabled" // nothing is posted
	Deleted  Status = "Deleted"
)

var (
	enabling  = states.Step[Status]{From: []Status{Disabled}, To: Active, Else: ErrStatus}
	disabling = states.Step[Status]{From: []Status{Active}, To: Disabled, Else: ErrStatus}
	deleting  = states.Step[Status]{From: []Status{Active, Disabled}, To: Deleted, Else: ErrStatus}
)

// Topic is what a webhook is told of.
type Topic string

const (
	OfPayments     Topic = "PAYMENT"     // each status that a payment reaches
	OfTransactions Topic = "TRANSACTION" // what comes in for virtual accounts, and what goes back
)

// Topics lists all topics.
var Topics = []Topic{OfPayments, OfTransactions}

// paths are the published paths, below the target, that events of each topic are posted to.
var paths = map[Topic]string{OfPayments: "/payments", OfTransactions: "/transaction/webhook"}

// Webhook is where events are posted to (rest/CONTRACT.md, webhooks).
type Webhook struct {
	bun.BaseModel `bun:"table:webhooks,alias:w" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      UID           `bun:"uid,pk" json:"uid"`
	Customer customers.UID `bun:"customer" json:"customer"` // whose it is: it gets what this customer may see
	// whose events it is told: the customer's alone, those of a partner's customers, too, or everybody's
	Reach  access.Reach `bun:"reach" json:"reach"`
	Name   string       `bun:"name" json:"name"`
	Target string       `bun:"target" json:"target"`       // events are posted to paths below it
	Topics []Topic      `bun:"topics,array" json:"topics"` // that it is told of, at least one
	// of payments that are told; none means all
	Statuses      []payments.Status `bun:"statuses,array" json:"statuses"`
	Rails         []rails.Rail      `bun:"rails,array" json:"rails"`
	BasicUser     string            `bun:"basic_user" json:"basicUser"` // of basic authentication; '' for none
	SigningSecret SecretID          `bun:"signing_secret" json:"-"`
	BasicPassword SecretID          `bun:"basic_password" json:"-"` // 0 for none
	Status        Status            `bun:"status" json:"status"`
	Reason        string            `bun:"reason" json:"reason"`      // why it was disabled, if no person did that
	ByBank        bool              `bun:"disabled_by_bank" json:"-"` // who has disabled it is of the bank
	SinceSeq      int64             `bun:"since_seq" json:"-"`        // later events in the record are posted
	// those after it, up to ReplayTo, are posted again
	ReplayFrom  int64      `bun:"replay_from" json:"-"`
	ReplayTo    int64      `bun:"replay_to" json:"-"`
	ReplaySince *time.Time `bun:"replay_since" json:"-"` // of these, only those since then,
	ReplayAfter *int64     `bun:"replay_after" json:"-"` // or after this one
	// later events are told as those that wait are posted; nil: as they happen
	BehindFrom   *int64     `bun:"behind_from" json:"-"`
	BehindTo     *int64     `bun:"behind_to" json:"-"` // events up to it are, although they are not after SinceSeq
	BehindAt     *time.Time `bun:"behind_at" json:"-"` // when it was looked at last, or is to be looked at again
	ClaimedAt    *time.Time `bun:"claimed_at" json:"-"`
	FailingSince *time.Time `bun:"failing_since" json:"failingSince"` // since when nothing has arrived
	Failures     int32      `bun:"failures" json:"failures"`          // since then
	CreatedAt    time.Time  `bun:"created_at" json:"-"`
	UpdatedAt    time.Time  `bun:"updated_at" json:"-"`
	Version      int32      `bun:"version" json:"-"`
}

// Replays reports whether there are still events to post again.
func (w *Webhook) Replays() bool { return w.ReplayFrom < w.ReplayTo }

var (
	ErrNotFound = fault.New(fault.NotFound, "webhook.not_found", "no such webhook")
	ErrStatus   = fault.New(fault.State, "webhook.status", "the webhook's status does not allow this")
	// ErrByBank is returned to those outside the bank for a webhook that the bank's own people have disabled,
	// and for another one that leads where it does.
	ErrByBank = fault.New(fault.State, "webhook.by_bank",
		"the bank has disabled the webhook: its people enable it again, or remove it")
	// ErrReach is returned for a webhook that would be told more than its customer, or the caller, may see.
	ErrReach = fault.New(fault.Invalid, "webhook.reach",
		"is wider than what the customer, or the caller, may see").
		On("reach")
	// ErrMany is returned for a customer that has as many webhooks as it may have.
	ErrMany     = fault.New(fault.State, "webhook.many", "the customer has as many webhooks as it may have")
	ErrDelivery = fault.New(fault.NotFound, "webhook.delivery_not_found", "no such delivery")
	// ErrLeased is returned for a delivery that is just being posted.
	ErrLeased = fault.New(fault.Conflict, "webhook.delivery_posted", "the delivery is being posted just now")
)

// mostOfCustomer is how many webhooks a customer may have: each event is posted to all of them.
const mostOfCustomer = 20
