package virtualaccounts

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// Side says whether a posting raises the balance or lowers it.
type Side string

const (
	Credit Side = "Credit"
	Debit  Side = "Debit"
)

// ParseSide reads a side without regard to letter case.
func ParseSide(field, text string) (Side, error) {
	if s, ok := ident.Word(text, Credit, Debit); ok {
		return s, nil
	}
	return "", fault.Field(object, field, fault.Malformed, "must be Credit or Debit")
}

// PostingStatus is the state of a posting. Every posting is Processed, as it is made together with the one on
// the master account (rest/CONTRACT.md, virtual accounts).
type PostingStatus string

const (
	Pending   PostingStatus = "Pending"
	Submitted PostingStatus = "Submitted"
	Processed PostingStatus = "Processed"
	Failed    PostingStatus = "Failed"
)

// ParsePostingStatus reads a state without regard to letter case.
func ParsePostingStatus(field, text string) (PostingStatus, error) {
	if s, ok := ident.Word(text, Pending, Submitted, Processed, Failed); ok {
		return s, nil
	}
	return "", fault.Field(object, field, fault.Malformed,
		"must be one of Pending, Submitted, Processed, Failed")
}

// ParsePayment reads the number of a payment. This package cannot import payments, which come after virtual
// accounts.
func ParsePayment(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.Field(object, field, fault.Number, "must be the digits of a payment UID")
	}
	return n, nil
}

// PostingSearch narrows a list of postings. All fields that are not empty must match.
type PostingSearch struct {
	VirtualAccount      UID
	Customer            customers.UID
	Number              Number // of the virtual account
	Side                Side
	Payment             int64
	ExternalReferenceID string // of the payment, exact
	Status              PostingStatus
	From, To            time.Time // days at the bank, both included; midnight UTC
}

// list returns the list of the postings that the caller may see and the search finds, newest first.
func (by PostingSearch) list(s *Service, caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "virtual_postings", Alias: "vp", Key: "id", Of: []string{"vp.customer = seen.uid"}, Newest: true,
		Seen: caller.Reach.Scope("vp.customer"), Where: by.where(s, caller, p),
	}
	if caller.Reach == access.OfBank {
		return l
	}
	switch {
	case by.VirtualAccount != 0, by.Number != "", by.Payment != 0:
		l.Named = &access.Named{}
	case by.Customer != 0:
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

// where returns the conditions that narrow a query; p collects their values.
func (by PostingSearch) where(s *Service, caller access.Caller, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{{"virtual_account", int64(by.VirtualAccount)}, {"customer", int64(by.Customer)}, {"payment", by.Payment}} {
		if exact.value != 0 {
			all = append(all, "vp."+exact.column+" = "+p.Add(exact.value)+"::bigint")
		}
	}
	if by.Number != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(caller.Tenant), NumberColumn,
			string(by.Number))))
		all = append(all,
			"vp.virtual_account IN (SELECT n.uid FROM virtual_accounts AS n WHERE n.tenant = $1 AND "+
				"n.number_hash = ANY("+
				hashes+"))")
	}
	switch by.Side {
	case Credit:
		all = append(all, "vp.amount > 0")
	case Debit:
		all = append(all, "vp.amount < 0")
	}
	if by.ExternalReferenceID != "" {
		all = append(all,
			"EXISTS (SELECT FROM payments AS named WHERE named.tenant = $1 AND named.uid = vp.payment AND "+
				"named.external_reference_id = "+
				p.Add(by.ExternalReferenceID)+"::text)")
	}
	if by.Status != "" && by.Status != Processed {
		all = append(all, "false")
	}
	return append(all, between("vp.at", caller, by.From, by.To, p)...)
}

// ShownPosting is a posting with what the records of its virtual account and its payment say.
type ShownPosting struct {
	VirtualPosting `bun:",extend"`

	Name                string     `bun:"name,scanonly" json:"-"`      // of the virtual account
	Reference           string     `bun:"reference,scanonly" json:"-"` // of the virtual account, by its customer
	Whole               []byte     `bun:"whole,scanonly" json:"-"`
	ExternalReferenceID string     `bun:"external_reference_id,scanonly" json:"-"`
	Description         string     `bun:"description,scanonly" json:"-"`
	Rail                rails.Rail `bun:"rail,scanonly" json:"-"`
	Date                time.Time  `bun:"date,scanonly" json:"-"` // of the payment
	Clear               Number     `bun:"-" json:"-"`             // the number of the virtual account
}

// PaymentMethod returns the published word for the network (rest/CONTRACT.md, virtual accounts).
func (p *ShownPosting) PaymentMethod() string {
	if p.Rail == rails.Fedwire {
		return "WIRE"
	}
	return string(p.Rail)
}

// PostedBy returns the login of the person who made the posting, or else the API key; "" if the caller may
// not know.
func (p *VirtualPosting) PostedBy() string { return cmp.Or(p.LoginID, p.Client) }

// Status returns the state of the posting.
func (p *VirtualPosting) Status() PostingStatus { return Processed }

// Side returns whether the posting raises the balance or lowers it.
func (p *VirtualPosting) Side() Side {
	if p.Minor < 0 {
		return Debit
	}
	return Credit
}

var (
	postingIdentity  = db.ColumnsOf[VirtualPosting]("ID", "VirtualAccount", "Customer", "Currency")
	postings         db.QueryCache[VirtualPosting]
	shownPostings    db.QueryCache[ShownPosting]
	countingPostings db.QueryCache[db.Count]
)

// fromPostings returns the SQL expressions of columns of postings that are not read as they stand: who made a
// posting is told as far as the caller may know, and the step may be unknown.
func fromPostings(reach access.Reach) map[string]string {
	return map[string]string{
		"client":   reach.OfPeople("vp.client", "vp.reach", "vp.customer", "vp.at"),
		"login_id": reach.OfPeople("vp.login_id", "vp.reach", "vp.customer", "vp.at"),
		"step":     "coalesce(vp.step, 0)",
	}
}

func selectingPostings(want db.Columns, reach access.Reach) *bun.SelectQuery {
	return db.Select[VirtualPosting](db.Or[VirtualPosting](want).And(postingIdentity), fromPostings(reach)).
		Where("vp.tenant = $1")
}

// showingPostings begins a query of postings with what the records of their virtual accounts and payments
// say.
func showingPostings(reach access.Reach) *bun.SelectQuery {
	from := fromPostings(reach)
	from["name"], from["whole"], from["reference"] = "va.name", "va.number_sealed",
		"va.external_account_reference"
	from["external_reference_id"], from["description"], from["rail"] = "pay.external_reference_id",
		"pay.notes", "pay.rail"
	from["date"] = "pay.payment_date"
	return db.Select[ShownPosting](db.Columns{}, from).
		Join("JOIN virtual_accounts AS va ON va.tenant = vp.tenant AND va.uid = vp.virtual_account").
		Join("JOIN payments AS pay ON pay.tenant = vp.tenant AND pay.uid = vp.payment").
		Where("vp.tenant = $1").Where("va.tenant = $1").Where("pay.tenant = $1")
}

// FindPostings reads postings by number. Those of customers that the caller may not see are absent.
func (s *Service) FindPostings(
	ctx context.Context, b *db.Batch, ids []PostingID, want db.Columns,
) *db.Many[PostingID, VirtualPosting] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[PostingID, VirtualPosting](err)
	}
	text := postings.Get(queryKey{want: want, reach: caller.Reach, order: "found"}, func() string {
		return selectingPostings(want, caller.Reach).Where("vp.id = ANY($3)").
			Where(caller.Reach.Scope("vp.customer")).String()
	})
	return db.QueueMany(b, text, func(p *VirtualPosting) PostingID { return p.ID }, caller.Tenant,
		caller.ScopeCustomer(), ids)
}

// Postings reads a window of the postings of each virtual account, newest first.
func (s *Service) Postings(
	ctx context.Context, b *db.Batch, of []UID, by PostingSearch, want db.Columns, w page.Window,
) *db.Many[UID, VirtualPosting] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, VirtualPosting](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, !w.Backward)
	where := by.where(s, caller, &p)
	text := postings.Get(queryKey{
		want: want, reach: caller.Reach, window: window, where: where.Key(),
		order: "of",
	}, func() string {
		return window.Text(where.On(selectingPostings(want, caller.Reach)),
			func(string) string { return caller.Reach.Scope("vp.customer") }, "vp.virtual_account", "vp.id")
	})
	return db.QueueMany(b, text, func(p *VirtualPosting) UID { return p.VirtualAccount }, p...)
}

// CountPostings counts the postings of each virtual account, up to most; 0 means no bound.
func (s *Service) CountPostings(
	ctx context.Context, b *db.Batch, of []UID, by PostingSearch, most int64,
) *db.Many[UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(s, caller, &p)
	limit := p.Up(most)
	text := countingPostings.Get(queryKey{reach: caller.Reach, where: where.Key(), order: limit}, func() string {
		q := where.On(db.Select0[VirtualPosting]("1").Where("vp.tenant = $1").Where("vp.virtual_account = p.of").
			Where(caller.Reach.Scope("vp.customer")))
		return db.CountEachText("unnest($3::bigint[]) AS p(of)", "p.of", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) UID { return UID(n.Of) }, p...)
}

var readingPosting db.QueryCache[ShownPosting]

// PostingFor reads a posting as a caller with the reach of a customer sees it; nil if such a caller does not.
// It is for workers, which post it to webhooks.
func (s *Service) PostingFor(
	ctx context.Context, reach access.Reach, customer int64, id PostingID,
) (*ShownPosting, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	reader := access.Caller{Tenant: caller.Tenant, Entity: customer, Reach: reach}
	text := readingPosting.Get(reach, func() string {
		return showingPostings(reach).Where("vp.id = $3").Where(reach.Scope("vp.customer")).String()
	})
	b := s.db.PrimaryBatch()
	rows := db.Queue(b, text, reader.Tenant, reader.ScopeCustomer(), id)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	found, err := rows.One()
	if err != nil || found == nil {
		return nil, err
	}
	found.Clear, err = s.number(reader.Tenant, found.VirtualAccount, found.Whole)
	return found, err
}

// PostingsPage reads a page of the postings that a search finds, newest first, and how many it finds, in one
// round trip.
func (s *Service) PostingsPage(
	ctx context.Context, by PostingSearch, w page.Window,
) (page.Counted[*ShownPosting], error) {
	var found page.Counted[*ShownPosting]
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return found, err
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(s, caller, &p)
	list.Most = "$3::bigint + $4::bigint"
	where := list.Page(list.Conditions(caller.Reach), "$3::bigint", "$4::bigint")
	text := shownPostings.Get(queryKey{reach: caller.Reach, where: where.Key()}, func() string {
		return where.On(showingPostings(caller.Reach)).OrderExpr("vp.id DESC").String()
	})
	counted := db.Params{caller.Tenant, caller.ScopeCustomer()}
	all := by.list(s, caller, &counted)
	all.Newest = false
	count := all.Count(caller.Reach)
	b := s.db.Batch()
	rows := db.Queue(b, text, p...)
	n := db.Queue(b, countingPostings.Get(count, func() string { return count }), counted...)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	total, err := n.One()
	if err == nil {
		err = rows.Err
	}
	if err != nil {
		return found, err
	}
	found.Items, found.Total = page.Cut(rows.Items, w).Items, total.N
	for _, posting := range found.Items {
		if posting.Clear, err = s.number(caller.Tenant, posting.VirtualAccount, posting.Whole); err != nil {
			return found, err
		}
	}
	return found, nil
}
