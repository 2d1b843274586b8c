package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// Payments of bulk files: many orders of one customer, decided and made together by the code that decides on
// a single order.

// Planned is what would become of an order.
type Planned struct {
	Payment   *Payment     // nil where the order says too little
	Approvers int32        // how many people beside the maker have to approve it; 0 for none
	By        access.Reach // the least reach that they need
	Why       error        // the faults with which it is refused; nil if it can be made
}

// Plan returns what would become of each order of a customer if it were made now, in the name of by. An order
// that can be made also names its account by its UID afterwards, for MakeAllTx. Nothing is held or written,
// and no order counts against another. It is for workers.
func (s *Service) Plan(
	ctx context.Context, by access.Caller, of customers.UID, orders []*Order, now time.Time,
) ([]Planned, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	all := make([]Planned, len(orders))
	var formed []*Order
	for i, o := range orders {
		o.moves = true
		if all[i].Why = o.Form(); all[i].Why == nil {
			formed = append(formed, o)
		}
	}
	if len(formed) == 0 {
		return all, nil
	}
	f, err := s.lookAt(ctx, by, wantedBy(formed, now), now)
	if err != nil {
		return nil, err
	}
	for i, o := range orders {
		if all[i].Why != nil {
			continue
		}
		p, why := f.drawOf(s, by, of, o, now)
		all[i].Payment = p
		switch {
		case isFault(why):
			all[i].Why = o.called(why)
		case why != nil:
			return nil, why
		default:
			o.Sender.UID = p.Own()
			if f.needsApproval(p) {
				all[i].Approvers, all[i].By = f.approvers(p)
			}
		}
	}
	return all, nil
}

// Made is what became of an order.
type Made struct {
	Payment UID   // 0 if it was refused
	Why     error // the fault with which it was refused
}

// sentTogether is how many payments a long transaction sends to the database at a time.
const sentTogether = 250

// MakeAllTx makes the payments of a customer's orders. Each order is decided after those before it; a refused
// one does not affect the others. Payments that are due are carried out. Orders that nobody has approved are
// refused where a payment needs that by now. While the database writes one group of payments, the next is
// decided.
func (s *Service) MakeAllTx(
	ctx context.Context, tx bun.Tx, by access.Caller, of customers.UID, orders []*Order, approved bool,
	now time.Time,
) ([]Made, error) {
	for _, o := range orders {
		o.moves = true
		if today := calendar.Today(now); o.Date.Before(today) {
			o.Date = time.Time{} // its day has passed while it waited
		}
		if o.Sender.UID != 0 {
			o.Sender.Number = "" // which another account may have by now
		}
	}
	f, err := s.gatherTx(ctx, tx, by.Tenant, wantedBy(orders, now).madeBy(now, by))
	if err != nil {
		return nil, err
	}
	f.asked = true
	b := db.TxBatch(tx)
	ids := audit.TakeIDs(b, len(orders))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	all := make([]Made, len(orders))
	for from := 0; from < len(orders); from += sentTogether {
		to := min(from+sentTogether, len(orders))
		err := s.makeSomeTx(ctx, f, by, of, orders[from:to], all[from:to], ids.Items[from:to], approved, now)
		if err != nil {
			return nil, err
		}
		if err := db.SendAhead(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, f.writeTx(ctx)
}

// makeSomeTx makes some of the payments. Their changes to the books and to the use of limits are not written
// yet.
func (s *Service) makeSomeTx(
	ctx context.Context, f *facts, by access.Caller, of customers.UID, orders []*Order, all []Made,
	ids []*audit.TakenID, approved bool, now time.Time,
) error {
	var rows rows
	var record []events.Recorded
	for i, o := range orders {
		p, why := f.drawOf(s, by, of, o, now)
		var to State
		if why == nil && !approved && f.needsApproval(p) {
			why = ErrUnapproved
		}
		if why == nil {
			to, why = f.start(p, by, now, false)
		}
		switch {
		case isFault(why):
			all[i].Why = o.called(why)
			continue
		case why != nil:
			return why
		}
		if f.limits != nil && p.counts() {
			f.limits.Take(p.planned())
		}
		rows.add(p, p.enter(to, by, now, ""))
		all[i].Payment = p.UID
		made := changes.Change{
			Action: makes[p.EntryType], Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
			After: p,
		}.Recorded(by, "")
		made.Entry.ID = ids[i].ID
		record = append(record, made)
	}
	if err := rows.writeTx(ctx); err != nil {
		return err
	}
	return events.RecordAllTx(ctx, record)
}

// makes is the action that the record names for making a payment.
var makes = map[rails.EntryType]string{rails.Credit: "sendPayment", rails.Debit: "requestDebit"}

// Form validates the form of an order, and names fields as requests do.
func (o *Order) Form() error { return o.called(o.check()) }

// called renames the fields of faults to what orders of this kind call them.
func (o *Order) called(why error) error {
	if o.entryType() == rails.Debit {
		return fault.Called(why, calledInDebits)
	}
	return fault.Called(why, calledInOrders)
}

// drawOf is drawOrder, but refuses an order from an account of another customer.
func (f *facts) drawOf(
	s *Service, by access.Caller, of customers.UID, o *Order, now time.Time,
) (*Payment, error) {
	p, err := f.drawOrder(s, by, o, now)
	if p != nil && p.Customer != of {
		return nil, ErrAccount.On("sender.accountNumber").Saying(
			fmt.Sprintf("must be an account of customer %s, whose file it is", of))
	}
	return p, err
}
