package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
)

func init() {
	declare("BulkFile", node{
		needs: access.ViewFiles, list: "bulkFiles", rows: fileRows,
		id: func(c customers.UID, n int) string { return "fil_" + fileOf(c, n).String() },
	})
	view := []access.Permission{access.ViewFiles}
	needs["Query.bulkFiles"], needs["BulkFile.lines"], needs["BulkFile.batches"] = view, view, view
	needs["BulkFile.offsetAccount"] = []access.Permission{access.ViewAccounts}
	needs["BulkFileLine.payment"] = []access.Permission{access.ViewPayments}
	required["BulkFile.lines"] = "(first: 1)"
	for list, way := range map[string]string{
		"Query.bulkFiles":    "{ %s }",
		"Customer.bulkFiles": "{ customers(first: 7) { nodes { %s } } }",
	} {
		lookups[list+".filter.customer"] = lookup{
			fmt.Sprintf(way,
				`bulkFiles(first: 2, filter: {customer: "%s"}) { totalCount nodes { ALL(BulkFile) } }`),
			customers.UID.String,
		}
		lookups[list+".filter.name"] = lookup{
			fmt.Sprintf(way,
				`bulkFiles(first: 2, filter: {name: "%s"}) { totalCount nodes { id name customer { uid } } }`),
			func(c customers.UID) string { return "Name " + fileOf(c, 0).String() },
		}
	}
	mutations["cancelFile"] = tried{
		access.UploadFiles, func(c customers.UID) string {
			return fmt.Sprintf(`uid: "%s"`, fileOf(activeOf(c), each-1))
		},
		`bulkFile { id status progress rejectReason validPayments totalCredits customer { uid }
		lines { totalCount } version } approval { uid }`,
	}
}

// fileOf is one of the files of a customer: the first ones were paid, the last is approved.
func fileOf(c customers.UID, n int) files.FileUID {
	return files.FileUID(int(c-theBank)*100 + n + 800_000_000)
}

// fileRows are the files of each customer. Each has a batch with two lines, which have payments and faults,
// too, so that every field has a value.
func fileRows(b *bank, of []customers.UID) any {
	var all []files.BulkFile
	for _, c := range of {
		for n := range each {
			f := files.BulkFile{UID: fileOf(c, n), Customer: c}
			b.fill(&f, int64(f.UID))
			f.Tenant, f.Customer, f.Type, f.Status, f.Version = b.tenant, c, files.NACHA, files.PartiallyProcessed, 2
			if n == each-1 {
				f.Status = files.Approved
			}
			f.Name, f.OffsetAccount, f.Hash = f.Name+".ach", accountOf(c, 0), []byte{1}
			f.Faults = []files.FileFault{{Line: 1, Field: b.mark, Code: "INVALID", Message: b.mark}}
			f.PaymentDate, f.ApprovedAt, f.LeasedUntil = &now, &now, nil
			all = append(all, f)
		}
	}
	return &all
}

// furnishFiles gives each file a batch and two lines, which share out the payments of the customer.
var furnishFiles = []string{
	`INSERT INTO bulk_file_batches (tenant, file, number, id, batch_number, service_class, originator,
	   company_name, company_id, class, description, effective_on, entry_hash, entries, credits, debits,
	   offset_account, balanced, fault)
	 SELECT tenant, uid, 1, uid::text, 1 + uid % 1000, '200', '61109000', ?3 || ' company ' || uid,
	   ?3 || ' id ' || uid, 'PPD', ?3 || ' entry ' || uid, DATE '2026-11-23', 61109000, 1 + uid % 100,
	   1 + uid % 1000, 1 + uid % 999, offset_account, true,
	   ?3 || ' fault ' || uid
	 FROM bulk_files WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
	`INSERT INTO bulk_file_lines (tenant, id, file, number, batch, status, entry_type, rail, amount, currency,
	   sender_name, faults, payment)
	 SELECT tenant, uid << 24 | n, uid, n, 1, 'MADE', 'CREDIT', 'ACH', n + uid % 1000, 'USD',
	   ?3 || ' sender ' || uid, json_build_array(json_build_object('line', n, 'field', ?3::text, 'code',
	   	'INVALID', 'message', ?3 || ' line ' || uid)),
	   (customer - 1000000) * 100 + 500000000 + uid % 100 * 2 + n - 1
	 FROM bulk_files, generate_series(1, 2) AS n WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
}

// A portal shows what would become of each line before anybody approves, and ends a file of which nothing was
// paid.
func TestAFileIsShownLineByLineAndCancelled(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	of := p.Customer(coretest.OwnedBy(p.payer),
		func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	from := coretest.AccountNumber(p.Account(of, coretest.Holding(100_00, 0), coretest.Sends).UID)
	text := "externalReferenceId,paymentAmount,speed,senderAccountNumber,receiverName," +
		"receiverAccountNumber,receiverBankId\n" +
		"A,12.50,Instant," + from + ",Ada Byron,440055551,611090001\n" +
		"B,12.505,Instant," + from + ",Ada Byron,440055551,611090001\n"
	upload := func(text string) string {
		done, err := p.Files.Upload(p.Partner(p.payer), files.Upload{
			Customer: of.UID, Type: files.CSV, Open: files.OpenText("pay.csv", strings.NewReader(text)),
		}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done.Result.UID.String()
	}
	cancel := func(uid string) (string, []string) {
		return p.asks(t, p.Partner(p.payer), fmt.Sprintf(
			`mutation { cancelFile(input: {uid: "%s"}) { bulkFile { status progress approval: version } } }`, uid))
	}
	asks := func(who *customers.Customer, want string) {
		t.Helper()
		data, errors := p.asks(t, p.Partner(who),
			`{ bulkFiles(first: 2, filter: {name: "PAY"}) { totalCount nodes { status progress size
			validPayments errorPayments madePayments totalCredits batches { number }
			lines(first: 5) { nodes { number status amount faults { field code } payment { uid } } } } } }`)
		if data != want || errors != nil {
			t.Errorf("%s %v\nwant %s", data, errors, want)
		}
	}
	uid := upload(text)
	const one = `{"bulkFiles":{"totalCount":1,` +
		`"nodes":[{"status":%q,"progress":%d,"size":%d,"validPayments":%d,"errorPayments":%d,` +
		`"madePayments":0,"totalCredits":%q,"batches":[],"lines":{"nodes":[%s]}}]}}`
	asks(p.payer, fmt.Sprintf(one, "RECEIVED", 0, len(text), 0, 0, "0.00", ""))
	if _, err := p.Work(access.Operator(t.Context(), p.Tenant, "test", nil)); err != nil {
		t.Fatal(err)
	}
	asks(p.payer, fmt.Sprintf(one, "PENDING_APPROVAL", 100, len(text), 1, 1, "12.50",
		`{"number":2,"status":"VALID","amount":"12.50","faults":[],"payment":null},`+
			`{"number":3,"status":"FAILED","amount":"0.00",`+
			`"faults":[{"field":"paymentAmount","code":"INVALID"}],"payment":null}`))
	asks(p.paid, `{"bulkFiles":{"totalCount":0,"nodes":[]}}`)
	if data, errors := cancel(uid); errors != nil || !strings.Contains(data,
		`"status":"CANCELLED","progress":100`) {
		t.Error(data, errors)
	}
	if data, errors := cancel(uid); !slices.Equal(errors, []string{"STATE BULKFILE_STATE"}) {
		t.Error("cancelled again:", data, errors)
	}
	if data, _ := p.asks(t, p.Staff(),
		`{ approvals(filter: {status: OPEN}) { totalCount } payments(first: 1) { totalCount } }`); data !=
		`{"approvals":{"totalCount":0},"payments":{"totalCount":0}}` {
		t.Error("a cancelled file leaves", data)
	}
}
