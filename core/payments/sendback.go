package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// debitsBack is the order of returns in a file.
const debitsBack = "ad.company_id, ad.company_name, ad.class, ad.description, ad.id"

// returnTx writes the debits of other banks that go back into the file, some at a time. failed says which cannot be
// written: they go on waiting.
func (f *file) returnTx(ctx context.Context, s *Service, tx bun.Tx) (failed, err error) {
	var last *Debited
	for f.entries() < mostEntries {
		var rows []*Debited
		q := tx.NewSelect().Model(&rows).Where("ad.tenant = ?", f.tenant).Where("ad.origin = ?", f.origin).
			Where("ad.returned_at IS NOT NULL AND ad.file IS NULL")
		if last != nil {
			q.Where("("+debitsBack+") > (?, ?, ?, ?, ?)", last.CompanyID, last.CompanyName, last.Class, last.Description, last.ID)
		}
		err := q.OrderExpr(debitsBack).Limit(int64(min(entriesAtATime, mostEntries-f.entries()))).Scan(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if err := f.addReturn(s, row); err != nil {
				failed = errors.Join(failed, fmt.Errorf("return of entry %s: %w", row.Trace, err))
			}
		}
		if len(rows) < entriesAtATime {
			break
		}
		last = rows[len(rows)-1]
	}
	return failed, nil
}

// addReturn writes the return of an entry: to the bank that sent it, from the one that it was sent to.
func (f *file) addReturn(s *Service, d *Debited) error {
	if err := f.begin("", nacha.Batch{
		Class: d.Class, CompanyID: d.CompanyID, CompanyName: d.CompanyName, Description: d.Description,
		Effective: calendar.Today(f.now), Only: rails.Debit, Bank: d.Origin,
	}); err != nil {
		return err
	}
	number, err := s.keys.Open(seal.Value{Sealed: d.Number.Sealed}, d.place())
	if err != nil {
		return fmt.Errorf("open the number of the account: %w", err)
	}
	trace, err := f.writer.Entry(nacha.Entry{
		Account: d.Account, Direction: rails.Debit, Amount: money.Of(d.Minor, usDollar), Routing: d.Bank, Number: number,
		Name: d.Name, ID: d.IndividualID, Data: d.Data,
		Return: &nacha.Return{Code: d.ReturnCode, OriginalTrace: d.Trace, OriginalBank: d.Origin[:8]},
	})
	if err == nil {
		f.backs[d.ID] = trace
	}
	return err
}

// returnedTx writes which debits went back in the file, at the end of the transaction.
func (f *file) returnedTx(ctx context.Context) error {
	if len(f.backs) == 0 {
		return nil
	}
	var ids []int64
	var traces []string
	for id, trace := range f.backs {
		ids, traces = append(ids, id), append(traces, trace)
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_debits AS d SET file = $2, return_trace = n.trace
		FROM unnest($3::bigint[], $4::text[]) AS n(id, trace) WHERE d.tenant = $1 AND d.id = n.id`, f.tenant, f.id, ids, traces)
}
