package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// entriesBack is the order of returns in a file.
const entriesBack = "ar.company_id, ar.company_name, ar.class, ar.description, ar.direction, ar.id"

// returnTx writes the returns of other banks' entries into the file, some at a time. failed says which cannot
// be written: they go on waiting, except those without money. Of some of their classes, such as notices of a
// death, ACH has no return, so that nothing is to be waited for.
func (f *file) returnTx(ctx context.Context, s *Service, tx bun.Tx) (failed, err error) {
	var last *Received
	for f.entries() < f.most {
		var rows []*Received
		q := tx.NewSelect().Model(&rows).Where("ar.tenant = ?", f.tenant).Where("ar.origin = ?", f.origin).
			Where("ar.returned_at IS NOT NULL AND ar.file IS NULL")
		if last != nil {
			q.Where("("+entriesBack+") > (?, ?, ?, ?, ?, ?)", last.CompanyID, last.CompanyName,
				last.Class, last.Description, last.Direction, last.ID)
		}
		err := q.OrderExpr(entriesBack).Limit(int64(min(entriesAtATime, f.most-f.entries()))).Scan(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			err := f.addReturn(s, row)
			if err == nil {
				continue
			}
			failed = errors.Join(failed, fmt.Errorf("return of entry %s: %w", row.Trace, err))
			if wrong := (nacha.Fault{}); row.Minor == 0 && errors.As(err, &wrong) {
				f.kept = append(f.kept, row.ID)
			}
		}
		if len(rows) < entriesAtATime {
			break
		}
		last = rows[len(rows)-1]
	}
	return failed, nil
}

// addReturn writes the return of an entry: to the bank that sent it, from the routing number that it was sent
// to.
func (f *file) addReturn(s *Service, r *Received) error {
	said, err := r.saidAbroad(s.keys)
	if err != nil {
		return err
	}
	number, err := s.keys.Open(seal.Value{Sealed: r.Number.Sealed}, r.place())
	if err != nil {
		return fmt.Errorf("open the number of the account: %w", err)
	}
	batch, entry := r.goesBack(said, number, f.now)
	if err := f.begin("", batch); err != nil {
		return err
	}
	trace, err := f.writer.Entry(entry)
	if err == nil {
		f.backs[r.ID] = trace
	}
	return err
}

// goesBack returns the return of an entry, and its batch. It repeats what the entry said; where that left out
// what ACH demands, it says so.
func (e *Received) goesBack(said abroad, number string, now time.Time) (nacha.Batch, nacha.Entry) {
	batch := nacha.Batch{
		Class: e.Class, CompanyID: nacha.Given(e.CompanyID), CompanyName: nacha.Given(e.CompanyName),
		Description: nacha.Given(e.Description), Effective: calendar.Today(now), Only: e.Direction,
		Bank: e.Origin, Abroad: said.Way,
	}
	return batch, nacha.Entry{
		Account: e.Account, Direction: e.Direction, Amount: money.Of(e.Minor, usDollar), Routing: e.Bank,
		Number: number, Name: nacha.Given(e.Name), ID: nacha.GivenID(e.IndividualID, e.Class), Data: e.Data,
		International: said.Entry,
		Return:        &nacha.Return{Code: e.ReturnCode, OriginalTrace: e.Trace, OriginalBank: e.Origin[:8]},
	}
}

// dishonours are the codes with which another bank does not take a return, in plain words (rest/CONTRACT.md,
// returns that the other bank does not take).
var dishonours = map[string]string{
	"R61": "the return went to the wrong bank", "R62": "the return was made of a wrong entry",
	"R67": "the return is a duplicate", "R68": "the return came too late",
	"R69": "the return has wrong fields", "R70": "the return was not agreed to",
}

// dishonour takes in that the other bank does not take the return of a payment. Its money is the bank's
// again, or the bank has paid it after all: people decide what the customer gets of it. A step of the payment
// tells.
func (in *intake) dishonour(a *incoming, p *Payment) {
	if p.Incoming() && p.State == Returned {
		was := *p
		in.enter(&was, p, p.State, "dishonourReturn", because(a.code, dishonours[a.code]))
	}
}

// keepTx writes which entries do not go back after all, at the end of the transaction.
func (f *file) keepTx(ctx context.Context) error {
	if len(f.kept) == 0 {
		return nil
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_received AS r SET return_code = '', returned_at = NULL
		WHERE r.tenant = $1 AND r.id = ANY($2::bigint[]) AND r.file IS NULL`, f.tenant, f.kept)
}

// returnedTx writes which entries went back in the file, at the end of the transaction.
func (f *file) returnedTx(ctx context.Context) error {
	if len(f.backs) == 0 {
		return nil
	}
	var ids []int64
	var traces []string
	for id, trace := range f.backs {
		ids, traces = append(ids, id), append(traces, trace)
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_received AS r SET file = $2, return_trace = n.trace
		FROM unnest($3::bigint[], $4::text[]) AS n(id, trace) WHERE r.tenant = $1 AND r.id = n.id`, f.tenant,
		f.id, ids, traces)
}
