package files

import (
	"context"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// FileLineSearch narrows the lines of files.
type FileLineSearch struct {
	Status []LineStatus
	Batch  int32 // in the order of the file, from 1; 0 for all
}

func (by FileLineSearch) where(p *db.Params) (all db.Conditions) {
	if by.Status != nil {
		all = append(all, "bl.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	if by.Batch != 0 {
		all = append(all, "bl.batch = "+p.Add(by.Batch)+"::int")
	}
	return all
}

var (
	listingLines  db.QueryCache[FileLine]
	countingLines db.QueryCache[db.Count]
)

// LinesOf reads a window of the lines of each file, in their order, with what they say. The list of a file
// that the caller may not see is empty.
func (s *Service) LinesOf(
	ctx context.Context, b *db.Batch, of []FileUID, by FileLineSearch, want db.Columns, w page.Window,
) *db.Many[FileUID, FileLine] {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return db.Refuse[FileUID, FileLine](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(&p)
	key := lineKey{want: want, reach: caller.Reach, window: window, where: where.Key()}
	text := listingLines.Get(key, func() string {
		q := where.On(selectingLines(want).
			Join("JOIN bulk_files AS bf ON bf.tenant = bl.tenant AND bf.uid = bl.file").
			Where("bl.tenant = $1").Where("bf.tenant = $1"))
		scope := func(file string) string {
			return linesIn(file) + " AND " + caller.Reach.Scope("bf.customer")
		}
		return window.Text(q, scope, "bl.file", "bl.id")
	})
	return db.QueueMany(b, text, func(l *FileLine) FileUID { return l.File }, p...)
}

// linesIn bounds a statement to the ids of a file's lines, by which they are found.
func linesIn(file string) string {
	return fmt.Sprintf("bl.id >= (%[1]s << %[2]d) AND bl.id < ((%[1]s + 1) << %[2]d)", file, lineBits)
}

// lineKey is what the text of a list of lines depends on.
type lineKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	where  string
	most   string
}

var identityOfLines = db.ColumnsOf[FileLine]("ID", "File", "Number", "Tenant")

func selectingLines(want db.Columns) *bun.SelectQuery {
	return db.Select[FileLine](db.Or[FileLine](want).And(identityOfLines),
		map[string]string{"payment": "coalesce(bl.payment, 0)"})
}

// CountLinesOf counts the lines of each file, up to most; 0 means no bound.
func (s *Service) CountLinesOf(
	ctx context.Context, b *db.Batch, of []FileUID, by FileLineSearch, most int64,
) *db.Many[FileUID, db.Count] {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return db.Refuse[FileUID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(&p)
	limit := p.Up(most)
	text := countingLines.Get(lineKey{reach: caller.Reach, where: where.Key(), most: limit}, func() string {
		q := where.On(db.Select0[FileLine]("1").
			Join("JOIN bulk_files AS bf ON bf.tenant = bl.tenant AND bf.uid = bl.file").
			Where("bl.tenant = $1").Where("bf.tenant = $1").Where("bl.file = p.parent").
			Where(linesIn("p.parent")).
			Where(caller.Reach.Scope("bf.customer")))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) FileUID { return FileUID(n.Of) }, p...)
}

// OrderOf opens what a line says; nil if the line could not be read, or was not kept.
func (s *Service) OrderOf(l *FileLine) (*payments.Order, error) {
	if l.Order == nil {
		if err := l.open(s.keys); err != nil {
			return nil, fmt.Errorf("open line %d of file %s: %w", l.Number, l.File, err)
		}
	}
	return l.Order, nil
}

var readingBatches db.QueryCache[FileBatch]

// MostBatches is how many batches of a file are shown.
const MostBatches = 100

// BatchesOf reads the first MostBatches batches of each file, in their order. The list of a file that the
// caller may not see is empty.
func (s *Service) BatchesOf(ctx context.Context, b *db.Batch, of []FileUID) *db.Many[FileUID, FileBatch] {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return db.Refuse[FileUID, FileBatch](err)
	}
	text := readingBatches.Get(caller.Reach, func() string {
		q := db.Select[FileBatch](db.Or[FileBatch](db.Columns{}),
			map[string]string{"offset_account": "coalesce(bb.offset_account, 0)"}).
			Join("JOIN bulk_files AS bf ON bf.tenant = bb.tenant AND bf.uid = bb.file").
			Where("bb.tenant = $1").
			Where("bf.tenant = $1").Where("bb.file = ANY($3)").
			Where("bb.number <= " + strconv.Itoa(MostBatches)).
			Where(caller.Reach.Scope("bf.customer")).
			OrderExpr("bb.file, bb.number")
		return q.String()
	})
	return db.QueueMany(b, text, func(one *FileBatch) FileUID { return one.File }, caller.Tenant,
		caller.ScopeCustomer(), of)
}
