package verifications

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"contact_verifications"},
	Reads: map[string]string{
		"contacts": "whose contact is to be verified, before its customer is held",
		"payments": "the amounts of deposits, which stand nowhere else; and those that came back, of many " +
			"verifications in one statement",
		"payment_details":  "in that statement, too: with which code",
		"ach_answers":      "in that statement, too: notices of change",
		"ach_prenotes":     "in that statement, too: what other banks say of prenotes",
		"network_messages": "in that statement, too: whether the file of a prenote has left",
	},
}

// Service verifies the contacts of every bank's customers.
type Service struct {
	db        *db.DB
	customers *customers.Service
	payments  *payments.Service
	now       clock.Now
	looked    changes.Turns[UID] // behind which verification the next look begins
	operations
}

const object = "contactVerification"

// New makes the service.
func New(d *db.DB, c *customers.Service, p *payments.Service, all *changes.Service, now clock.Now) *Service {
	s := &Service{db: d, customers: c, payments: p, now: now}
	s.declare(all)
	return s
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	most   string
}

var (
	finding, listing db.QueryCache[Verification]
	counting         db.QueryCache[db.Count]
	identity         = db.ColumnsOf[Verification]("UID", "Contact", "Account", "Customer")
)

// selecting reads verifications for callers with this reach. The bank's own people are nobody to others.
func selecting(want db.Columns, reach access.Reach) *bun.SelectQuery {
	from := map[string]string{
		"deposit_1": "coalesce(cv.deposit_1, 0)", "deposit_2": "coalesce(cv.deposit_2, 0)",
		"prenote": "coalesce(cv.prenote, 0)",
	}
	for _, column := range []string{"maker_client", "maker_login"} {
		from[column] = reach.OfPeople("cv."+column, "cv.maker_reach", "cv.customer", "cv.created_at")
	}
	return db.Select[Verification](db.Or[Verification](want).And(identity), from).Where("cv.tenant = $1")
}

// FindMany reads verifications by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Verification] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[UID, Verification](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want, caller.Reach).Where("cv.uid = ANY($3)").
			Where(caller.Reach.Scope("cv.customer")).String()
	})
	return db.QueueMany(b, text, func(v *Verification) UID { return v.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// OfContacts reads a window of the verifications of each contact, newest first. The list of a contact that
// the caller may not see is empty.
func (s *Service) OfContacts(
	ctx context.Context, b *db.Batch, of []contacts.UID, want db.Columns, w page.Window,
) *db.Many[contacts.UID, Verification] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[contacts.UID, Verification](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, !w.Backward)
	return list(b, caller, want, window, p)
}

// LatestOfContacts reads the newest verification of each contact. A contact that the caller may not see has
// none.
func (s *Service) LatestOfContacts(
	ctx context.Context, b *db.Batch, of []contacts.UID, want db.Columns,
) *db.Many[contacts.UID, Verification] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[contacts.UID, Verification](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, 1, 0, 0, true)
	return list(b, caller, want, window, p)
}

func list(
	b *db.Batch, caller access.Caller, want db.Columns, window db.PerParentWindow, p db.Params,
) *db.Many[contacts.UID, Verification] {
	text := listing.Get(queryKey{want: want, reach: caller.Reach, window: window}, func() string {
		scope := func(string) string { return caller.Reach.Scope("cv.customer") }
		return window.Text(selecting(want, caller.Reach), scope, "cv.contact", "cv.uid")
	})
	return db.QueueMany(b, text, func(v *Verification) contacts.UID { return v.Contact }, p...)
}

// CountOfContacts counts the verifications of each contact, up to most; 0 means no bound.
func (s *Service) CountOfContacts(
	ctx context.Context, b *db.Batch, of []contacts.UID, most int64,
) *db.Many[contacts.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[contacts.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	limit := p.Up(most)
	text := counting.Get(queryKey{reach: caller.Reach, most: limit}, func() string {
		q := db.Select0[Verification]("1").Where("cv.tenant = $1").Where("cv.contact = p.parent").
			Where(caller.Reach.Scope("cv.customer"))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) contacts.UID { return contacts.UID(n.Of) }, p...)
}
