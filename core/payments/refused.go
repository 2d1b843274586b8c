package payments

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/db"
)

// isRefused is the condition that a message is a credit that was not booked, that it could not be read, or
// that it is a line of a file of ACH that was not taken. An index has it.
const isRefused = "nm.direction = 'IN' AND nm.kind IN ('pacs.008', '" + unreadable + "', '" + untaken +
	"') AND nm.payment IS NULL"

var (
	refusing         db.QueryCache[Message]
	countingRefusing db.QueryCache[db.Count]
)

// Refused reads a window of the credits of other banks that could not be booked, and of what came from the
// networks and could not be taken, newest first, for the bank's own people, as no customer got the money.
func (s *Service) Refused(ctx context.Context, b *db.Batch, w page.Window) *db.Rows[Message] {
	caller, err := ofTheBank(ctx)
	if err != nil {
		return db.RefuseRows[Message](err)
	}
	p := db.Params{caller.Tenant, w.Limit(), w.Offset}
	order, compare := "nm.id DESC", " < "
	if w.Backward {
		order, compare = "nm.id", " > "
	}
	after := ""
	if w.Cursor.UID != 0 {
		after = "nm.id" + compare + p.Add(w.Cursor.UID)
	}
	text := refusing.Get(order+after, func() string {
		q := unbooked(db.Select[Message](withoutBody, inMessages))
		if after != "" {
			q = q.Where(after)
		}
		return q.OrderExpr(order).String() + " LIMIT $2::bigint OFFSET $3::bigint"
	})
	return db.Queue(b, text, p...)
}

// CountRefused counts the credits that could not be booked, up to most; 0 means no bound.
func (s *Service) CountRefused(ctx context.Context, b *db.Batch, most int64) *db.Rows[db.Count] {
	caller, err := ofTheBank(ctx)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant}
	up := p.Up(most)
	text := countingRefusing.Get(up, func() string {
		return db.CountText(unbooked(db.Select0[Message]("1")), up)
	})
	return db.Queue(b, text, p...)
}

func unbooked(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("nm.tenant = $1").Where(isRefused) }

// ofTheBank returns the caller, who must see the whole bank.
func ofTheBank(ctx context.Context) (access.Caller, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err == nil && caller.Reach != access.OfBank {
		err = access.ErrDenied
	}
	return caller, err
}
