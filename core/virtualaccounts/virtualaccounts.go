package virtualaccounts

import (
	"context"
	"fmt"
	"maps"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"virtual_accounts", "virtual_postings"},
	Reads: map[string]string{
		"accounts":  "a virtual account names its master account by number, and is found and shown with it",
		"balances":  "a master account is locked in the books before its virtual account, as payments lock it",
		"customers": "virtual accounts are found and shown with their customer, in one statement",
		"payments": "a posting is found and shown with what its payment says: payments come after " +
			"virtual accounts",
		"postings": "the proof compares each posting with that on the master account",
	},
}

// Service keeps the virtual accounts of every bank's customers.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	probes    *probes.Counter
	customers *customers.Service
	operations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, all *changes.Service,
) *Service {
	s := &Service{db: d, keys: keys, probes: tried, customers: c}
	s.declare(all)
	return s
}

// NumberOf returns the full number of a virtual account that was read with Whole. It is not masked, as the
// bank gave it so that payers can be told of it.
func (s *Service) NumberOf(ctx context.Context, v *VirtualAccount) (Number, error) {
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return "", err
	}
	return s.number(v.Tenant, v.UID, v.Whole)
}

func (s *Service) number(tenant access.Tenant, uid UID, sealed []byte) (Number, error) {
	text, err := s.keys.Open(seal.Value{Sealed: sealed}, place(tenant, uid))
	if err != nil {
		return "", fmt.Errorf("open the number of virtual account %s: %w", uid, err)
	}
	return Number(text), nil
}

var (
	identity = db.ColumnsOf[VirtualAccount]("Tenant", "UID", "Customer", "Currency")
	ownFrom  = map[string]string{"whole": "va.number_sealed"}
)

// selecting starts a query of virtual accounts.
func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[VirtualAccount](db.Or[VirtualAccount](want).And(identity), ownFrom)
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want         db.Columns
	reach        access.Reach
	window       db.PerParentWindow
	where, order string
}

var (
	finding, children db.QueryCache[VirtualAccount]
	showing           db.QueryCache[Shown]
	countingChildren  db.QueryCache[db.Count]
)

// FindMany reads virtual accounts by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, VirtualAccount] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, VirtualAccount](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("va.tenant = $1").Where("va.uid = ANY($3)").
			Where(caller.Reach.Scope("va.customer")).String()
	})
	return db.QueueMany(b, text, func(v *VirtualAccount) UID { return v.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

var ofCustomers = customers.Children[VirtualAccount]{
	Needs: access.ViewAccounts, Table: "va", Key: "uid", Select: selecting,
	Customer: func(v *VirtualAccount) customers.UID { return v.Customer },
}

func (s *Service) filter(ctx context.Context, by Search) customers.Filter {
	return func(tenant access.Tenant, p *db.Params) db.Conditions {
		caller, _ := access.Require(ctx) // a caller without the permission gets no list
		return by.where(s, caller, p)
	}
}

// OfCustomers reads a window of the virtual accounts of each customer, by UID.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, VirtualAccount] {
	return ofCustomers.List(ctx, b, of, s.filter(ctx, by), want, w)
}

// CountOfCustomers counts the virtual accounts of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, s.filter(ctx, by), most)
}

// OfAccounts reads a window of the virtual accounts of each master account, by UID.
func (s *Service) OfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, by Search, want db.Columns, w page.Window,
) *db.Many[accounts.UID, VirtualAccount] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, VirtualAccount](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(s, caller, &p)
	want = db.Or[VirtualAccount](want).And(db.ColumnsOf[VirtualAccount]("Account"))
	text := children.Get(queryKey{
		want: want, reach: caller.Reach, window: window,
		where: where.Key(),
	}, func() string {
		return window.Text(where.On(selecting(want).Where("va.tenant = $1")),
			func(string) string { return caller.Reach.Scope("va.customer") }, "va.account", "va.uid")
	})
	return db.QueueMany(b, text, func(v *VirtualAccount) accounts.UID { return v.Account }, p...)
}

// CountOfAccounts counts the virtual accounts of each master account, up to most; 0 means no bound.
func (s *Service) CountOfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, by Search, most int64,
) *db.Many[accounts.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(s, caller, &p)
	limit := p.Up(most)
	text := countingChildren.Get(queryKey{reach: caller.Reach, where: where.Key(), order: limit}, func() string {
		q := where.On(db.Select0[VirtualAccount]("1").Where("va.tenant = $1").Where("va.account = p.account").
			Where(caller.Reach.Scope("va.customer")))
		return db.CountEachText("unnest($3::bigint[]) AS p(account)", "p.account", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) accounts.UID { return accounts.UID(n.Of) }, p...)
}

var lists = access.Lists[VirtualAccount]{Needs: access.ViewAccounts, Select: selecting}

// searched returns the list of what a search finds.
func (s *Service) searched(by Search) access.Search {
	return func(caller access.Caller, p *db.Params) access.List { return by.list(s, caller, p) }
}

// List reads a window of the virtual accounts that the caller may see and a search finds, in order of UID.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[VirtualAccount] {
	return lists.Page(ctx, b, s.searched(by), want, w)
}

// CountUpTo counts the virtual accounts that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	return lists.Count(ctx, b, s.searched(by), most)
}

// Shown is a virtual account with what the records of its customer and its master account say.
type Shown struct {
	VirtualAccount `bun:",extend"`

	Owner  Owner  `bun:"embed:owner_" json:"-"`
	Master Master `bun:"embed:master_" json:"-"`
	Clear  Number `bun:"-" json:"-"` // the number
}

// Owner is what the record of the customer says.
type Owner struct {
	ShortName string `bun:"short_name,scanonly"`
	LegalName string `bun:"legal_name,scanonly"`
	Email     string `bun:"email_address,scanonly"`
	Phone     string `bun:"phone_number,scanonly"`
}

// Master is what the record of the master account says.
type Master struct {
	Name       string              `bun:"name,scanonly"`
	Last4      string              `bun:"last4,scanonly"` // of its number
	BankID     string              `bun:"bank_id,scanonly"`
	BankIDType accounts.BankIDType `bun:"bank_id_type,scanonly"`
}

// Masked returns the number of the master account as callers read it.
func (m *Master) Masked() string { return seal.Value{Last4: m.Last4}.Masked() }

var inRecords = func() map[string]string {
	from := maps.Clone(ownFrom)
	for _, column := range []string{"short_name", "legal_name", "email_address", "phone_number"} {
		from["owner_"+column] = "c." + column
	}
	for _, column := range []string{"name", "bank_id", "bank_id_type"} {
		from["master_"+column] = "a." + column
	}
	from["master_last4"] = "a.number_last4"
	return from
}()

// Find reads the virtual account of a customer that has this number, in one round trip. It returns
// ErrNotFound if there is none.
func (s *Service) Find(ctx context.Context, of customers.UID, number Number) (*Shown, error) {
	return s.one(ctx, of, Search{Customer: of, Number: number})
}

// Show is Find by UID.
func (s *Service) Show(ctx context.Context, of customers.UID, uid UID) (*Shown, error) {
	return s.one(ctx, of, Search{Customer: of, UID: uid})
}

var naming db.QueryCache[VirtualAccount]

// uidOf returns the UID of the virtual account of a customer that has this number, which never changes. It
// returns ErrNotFound if there is none.
func (s *Service) uidOf(
	ctx context.Context, caller access.Caller, of customers.UID, number Number,
) (UID, error) {
	text := naming.Get(caller.Reach, func() string {
		return db.Select[VirtualAccount](identity, nil).Where("va.tenant = $1").
			Where("va.number_hash = ANY($3)").
			Where("va.customer = $4::bigint").Where(caller.Reach.Scope("va.customer")).String()
	})
	b := s.db.PrimaryBatch()
	scope := s.customers.Scoped(ctx, b, of)
	found := db.Queue(b, text, caller.Tenant, caller.ScopeCustomer(),
		s.probes.Search(s.keys.Hashes(int64(caller.Tenant), NumberColumn, string(number))), of)
	if err := b.Send(ctx); err != nil {
		return 0, err
	}
	if _, err := scope.Check(); err != nil {
		return 0, err
	}
	if found.Err != nil {
		return 0, found.Err
	}
	if len(found.Items) == 0 {
		return 0, ErrNotFound
	}
	return found.Items[0].UID, nil
}

func (s *Service) one(ctx context.Context, of customers.UID, by Search) (*Shown, error) {
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return nil, err
	}
	b := s.db.PrimaryBatch()
	scope := s.customers.Scoped(ctx, b, of)
	rows := s.shown(ctx, b, by, page.First(1))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	if rows.Err != nil {
		return nil, rows.Err
	}
	if len(rows.Items) == 0 {
		return nil, ErrNotFound
	}
	return rows.Items[0], s.clear(rows.Items[:1])
}

// shown queues a page of what a search finds.
func (s *Service) shown(ctx context.Context, b *db.Batch, by Search, w page.Window) *db.Rows[Shown] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.RefuseRows[Shown](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(s, caller, &p)
	list.Most = "$3::bigint + $4::bigint"
	where := list.Page(list.Conditions(caller.Reach), "$3::bigint", "$4::bigint")
	text := showing.Get(queryKey{reach: caller.Reach, where: where.Key()}, func() string {
		q := db.Select[Shown](db.Columns{}, inRecords).
			Join("JOIN accounts AS a ON a.tenant = va.tenant AND a.uid = va.account").
			Join("JOIN customers AS c ON c.tenant = va.tenant AND c.uid = va.customer").
			Where("va.tenant = $1").Where("a.tenant = $1").Where("c.tenant = $1")
		return where.On(q).OrderExpr("va.uid").String()
	})
	return db.Queue(b, text, p...)
}

func (s *Service) clear(all []*Shown) (err error) {
	for _, v := range all {
		if v.Clear, err = s.number(v.Tenant, v.UID, v.Whole); err != nil {
			return err
		}
	}
	return nil
}

// Page reads a page of the virtual accounts that a search finds, in order of UID, and how many it finds, in
// one round trip.
func (s *Service) Page(ctx context.Context, by Search, w page.Window) (page.Counted[*Shown], error) {
	var found page.Counted[*Shown]
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return found, err
	}
	b := s.db.Batch()
	rows, count := s.shown(ctx, b, by, w), s.CountUpTo(ctx, b, by, 0)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	n, err := count.One()
	if err == nil {
		err = rows.Err
	}
	if err != nil {
		return found, err
	}
	found.Items, found.Total = page.Cut(rows.Items, w).Items, n.N
	return found, s.clear(found.Items)
}
