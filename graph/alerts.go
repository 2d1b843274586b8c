package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var balanceAlertKind = numbered("BalanceAlert", kind[alerts.UID, alerts.Alert]{
	prefix: scalar.BalanceAlertPrefix,
	find:   func(c *core.Core) finder[alerts.UID, alerts.Alert] { return c.Alerts.FindMany },
	key:    func(a *alerts.Alert) alerts.UID { return a.UID },
	columns: columns{
		"threshold": {"Minor", "Currency"}, "firedBalance": {"FiredBalance", "Currency"},
	},
})

func init() {
	hasMany(accountKind, "balanceAlerts", balanceAlertKind, list[accounts.UID, alerts.Alert, struct{}]{
		rows: func(
			c *core.Core, ctx context.Context, b *db.Batch, of []accounts.UID, _ struct{}, want db.Columns, w window,
		) *db.Many[accounts.UID, alerts.Alert] {
			return c.Alerts.OfAccounts(ctx, b, of, want, w)
		},
		count: func(
			c *core.Core, ctx context.Context, b *db.Batch, of []accounts.UID, _ struct{},
		) *db.Many[accounts.UID, db.Count] {
			return c.Alerts.CountOfAccounts(ctx, b, of, model.MostCounted+1)
		},
	})
	hasCustomer(balanceAlertKind, "customer", func(a *alerts.Alert) *customers.UID { return &a.Customer })
	hasOne(balanceAlertKind, "account", accountKind, func(a *alerts.Alert) *accounts.UID { return &a.Account })
	subjects["balanceAlert"] = subject{codes: codes{fault.NotFound: "ACC002", fault.State: "ACC002"}}
}

func (m mutations) CreateBalanceAlert(
	ctx context.Context, in model.BalanceAlertDraft,
) (*model.BalanceAlertPayload, error) {
	done, err := m.core.Alerts.Create(ctx, in.Draft, in.RequestOptions)
	return balanceAlertKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeBalanceAlert(
	ctx context.Context, in model.BalanceAlertDraft,
) (*model.BalanceAlertPayload, error) {
	done, err := m.core.Alerts.Change(ctx, in.UID, in.Draft, in.RequestOptions)
	return balanceAlertKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DeleteBalanceAlert(
	ctx context.Context, in model.BalanceAlertDraft,
) (*model.DeleteBalanceAlertPayload, error) {
	done, err := m.core.Alerts.Delete(ctx, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.DeleteBalanceAlertPayload{
		UID: done.Result.UID, Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
