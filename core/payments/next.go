package payments

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/ledger"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

type upcoming struct {
	SendAt    *time.Time `bun:"send_at"`
	LeavesAt  *time.Time `bun:"leaves_at"` // international ones that wait for their day
	SettlesAt *time.Time `bun:"settles_at"`
	PostsAt   *time.Time `bun:"posts_at"`   // entries of other banks
	TakesBack *time.Time `bun:"takes_back"` // entries that take credits back
	Prenotes  *time.Time `bun:"prenotes"`
	FilledBy  *time.Time `bun:"filled_by"` // files
	Book      *time.Time `bun:"book"`      // payment dates of those that wait for their day
	Economy   *time.Time `bun:"economy"`   // which leave before it
	Others    *time.Time `bun:"others"`
	// the next dates of series, which leave as single payments do
	SeriesHere    *time.Time `bun:"series_here"`
	SeriesEconomy *time.Time `bun:"series_economy"`
	SeriesOthers  *time.Time `bun:"series_others"`
}

var findingUpcoming = db.NewQuery[upcoming](`SELECT
	(SELECT min(send_at) FROM payments WHERE tenant = $1 AND state = 'QUEUED' AND send_at > $2) AS send_at,
	(SELECT min(send_at) FROM payments WHERE tenant = $1 AND state = 'SCHEDULED' AND send_at > $2) AS leaves_at,
	(SELECT min(settles_at) FROM payments WHERE tenant = $1 AND state = 'SENT'
	  AND settles_at > $2) AS settles_at,
	(SELECT min(settles_at) FROM payments WHERE tenant = $1 AND state = 'VALIDATED'
	  AND settles_at > $2) AS posts_at,
	(SELECT min(settles_at) FROM ach_reversals WHERE tenant = $1 AND answered_at IS NULL
	  AND settles_at > $2) AS takes_back,
	(SELECT min(send_at) FROM ach_prenotes WHERE tenant = $1 AND file IS NULL AND NOT withdrawn
	  AND send_at > $2) AS prenotes,
	(SELECT min(` + filledBy("$6") + `) ` + waitingForFile + `
	  WHERE w.taken_at <= $2 AND ` + filledBy("$6") + ` > $2) AS filled_by,
	(SELECT min(payment_date) FROM payments WHERE tenant = $1 AND state = 'SCHEDULED'
	  AND ` + dueKind + ` = 'BOOK' AND payment_date > $3::date) AS book,
	(SELECT min(payment_date) FROM payments WHERE tenant = $1 AND state = 'SCHEDULED'
	  AND ` + dueKind + ` = 'ECONOMY' AND payment_date > $4::date) AS economy,
	(SELECT min(payment_date) FROM payments WHERE tenant = $1 AND state = 'SCHEDULED'
	  AND ` + dueKind + ` = 'OTHER' AND payment_date > $5::date) AS others,
	(SELECT min(next_date) FROM recurrences WHERE tenant = $1 AND status = 'Active'
	  AND ` + seriesKind + ` = 'BOOK' AND next_date > $3::date) AS series_here,
	(SELECT min(next_date) FROM recurrences WHERE tenant = $1 AND status = 'Active'
	  AND ` + seriesKind + ` = 'ECONOMY' AND next_date > $4::date) AS series_economy,
	(SELECT min(next_date) FROM recurrences WHERE tenant = $1 AND status = 'Active'
	  AND ` + seriesKind + ` = 'OTHER' AND next_date > $5::date) AS series_others`)

// Next returns when the next thing happens by itself to a payment of the caller's bank, after a time: it is
// carried out on its day, sent, or settles. It is nil if nothing is going to happen.
func (s *Service) Next(ctx context.Context, after time.Time) (next *time.Time, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	today, plan := calendar.Today(after), calendar.Default()
	b := s.db.PrimaryBatch()
	found := db.Queue(b, findingUpcoming, caller.Tenant, after, ledger.Day(after.In(caller.Location())),
		plan.SettledIf(calendar.ACH, today), today, lastWindow(after))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	u := found.Items[0]
	times := []*time.Time{
		u.SendAt, u.LeavesAt, u.SettlesAt, u.PostsAt, u.TakesBack, u.Prenotes, u.FilledBy,
		beginOf(u.Book, caller.Location()), beginOf(u.Others, calendar.Zone()),
		beginOf(u.SeriesHere, caller.Location()), beginOf(u.SeriesOthers, calendar.Zone()),
	}
	for _, settles := range []*time.Time{u.Economy, u.SeriesEconomy} {
		if settles != nil {
			starts := plan.Starts(calendar.ACH, *settles)
			times = append(times, beginOf(&starts, calendar.Zone()))
		}
	}
	for _, at := range times {
		if at != nil && (next == nil || at.Before(*next)) {
			next = at
		}
	}
	return next, found.Err
}

// beginOf returns when a day begins in a zone; nil if the day is nil.
func beginOf(day *time.Time, zone *time.Location) *time.Time {
	if day == nil {
		return nil
	}
	at := access.StartOf(*day, zone)
	return &at
}
