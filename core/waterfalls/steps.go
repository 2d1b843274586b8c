package waterfalls

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/db"
)

// StepSearch narrows the steps of batches.
type StepSearch struct {
	Status []StepStatus
}

func (by StepSearch) where(p *db.Params) (all db.Conditions) {
	if by.Status != nil {
		all = append(all, "ws.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	return all
}

var (
	listingSteps    db.QueryCache[Step]
	countingSteps   db.QueryCache[db.Count]
	identityOfSteps = db.ColumnsOf[Step]("ID", "Waterfall", "Index", "Tenant")
)

// stepKey is what the text of a list of steps depends on.
type stepKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	where  string
	most   string
}

// StepsOf reads a window of the steps of each batch, in the order in which they run. The list of a batch that
// the caller may not see is empty.
func (s *Service) StepsOf(
	ctx context.Context, b *db.Batch, of []UID, by StepSearch, want db.Columns, w page.Window,
) *db.Many[UID, Step] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Step](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(&p)
	key := stepKey{want: want, reach: caller.Reach, window: window, where: where.Key()}
	text := listingSteps.Get(key, func() string {
		q := where.On(db.Select[Step](db.Or[Step](want).And(identityOfSteps),
			map[string]string{"payment": "coalesce(ws.payment, 0)"}).
			Join("JOIN waterfalls AS wf ON wf.tenant = ws.tenant AND wf.uid = ws.waterfall").
			Where("ws.tenant = $1").Where("wf.tenant = $1"))
		scope := func(string) string { return caller.Reach.Scope("wf.customer") }
		return window.Text(q, scope, "ws.waterfall", "ws.id")
	})
	return db.QueueMany(b, text, func(s *Step) UID { return s.Waterfall }, p...)
}

// CountStepsOf counts the steps of each batch, up to most; 0 means no bound.
func (s *Service) CountStepsOf(
	ctx context.Context, b *db.Batch, of []UID, by StepSearch, most int64,
) *db.Many[UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(&p)
	limit := p.Up(most)
	text := countingSteps.Get(stepKey{reach: caller.Reach, where: where.Key(), most: limit}, func() string {
		q := where.On(db.Select0[Step]("1").
			Join("JOIN waterfalls AS wf ON wf.tenant = ws.tenant AND wf.uid = ws.waterfall").
			Where("ws.tenant = $1").Where("wf.tenant = $1").Where("ws.waterfall = p.parent").
			Where(caller.Reach.Scope("wf.customer")))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) UID { return UID(n.Of) }, p...)
}
