package webhooks

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/virtualaccounts"
)

// DeliveryUID is a delivery's number.
type DeliveryUID int64

func (u DeliveryUID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseDeliveryUID reads a delivery's number from decimal digits.
func ParseDeliveryUID(field, text string) (DeliveryUID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil || n == 0 {
		return 0, fault.Field("webhook", field, fault.Number, "must be the digits of a delivery's number")
	}
	return DeliveryUID(n), nil
}

// DeliveryState says what has become of a delivery.
type DeliveryState string

const (
	Waiting   DeliveryState = "WAITING"   // to be posted, for the first time or again
	Delivered DeliveryState = "DELIVERED" // it has arrived
	Parked    DeliveryState = "PARKED"    // given up, until somebody asks to post it again
)

// Delivery is one event for one webhook: a step of a payment, a transaction, or a test, which is neither. The
// receiver knows it by its number, however often it is posted.
type Delivery struct {
	bun.BaseModel `bun:"table:webhook_deliveries,alias:wd" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      DeliveryUID   `bun:"uid,pk,nullzero" json:"uid"`
	Webhook  UID           `bun:"webhook" json:"webhook"`
	Customer customers.UID `bun:"customer" json:"-"`               // the webhook's
	Payment  payments.UID  `bun:"payment,nullzero" json:"payment"` // 0 for others
	// of a virtual account; 0 for others
	Posting virtualaccounts.PostingID `bun:"posting,nullzero" json:"transaction"`
	Number  int32                     `bun:"number" json:"number"` // of the payment's step
	// of the event in the bank's record
	Seq   int64         `bun:"seq" json:"-"`
	State DeliveryState `bun:"state" json:"state"` //
	// when it is posted next, while it waits
	DueAt       time.Time  `bun:"due_at" json:"dueAt"`
	LeasedUntil *time.Time `bun:"leased_until" json:"-"`    // while a worker posts it
	Attempts    int32      `bun:"attempts" json:"attempts"` // in all
	// since it was made, or asked for again
	Tries     int32      `bun:"tries" json:"-"`
	TriedAt   *time.Time `bun:"tried_at" json:"-"`   // the first of these
	CreatedAt time.Time  `bun:"created_at" json:"-"` //
	// when it arrived, or was given up
	DoneAt *time.Time `bun:"done_at" json:"doneAt"`
	// of the payment, as the event tells it; '' for others
	StepState payments.State `bun:"step_state,scanonly" json:"status"`
}

// MessageID returns the value of the header webhook-id.
func (d *Delivery) MessageID() string { return "msg_" + d.UID.String() }

// topic returns what the delivery is about; for a test, the first topic of the webhook.
func (d *Delivery) topic(w *Webhook) Topic {
	switch {
	case d.Posting != 0:
		return OfTransactions
	case d.Payment != 0:
		return OfPayments
	}
	return w.Topics[0]
}

// Status returns the payment's status as the event tells it; "" if the delivery is about no payment.
func (d *Delivery) Status() payments.Status { return d.StepState.Status() }

// NextAt returns when the delivery is posted next; nil if it no longer waits.
func (d *Delivery) NextAt() *time.Time {
	if d.State != Waiting {
		return nil
	}
	return &d.DueAt
}

// MostAttempts is how many attempts of a delivery are kept, the last ones: more than it is tried by itself,
// but it can be asked for again without end.
const MostAttempts = 30

// Attempt is one time that a delivery was posted, and the outcome.
type Attempt struct {
	bun.BaseModel `bun:"table:webhook_attempts,alias:wa" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	Delivery DeliveryUID   `bun:"delivery,pk" json:"-"`
	Number   int32         `bun:"number,pk" json:"number"` // 1, 2, 3 … of the delivery
	At       time.Time     `bun:"at" json:"at"`
	Answer   int32         `bun:"status" json:"httpStatus"` // 0: there was no answer
	Error    string        `bun:"error" json:"error"`       // why there was none
	Took     *int32        `bun:"took" json:"milliseconds"` // nil until it is over
}

// HTTPStatus returns the status of the answer; nil if there was none.
func (a *Attempt) HTTPStatus() *int32 {
	if a.Answer == 0 {
		return nil
	}
	return &a.Answer
}

// pauses are how long a delivery waits after each failed try; after the last one it goes on hourly
// (rest/CONTRACT.md, webhook deliveries).
var pauses = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

const (
	// longestTrying is how long a delivery is tried, from its first try on.
	longestTrying = 24 * time.Hour
	// longestFailing is how long a webhook may fail, at least fewestFailures times, before it is disabled.
	longestFailing = 5 * 24 * time.Hour
	fewestFailures = 20
)

// outcome is what came of posting a delivery.
type outcome struct {
	answer     int           // the HTTP status; 0: there was no answer
	why        string        // there was none
	retryAfter time.Duration // that the receiver asks for; 0 if it does not
	never      bool          // another try cannot help
	took       time.Duration
}

func (o outcome) arrived() bool { return o.answer/100 == 2 }

// again reports whether another try may help: there was no answer, or an answer that says so.
func (o outcome) again() bool {
	return !o.never && (o.answer == 0 || o.answer == http.StatusRequestTimeout ||
		o.answer == http.StatusTooManyRequests || o.answer >= 500)
}

// after returns the state of a delivery after a try, and when it is tried again, if it is.
func (o outcome) after(tries int32, first, now time.Time) (DeliveryState, time.Time) {
	if o.arrived() {
		return Delivered, now
	}
	if !o.again() {
		return Parked, now
	}
	end := first.Add(longestTrying)
	next := now.Add(pauses[min(int(tries)-1, len(pauses)-1)])
	if next.After(end) {
		return Parked, now
	}
	// at the end there is a last try, however long that is
	if later := now.Add(o.retryAfter); later.After(next) {
		next = later
		if next.After(end) {
			next = end
		}
	}
	return Waiting, next
}
