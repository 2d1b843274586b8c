package accounts

import (
	"context"
	"maps"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"account_former_numbers", "accounts", "sweeps"},
	Reads: map[string]string{
		"account_holds":  "likewise",
		"balance_alerts": "an account that has any keeps its currency, which is theirs: they come after accounts",
		"balances": "an account is read with what is in it; with money in the books it neither ends nor " +
			"changes its currency",
		"contacts":  "Lookup reads whom an account is swept to by the number of the account",
		"customers": "FindWith and Lookup read an account and its customer in one statement",
		"fee_tiers": "an account that fees are charged to does not end: fees come after accounts",
		"payments": "an account to which payments may still bring money does not end, and one that has " +
			"any keeps its currency: they come after accounts",
		"positive_pay_rules": "an account that has any keeps its currency, which is theirs: " +
			"they come after accounts",
		"virtual_accounts": "no account has the number of a virtual account, and one that has any keeps " +
			"its currency: these come after accounts",
	},
}

// Service keeps the accounts of every bank.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	customers *customers.Service
	keep      Keep
	now       func() time.Time // the machine's
	clock     clock.Now        // the bank's
	probes    *probes.Counter
	others    *probes.Counter // of numbers that payments name (Tried)

	operations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, all *changes.Service, keep Keep,
	now func() time.Time, bank clock.Now,
) *Service {
	s := &Service{
		db: d, keys: keys, customers: c, keep: keep, now: now, clock: bank, probes: tried,
		others: probes.NewPaced(now),
	}
	s.declare(all)
	return s
}

var (
	identity = db.ColumnsOf[Account]("UID", "Customer")
	balance  = db.ColumnsOf[Account]("Balance")
	currency = db.ColumnsOf[Account]("Currency")
	// the columns that are not said as they stand in the accounts table
	inTables = map[string]string{
		"balance_ledger": "b.ledger", "balance_held": "b.held",
		"bank_name": banks.NameOr("a.bank_name", "coalesce(nullif(a.country_code, ''), 'US')", "a.bank_id"),
	}
)

// WithoutBalances returns all columns of the accounts table itself.
func WithoutBalances() db.Columns {
	all := db.Or[Account](db.Columns{})
	for i := range all {
		all[i] &^= balance[i]
	}
	return all
}

const joinBalances = "LEFT JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid AND " +
	"a.system_of_record = 'Internal Core'"

// Everything returns all columns that may be shown, with or without the balances.
func Everything(balances bool) db.Columns {
	if balances {
		return db.Or[Account](db.Columns{})
	}
	return WithoutBalances()
}

// selecting starts a query of accounts, joined with their balances if wanted. Accounts that another system
// keeps have none.
func selecting(want db.Columns) *bun.SelectQuery {
	want = wanted(want)
	q := db.Select[Account](want, inTables)
	if want.Overlaps(balance) {
		q = q.Join(joinBalances)
	}
	return q
}

// wanted adds the columns that every read needs: the account's identity, and the currency of any amount.
func wanted(want db.Columns) db.Columns {
	want = db.Or[Account](want).And(identity)
	if want.Overlaps(balance) {
		want = want.And(currency)
	}
	return want
}

// seeing is selecting, for the accounts that the caller may see and that are not deleted.
func seeing(want db.Columns, reach access.Reach) *bun.SelectQuery {
	return ofCustomers.Shown.On(selecting(want)).Where("a.tenant = $1").Where(reach.Scope("a.customer"))
}

// Search narrows a list of accounts. All fields that are not empty must match.
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

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Number != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(tenant), NumberColumn, by.Number)))
		all = append(all, "a.number_hash = ANY("+hashes+")")
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

var ofCustomers = customers.Children[Account]{
	Needs: access.ViewAccounts, Table: "a", Key: "uid", Shown: db.Conditions{"a.deleted_at IS NULL"},
	Select: selecting, Customer: func(a *Account) customers.UID { return a.Customer },
}

func (s *Service) filter(by Search) customers.Filter {
	return func(tenant access.Tenant, p *db.Params) db.Conditions { return by.where(s, tenant, p) }
}

// OfCustomers reads a window of the accounts of each customer, by UID.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Account] {
	return ofCustomers.List(ctx, b, of, s.filter(by), want, w)
}

// CountOfCustomers counts the accounts of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, s.filter(by), most)
}

// queryKey is what the SQL of the other reads depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var (
	finding     db.QueryCache[Account]
	findingWith db.QueryCache[Found]
)

// FindMany reads accounts by UID. Those that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Account] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, Account](err)
	}
	text := finding.Get(queryKey{want, caller.Reach}, func() string {
		return seeing(want, caller.Reach).Where("a.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(a *Account) UID { return a.UID }, caller.Tenant, caller.ScopeCustomer(),
		uids)
}

// Found is an account together with its customer.
type Found struct {
	bun.BaseModel `bun:"table:accounts,alias:a"`

	Account  Account            `bun:"embed:"`
	Customer customers.Customer `bun:"embed:of_"`
}

// By names one account, by its UID or by its account number. The form of the number is not checked: one that
// no account can have finds nothing.
type By struct {
	UID    UID
	Number string
}

// foundKey is what the SQL of FindWith depends on.
type foundKey struct {
	account, customer db.Columns
	joined, uid       bool
	reach             access.Reach
}

// FindWith reads one account that the caller may see, together with the wanted columns of its customer, in
// one statement. Account numbers are unique in the bank.
func (s *Service) FindWith(
	ctx context.Context, b *db.Batch, by By, want, ofCustomer db.Columns,
) *db.Rows[Found] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.RefuseRows[Found](err)
	}
	if !caller.May(access.ViewCustomers) {
		ofCustomer = db.Columns{}
	}
	is, value := "a.uid = $3", any(by.UID)
	if by.UID == 0 {
		hashes := s.keys.Hashes(int64(caller.Tenant), NumberColumn, by.Number)
		is, value = "a.number_hash = ANY($3)", s.probes.Search(hashes)
	}
	key := foundKey{
		account: wanted(want), customer: ofCustomer, reach: caller.Reach, joined: ofCustomer != (db.Columns{}),
		uid: by.UID != 0,
	}
	text := findingWith.Get(key, func() string {
		columns := db.Nested[Found, Account]("Account", key.account).
			And(db.Nested[Found, customers.Customer]("Customer", key.customer))
		from := db.Aliased[customers.Customer]("of_", "c")
		maps.Copy(from, inTables)
		q := ofCustomers.Shown.On(db.Select[Found](columns, from)).Where("a.tenant = $1").Where(is)
		if key.account.Overlaps(balance) {
			q = q.Join(joinBalances)
		}
		if !key.joined {
			return q.Where(key.reach.Scope("a.customer")).String()
		}
		return q.Join("JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer").
			Where(key.reach.ScopeOfCustomers("c")).String()
	})
	return db.Queue(b, text, caller.Tenant, caller.ScopeCustomer(), value)
}
