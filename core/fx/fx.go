package fx

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/limits"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"fx_quotes", "fx_trades"},
	Reads: map[string]string{
		"accounts": "whose an account number is, in the transaction of the quote",
		"payments": "whether one uses a trade, so that it cannot be cancelled any more",
		"customers": "which customer has a short name or an id, in that transaction; and whether its " +
			"partner is active",
		"tenants": "the bank's currency, and whether it is a sandbox, in one statement with how long a " +
			"quote holds",
		"tenant_settings": "in that statement",
	},
}

// Service quotes and books the trades of every bank.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	probes    *probes.Counter
	customers *customers.Service
	limits    *limits.Service
	now       clock.Now
	market    Market
	operations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, l *limits.Service,
	all *changes.Service, now clock.Now, market Market,
) *Service {
	s := &Service{db: d, keys: keys, probes: tried, customers: c, limits: l, now: now, market: market}
	s.declare(all)
	return s
}

// queryKey is what the SQL of reads depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var (
	findingQuotes db.QueryCache[Quote]
	findingTrades db.QueryCache[Trade]
	quoteIdentity = db.ColumnsOf[Quote]("UID", "Customer", "Sell", "Buy")
	tradeIdentity = db.ColumnsOf[Trade]("UID", "Customer", "Sell", "Buy")
)

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Trade](db.Or[Trade](want).And(tradeIdentity), nil)
}

// FindQuotes reads quotes by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindQuotes(
	ctx context.Context, b *db.Batch, uids []QuoteUID, want db.Columns,
) *db.Many[QuoteUID, Quote] {
	caller, err := access.Require(ctx, access.ViewTrades)
	if err != nil {
		return db.Refuse[QuoteUID, Quote](err)
	}
	text := findingQuotes.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return db.Select[Quote](db.Or[Quote](want).And(quoteIdentity), nil).Where("q.tenant = $1").
			Where("q.uid = ANY($3::text[]::uuid[])").Where(caller.Reach.Scope("q.customer")).String()
	})
	return db.QueueMany(b, text, func(q *Quote) QuoteUID { return q.UID }, caller.Tenant,
		caller.ScopeCustomer(), roles.Texts(uids))
}

// FindTrades reads trades by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindTrades(
	ctx context.Context, b *db.Batch, uids []TradeUID, want db.Columns,
) *db.Many[TradeUID, Trade] {
	caller, err := access.Require(ctx, access.ViewTrades)
	if err != nil {
		return db.Refuse[TradeUID, Trade](err)
	}
	text := findingTrades.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("ft.tenant = $1").Where("ft.uid = ANY($3)").
			Where(caller.Reach.Scope("ft.customer")).String()
	})
	return db.QueueMany(b, text, func(t *Trade) TradeUID { return t.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// Find reads one trade. It returns ErrNotFound for one that is absent, or of a customer that the caller may
// not see.
func (s *Service) Find(ctx context.Context, uid TradeUID) (*Trade, error) {
	if _, err := access.Require(ctx, access.ViewTrades); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	found := s.FindTrades(ctx, b, []TradeUID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if found.Err != nil {
		return nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, ErrNotFound
	}
	return found.Of[uid][0], nil
}

// Search narrows a list of trades. All fields that are not empty must match.
type Search struct {
	Customer customers.UID
	Status   []TradeStatus
	Product  []Product
}

// where returns the conditions that narrow a list; p collects their values.
func (by Search) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Customer != 0 {
		all = append(all, "ft.customer = "+p.Add(by.Customer)+"::bigint")
	}
	if by.Status != nil {
		all = append(all, "ft.status = ANY("+p.Add(texts(by.Status))+"::text[])")
	}
	if by.Product != nil {
		all = append(all, "ft.product = ANY("+p.Add(texts(by.Product))+"::text[])")
	}
	return all
}

func texts[T ~string](words []T) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return all
}

var ofCustomers = customers.Children[Trade]{
	Needs: access.ViewTrades, Table: "ft", Key: "uid", Select: selecting,
	Customer: func(t *Trade) customers.UID { return t.Customer },
}

// OfCustomers reads a window of the trades of each customer, newest first.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Trade] {
	w.Backward = !w.Backward // Children lists by UID
	return ofCustomers.List(ctx, b, of, by.where, want, w)
}

// CountOfCustomers counts the trades of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, by.where, most)
}

func (by Search) list(caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "fx_trades", Alias: "ft", Key: "uid", Newest: true, Of: []string{"ft.customer = seen.uid"},
		Seen: caller.Reach.Scope("ft.customer"), Where: by.where(caller.Tenant, p),
	}
	if by.Customer != 0 && caller.Reach != access.OfBank {
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

var lists = access.Lists[Trade]{Needs: access.ViewTrades, Select: selecting}

// List reads a window of the trades that the caller may see and a search finds, newest first.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Trade] {
	return lists.Page(ctx, b, by.list, want, w)
}

// Count counts the trades that a search finds, up to most; 0 means no bound.
func (s *Service) Count(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	return lists.Count(ctx, b, by.list, most)
}
