package payments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// mostSeries is how many series of a customer go on at a time: each is made day by day, whether it can pay or
// not.
const mostSeries = 10_000

// repeat makes the series that a payment begins; draft is what each of its payments says.
func (f *facts) repeat(s *Service, p *Payment, d *Repetition, draft any) error {
	if d == nil {
		return nil
	}
	if err := d.endsAfter(p.Date); err != nil {
		return err
	}
	if f.series[p.Customer] >= mostSeries {
		return ErrManySeries
	}
	f.series[p.Customer]++
	text, err := json.Marshal(draft)
	if err != nil {
		return fmt.Errorf("write the draft of a series: %w", err)
	}
	r := &Recurrence{
		Tenant: p.Tenant, UID: f.recurrences[0], Customer: p.Customer, Account: p.Own(), EntryType: p.EntryType,
		Rail: p.Rail, Speed: p.Speed, Minor: p.Minor, Currency: p.Currency, Frequency: Frequency(d.Frequency),
		Until: PayUntil(d.Until), Start: p.Date, CountsFrom: p.Date, Number: d.Number, Made: 1, Last: p.UID,
		Status: RecurrenceActive, MakerClient: p.MakerClient, MakerLogin: p.MakerLogin, CreatedAt: p.CreatedAt,
		UpdatedAt: p.CreatedAt, Version: 1,
	}
	if !d.End.IsZero() {
		r.End = &d.End
	}
	f.recurrences = f.recurrences[1:]
	r.Draft = s.keys.Encrypt(string(text), r.place())
	r.Advance()
	p.Recurrence, p.series = r.UID, r
	return nil
}

// repeated returns what each payment of a series says: what the first one did, with the same account.
func (o Order) repeated(p *Payment) Order {
	o.Sender, o.Date, o.Repeat, o.Repairable = Party{UID: p.Own()}, time.Time{}, nil, false
	return o
}

func (d Draft) repeated(p *Payment) Draft {
	d.Sender, d.Receiver = Party{UID: p.SenderAccount}, Party{UID: p.ReceiverAccount}
	d.Date, d.Repeat = time.Time{}, nil
	return d
}

// run is the next payment of a series that is made now.
type run struct {
	*Recurrence
	order    *Order // of one over a network, or nil
	transfer *Draft
	payment  *Payment
	why      error // the fault that stopped it
}

// seriesKind is the SQL expression for which of dueKinds the payments of a series are, as in the index
// recurrences_in_turn. Series abroad are made by their day, as those of other networks.
const seriesKind = `(CASE WHEN speed = '' THEN 'BOOK' WHEN speed = 'Economy' THEN 'ECONOMY' ELSE 'OTHER' END)`

// nextRuns finds series of each kind whose date has come.
var nextRuns = inTurns("recurrences", `tenant = $1 AND status = 'Active' AND `+seriesKind+
	` = kinds.kind`, "next_date")

var findingRuns = db.NewQuery[dueNow](nextRuns)

// RunRecurrences makes the payments of series of the caller's bank whose date has come, and returns how many.
// They are carried out with all others of their day. One that can no longer be made, such as for a contact
// that is gone, becomes Invalid, with the reason, and the series goes on. One that fails for a reason of ours
// is left as it is, and its error is returned after the others were made. Customers take turns within a day,
// the days one after the other. It is for workers, as CarryOutDue.
func (s *Service) RunRecurrences(ctx context.Context) (made int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	at := s.paces.At(caller.Tenant, "make payments of series", dueAtATime)
	places, skipped := s.runs.of(caller.Tenant), []int64{} // not NULL
	for range mostPasses {
		due, stopped := db.ReadPrimary(ctx, s.db, findingRuns, caller.Tenant, dueKinds, dueUntil(caller, now),
			places.dated(), skipped, dueAtATime)
		if stopped == nil && len(due) == 0 && places != (duePlaces{}) {
			places = duePlaces{} // from the first customer on
			continue
		}
		n, stuck, failed := 0, []int64(nil), error(nil)
		if stopped == nil {
			is := func(d *dueNow) changes.Thing { return changes.Numbered(d.UID) }
			n, stopped = changes.AllOrEach(ctx, at, due, is, func(some []*dueNow) (int, error) {
				n, left, why, err := s.runAll(ctx, caller, now, some)
				stuck, failed = append(stuck, left...), errors.Join(failed, why)
				return n, err
			})
		}
		made, skipped, err = made+n, append(skipped, stuck...), errors.Join(err, failed, stopped)
		places = places.after(due)
		if n == 0 && len(stuck) == 0 || stopped != nil || made >= dueAtATime {
			break
		}
	}
	s.runs.leave(caller.Tenant, places)
	if err != nil {
		return made, fmt.Errorf("make payments of series: %w", err)
	}
	return made, nil
}

// runAll makes the payments of series whose date has come, except of those that another worker has locked. It
// returns how many, and the series that failed for a reason of ours, with the reasons.
func (s *Service) runAll(
	ctx context.Context, caller access.Caller, now time.Time, of []*dueNow,
) (made int, stuck []int64, failed, err error) {
	if len(of) == 0 {
		return 0, nil, nil, nil
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		made, stuck, failed = 0, nil, nil // of a try that was rolled back
		leave := func(r *run, why error) {
			stuck = append(stuck, int64(r.UID))
			failed = errors.Join(failed, fmt.Errorf("recurrence %s: %w", r.UID, why))
		}
		due, err := lockRunsTx(ctx, tx, caller, now, of)
		if err != nil {
			return err
		}
		due = slices.DeleteFunc(due, func(r *run) bool {
			why := s.readDraft(r)
			if why != nil {
				leave(r, why)
			}
			return why != nil
		})
		if len(due) == 0 {
			return nil
		}
		f, err := s.gatherTx(ctx, tx, caller.Tenant, wantedByRuns(due, now))
		if err != nil {
			return err
		}
		f.whenItGoes, f.asked = true, true
		var runs, stopped []*run
		for _, r := range due {
			switch err := f.draws(s, r, caller, now); {
			case err != nil && !isFault(err):
				leave(r, err)
				continue
			case err != nil:
				stopped = append(stopped, r)
			}
			runs = append(runs, r)
		}
		if err := s.invalidTx(ctx, tx, f, stopped, caller, now); err != nil {
			return err
		}
		if made = len(runs); made == 0 {
			return nil
		}
		return errors.Join(writeRunsTx(ctx, tx, runs, caller, now), f.writeTx(ctx))
	})
	if err != nil {
		return 0, nil, nil, err
	}
	return made, stuck, failed, nil
}

// lockRunsTx reads and locks those of some series whose date has come still.
func lockRunsTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []*dueNow,
) (runs []*run, err error) {
	uids := make([]UID, len(of))
	for i, d := range of {
		uids[i] = d.UID
	}
	var due []*Recurrence
	until := dueUntil(caller, now)
	err = tx.NewSelect().Model(&due).Where("rec.tenant = ?", caller.Tenant).
		Where("rec.status = ?", RecurrenceActive).Where("rec.uid IN (?)", bun.List(uids)).
		Where("rec.next_date <= CASE WHEN rec.speed = '' THEN ?::date WHEN rec.speed = ? THEN ?::date ELSE "+
			"?::date END", until[0], Economy, until[1], until[2]).
		OrderExpr("rec.next_date, rec.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	for _, r := range due {
		runs = append(runs, &run{Recurrence: r})
	}
	return runs, err
}

// readDraft reads what the payments of a series say, with the amount that they have now.
func (s *Service) readDraft(r *run) error {
	text, err := s.keys.Open(seal.Value{Sealed: r.Draft}, r.place())
	if err != nil {
		return err
	}
	amount := r.Amount().String()
	if r.Speed == "" {
		r.transfer = new(Draft)
		err = json.Unmarshal([]byte(text), r.transfer)
		r.transfer.Amount = amount
		return err
	}
	r.order = new(Order)
	err = json.Unmarshal([]byte(text), r.order)
	r.order.Amount, r.order.moves = amount, true
	if to := &r.order.Receiver; to.Contact != 0 {
		to.Number = "" // that of the contact, which may have another one since
	}
	return err
}

// wantedByRuns returns the facts that payments of series need.
func wantedByRuns(runs []*run, now time.Time) want {
	w := want{created: len(runs)}
	for _, r := range runs {
		if r.transfer != nil {
			w.payers, w.payees = append(w.payers, r.transfer.Sender), append(w.payees, r.transfer.Receiver)
		} else {
			w.orders(r.order, now)
		}
	}
	return w
}

// draws makes the payment of a series, or keeps the fault that stops it.
func (f *facts) draws(s *Service, r *run, by access.Caller, now time.Time) error {
	if r.transfer != nil {
		r.transfer.Date = later(*r.Next, ledger.Day(now.In(by.Location())))
		r.payment, r.why = f.transfer(s, by, r.transfer, now)
	} else {
		r.order.Date = later(*r.Next, calendar.Today(now))
		if r.EntryType == rails.Debit { // which name the day on which they are sent
			r.order.Date = time.Time{}
		}
		r.payment, r.why = f.drawOrder(s, by, r.order, now)
	}
	if r.why == nil && f.limits != nil && r.payment.counts() {
		f.limits.Take(r.payment.planned())
	}
	return r.why
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// invalidTx makes the payments that could not be drawn, as Invalid: like those before them, with the reason.
func (s *Service) invalidTx(
	ctx context.Context, tx bun.Tx, f *facts, stopped []*run, by access.Caller, now time.Time,
) error {
	if len(stopped) == 0 {
		return nil
	}
	before := make([]UID, 0, len(stopped))
	for _, r := range stopped {
		before = append(before, r.Last)
	}
	var payments []*Payment
	var details []*Details
	var entries []*Entry
	err := errors.Join(
		tx.NewSelect().Model(&payments).Where("pay.tenant = ?", by.Tenant).
			Where("pay.uid IN (?)", bun.List(before)).Scan(ctx), tx.NewSelect().Model(&details).
			Where("pd.tenant = ?", by.Tenant).Where("pd.payment IN (?)", bun.List(before)).Scan(ctx), tx.NewSelect().
			Model(&entries).Where("ae.tenant = ?", by.Tenant).Where("ae.payment IN (?)", bun.List(before)).
			Scan(ctx))
	if err != nil {
		return err
	}
	like := map[UID]*Payment{}
	for _, p := range payments {
		like[p.UID] = p
	}
	for _, d := range details {
		like[d.Payment].details = d
	}
	for _, e := range entries {
		like[e.Payment].entry = e
	}
	for _, r := range stopped {
		earlier := func() ([]UID, error) { return EarlierTx(ctx, tx, by.Tenant, r.Last) }
		if r.payment, err = s.alike(like[r.Last], r, f.uids[0], earlier, now); err != nil {
			return fmt.Errorf("recurrence %s: %w", r.UID, err)
		}
		f.uids = f.uids[1:]
	}
	return nil
}

// alike makes a payment like another one of its series, which is not carried out.
func (s *Service) alike(
	p *Payment, r *run, uid UID, earlier func() ([]UID, error), now time.Time,
) (*Payment, error) {
	another := &Payment{
		Tenant: p.Tenant, UID: uid, Customer: p.Customer, Direction: p.Direction, EntryType: p.EntryType,
		Rail: p.Rail, Speed: p.Speed, Minor: r.Minor, Currency: p.Currency, Date: *r.Next,
		CustomFeeMinor: p.CustomFeeMinor, CustomFeeName: p.CustomFeeName,
		ExternalReferenceID: p.ExternalReferenceID, Notes: p.Notes, Channel: p.Channel,
		SenderAccount: p.SenderAccount, SenderName: p.SenderName, ReceiverAccount: p.ReceiverAccount,
		ReceiverCustomer: p.ReceiverCustomer, ReceiverName: p.ReceiverName, CreatedAt: now, UpdatedAt: now,
	}
	if p.details != nil {
		d, err := p.details.copyFor(s.keys, uid, earlier)
		if err != nil {
			return nil, err
		}
		d.UETR, d.ReturnCode = uuid.NewString(), ""
		another.details = d
	}
	if p.entry != nil {
		e := *p.entry
		e.Payment, e.SettlesOn, e.TakenAt, e.File, e.Trace = uid, time.Time{}, nil, 0, ""
		another.entry = &e
	}
	return another, nil
}

// writeRunsTx writes the payments of series, and how far the series have come.
func writeRunsTx(ctx context.Context, tx bun.Tx, runs []*run, by access.Caller, now time.Time) error {
	var rows rows
	var record []events.Recorded
	series := make([]*Recurrence, 0, len(runs))
	for _, r := range runs {
		p := r.payment
		p.Recurrence, p.MakerClient, p.MakerLogin = r.UID, r.MakerClient, r.MakerLogin
		to, why := Scheduled, ""
		if r.why != nil {
			to, why = Invalid, r.why.Error()
		}
		rows.add(p, p.enter(to, by, now, why))
		was := *r.Recurrence
		r.Made, r.Last, r.Rail, r.UpdatedAt, r.Version = r.Made+1, p.UID, p.Rail, now, r.Version+1
		r.advance(*r.Next)
		series = append(series, r.Recurrence)
		record = append(record,
			changes.Change{
				Action: "runRecurrence", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
				After: p,
			}.Recorded(by, ""),
			changes.Change{
				Action: "runRecurrence", Object: recurrenceObject, UID: r.UID, Customer: int64(r.Customer),
				Version: r.Version, Before: &was, After: r.Recurrence,
			}.Recorded(by, ""))
	}
	return errors.Join(rows.writeTx(ctx), writeSeriesTx(ctx, series), recordTx(ctx, tx, record))
}

const recurrenceObject = "recurrence"

// writeSeriesTx writes how far series, which are locked, have come, at the end of the transaction.
func writeSeriesTx(ctx context.Context, series []*Recurrence) error {
	var uids, lasts []int64
	var made, versions []int32
	var statuses, over []string
	var next []*time.Time
	for _, r := range series {
		uids, lasts, made = append(uids, int64(r.UID)), append(lasts, int64(r.Last)), append(made, r.Made)
		versions, statuses, over = append(versions, r.Version), append(statuses, string(r.Status)),
			append(over, string(r.Rail))
		next = append(next, r.Next)
	}
	return db.ExecAtCommit(ctx, `UPDATE recurrences AS r SET last_payment = n.last, made = n.made,
		version = n.version, status = n.status, rail = n.rail, next_date = n.next, updated_at = $9::timestamptz
		FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::text[], $8::date[])
		  AS n(uid, last, made, version, status, rail, next)
		WHERE r.tenant = $1 AND r.uid = n.uid`,
		series[0].Tenant, uids, lasts, made, versions, statuses, over, next,
		series[0].UpdatedAt)
}

// rows are the rows of new payments.
type rows struct {
	series   []*Recurrence
	payments []*Payment
	details  []*Details
	entries  []*Entry
	requests []*Request
	asides   []*aside
	steps    []*Step
}

func (r *rows) add(p *Payment, step *Step) {
	r.payments, r.steps = append(r.payments, p), append(r.steps, step)
	if p.series != nil {
		r.series = append(r.series, p.series)
	}
	if p.details != nil {
		r.details = append(r.details, p.details)
	}
	if p.entry != nil {
		r.entries = append(r.entries, p.entry)
	}
	if p.asks != nil {
		r.requests = append(r.requests, p.asks)
	}
	if p.aside != nil {
		r.asides = append(r.asides, p.aside)
	}
}

// writeTx writes the rows at the end of the transaction.
func (r *rows) writeTx(ctx context.Context) error {
	if err := db.InsertAtCommit(ctx, r.series); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, r.payments); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, r.details); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, r.entries); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, r.requests); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, r.asides); err != nil {
		return err
	}
	return db.InsertAtCommit(ctx, r.steps)
}

// orders adds the facts that an order needs. The days on which limits count reach far enough to include the
// next day on which a network is open.
func (w *want) orders(o *Order, now time.Time) {
	if w.from.IsZero() {
		w.from = calendar.Today(now)
		w.to = w.from.AddDate(0, 0, 14)
	}
	w.payers, w.screened = append(w.payers, o.Sender), true
	if o.Fee != nil {
		w.houses = append(w.houses, house{ledger.HouseFees, money.Currency(o.Fee.Currency)})
	}
	if o.Receiver.Contact != 0 {
		w.contacts = append(w.contacts, o.Receiver.Contact)
		if o.overACHAbroad() {
			w.banks = append(w.banks, o.Receiver.Bank.refs()...)
		}
	} else {
		w.banks = append(w.banks, o.Receiver.Bank.refs()...)
		if o.Receiver.Number != "" {
			w.others = append(w.others, o.Receiver.Number)
		}
	}
	w.othersAt = append(w.othersAt, o.Receiver.Bank.ID)
	if o.Correspondent != "" {
		w.banks = append(w.banks, banks.Routing(o.Correspondent))
	}
	if o.Receiver.Between != (ReceiverBank{}) {
		w.banks = append(w.banks, o.Receiver.Between.refs()...)
	}
	if o.Date.After(w.to) {
		w.to = o.Date.AddDate(0, 0, 14)
	}
	if o.Contract != 0 {
		w.trades = append(w.trades, o.Contract)
	}
	if o.Repeat != nil {
		w.recurrences++
	}
}
