package changes

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// How many changes may wait for a second person at a time. Those of a partner with all its customers count
// together, whichever keys and people asked for them, and so do those of a customer of the bank's own; each
// program and person of the bank counts apart. The people of one customer may leave a quarter of that, and
// where a partner's room is full, whose people have few there leave some more: so nobody's thousand keep the
// partner's other customers from paying. Beyond what all together may leave, there is as much again for the
// bank's own, so that nobody outside keeps the bank from its work.
const (
	mostOpen    = 1_000
	mostOpenOf  = 250
	fewOpen     = 20
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

// room is for whom an open change of a caller counts, and whether too many wait already.
type room struct {
	Party int64 `bun:"party"`
	Full  bool  `bun:"full"`
}

const (
	openNow = `EXISTS (SELECT FROM approvals WHERE tenant = $1 AND status = 'Open'`
	tooMany = `OR ` + openNow + ` OFFSET $4::bigint) AS full`
	// the party's room is full, of which who asks has a few already
	fullOf = openNow + ` AND maker_party = p.party OFFSET $3::bigint) AND ` + openNow +
		` AND maker_party = p.party AND maker_entity = $2::bigint OFFSET $5::bigint) `
)

var (
	roomOfBank = db.NewQuery[room](`SELECT 0::bigint AS party, ` + openNow + ` AND maker_party = $2::bigint
		AND maker_client = $5::text AND maker_login = $6::text OFFSET $3::bigint) ` + tooMany)
	roomOfPartner = db.NewQuery[room](`SELECT p.party, ` + fullOf + tooMany +
		` FROM (SELECT $2::bigint AS party) AS p`)
	// for a user of a partner's customer that of the partner
	roomOfCustomer = db.NewQuery[room](`SELECT p.party, ` + openNow + ` AND maker_party = p.party
		AND maker_entity = $2::bigint OFFSET $6::bigint) OR ` + fullOf + tooMany + ` FROM (
		SELECT coalesce((SELECT nullif(owner, 0) FROM customers WHERE tenant = $1 AND uid = $2::bigint),
		  $2::bigint) AS party) AS p`)
)

func roomOf(b *db.Batch, by access.Caller) *db.Rows[room] {
	switch by.Reach {
	case access.OfBank:
		return db.Queue(b, roomOfBank, by.Tenant, 0, mostOpen-1, 2*mostOpenAll-1, by.Client, by.LoginID)
	case access.OfPartner:
		return db.Queue(b, roomOfPartner, by.Tenant, by.Entity, mostOpen-1, mostOpenAll-1, fewOpen-1)
	}
	return db.Queue(b, roomOfCustomer, by.Tenant, by.Entity, mostOpen-1, mostOpenAll-1, fewOpen-1, mostOpenOf-1)
}

// Room returns for whom an open change of this caller counts until it is left to the bank (LeaveToBank), 0
// for the bank's own, or ErrOpen if too many wait already. It sends the batch. Changes that are proposed at
// the same time do not see each other, so there may be a few more.
func Room(ctx context.Context, b *db.Batch, by access.Caller) (party int64, err error) {
	rows := roomOf(b, by)
	if err := b.Send(ctx); err != nil {
		return 0, fmt.Errorf("count the open approvals of %s: %w", by.Party(), err)
	}
	if of := rows.Items[0]; !of.Full {
		return of.Party, nil
	}
	return 0, ErrOpen
}

// RoomTx is Room within a transaction.
func RoomTx(ctx context.Context, tx bun.Tx, by access.Caller) (party int64, err error) {
	return Room(ctx, db.TxBatch(tx), by)
}
