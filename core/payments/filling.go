package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/customers"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// mostOfFile bounds the amounts of a file's payments together, in cents: each of its totals has twelve
// digits.
const mostOfFile = 9_999_999_999_99

// space is room in a file.
type space struct {
	Entries int   `bun:"entries"`
	Minor   int64 `bun:"minor"` // the amounts together, in cents
}

// waitingOf is what of a company of a party waits for a file; what would not go into one is counted no
// further. Two parties may have the same company number: neither takes the share of the other by it.
type waitingOf struct {
	Company string        `bun:"company_id"`
	Party   customers.UID `bun:"party"` // a partner with all its customers, or another customer
	space   `bun:",extend"`
}

var (
	countingWaiting = db.NewQuery[waitingOf](`SELECT c.party, c.company_id, c.entries,
		coalesce((SELECT sum(p.amount)
		FROM (SELECT ae.payment FROM ach_entries AS ae WHERE ae.tenant = $1 AND ae.origin = $2
		  AND ae.party = c.party AND ae.company_id = c.company_id AND ae.taken_at IS NOT NULL AND ae.file IS NULL
		  ORDER BY ` + inBatches + ` LIMIT $3) AS e
		JOIN payments AS p ON p.tenant = $1 AND p.uid = e.payment), 0)::bigint AS minor
		FROM (SELECT party, company_id, count(*) AS entries FROM ach_entries
		  WHERE tenant = $1 AND origin = $2 AND taken_at IS NOT NULL AND file IS NULL
		  GROUP BY party, company_id) AS c
		ORDER BY c.party, c.company_id`)
	countingOthers = db.NewQuery[db.Count](`SELECT count(*) AS n FROM (
		SELECT FROM ach_received WHERE tenant = $1 AND origin = $2 AND returned_at IS NOT NULL AND file IS NULL
		UNION ALL SELECT FROM ach_reversals WHERE tenant = $1 AND origin = $2 AND file IS NULL
		AND answered_at IS NULL
		UNION ALL SELECT FROM ach_prenotes WHERE tenant = $1 AND origin = $2 AND file IS NULL
		AND NOT withdrawn AND send_at <= $3::timestamptz
		LIMIT $4) AS others`)
)

// fillTx writes the waiting entries into the file, some at a time, in the order of their batches. Where more
// wait than it has room for, parties have equal shares of its entries and of its totals, and so have the
// companies of each; what one does not need the others have. A day has few files, and whoever sends a million
// entries, or a few thousand of the largest amount, under however many company numbers, leaves room for those
// of everybody else. Up to a quarter is left to what is no payment of ours, such as returns. failed says
// which cannot be written: they go on waiting.
func (f *file) fillTx(ctx context.Context, s *Service, tx bun.Tx) (failed, err error) {
	b := db.TxBatch(tx)
	waiting := db.Queue(b, countingWaiting, f.tenant, f.origin, f.most)
	others := db.Queue(b, countingOthers, f.tenant, f.origin, f.now, f.most/4)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	room, all := space{f.most, mostOfFile}, space{}
	for _, w := range waiting.Items {
		all.Entries, all.Minor = all.Entries+w.Entries, all.Minor+w.Minor
	}
	if all.Entries <= room.Entries && all.Minor <= room.Minor {
		return f.writeWaitingTx(ctx, s, tx, room, nil)
	}
	if others, err := others.One(); err != nil {
		return nil, err
	} else if others.N > 0 {
		room.Entries, room.Minor = room.Entries-int(others.N), room.Minor-mostOfFile/4
	}
	parties := map[customers.UID][]*waitingOf{}
	for _, w := range waiting.Items {
		parties[w.Party] = append(parties[w.Party], w)
	}
	needs := make([]*needed, 0, len(parties))
	for uid, companies := range parties {
		party := &needed{of: waitingOf{Party: uid}}
		for _, w := range companies {
			party.Entries, party.Minor = party.Entries+w.Entries, party.Minor+w.Minor
			party.parts = append(party.parts, &needed{space: w.space, of: *w})
		}
		needs = append(needs, party)
	}
	return f.shareTx(ctx, s, tx, room, needs)
}

// needed is what a party needs of a file, in parts by company, or what one company of it needs.
type needed struct {
	space
	of    waitingOf // of a party as a whole it names no company
	parts []*needed
}

// shareTx writes waiting entries of each need into the file until they take up an equal share of the room,
// and at least one entry of each that comes before the room is full. Those that need least come first.
func (f *file) shareTx(
	ctx context.Context, s *Service, tx bun.Tx, room space, needs []*needed,
) (failed, err error) {
	slices.SortFunc(needs, func(a, b *needed) int {
		return cmp.Or(cmp.Compare(a.part(), b.part()), cmp.Compare(a.of.Party, b.of.Party),
			cmp.Compare(a.of.Company, b.of.Company))
	})
	end := space{f.entries() + room.Entries, f.minor + room.Minor}
	for i, n := range needs {
		if f.entries() >= end.Entries || f.minor >= end.Minor {
			break
		}
		left := len(needs) - i
		share := space{max(1, (end.Entries-f.entries())/left), max(1, (end.Minor-f.minor)/int64(left))}
		write := func() (failed, err error) { return f.writeWaitingTx(ctx, s, tx, share, &n.of) }
		if n.parts != nil {
			write = func() (failed, err error) { return f.shareTx(ctx, s, tx, share, n.parts) }
		}
		some, err := write()
		if failed = errors.Join(failed, some); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// part is how much of a file's entries, or of its totals, a need takes, whichever is more.
func (n space) part() float64 {
	return max(float64(n.Entries)/mostEntries, float64(n.Minor)/mostOfFile)
}

// errFull ends the filling of a share.
var errFull = errors.New("the share is full")

// writeWaitingTx writes waiting entries into the file until they take up a share: of a company, or nil for
// all. The first one is written even if it is larger than the share.
func (f *file) writeWaitingTx(
	ctx context.Context, s *Service, tx bun.Tx, share space, of *waitingOf,
) (failed, err error) {
	before := f.minor
	return f.eachTx(ctx, tx, f.entries()+share.Entries, func(q *bun.SelectQuery) *bun.SelectQuery {
		q.Where("ae.taken_at IS NOT NULL AND ae.file IS NULL")
		if of != nil {
			q.Where("ae.party = ? AND ae.company_id = ?", of.Party, of.Company)
		}
		return q
	}, func(row *waitingEntry) error {
		after := f.minor + row.Pay.Minor
		if after > mostOfFile || f.minor > before && after-before > share.Minor {
			return errFull
		}
		trace, err := f.add(s, row, row.batch(&row.Details), func(e nacha.Entry) nacha.Entry { return e })
		if err == nil {
			f.traces[row.Payment], f.minor = trace, after
		}
		return err
	})
}

// eachTx calls do for each entry of the file's origin that which selects, in the order of their batches,
// until the file has most entries, or do returns errFull. failed says for which entries do failed.
func (f *file) eachTx(
	ctx context.Context, tx bun.Tx, most int, which func(*bun.SelectQuery) *bun.SelectQuery,
	do func(*waitingEntry) error,
) (failed, err error) {
	var last *waitingEntry
	for f.entries() < most {
		rows, err := f.nextTx(ctx, tx, most, which, last)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			switch err := do(row); {
			case errors.Is(err, errFull):
				return failed, nil
			case err != nil:
				failed = errors.Join(failed, fmt.Errorf("payment %s: %w", row.Payment, err))
			}
		}
		if len(rows) < entriesAtATime {
			break
		}
		last = rows[len(rows)-1]
	}
	return failed, nil
}
