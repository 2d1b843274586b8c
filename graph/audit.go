package graph

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/model"
)

// the record of who did what
var auditKind = newKind[audit.Entry]("AuditEntry", map[string][]string{
	"uid": {"ID"}, "legalEntity": {"Entity"}, "objectUid": {"UID"}, "customer": {"Customer"}, "changes": {"Before", "After"}, "requestId": {"Request"},
})

// A type gets its history by a line here and one in its kind's relations.
var (
	customerHistory  = historyOf(customerUID, "customer")
	accountHistory   = historyOf(accountUID, "account")
	contactHistory   = historyOf(contactUID, "contact")
	signatoryHistory = historyOf(signatoryUID, "signatory")
	userHistory      = historyOf(userUID, "user")
	roleHistory      = historyOf(roleUID, "role")

	auditCustomer = toCustomer(auditID, func(e *audit.Entry) *customers.UID { return (*customers.UID)(e.Customer) })
)

func auditID(e *audit.Entry) audit.ID { return e.ID }

// historyOf is the relation from an object to its entries, under the word that the record has for its kind.
func historyOf[O any, P interface {
	comparable
	fmt.Stringer
}](key func(*O) P, object string) *relation[O, P, *model.Connection[audit.Entry]] {
	return of(key, list[P, audit.ID, audit.Entry, struct{}]{
		rows: func(ctx context.Context, _ *operation, b *db.Batch, of []P, _ struct{}, want db.Columns, w window) *db.Many[P, audit.Entry] {
			return audit.OfObjects(ctx, b, object, of, want, w)
		},
		count: func(ctx context.Context, _ *operation, b *db.Batch, of []P, _ struct{}) *db.Many[P, db.Count] {
			return audit.CountOfObjects(ctx, b, object, of, model.MostCounted+1)
		},
		key: auditID, kind: func() *kind { return auditKind },
	})
}

// audit answers Query.audit.
func (o *operation) audit(ctx context.Context, f graphql.CollectedField) (*model.AuditEntryConnection, error) {
	a := argumentsOf(ctx, f)
	by, err := decode[audit.Search](ctx, a, "filter")
	if err != nil {
		return nil, err
	}
	named := auditKind.orderOf(byUID)
	w, err := a.window(ctx, f, named)
	if err != nil {
		return nil, err
	}
	asked := inConnection(ctx, auditKind, f.Selections)
	b := o.batch()
	rows := o.core.Audit.List(ctx, b, by, asked.want, w)
	var count *db.Rows[db.Count]
	if asked.count {
		count = o.core.Audit.CountUpTo(ctx, b, by, model.MostCounted+1)
	}
	err = o.read(ctx, b, []step{func(ctx context.Context, next *db.Batch) []step {
		if len(asked.further) == 0 {
			return nil
		}
		shown := page.Cut(rows.Items, w).Items
		return under(ctx, o, next, auditKind, shown, each(shown, func(e *audit.Entry) (audit.ID, bool) { return e.ID, true }), asked.further)
	}})
	if err != nil {
		return nil, err
	}
	return &model.AuditEntryConnection{
		Page: page.Cut(rows.Items, w), Window: w,
		Cursor: func(e *audit.Entry) page.Cursor { return page.Cursor{Order: named, UID: int64(e.ID)} },
		Count: func(context.Context) (int64, error) {
			n, err := count.One()
			if err != nil {
				return 0, err
			}
			return n.N, nil
		},
	}, rows.Err
}
