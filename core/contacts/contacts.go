package contacts

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables (core/README.md, Tables).
var Tables = db.Tables{Own: []string{"contacts"}}

// Service keeps the contacts of every bank's customers.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	probes    *probes.Counter
	customers *customers.Service
	now       func() time.Time
	moves     func(ctx context.Context, tx *changes.Tx, uid string) error
	moved     func(ctx context.Context, tx *changes.Tx, uid UID) error
	notices   Notices
	payers    []func(ctx context.Context, tx *changes.Tx, k *Contact) (Redirection, error)
	operations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, all *changes.Service,
	now func() time.Time,
) *Service {
	s := &Service{db: d, keys: keys, probes: tried, customers: c, now: now}
	s.declare(all)
	return s
}

// Redirection is what it takes to give a contact another account or intermediary, because something pays the
// contact by itself, or collects from it.
type Redirection struct {
	Pays bool `json:"pays"` // something does
	// the bank's own people confirm its payments, and so to whom they go
	Confirmed bool `json:"confirmed,omitempty"`
	// how many people beside the maker approve its payments, where they need approval
	People int32        `json:"people"`
	By     access.Reach `json:"by,omitempty"` // the least reach that they need

	Largest []money.Amount `json:"-"` // what its payments are of, as far as that is known
}

// more reports whether a redirection takes more than another one.
func (r *Redirection) more(than *Redirection) bool {
	if than == nil {
		return r.Pays
	}
	return r.Pays && !than.Pays || r.People > than.People ||
		r.By != "" && (than.By == "" || !than.By.AtLeast(r.By))
}

// WhoPays adds what finds out whether something pays a contact by itself: series and sweeps come after
// contacts. It is called while the bank is built.
func (s *Service) WhoPays(find func(ctx context.Context, tx *changes.Tx, k *Contact) (Redirection, error)) {
	s.payers = append(s.payers, find)
}

// OnMove sets, once before any work begins, what else is done when a contact's account becomes another one,
// in the transaction of that change: moves before anything else is locked, and whether or not the account
// changes, and moved then.
func (s *Service) OnMove(
	moves func(ctx context.Context, tx *changes.Tx, uid string) error,
	moved func(ctx context.Context, tx *changes.Tx, uid UID) error,
) {
	s.moves, s.moved = moves, moved
}

var identity = db.ColumnsOf[Contact]("UID", "Customer")

// Search narrows a list of contacts. All fields that are not empty must match.
type Search struct {
	Name          string // prefix, without regard to letter case
	AccountNumber string // exact, spaces ignored
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Name != "" {
		all = append(all, "starts_with(lower(k.name), lower("+p.Add(by.Name)+"::text))")
	}
	if by.AccountNumber != "" {
		number := strings.ReplaceAll(by.AccountNumber, " ", "")
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(tenant), NumberColumn, number)))
		all = append(all, "k.bank_account_number_hash = ANY("+hashes+")")
	}
	return all
}

var ofCustomers = customers.Children[Contact]{
	Needs: access.ViewContacts, Table: "k", Key: "uid", Shown: db.Conditions{"k.status <> 'Refused'"},
	Select: selecting, Customer: func(k *Contact) customers.UID { return k.Customer },
}

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Contact](db.Or[Contact](want).And(identity), nil)
}

func (s *Service) filter(by Search) customers.Filter {
	return func(tenant access.Tenant, p *db.Params) db.Conditions { return by.where(s, tenant, p) }
}

// OfCustomers reads a window of the contacts of each customer, by UID.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Contact] {
	return ofCustomers.List(ctx, b, of, s.filter(by), want, w)
}

// CountOfCustomers counts the contacts of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, s.filter(by), most)
}

// queryKey is what the SQL of a read by UID depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var finding db.QueryCache[Contact]

// FindMany reads contacts by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Contact] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[UID, Contact](err)
	}
	text := finding.Get(queryKey{want, caller.Reach}, func() string {
		return ofCustomers.Shown.On(selecting(want)).Where("k.tenant = $1").Where("k.uid = ANY($3)").
			Where(caller.Reach.Scope("k.customer")).String()
	})
	return db.QueueMany(b, text, func(k *Contact) UID { return k.UID }, caller.Tenant, caller.ScopeCustomer(),
		uids)
}
