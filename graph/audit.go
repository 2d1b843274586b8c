package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// auditKind is an entry of the record of who did what.
var auditKind = numbered("AuditEntry", kind[audit.ID, audit.Entry]{
	prefix:  scalar.AuditEntryPrefix,
	find:    func(c *core.Core) finder[audit.ID, audit.Entry] { return c.Audit.FindMany },
	key:     func(e *audit.Entry) audit.ID { return e.ID },
	columns: columns{"legalEntity": {"Entity"}, "changes": {"Before", "After"}},
})

func init() {
	queryList("audit", auditKind, func(c *core.Core) *audit.Service { return c.Audit },
		(*audit.Service).List, (*audit.Service).CountUpTo, nil)
	hasCustomer(auditKind, "customer", func(e *audit.Entry) *customers.UID {
		return (*customers.UID)(e.Customer)
	})
	listSizes["AuditEntry.changes"] = 20
	prices["AuditEntryConnection.totalCount"], prices["AuditEntryConnection.totalCountIsExact"] = history,
		history
	prices["AuditFilter.object"], prices["AuditFilter.since"], prices["AuditFilter.until"] = sorted, sorted,
		sorted
	prices["AuditFilter.action"], prices["AuditFilter.client"], prices["AuditFilter.decision"] = scan, scan, scan
}

// historyOf reads the record's entries about objects. object is the record's word for their kind.
func historyOf[K objectKey](object string) list[K, audit.Entry, struct{}] {
	return list[K, audit.Entry, struct{}]{
		rows: func(
			_ *core.Core, ctx context.Context, b *db.Batch, of []K, _ struct{}, want db.Columns, w window,
		) *db.Many[K, audit.Entry] {
			return audit.OfObjects(ctx, b, object, of, want, w)
		},
		count: func(_ *core.Core, ctx context.Context, b *db.Batch, of []K, _ struct{}) *db.Many[K, db.Count] {
			return audit.CountOfObjects(ctx, b, object, of, model.MostCounted+1)
		},
	}
}
