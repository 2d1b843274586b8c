package accounts

import (
	"context"
	"maps"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Service keeps the accounts of every bank.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	customers *customers.Service
	keep      Keep
	now       func() time.Time

	operations
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, c *customers.Service, all *changes.Service, keep Keep, now func() time.Time) *Service {
	s := &Service{db: d, keys: keys, customers: c, keep: keep, now: now}
	s.declare(all)
	return s
}

var (
	identity = db.Want[Account]("UID", "Customer")
	balance  = db.Want[Account]("Balance")
	currency = db.Want[Account]("Currency")
	inLedger = map[string]string{"balance_ledger": "b.ledger", "balance_held": "b.held"}
)

// WithoutBalances are all columns that stand in the accounts themselves.
func WithoutBalances() db.Columns {
	all := db.Or[Account](db.Columns{})
	for i := range all {
		all[i] &^= balance[i]
	}
	return all
}

const joinBalances = "LEFT JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid AND a.system_of_record = 'Internal Core'"

// Everything is all columns that may be shown, with the balances or without.
func Everything(balances bool) db.Columns {
	if balances {
		return db.Or[Account](db.Columns{})
	}
	return WithoutBalances()
}

// selecting starts a query of accounts that are not deleted, joined with their balances where wanted.
// Accounts that another core keeps have no balance here.
func selecting(want db.Columns) *bun.SelectQuery {
	q := db.Select[Account](want, inLedger).Where("a.tenant = $1").Where("a.deleted_at IS NULL")
	if want.Overlaps(balance) {
		q = q.Join(joinBalances)
	}
	return q
}

// wanted completes what a read needs: whose the account is, and the currency of any amount.
func wanted(want db.Columns) db.Columns {
	want = db.Or[Account](want).And(identity)
	if want.Overlaps(balance) {
		want = want.And(currency)
	}
	return want
}

// Search is what a list of accounts is narrowed to. Empty fields do not count; all others must hold.
type Search struct {
	Number     string
	Type       Type
	SubType    SubType
	Status     Status
	Currency   money.Currency
	CostCenter string
	Wires      *bool
	Fedwire    *bool // domestic wires
	ACH        *bool
	FedNow     *bool
	RTP        *bool
	SWIFT      *bool
}

// where are the conditions that narrow a query; p collects the values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Number != "" {
		all = append(all, "a.number_hash = ANY("+p.Add(s.keys.Hashes(int64(tenant), NumberColumn, by.Number))+")")
	}
	for _, exact := range []struct{ column, value string }{
		{"type", string(by.Type)},
		{"sub_type", string(by.SubType)},
		{"status", string(by.Status)},
		{"currency", string(by.Currency)},
		{"cost_center", by.CostCenter},
	} {
		if exact.value != "" {
			all = append(all, "a."+exact.column+" = "+p.Add(exact.value))
		}
	}
	for _, flag := range []struct {
		column string
		value  *bool
	}{
		{"enable_wires", by.Wires},
		{"enable_domestic_wires", by.Fedwire},
		{"enable_ach", by.ACH},
		{"enable_fednow", by.FedNow},
		{"enable_rtp", by.RTP},
		{"enable_swift", by.SWIFT},
	} {
		if flag.value != nil {
			all = append(all, "a."+flag.column+" = "+p.Add(*flag.value))
		}
	}
	return all
}

// shape is what the text of a read depends on.
type shape struct {
	want  db.Columns
	reach access.Reach
	cut   db.Cut
	where string
}

var ofCustomers db.Texts[Account]

// OfCustomers reads a window of the accounts of each customer, by UID. The caller shows them only where
// the customer itself came back: that is where its scope is checked.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window) *db.Many[customers.UID, Account] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[customers.UID, Account](err)
	}
	want = wanted(want)
	p := db.Params{caller.Tenant}
	cut := db.CutOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(s, caller.Tenant, &p)
	text := ofCustomers.Get(shape{want: want, cut: cut, where: where.Key()}, func() string {
		return cut.Text(where.On(selecting(want)), "a.customer", "a.uid")
	})
	return db.QueueMany(b, text, func(a *Account) customers.UID { return a.Customer }, p...)
}

var countOf db.Texts[db.Count]

// CountOfCustomers counts the accounts of each customer.
func (s *Service) CountOfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search) *db.Many[customers.UID, db.Count] {
	return s.CountUpTo(ctx, b, of, by, 0)
}

// CountUpTo is CountOfCustomers that stops at most accounts of each, where most is not 0.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64) *db.Many[customers.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, of}
	where := by.where(s, caller.Tenant, &p)
	limit := p.Up(most)
	text := countOf.Get(where.Key()+limit, func() string {
		q := db.Select0[Account]("1").Where("a.tenant = $1").Where("a.customer = p.parent").Where("a.deleted_at IS NULL")
		return db.CountEachText("unnest($2::bigint[]) AS p(parent)", "p.parent", where.On(q), limit)
	})
	return db.QueueMany(b, text, func(c *db.Count) customers.UID { return customers.UID(c.Of) }, p...)
}

var (
	finding     db.Texts[Account]
	findingWith db.Texts[Found]
)

// FindMany reads accounts by UID. Those that are not the caller's to see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Account] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, Account](err)
	}
	want = wanted(want)
	text := finding.Get(shape{want: want, reach: caller.Reach}, func() string {
		return customers.Within(selecting(want), "a", caller.Reach).Where("a.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(a *Account) UID { return a.UID }, caller.Tenant, caller.Within(), uids)
}

// Found is an account together with the customer that it belongs to.
type Found struct {
	bun.BaseModel `bun:"table:accounts,alias:a"`

	Account  Account            `bun:"embed:"`
	Customer customers.Customer `bun:"embed:of_"`
}

// By names one account: by its UID, or by the number that people know.
type By struct {
	UID    UID
	Number string
}

// foundShape is what the text of FindWith depends on.
type foundShape struct {
	account, customer db.Columns
	joined, uid       bool
	reach             access.Reach
}

// FindWith reads one account, if the caller may see it, and in the same statement those columns of its
// customer that are wanted. Account numbers are unique in the bank.
func (s *Service) FindWith(ctx context.Context, b *db.Batch, by By, want, ofCustomer db.Columns) *db.Rows[Found] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.RefuseRows[Found](err)
	}
	if !caller.May(access.ViewCustomers) {
		ofCustomer = db.Columns{}
	}
	key, value := "a.uid = $3", any(by.UID)
	if by.UID == 0 {
		key, value = "a.number_hash = ANY($3)", s.keys.Hashes(int64(caller.Tenant), NumberColumn, by.Number)
	}
	shape := foundShape{account: wanted(want), customer: ofCustomer, reach: caller.Reach, joined: ofCustomer != (db.Columns{}), uid: by.UID != 0}
	text := findingWith.Get(shape, func() string {
		columns := db.Nested[Found, Account]("Account", shape.account).And(db.Nested[Found, customers.Customer]("Customer", shape.customer))
		from := db.Aliased[customers.Customer]("of_", "c")
		maps.Copy(from, inLedger)
		q := db.Select[Found](columns, from).Where("a.tenant = $1").Where("a.deleted_at IS NULL").Where(key)
		if shape.account.Overlaps(balance) {
			q = q.Join(joinBalances)
		}
		if shape.joined && shape.reach != access.OfPartner {
			q = q.Join("JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer")
		}
		return customers.Within(q, "a", shape.reach).String()
	})
	return db.Queue(b, text, caller.Tenant, caller.Within(), value)
}
