package changes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// How many changes may wait for a second person at a time. Those of a partner with all its customers count
// together, whichever keys and people asked for them, and so do those of a customer of the bank's own; each
// program and person of the bank counts apart. Beyond what all together may leave, there is as much again for
// the bank's own, so that nobody outside keeps the bank from its work.
const (
	mostOpen    = 1_000
	mostOpenAll = 10_000
)

// ErrOpen is returned when too many changes wait for a second person already.
var ErrOpen = fault.New(fault.TooMany, "approval.too_many_open",
	"too many changes wait for a second person: have some of them approved or refused, or take some back")

// HasRoom returns ErrOpen if the change would wait for a second person while too many do already. Propose
// asks it too: work that cannot be undone by then asks before it begins.
func (tx *Tx) HasRoom(ctx context.Context) (err error) {
	if !tx.roomy {
		tx.party, err = RoomTx(ctx, tx.Tx, tx.Caller)
		tx.roomy = err == nil
	}
	return err
}

// RoomTx returns for whom an open change of this caller counts until it is left to the bank (LeaveToBank), 0
// for the bank's own, or ErrOpen if too many wait already. Changes that are proposed at the same time do not
// see each other, so there may be a few more.
func RoomTx(ctx context.Context, tx bun.IDB, by access.Caller) (party int64, err error) {
	if party, err = partyTx(ctx, tx, by); err != nil {
		return 0, err
	}
	own, all := "", mostOpenAll
	values := []any{by.Tenant, party}
	if by.Reach == access.OfBank {
		own, all = " AND maker_client = ? AND maker_login = ?", 2*mostOpenAll
		values = append(values, by.Client, by.LoginID)
	}
	var full bool
	err = db.Raw(tx,
		`SELECT EXISTS (SELECT FROM approvals WHERE tenant = ? AND status = 'Open' AND maker_party = ?`+own+
			` OFFSET ?)
		OR EXISTS (SELECT FROM approvals WHERE tenant = ? AND status = 'Open' OFFSET ?)`,
		append(values, mostOpen-1, by.Tenant, all-1)...).Scan(ctx, &full)
	if err != nil {
		return 0, fmt.Errorf("count the open approvals of %s: %w", by.Party(), err)
	}
	if full {
		return 0, ErrOpen
	}
	return party, nil
}

// partyTx returns for whom a change of this caller counts: the partner, also for a user of one of its
// customers; else the customer; 0 for the bank's own.
func partyTx(ctx context.Context, tx bun.IDB, by access.Caller) (party int64, err error) {
	switch by.Reach {
	case access.OfBank:
		return 0, nil
	case access.OfPartner:
		return by.Entity, nil
	}
	err = db.Raw(tx, `SELECT coalesce(nullif(owner, 0), uid) FROM customers WHERE tenant = ? AND uid = ?`,
		by.Tenant, by.Entity).Scan(ctx, &party)
	if errors.Is(err, sql.ErrNoRows) {
		return by.Entity, nil
	}
	return party, err
}
