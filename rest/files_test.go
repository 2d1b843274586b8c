package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/rest"
)

func TestAFileSearchNamesWhatIsWrongWithItsPage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, query := range []string{"page=0", "limit=0", "limit=1001", "page=one"} {
		b.call(b.program(), http.MethodPost, "/v2/files/search?"+query, `{"fileName": "pay"}`).
			refused(t, query, http.StatusBadRequest, "VALIDATION_ERROR", "")
	}
}

func TestAFileThatIsLookedUpByItsNumberHasNoPage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{J}"})
	said := b.call(b.program(), http.MethodPost, "/v2/files/search?page=0&limit=none",
		fmt.Sprintf(`{"fileNumber": %s}`, b.waiting))
	if said.status != http.StatusOK || !strings.Contains(said.body, `"totalRecords":1,`) {
		t.Errorf("%d %s", said.status, said.body)
	}
}

// The sender of a line is known before there is a payment: its account is named by the number alone.
func TestALineSaysAtWhichBankItsSenderIs(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	number := b.uploadsCSV("externalReferenceId,paymentAmount,senderAccountNumber,receiverAccountNumber\n" +
		"SAL-1,10," + coretest.AccountNumber(b.operating.UID) + ",4400123401\n" +
		"SAL-2,10," + coretest.AccountNumber(b.hidden.UID) + ",4400123401\n")
	said := b.get(b.program(), fmt.Sprintf("/v1/files/%d/payments", number)).body
	for _, want := range []string{
		fmt.Sprintf(`"senderAccountNumber":%q,"senderBankId":"611090001","senderAddress1":"`,
			b.operating.Number.Masked()),
		fmt.Sprintf(`"senderAccountNumber":%q,"senderBankId":"","senderAddress1":"`, b.hidden.Number.Masked()),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
	if strings.Contains(said, `"senderAddress1":""`) || strings.Contains(said, `"senderName":""`) {
		t.Error(said)
	}
}

func TestAFileSearchTakesABlankNameAsNone(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{G}"})
	for _, path := range []string{"/v1/files/search", "/v2/files/search"} {
		body := fmt.Sprintf(`{"fileName": " ", "fileNumber": "%s"}`, b.file)
		if said := b.call(b.program(), http.MethodPost, path, body); said.status != http.StatusOK ||
			!strings.Contains(said.body, `"totalRecords":1`) {
			t.Errorf("%s: %d %s", path, said.status, said.body)
		}
	}
}

func TestOnlyTheNewerSearchByNameEndsAfterSixMonths(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{G}"})
	b.Exec("UPDATE bulk_files SET created_at = created_at - interval '7 months' WHERE tenant = ?", b.Tenant)
	for path, found := range map[string]string{
		"/v1/files/search": `"totalRecords":1`, "/bulkpayment/files/search": `"totalRecords":1`,
		"/v2/files/search": `"totalRecords":0`,
	} {
		if said := b.call(b.program(), http.MethodPost, path,
			`{"fileName": "invoices"}`); !strings.Contains(said.body, found) {
			t.Errorf("%s: %d %s", path, said.status, said.body)
		}
	}
}

func TestAFileSearchNeedsALegalEntity(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	caller, err := access.Require(b.program())
	if err != nil {
		t.Fatal(err)
	}
	caller.Entity = 0
	for _, path := range []string{"/v1/files/search", "/v2/files/search"} {
		b.call(access.With(t.Context(), caller), http.MethodPost, path,
			`{"fileName": "pay", "fileNumber": "1"}`).
			refused(t, path, http.StatusBadRequest, "BULKFILE_TOKENLE_NOTFOUND", "legal entity")
	}
}

func TestAFileOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := fmt.Sprintf("/v1/payments/customers/%s/files/swift", b.acme.UID)
	b.call(b.program(), http.MethodPost, path, form("pay.txt", "x")).
		refused(t, path, http.StatusBadRequest, "UnsupportedFileTypeException", "fileType")
}

// A file that waits is decided on over the older paths as over GraphQL: by people, not by who has uploaded
// it, once.
func TestAFileIsDecidedOnOverTheOlderPaths(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{J}"})
	path := fmt.Sprintf("/bulkpayment/files/%s", b.waiting)
	decide := func(by context.Context, verb, version string) said {
		r := request(http.MethodPut, path+verb, `{"comments": "Not ours"}`)
		if version != "" {
			r.Header.Set("If-Match", version)
		}
		return b.send(by, r)
	}
	shown := func() (status, reason, version string) {
		answer := b.get(b.program(), path)
		var is struct {
			Data struct{ FileStatus, RejectReason string }
		}
		if err := json.Unmarshal([]byte(answer.body), &is); err != nil {
			t.Fatal(err, answer.body)
		}
		return is.Data.FileStatus, is.Data.RejectReason, answer.header.Get("ETag")
	}
	status, _, version := shown()
	if status != "PENDING_APPROVAL" || version == "" {
		t.Fatalf("%s, version %s", status, version)
	}
	maker := access.With(t.Context(), access.Caller{
		Tenant: b.Tenant, Zone: coretest.Zone(), Client: "portal", LoginID: "Ada.Byron",
		Entity: int64(b.partner.UID), Partner: int64(b.partner.UID), Reach: access.OfPartner,
		Permissions: access.All,
	})
	decide(maker, "/approve", "").refused(t, "the maker", http.StatusBadRequest, "BULKFILE_REQUEST_INVALID",
		"their own change")
	b.Exec(`UPDATE tenant_settings SET people_decide = true WHERE tenant = ?`, b.Tenant)
	decide(b.program(), "/approve", "").refused(t, "a program", http.StatusForbidden,
		"BULKFILE_ACCESS_DENIED", "only a person")
	b.Exec(`UPDATE tenant_settings SET people_decide = false WHERE tenant = ?`, b.Tenant)
	decide(b.program(), "/approve", `"1"`).refused(t, "an older version", http.StatusConflict,
		"VERSION_CONFLICT", "")
	if done := decide(b.program(), "/reject", version); done.status != http.StatusOK ||
		!strings.Contains(done.header.Get("Link"), "/graphql") || done.header.Get("Deprecation") == "" {
		t.Errorf("%d %v %s", done.status, done.header, done.body)
	}
	if status, reason, _ := shown(); status != "REJECTED" || reason != "Not ours" {
		t.Errorf("%s because %q", status, reason)
	}
	decide(b.program(), "/approve", "").refused(t, "twice", http.StatusBadRequest,
		"BULKFILE_REQUEST_INVALID", "decided")
	b.receives(operation{path: "{G}"})
	b.call(b.program(), http.MethodPut, fmt.Sprintf("/bulkpayment/files/%s/approve", b.file), "").
		refused(t, "nobody has to decide", http.StatusBadRequest, "BULKFILE_REQUEST_INVALID", "does not wait")
	for _, absent := range []string{"0", "4711"} {
		b.get(b.program(), "/bulkpayment/files/"+absent).
			refused(t, absent, http.StatusBadRequest, "BulkFileNotFoundException", "no such file")
	}
	b.get(b.program(), "/bulkpayment/files/seven").refused(t, "seven", http.StatusBadRequest,
		"FILENUMBER_NUMBER", "")
}

// A payment of a file is cancelled as any other is, and the file's list of payments tells why.
func TestAFileTellsWhyAPaymentOfItWasCancelled(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{G}"})
	path := fmt.Sprintf("/v1/files/%s/payments", b.file)
	type payment struct {
		PaymentID                                                        int64
		PaymentStatus, CancellationOriginationSource, CancellationReason string
	}
	first := func() payment {
		var is struct{ Data []payment }
		if said := b.get(b.program(), path); json.Unmarshal([]byte(said.body), &is) != nil ||
			len(is.Data) == 0 {
			t.Fatal(said.body)
		}
		return is.Data[0]
	}
	was := first()
	if was.CancellationOriginationSource != "" || was.CancellationReason != "" {
		t.Errorf("%+v", was)
	}
	cancel := fmt.Sprintf("/v3/payments/%d/cancel", was.PaymentID)
	if done := b.call(b.program(), http.MethodPut, cancel,
		`{"notes": "Paid in cash"}`); done.status != http.StatusOK {
		t.Fatal(done.body)
	}
	if is := first(); is != (payment{was.PaymentID, "CANCELLED", "API", "Paid in cash"}) {
		t.Errorf("%+v", is)
	}
}

// A payment of a file names the file, and is found by it; for who sees who pays.
func TestAPaymentNamesTheFileThatItCameWith(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{G}"})
	var of struct {
		Data []struct{ PaymentID int64 }
	}
	lines := b.get(b.program(), fmt.Sprintf("/v1/files/%s/payments", b.file))
	if err := json.Unmarshal([]byte(lines.body), &of); err != nil || len(of.Data) == 0 {
		t.Fatal(err, lines.body)
	}
	made := 0
	for _, line := range of.Data {
		if line.PaymentID != 0 {
			made++
		}
	}
	named := fmt.Sprintf(`"sourceReferenceId":"%s"`, b.file)
	if shown := b.get(b.program(), fmt.Sprintf("/v3/payments/%d",
		of.Data[0].PaymentID)); !strings.Contains(shown.body, named) {
		t.Error(shown.body)
	}
	if shown := b.get(b.program(), "/v3/payments/1"); !strings.Contains(shown.body, `"sourceReferenceId":""`) {
		t.Error(shown.body)
	}
	for number, want := range map[string]int{
		`"` + b.file.String() + `"`: made, b.file.String(): made, `"0"`: 0, `"1"`: 0, `"none"`: 0,
		`"9223372036854775807"`: 0, `"549755813888"`: 0,
	} {
		said := b.call(b.program(), http.MethodPost, "/payments/search",
			`{"page": 1, "limit": 10, "sourceRefNo": `+number+`}`)
		if said.status != http.StatusOK || !strings.Contains(said.body, fmt.Sprintf(`"totalRecords":%d,`, want)) ||
			strings.Count(said.body, named) != want {
			t.Errorf("%s: %d %.300s", number, said.status, said.body)
		}
	}
}

// uploadsCSV has a file of the customer's taken in and checked, and returns its number.
func (b *bank) uploadsCSV(text string) (number int) {
	b.t.Helper()
	sent := b.call(b.program(), http.MethodPost, fmt.Sprintf("/v1/payments/customers/%s/files/csv", b.acme.UID),
		form("pay.csv", text))
	if _, rest, _ := strings.Cut(sent.body, "file number "); sent.status != http.StatusOK {
		b.t.Fatal(sent.body)
	} else if _, err := fmt.Sscan(strings.Split(rest, ",")[0], &number); err != nil {
		b.t.Fatal(err, sent.body)
	}
	b.checks()
	return number
}

func TestALineWithoutAPaymentShowsTheDayThatItNames(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	number := b.uploadsCSV(
		"externalReferenceId,paymentAmount,paymentDate,senderAccountNumber,senderBankId,receiverAccountNumber\n" +
			"SAL-1,10,11-24-2026,123456789,611090001,4400123401\n")
	said := b.get(b.program(), fmt.Sprintf("/v1/files/%d/payments", number)).body
	for _, want := range []string{
		`"paymentStatus":"VALIDATION_FAILED"`, `"paymentDate":"2026-11-24"`,
		`"senderAccountNumber":"****6789","senderBankId":"611090001"`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
}

// The oldest upload says in its query what today's says in its path, and leads there.
func TestTheOldestUploadLeadsToTodays(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	of := b.acme.UID.String()
	for query, want := range map[string]struct{ code, names, link string }{
		"":                   {"BULKFILE_REQUEST_INVALID", "customerUID", "/docs"},
		"?customerUID=" + of: {"BULKFILE_REQUEST_INVALID", "fileType", "/docs"},
		"?customerUID=x&fileType=csv": {
			"BULKFILE_REQUEST_INVALID", "customerUID",
			"/v1/payments/customers/x/files/csv",
		}, "?fileType=swift&customerUID=" +
			of: {"UnsupportedFileTypeException", "fileType", "/v1/payments/customers/" + of + "/files/swift"},
	} {
		answer := b.call(b.program(), http.MethodPost, "/bulkpayment/files"+query, form("pay.csv", "x"))
		answer.refused(t, query, http.StatusBadRequest, want.code, want.names)
		if link := answer.header.Get("Link"); !strings.HasPrefix(link, "<"+want.link+">") {
			t.Errorf("%s leads to %s", query, link)
		}
	}
	for _, path := range []string{
		"/bulkpayment/files?customerUID=" + of, "/v1/payments/customers/" + of + "/files/csv",
	} {
		if !rest.IsUpload(request(http.MethodPost, path, "")) ||
			rest.IsUpload(request(http.MethodPut, path, "")) {
			t.Errorf("POST %s alone brings a file", path)
		}
	}
	if rest.IsUpload(request(http.MethodPost, "/bulkpayment/files/search", "")) {
		t.Error("a search brings no file")
	}
}

// What describes the parts of a form is kept in memory, and no file: it is bounded, before the file and after
// it.
func TestAFormHasLittleBesideItsFile(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := fmt.Sprintf("/v1/payments/customers/%s/files/csv", b.acme.UID)
	long := "X-Long: " + strings.Repeat("x", 70<<10) + "\r\n"
	part := "--" + boundary + "\r\n" + long + "Content-Disposition: form-data; name=\"note\"\r\n\r\nx\r\n"
	parts := strings.Repeat("--"+boundary+"\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nx\r\n", 3000)
	file := form("pay.csv", strings.Repeat("x", 100<<10)+"\n")
	end := strings.TrimSuffix(file, "--"+boundary+"--\r\n")
	for name, body := range map[string]string{
		"a long header before it": part + file, "many parts before it": parts + file,
		"a long header after it": end + part + "--" + boundary + "--\r\n",
		"many parts after it":    end + parts + "--" + boundary + "--\r\n",
	} {
		b.call(b.program(), http.MethodPost, path, body).
			refused(t, name, http.StatusBadRequest, "BULKFILE_REQUEST_INVALID", "64 KiB")
	}
	little := strings.Repeat("--"+boundary+"\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nx\r\n", 10)
	if done := b.call(b.program(), http.MethodPost, path,
		little+form("pay.csv", "y\n")); done.status != http.StatusOK {
		t.Errorf("%d %s", done.status, done.body)
	}
}

// A form is read to the end of its body before anything is made of it, also where something follows the form:
// who has yet to send may be cut, and what is worked on may not.
func TestAFormIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.handler = rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler)}) // reads no body beforehand
	path := fmt.Sprintf("/v1/payments/customers/%s/files/csv", b.acme.UID)
	for name, after := range map[string]string{"nothing": "", "little": "\r\nepilogue"} {
		r := request(http.MethodPost, path, form("pay.csv", name+"\n")+after)
		whole := &ending{Reader: iotest.OneByteReader(r.Body)}
		r.Body, r.ContentLength = whole, -1
		if done := b.send(b.program(), r); done.status != http.StatusOK || !whole.ended {
			t.Errorf("%s after it: %d %s, read to its end: %t", name, done.status, done.body, whole.ended)
		}
	}
	r := request(http.MethodPost, path, form("pay.csv", "long\n")+strings.Repeat("x", 70<<10))
	b.send(b.program(), r).refused(t, "much after it", http.StatusBadRequest, "BULKFILE_REQUEST_INVALID",
		"64 KiB")
}

// An upload gives way from its first byte on, also where only what stands before its file is waited for:
// callers who begin forms, and send no files in them, do not shut out who has none coming in
// (rest/CONTRACT.md, bulk files).
func TestAFormThatIsBegunGivesWayBeforeItsFile(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.handler = rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler)}) // reads no body beforehand
	path := fmt.Sprintf("/v1/payments/customers/%s/files/csv", b.acme.UID)
	var all sync.WaitGroup
	var senders []*io.PipeWriter
	answers := make(chan said, 32)
	for _, login := range []string{"ann", "bob"} {
		by := b.Someone(login)
		for range 16 {
			body, sender := io.Pipe()
			senders = append(senders, sender)
			r := request(http.MethodPost, path, form("", ""))
			r.Body, r.ContentLength = body, -1
			at := &place{cut: func() { _ = body.CloseWithError(os.ErrDeadlineExceeded) }}
			all.Go(func() { answers <- b.send(rest.WithPlace(by, at), r) })
			_, _ = sender.Write([]byte("--" + boundary + "\r\n")) // it is read, so the upload has been let in
		}
	}
	if done := b.call(b.Someone("cid"), http.MethodPost, path,
		form("pay.csv", "x\n")); done.status != http.StatusOK {
		t.Errorf("who has none coming in: %d %s", done.status, done.body)
	}
	for _, sender := range senders {
		_ = sender.Close()
	}
	all.Wait()
	close(answers)
	gave := 0
	for one := range answers {
		if one.status == http.StatusTooManyRequests {
			gave++
		}
	}
	if gave != 1 {
		t.Errorf("%d gave way to one", gave)
	}
}

// ending knows whether it was read to its end.
type ending struct {
	io.Reader
	ended bool
}

func (e *ending) Read(into []byte) (int, error) {
	n, err := e.Reader.Read(into)
	e.ended = e.ended || errors.Is(err, io.EOF)
	return n, err
}

func (e *ending) Close() error { return nil }
