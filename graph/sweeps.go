package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/payments"
	"bankgraph/core/sweeps"
	"bankgraph/graph/model"
)

var sweepRunPart = part("SweepRun", kind[sweeps.RunUID, sweeps.Run]{
	key:   func(r *sweeps.Run) sweeps.RunUID { return r.UID },
	place: func(r *sweeps.Run) int64 { return int64(r.UID) },
	columns: columns{
		"available": {"AvailableMinor", "Currency"}, "amount": {"Minor", "Currency"},
	},
})

func init() {
	runs := func(c *core.Core) *sweeps.Service { return c.Sweeps }
	hasMany(accountKind, "sweepRuns", sweepRunPart, pages(runs, (*sweeps.Service).RunsOf,
		capped((*sweeps.Service).CountRunsOf)))
	hasOne(sweepRunPart, "payment", paymentKind, func(r *sweeps.Run) *payments.UID { return named(&r.Payment) })
	hasPart(paymentKind, "sweep", runs, (*sweeps.Service).RunOfPayments)
	prices["SweepRunConnection.totalCount"], prices["SweepRunConnection.totalCountIsExact"] =
		countMany, countMany
	prices["SweepRunFilter.direction"], prices["SweepRunFilter.outcome"] = scan, scan
	hasAll(accountKind, "sweeps", func(c *core.Core) *accounts.Service { return c.Accounts },
		(*accounts.Service).SweepsOf)
	subjects["sweep"] = subject{fields: map[string]string{
		"accountUID":          "account",
		"sweepFrom.contactId": "fromContact", "sweepFrom.paymentMethod": "fromMethod",
		"sweepTo.contactId": "toContact", "sweepTo.paymentMethod": "toMethod",
		"range.fromAmount": "fromAmount", "range.toAmount": "toAmount",
		"frequency.type": "frequency", "frequency.dayOfWeek": "dayOfWeek", "frequency.dayOfMonth": "dayOfMonth",
	}}
}

func (m mutations) SetSweep(ctx context.Context, in model.SweepDraft) (*model.SweepPayload, error) {
	done, err := m.core.Accounts.SetSweep(ctx, 0, in.SweepName, in.SweepDraft, in.RequestOptions)
	return m.sweep(ctx, done, err)
}

func (m mutations) ChangeSweep(ctx context.Context, in model.SweepDraft) (*model.SweepPayload, error) {
	done, err := m.core.Accounts.ChangeSweep(ctx, 0, in.SweepName, in.SweepDraft, in.RequestOptions)
	return m.sweep(ctx, done, err)
}

// sweep makes the payload of a changed sweep.
func (m mutations) sweep(
	ctx context.Context, done changes.Outcome[accounts.SweepName], err error,
) (*model.SweepPayload, error) {
	if err != nil {
		return nil, err
	}
	payload := &model.SweepPayload{Replayed: done.Replayed}
	if len(payloadFields(ctx, "sweep")) > 0 {
		payload.Object, err = m.core.Accounts.FindSweep(ctx, 0, done.Result)
		if err != nil && !errors.Is(err, accounts.ErrNoSweep) {
			graphql.AddError(ctx, err)
		}
	}
	payload.Approval = waiting(ctx, done.Receipt)
	return payload, nil
}

func (m mutations) RemoveSweep(ctx context.Context, in model.SweepDraft) (*model.RemoveSweepPayload, error) {
	done, err := m.core.Accounts.RemoveSweep(ctx, 0, in.SweepName, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.RemoveSweepPayload{
		Account: int64(done.Result.Account), Direction: done.Result.Direction,
		Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
