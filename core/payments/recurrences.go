package payments

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// RecurrenceSearch narrows a list of series. All fields that are not empty must match.
type RecurrenceSearch struct {
	Customer customers.UID
	Account  accounts.UID // that pays
	Status   []RecurrenceStatus
}

var (
	findingSeries    db.QueryCache[Recurrence]
	identityOfSeries = db.ColumnsOf[Recurrence]("UID", "Customer", "Currency")
)

func selectingSeries(want db.Columns) *bun.SelectQuery {
	return db.Select[Recurrence](db.Or[Recurrence](want).And(identityOfSeries), nil)
}

// FindRecurrences reads series by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindRecurrences(
	ctx context.Context, b *db.Batch, uids []RecurrenceUID, want db.Columns,
) *db.Many[RecurrenceUID, Recurrence] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[RecurrenceUID, Recurrence](err)
	}
	text := findingSeries.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selectingSeries(want).Where("rec.tenant = $1").Where("rec.uid = ANY($3)").
			Where(caller.Reach.Scope("rec.customer")).String()
	})
	return db.QueueMany(b, text, func(r *Recurrence) RecurrenceUID { return r.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

var seriesOfCustomers = customers.Children[Recurrence]{
	Needs: access.ViewPayments, Table: "rec", Key: "uid", Select: selectingSeries,
	Customer: func(r *Recurrence) customers.UID { return r.Customer },
}

// RecurrencesOfCustomers reads a window of the series of each customer, newest first.
func (s *Service) RecurrencesOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by RecurrenceSearch, want db.Columns, w page.Window,
) *db.Many[customers.UID, Recurrence] {
	w.Backward = !w.Backward // Children lists by UID
	return seriesOfCustomers.List(ctx, b, of, by.where, want, w)
}

// CountRecurrencesOfCustomers counts the series of each customer, up to most; 0 means no bound.
func (s *Service) CountRecurrencesOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by RecurrenceSearch, most int64,
) *db.Many[customers.UID, db.Count] {
	return seriesOfCustomers.Count(ctx, b, of, by.where, most)
}

// where returns the conditions that narrow a list; p collects their values.
func (by RecurrenceSearch) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Customer != 0 {
		all = append(all, "rec.customer = "+p.Add(by.Customer)+"::bigint")
	}
	if by.Account != 0 {
		all = append(all, "rec.account = "+p.Add(by.Account)+"::bigint")
	}
	if by.Status != nil {
		all = append(all, "rec.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	return all
}

func (by RecurrenceSearch) list(caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "recurrences", Alias: "rec", Key: "uid", Newest: true, Of: []string{"rec.customer = seen.uid"},
		Seen: caller.Reach.Scope("rec.customer"), Where: by.where(caller.Tenant, p),
	}
	if by.Customer != 0 && caller.Reach != access.OfBank {
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

var listsOfSeries = access.Lists[Recurrence]{Needs: access.ViewPayments, Select: selectingSeries}

// ListRecurrences reads a window of the series that the caller may see and a search finds, newest first.
func (s *Service) ListRecurrences(
	ctx context.Context, b *db.Batch, by RecurrenceSearch, want db.Columns, w page.Window,
) *db.Rows[Recurrence] {
	return listsOfSeries.Page(ctx, b, by.list, want, w)
}

// CountRecurrences counts the series that a search finds, up to most; 0 means no bound.
func (s *Service) CountRecurrences(
	ctx context.Context, b *db.Batch, by RecurrenceSearch, most int64,
) *db.Rows[db.Count] {
	return listsOfSeries.Count(ctx, b, by.list, most)
}
