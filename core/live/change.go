// Package live tells of changes of payments and files, and of balance alerts, as they happen, to those who
// see them.
package live

import (
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/events"
	"bankgraph/core/fault"
)

// Change says that a payment or a file changed, or that an alert of an account has fired. Its reader reads
// the object again.
type Change struct {
	Cursor  events.Cursor
	At      time.Time
	Action  string // by its GraphQL name: cancelPayment
	UID     int64
	Version int32 // of the object after the change
}

var (
	// ErrSlow is returned to a listener that has fallen too far behind.
	ErrSlow = fault.New(fault.TooMany, "stream.slow",
		"changes came faster than they were read: subscribe again, since the last cursor")
	// ErrMoved is returned to all listeners when the bank's database is replaced by a restored one.
	ErrMoved = fault.New(fault.Unavailable, "stream.moved",
		"the bank's database was restored or moved: subscribe again, since the last cursor")
)

// row is an entry of the bank's record with its event. The first row of a read has no entry, and tells where
// the record ends.
type row struct {
	Seq     int64     `bun:"seq"`
	Epoch   int64     `bun:"epoch"`
	Last    int64     `bun:"last"`
	At      time.Time `bun:"at"`
	Kind    string    `bun:"kind"`
	Object  string    `bun:"object"`
	UID     int64     `bun:"uid"` // 0 if it is no number
	Version int32     `bun:"version"`

	// whose the object is, with the partner that they belong to
	Customer int64 `bun:"customer"`
	Owner    int64 `bun:"owner"`
	// who is paid, if it is a payment to another customer of the bank
	Payee      int64 `bun:"payee"`
	PayeeOwner int64 `bun:"payee_owner"`
}

// of reports whether the row is of a customer: whose the object is, or who is paid.
func (r *row) of(customer int64) bool { return r.Customer == customer || r.Payee == customer }

// seenBy reports whether a caller sees one of the row's customers. It saves reads of what the caller does not
// see; who reads the object asks again.
func (r *row) seenBy(caller access.Caller) bool {
	return caller.Sees(r.Customer, r.Owner) || r.Payee != 0 && caller.Sees(r.Payee, r.PayeeOwner)
}

// wish is what a listener wants to hear of.
type wish struct {
	caller   access.Caller
	object   string
	kind     string // of the change; "": any
	uid      int64  // 0: any
	customer int64  // 0: any
}

func (w *wish) fits(r *row) bool {
	return r.Object == w.object && (w.kind == "" || r.Kind == w.kind) && r.UID != 0 &&
		(w.uid == 0 || r.UID == w.uid) &&
		(w.customer == 0 || r.of(w.customer)) && r.seenBy(w.caller)
}

// change is what a listener is told of the row.
func (r *row) change(epoch int64) *Change {
	return &Change{
		Cursor: events.Cursor{Epoch: epoch, Seq: r.Seq}, At: r.At, Action: r.Kind, UID: r.UID, Version: r.Version,
	}
}

// changesIn returns the changes among rows that a listener wants.
func (w *wish) changesIn(rows []*row, epoch int64) (all []*Change) {
	for _, r := range rows {
		if w.fits(r) {
			all = append(all, r.change(epoch))
		}
	}
	return slices.Clip(all)
}
