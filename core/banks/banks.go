package banks

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Tables lists this domain's tables (core/README.md, Tables).
var Tables = db.Tables{Own: []string{"bank_imports", "bank_listings", "banks"}}

// Service keeps the directory. Everybody who is known may read it; operators import it.
type Service struct {
	db  *db.DB
	now func() time.Time
}

// New makes the service.
func New(d *db.DB, now func() time.Time) *Service { return &Service{db: d, now: now} }

// identity lists the columns that every read needs.
var identity = db.ColumnsOf[Bank]("UID", "Ref")

// notAsked keeps the column out that only reads by ref have.
var all = func() db.Columns {
	entry := []string{
		"Country", "NationalIDType", "NationalID", "Code",
		"Name", "RecordType", "Successor", "Address", "ACH",
		"Fedwire", "RTP", "FedNow",
	}
	return identity.And(db.ColumnsOf[Bank](entry...))
}()

// Reaching lists the columns that tell a bank's name and which rails reach it.
var Reaching = identity.And(db.ColumnsOf[Bank]("Name", "Country", "Code", "ACH", "Fedwire", "RTP", "FedNow"))

func or(want db.Columns) db.Columns {
	if want == (db.Columns{}) {
		return all
	}
	return want.And(identity)
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want     db.Columns
	where    string
	backward bool
}

var (
	finding  db.QueryCache[Bank]
	naming   db.QueryCache[Bank]
	listing  db.QueryCache[Bank]
	counting db.QueryCache[db.Count]
)

// FindMany reads banks by UID.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Bank] {
	if _, err := access.Require(ctx); err != nil {
		return db.Refuse[UID, Bank](err)
	}
	want = or(want)
	text := finding.Get(queryKey{want: want}, func() string {
		return db.Select[Bank](want, nil).Where("b.uid = ANY($1)").String()
	})
	return db.QueueMany(b, text, func(b *Bank) UID { return b.UID }, uids)
}

// Named reads banks by ref, at most one for each: the bank with this national id, else the one with this BIC
// or, if the branch is not listed, its head office, else one whose BIC begins with the six characters. Of
// several banks with one BIC it is the one with the lowest national id. It is one statement for any number of
// refs, and what tells which rails reach a bank:
//
//	found := s.Named(ctx, b, []banks.Ref{banks.Routing("611090001")}, db.Columns{})
func (s *Service) Named(ctx context.Context, b *db.Batch, refs []Ref, want db.Columns) *db.Many[Ref, Bank] {
	if _, err := access.Require(ctx); err != nil {
		return db.Refuse[Ref, Bank](err)
	}
	return Known(b, refs, want)
}

// Known is Named for work that has asked who calls, such as a transaction of many callers. The ref of a bank that
// has only a BIC is that BIC, which may mean another bank.
func Known(b *db.Batch, refs []Ref, want db.Columns) *db.Many[Ref, Bank] {
	want = or(want)
	text := naming.Get(queryKey{want: want}, func() string {
		by := func(condition, order string) string {
			return "(" + db.Select[Bank](want, nil).Where(condition).OrderExpr(order).String() + " LIMIT 1)"
		}
		return "SELECT found.*, k.ref AS asked FROM unnest($1::text[]) AS k(ref) CROSS JOIN LATERAL (" +
			by("b.ref = k.ref AND b.bic <> k.ref", "b.ref") + " UNION ALL " +
			by("b.bic <> '' AND b.bic IN (k.ref, left(k.ref, 8))", ofOneBIC("b")) + " UNION ALL " +
			by("b.bic <> '' AND length(k.ref) = 6 AND b.bic >= k.ref AND b.bic < k.ref || '~'", "b.bic, b.ref") +
			" LIMIT 1) AS found"
	})
	return db.QueueMany(b, text, func(b *Bank) Ref { return b.Asked }, refs)
}

// NameOr returns the SQL of the name that was given of a bank, or else of the directory's; it is
// empty for a bank that the directory does not know (rest/CONTRACT.md, bank answers). All three are SQL: the
// name, which may be NULL, the country, and the id, which is the national one there or a BIC.
func NameOr(name, country, id string) string {
	return "coalesce(nullif(" + name + ", ''), (SELECT n.name FROM banks AS n WHERE n.ref = " + country +
		" || ':' || upper(" + id + ")), (SELECT n.name FROM banks AS n WHERE n.bic <> '' AND n.bic IN (upper(" +
		id +
		"), left(upper(" + id + "), 8)) ORDER BY " + ofOneBIC("n") + " LIMIT 1), '')"
}

// ofOneBIC is the order of banks that a BIC can mean: a branch before its head office, and of several with one
// BIC first the one with the lowest national id; last one that has none (rest/CONTRACT.md, bank rules).
func ofOneBIC(table string) string {
	return table + ".bic DESC, " + table + ".national_id = '', " + table + ".ref"
}

// first returns the bank of the first ref that has one, or ErrNotFound.
func (s *Service) first(ctx context.Context, refs ...Ref) (*Bank, error) {
	b := s.db.Batch()
	found := s.Named(ctx, b, refs, db.Columns{})
	if found.Err != nil && b.Len() == 0 {
		return nil, found.Err
	}
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if bank, err := First(found, refs...); bank != nil || err != nil {
		return bank, err
	}
	return nil, ErrNotFound
}

// First returns the bank of the first ref that has one; nil if none has.
func First(found *db.Many[Ref, Bank], refs ...Ref) (*Bank, error) {
	for _, ref := range refs {
		if rows := found.Of[ref]; len(rows) > 0 {
			return rows[0], nil
		}
	}
	return nil, found.Err
}

// Search narrows a list of banks. All fields that are not empty must match.
type Search struct {
	Words               string // full text: every word must begin a word of the name
	City                string // begins so, without regard to letter case
	RoutingNumberPrefix string // of an ABA routing number
	Country             string // ISO 3166-1, two letters in upper case
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(p *db.Params) (found db.Conditions) {
	if by.Words != "" {
		found = append(found, "name_words(0, b.name) @@ name_search(0, "+p.Add(by.Words)+")")
	}
	if by.City != "" {
		// A range instead of LIKE: a prepared plan can use the index for it.
		from := `lower(` + p.Add(by.City) + `::text) COLLATE "C"`
		found = append(found, city+" >= "+from, city+" < "+from+" || chr(1114111)")
	}
	if by.RoutingNumberPrefix != "" {
		from := p.Add(string(Routing(by.RoutingNumberPrefix)))
		found = append(found, "b.ref >= "+from, "b.ref < "+from+" || chr(1114111)")
	}
	if by.Country != "" {
		found = append(found, "b.country = "+p.Add(ident.Upper(by.Country)))
	}
	return found
}

const city = `lower(b.address_city) COLLATE "C"`

// List reads a window of the banks, in the order of their refs: by country, then by national id. The value of
// a cursor is the ref.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Bank] {
	if _, err := access.Require(ctx); err != nil {
		return db.RefuseRows[Bank](err)
	}
	p := db.Params{w.Limit(), w.Offset}
	where := by.where(&p)
	order, compare := "b.ref", " > "
	if w.Backward {
		order, compare = "b.ref DESC", " < "
	}
	if w.Cursor.UID != 0 {
		where = append(where, "b.ref"+compare+p.Add(w.Cursor.Value))
	}
	want = or(want)
	text := listing.Get(queryKey{want, where.Key(), w.Backward}, func() string {
		return where.On(db.Select[Bank](want, nil)).OrderExpr(order).
			String() + " LIMIT $1::bigint OFFSET $2::bigint"
	})
	return db.Queue(b, text, p...)
}

// CountUpTo counts the banks that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	if _, err := access.Require(ctx); err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{}
	where := by.where(&p)
	limit := p.Up(most)
	text := counting.Get(queryKey{where: where.Key() + limit}, func() string {
		return db.CountText(where.On(db.Select0[Bank]("1")), limit)
	})
	return db.Queue(b, text, p...)
}
