package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/waterfalls"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var (
	waterfallKind = numbered("Waterfall", kind[waterfalls.UID, waterfalls.Waterfall]{
		prefix:  scalar.WaterfallPrefix,
		find:    func(c *core.Core) finder[waterfalls.UID, waterfalls.Waterfall] { return c.Waterfalls.FindMany },
		key:     func(w *waterfalls.Waterfall) waterfalls.UID { return w.UID },
		columns: columns{"waterfallId": {"UUID"}, "createdBy": {"MakerLogin", "MakerClient"}},
	})
	waterfallStepPart = part("WaterfallStep", kind[waterfalls.StepID, waterfalls.Step]{
		key:     func(s *waterfalls.Step) waterfalls.StepID { return s.ID },
		place:   func(s *waterfalls.Step) int64 { return int64(s.ID) },
		columns: columns{"amount": {"Minor", "Currency"}, "faults": {"Found"}, "paymentIndex": {"Index"}},
	})
)

func init() {
	service := func(c *core.Core) *waterfalls.Service { return c.Waterfalls }
	query("waterfall", (*operation).waterfall)
	queryList("waterfalls", waterfallKind, service, (*waterfalls.Service).List,
		(*waterfalls.Service).CountUpTo, nil)
	hasMany(waterfallKind, "steps", waterfallStepPart, pages(service, (*waterfalls.Service).StepsOf,
		capped((*waterfalls.Service).CountStepsOf)))
	hasOne(waterfallStepPart, "payment", paymentKind,
		func(s *waterfalls.Step) *payments.UID { return named(&s.Payment) })
	for _, list := range []string{"WaterfallConnection", "WaterfallStepConnection"} {
		prices[list+".totalCount"], prices[list+".totalCountIsExact"] = countMany, countMany
	}
	prices["WaterfallFilter.externalReferenceId"], prices["WaterfallFilter.status"] = sorted, scan
	prices["WaterfallStepFilter.status"] = scan
	listSizes["WaterfallStep.faults"] = 2
	subjects["waterfall"] = subject{
		codes:  codes{fault.NotFound: "WF_NOT_FOUND", fault.State: "WF_REQUEST_INVALID"},
		fields: map[string]string{"paymentAmount": "amount", "paymentNotes": "notes"},
	}
	precise = append(precise,
		preciseCode{is: waterfalls.ErrReference, code: "WF_EXTERNALREF_CONFLICT"},
		preciseCode{is: waterfalls.ErrNoInstitution, code: "WF_CALLINGORG_UNAUTHORIZED"})
}

// waterfall answers Query.waterfall.
func (o *operation) waterfall(ctx context.Context, f graphql.CollectedField) (*waterfalls.Waterfall, error) {
	by, _, err := lookup[model.WaterfallBy](ctx, f)
	if err != nil {
		return nil, err
	}
	if by.UID != nil {
		return waterfallKind.one(ctx, *by.UID, f)
	}
	id, err := waterfalls.ParseID("by.waterfallId", *by.WaterfallID)
	if err != nil {
		return nil, err
	}
	b := o.batch()
	rows := o.core.Waterfalls.List(ctx, b, waterfalls.Search{ID: id},
		db.ColumnsOf[waterfalls.Waterfall]("UID"), page.First(1))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	found, err := rows.One()
	if err != nil || found == nil {
		return nil, err
	}
	return waterfallKind.one(ctx, found.UID, f)
}

func (m mutations) RunWaterfall(
	ctx context.Context, in model.WaterfallDraft,
) (*model.WaterfallPayload, error) {
	done, err := m.core.Waterfalls.Run(ctx, in.Draft, in.RequestOptions)
	return waterfallKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
