package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/files"
	"bankgraph/core/payments"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var (
	fileKind = numbered("BulkFile", kind[files.FileUID, files.BulkFile]{
		prefix: scalar.BulkFilePrefix,
		find:   func(c *core.Core) finder[files.FileUID, files.BulkFile] { return c.Files.FindMany },
		key:    func(f *files.BulkFile) files.FileUID { return f.UID },
		columns: columns{
			"totalCredits": {"Credits"}, "totalDebits": {"Debits"},
			"progress": {"Status", "Size", "Position", "Valid", "Made"}, "batches": {"Type"}, "size": {"Size"},
		},
	})
	fileLinePart = part("BulkFileLine", kind[files.LineID, files.FileLine]{
		key:     func(l *files.FileLine) files.LineID { return l.ID },
		place:   func(l *files.FileLine) int64 { return int64(l.ID) },
		columns: columns{"amount": {"Minor", "Currency"}, "faults": {"Found"}},
	})
)

func init() {
	service := func(c *core.Core) *files.Service { return c.Files }
	queryList("bulkFiles", fileKind, service, (*files.Service).List, (*files.Service).CountUpTo, nil)
	hasMany(customerKind, "bulkFiles", fileKind, pages(service, (*files.Service).OfCustomers,
		capped((*files.Service).CountOfCustomers)))
	hasCustomer(fileKind, "customer", func(f *files.BulkFile) *customers.UID { return &f.Customer })
	hasOne(fileKind, "offsetAccount", accountKind,
		func(f *files.BulkFile) *accounts.UID { return named(&f.OffsetAccount) })
	hasMany(fileKind, "lines", fileLinePart, pages(service, (*files.Service).LinesOf,
		capped((*files.Service).CountLinesOf)))
	hasAll(fileKind, "batches", service, (*files.Service).BatchesOf)
	hasOne(fileLinePart, "payment", paymentKind,
		func(l *files.FileLine) *payments.UID { return named(&l.Payment) })
	for _, list := range []string{"BulkFileConnection", "BulkFileLineConnection"} {
		prices[list+".totalCount"], prices[list+".totalCountIsExact"] = countMany, countMany
	}
	prices["BulkFileFilter.customer"], prices["BulkFileFilter.name"] = sorted, search
	prices["BulkFileFilter.status"], prices["BulkFileFilter.type"] = scan, scan
	prices["BulkFileLineFilter.status"] = scan
	listSizes["BulkFile.faults"], listSizes["BulkFileLine.faults"] = files.MostFaults, files.MostLineFaults
	listSizes["BulkFile.batches"] = files.MostBatches
	subjects["file"] = subject{codes: codes{
		fault.NotFound: "BulkFileNotFoundException",
		fault.State:    "BULKFILE_STATE",
	}}
}

func (m mutations) CancelFile(ctx context.Context, in model.FileDraft) (*model.BulkFilePayload, error) {
	done, err := m.core.Files.Cancel(ctx, in.UID, in.RequestOptions)
	return fileKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
