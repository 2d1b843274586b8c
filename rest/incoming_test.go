package rest_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	did "bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// receives makes what operations are about that take a payment which is in the books: {I} came in, {sent}
// went out, {T} is a transfer, {M} one of the series {Q}, {G} a file, {J} one that waits for approval.
func (b *bank) receives(o operation) {
	b.t.Helper()
	b.making.Lock()
	defer b.making.Unlock()
	var err error
	switch {
	case strings.Contains(o.path, "{I}") && b.came == 0:
		b.came = b.credited(b.Staff(), b.purse.UID)
		if o.name == "rfi_history" {
			b.asks(b.Staff(), b.came)
		}
	case strings.Contains(o.path, "{sent}") && b.gone == 0:
		b.Directory()
		b.gone = b.sends(b.Staff(), b.purse.UID, payments.Receiver{
			Number: "440055551", Name: "Ada Byron", Bank: payments.ReceiverBank{ID: "611590103"},
			Type: "Deposit", SubType: "Checking",
		})
	case strings.Contains(o.path+o.body, "{E}") && b.held == 0:
		b.held = b.debited(b.purse.UID)
	case (strings.Contains(o.path, "{Q}") || strings.Contains(o.path, "{M}")) && b.series.UID == 0:
		var made did.Outcome[payments.Saved]
		made, err = b.Payments.Transfer(b.Staff(), payments.Draft{
			Sender: payments.Party{UID: b.purse.UID}, Receiver: payments.Party{UID: b.desk.UID}, Amount: "25",
			Repeat: &payments.Repetition{Frequency: "Monthly", Until: "Cancelled"},
		}, did.RequestOptions{})
		b.series = made.Result
	case strings.Contains(o.path, "/virtual-accounts/transactions/") && b.rent == nil:
		b.rent = b.rents()
	case strings.Contains(o.path+o.body, "{G}") && b.file == 0:
		b.file = b.filed()
	case strings.Contains(o.path, "{J}") && b.waiting == 0:
		b.waiting = b.asked()
	case strings.Contains(o.path+o.body, "{V}") && b.offer == (fx.QuoteUID{}):
		b.offer, b.privateOffer = b.offers(b.acme), b.offers(b.direct)
	case strings.Contains(o.path, "{Z}") && b.deal == 0:
		b.deal, b.privateDeal = b.deals(b.acme), b.deals(b.direct)
	case strings.Contains(o.path, "{T}") && b.transfer == 0:
		var made did.Outcome[payments.Saved]
		made, err = b.Payments.Transfer(b.Staff(), payments.Draft{
			Sender: payments.Party{UID: b.purse.UID}, Receiver: payments.Party{UID: b.desk.UID}, Amount: "25",
		}, did.RequestOptions{})
		b.transfer = made.Result.UID
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// asks asks for information about a payment, lets the other bank ask, too, and waits for its answer.
func (b *bank) asks(ctx context.Context, about payments.UID) {
	b.t.Helper()
	_, err := b.Payments.RequestInformation(ctx, about, payments.InformationDraft{
		Missing: []*payments.InformationItem{{Code: "NARR", Info: "Which invoice does it pay?"}},
		Party:   "Ada Byron",
	}, did.RequestOptions{})
	if err == nil {
		_, err = b.Sandbox.PlayInformationRequest(ctx, about, sandbox.Inquiry{Code: "IN06"}, did.RequestOptions{})
	}
	operator := access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone())
	for _, work := range []func(context.Context) (int, error){b.Payments.HandOver, b.Payments.Receive} {
		if err == nil {
			_, err = work(operator)
		}
	}
	if err == nil && b.Clock != nil {
		b.Clock.Advance(5 * time.Second)
		_, err = b.Payments.Receive(operator)
		b.Clock.Advance(-5 * time.Second)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// rents makes a payment of another bank's customer to acme's virtual account, without booking it.
func (b *bank) rents() *payments.Payment {
	b.t.Helper()
	p := *b.paid
	p.UID, p.Direction, p.Rail, p.Notes = 9_001, payments.In, rails.FedNow, "Rent of November"
	p.Customer, p.ReceiverCustomer = b.direct.UID, b.direct.UID // it stands in no list of acme's
	p.SenderAccount, p.SenderName, p.ReceiverAccount = 0, "Ada Byron", b.operating.UID
	p.FeeMinor, p.FeeName, p.FeeTier, p.Virtual, p.ExternalReferenceID = 0, "", "", b.virtual.UID, "RENT-11"
	err := b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&p).Exec(ctx)
		if err == nil {
			_, err = tx.NewRaw(`INSERT INTO virtual_postings (tenant, id, virtual_account, customer, account, payment,
				journal, amount, currency, at, client, reach)
				SELECT ?0, 7, ?1, ?2, ?3, ?4, min(id), ?5, 'USD', ?6,
				  'operator', 'Bank' FROM journals
				WHERE tenant = ?0`, b.Tenant, p.Virtual, b.acme.UID, p.ReceiverAccount, p.UID, p.Minor,
				coretest.Start).Exec(ctx)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return &p
}

// debited lets a company at another bank debit an account, which positive pay holds, and returns the payment.
func (b *bank) debited(of accounts.UID) (uid payments.UID) {
	b.t.Helper()
	staff := access.With(b.t.Context(), access.Caller{
		Tenant: b.Tenant, Zone: coretest.Zone(), Client: "staff", Reach: access.OfBank, Permissions: access.All,
	})
	err := b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE accounts SET enable_positive_pay = true WHERE tenant = ? AND uid = ?`,
			b.Tenant, of).Exec(ctx)
		return err
	})
	if err == nil {
		_, err = b.Sandbox.PlayDebit(staff, sandbox.Debit{Account: of, Amount: "25", CompanyBank: "611590103"},
			did.RequestOptions{})
	}
	if err == nil {
		_, err = b.Payments.Receive(access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone()))
	}
	if err == nil {
		err = b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ? AND entry_type = 'DEBIT'
			AND direction = 'IN'`, b.Tenant).
			Scan(b.t.Context(), &uid)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return uid
}

// filed has a file of the partner's checked and paid.
func (b *bank) filed() files.FileUID {
	b.t.Helper()
	uid := b.uploads(b.Staff(), "invoices.txt", "INV-7")
	b.checks()
	if _, err := b.Files.Pay(b.worker()); err != nil {
		b.t.Fatal(err)
	}
	return uid
}

// asked has a file of the partner's checked that waits for a second person, and lets programs be one.
func (b *bank) asked() files.FileUID {
	b.t.Helper()
	b.Exec(`INSERT INTO tenant_settings (tenant, people_decide) VALUES (?, false)
		ON CONFLICT (tenant) DO UPDATE SET people_decide = false`, b.Tenant)
	const dual = `UPDATE customers SET access_payment_dual_approval = ? WHERE tenant = ? AND uid = ?`
	b.Exec(dual, true, b.Tenant, b.partner.UID)
	uid := b.uploads(access.With(b.t.Context(), access.Caller{
		Tenant: b.Tenant, TenantCode: b.Code, Zone: coretest.Zone(), Client: "portal", LoginID: "ada.byron",
		Entity: int64(b.partner.UID), Partner: int64(b.partner.UID), Reach: access.OfPartner,
		Permissions: access.All,
	}), "bills.txt", "BILL-7")
	b.checks()
	b.Exec(dual, false, b.Tenant, b.partner.UID)
	return uid
}

func (b *bank) worker() context.Context {
	return access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone())
}

func (b *bank) checks() {
	b.t.Helper()
	if _, err := b.Files.Check(b.worker()); err != nil {
		b.t.Fatal(err)
	}
}

// uploads has a file of the partner's taken in: a batch of ACH, of whose two entries one has a fault.
func (b *bank) uploads(by context.Context, name, id string) files.FileUID {
	b.t.Helper()
	var text bytes.Buffer
	w, err := nacha.NewWriter(&text, nacha.Header{
		Origin: "611090001", Destination: "611090001", OriginName: "Partner", DestinationName: "Bank",
		CreatedAt: coretest.Start,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.CCD, CompanyID: "1234567890", CompanyName: "Partner", Description: "INVOICES",
			Effective: coretest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1), Bank: "611090001",
		})
	}
	for _, bank := range []string{"611590103", "011000028"} {
		if err == nil {
			_, err = w.Entry(nacha.Entry{
				Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(12_50, "USD"), Routing: bank,
				Number: "440055551", Name: "Old Mill Ltd", ID: id,
			})
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	var made did.Outcome[files.Saved]
	if err == nil {
		made, err = b.Files.Upload(by, files.Upload{
			Customer: b.partner.UID, Type: files.NACHA, Open: files.OpenText(name, &text),
		}, did.RequestOptions{})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Result.UID
}

// offers asks for a quote for a customer.
func (b *bank) offers(to *customers.Customer) fx.QuoteUID {
	b.t.Helper()
	made, err := b.FX.Quote(b.Staff(), fx.Draft{
		IDType: "CustomerUID", UID: to.UID, Sell: "USD", Buy: "EUR", Funding: "2500", Product: "SPOT",
		Tenor: "SPOT",
	}, did.RequestOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Result.UID
}

// deals books a trade with a customer.
func (b *bank) deals(with *customers.Customer) fx.TradeUID {
	b.t.Helper()
	made, err := b.FX.Accept(b.Staff(), b.offers(with), fx.Acceptance{}, did.RequestOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Result.UID
}

// credited lets a customer of another bank pay an account, and returns the payment.
func (b *bank) credited(ctx context.Context, to accounts.UID) (uid payments.UID) {
	b.t.Helper()
	_, err := b.Sandbox.PlayCredit(ctx, sandbox.Credit{Account: to, Amount: "25", Rail: "FEDNOW"},
		did.RequestOptions{})
	if err == nil {
		_, err = b.Payments.Receive(access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone()))
	}
	if err == nil {
		err = b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ? AND entry_type = 'CREDIT'`, b.Tenant).
			Scan(b.t.Context(), &uid)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return uid
}

// sends pays somebody at another bank, and returns the payment, which is on its way.
func (b *bank) sends(ctx context.Context, from accounts.UID, to payments.Receiver) payments.UID {
	b.t.Helper()
	made, err := b.Payments.Send(ctx, payments.Order{
		Sender: payments.Party{UID: from}, Amount: "25", Currency: "USD", Speed: string(payments.Instant),
		ExternalReferenceID: "INV-7", Notes: "Rent", Receiver: to,
	}, did.RequestOptions{})
	if err == nil {
		_, err = b.Payments.SendQueued(b.worker())
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Result.UID
}

// A payment that came in says who pays, from which bank, and whom the bank credits.
func TestAPaymentThatCameInSaysWhoPays(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{I}"})
	found := b.call(b.program(), http.MethodGet, "/v3/payments/"+b.came.String(), "")
	for _, member := range []string{
		`"wireType":"INCOMING_PAYMENT"`,
		`"senderName":"Customer of another bank"`, `"senderBankId":"021000021"`,
		`"senderAccountUID":""`, `"senderAccountNumber":"****2233"`, `"receiverBankId":"611090001"`,
		`"counterPartyId":"` + b.partner.UID.String() + `"`,
		`"status":"PROCESSED"`, `"memoPostStatus":"POSTED"`,
		`"entryType":"CREDIT"`, `"deliveryMethod":"FEDNOW"`,
	} {
		if !strings.Contains(found.body, member) {
			t.Errorf("has no %s: %s", member, found.body)
		}
	}
	for body, n := range map[string]int{
		`{"wireType":"incoming_payment", "page":1, "limit":5}`:                                 1,
		`{"wireType":"OUTGOING_PAYMENT", "deliveryMethod":"FEDNOW", "page":1, "limit":5}`:      0,
		`{"wireType":"BOTH", "page":1, "limit":5}`:                                             0,
		`{"senderAccountNo":"8800112233", "wireType":"INCOMING_PAYMENT", "page":1, "limit":5}`: 1,
	} {
		if got := strings.Count(b.call(b.program(), http.MethodPost, "/v3/payments/search", body).body,
			`"paymentUID"`); got != n {
			t.Errorf("%s finds %d, want %d", body, got, n)
		}
	}
}

// What cannot be given back or asked back has the code of its operation.
func TestReturnsAndReversalsAreRefusedWithTheirCodes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{I}"})
	came, paid := "/v3/payments/"+b.came.String(), "/v3/payments/"+b.paid.UID.String()
	for path, code := range map[string]string{
		paid + "/return": "PAYMENT003", came + "/reverse": "PAYMENT004", "/payments/4711/return": "API900",
		"/payments/4711/reverse": "API900",
	} {
		status := http.StatusBadRequest
		if code == "API900" {
			status = http.StatusNotFound
		}
		if got := b.call(b.program(), http.MethodPut, path,
			`{"returnCode":"CUST", "reversalCode":"CUST"}`); got.status != status ||
			!strings.Contains(got.body, `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// A debit that was paid is given back by its code of ACH, under either name; the newer one counts.
func TestADebitIsGivenBackByEitherNameOfItsCode(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, body := range []string{
		`{"achReturnCode":"R29"}`, `{"returnCode":"R29", "achReturnCode":"R99"}`,
	} {
		uid := b.debited(b.purse.UID).String()
		if got := b.call(b.program(), http.MethodPut, "/v2/positivepay/exception/"+uid+"/approve",
			""); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		late := b.call(b.program(), http.MethodPut, "/v3/payments/"+uid+"/return", `{"returnCode":"R10"}`)
		if late.status != http.StatusBadRequest || !strings.Contains(late.body, "PAYMENT003") {
			t.Errorf("%d %s", late.status, late.body)
		}
		if got := b.call(b.program(), http.MethodPut, "/v3/payments/"+uid+"/return",
			body); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
		if got := b.call(b.program(), http.MethodGet, "/v3/payments/"+uid, ""); !strings.Contains(got.body,
			`"status":"RETURNED"`) {
			t.Error(got.body)
		}
	}
}

// demands lets a customer of another bank ask the purse for 25.00, or for less, and returns the payment.
func (b *bank) demands() (uid payments.UID) {
	b.t.Helper()
	_, err := b.Sandbox.PlayRequest(b.Staff(), sandbox.Request{
		Account: b.purse.UID, Amount: "25", Rail: "RTP", Modifiable: true,
	}, did.RequestOptions{})
	if err == nil {
		_, err = b.Payments.Receive(b.worker())
	}
	if err == nil {
		err = b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ? AND state = ?`, b.Tenant,
			payments.OnHold).Scan(b.t.Context(), &uid)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return uid
}

// One version of the texts has the accepted amount in the body, the others in the query: it counts in either.
func TestAnAcceptedAmountCountsInTheQueryAndInTheBody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	one, older := "/v2/positivepay/exception/{E}/approve", "/v1/positivepay/payments/{E}/decisions/Approve"
	put := func(path string, uid payments.UID, body string) said {
		return b.call(b.program(), http.MethodPut, strings.ReplaceAll(path, "{E}", uid.String()), body)
	}
	uid := b.demands()
	for _, path := range []string{one, older} {
		for _, wrong := range []struct{ query, body, why string }{
			{"", `{"acceptedAmount": 25.01}`, "acceptedAmount: must not be above"},
			{"", `{"acceptedAmount": -5}`, "acceptedAmount: must be greater than 0"},
			{"", `{"acceptedAmount": "five"}`, "acceptedAmount: must be a number"},
			{"", `{"acceptedAmount": true}`, "acceptedAmount: must be a string or a number"},
			{"?acceptedAmount=5", `{"acceptedAmount": 6}`, "acceptedAmount: must be the same"},
		} {
			put(path+wrong.query, uid, wrong.body).
				refused(t, path+wrong.query+wrong.body, http.StatusBadRequest, "PPD001", wrong.why)
		}
	}
	for _, many := range []operation{
		{method: http.MethodPut, path: "/v2/positivepay/exception/approveall", body: "paymentUID"},
		{method: http.MethodPatch, path: "/v1/positivepay/payments/decisions/approve", body: "ids"},
	} {
		b.call(b.program(), many.method, many.path, `{"`+many.body+`": [`+uid.String()+`], "acceptedAmount": 5}`).
			refused(t, many.path, http.StatusBadRequest, "PPD001", "acceptedAmount: is of one request")
	}
	for i, right := range []struct{ path, body string }{
		{one, `{"acceptedAmount": 5}`},
		{one, `{"acceptedAmount": "5.00"}`},
		{older, `{"acceptedAmount": 5.0}`},
		{one + "?acceptedAmount=5.00", `{"acceptedAmount": 5}`},
		{one + "?acceptedAmount=5", `{}`},
		{older + "?acceptedAmount=5", ""},
	} {
		if i > 0 {
			uid = b.demands()
		}
		if got := put(right.path, uid, right.body); got.status != http.StatusOK {
			t.Fatalf("%+v: %d %s", right, got.status, got.body)
		}
		var minor int64
		if err := b.DB.NewRaw(`SELECT amount FROM payments
			WHERE tenant = ? AND direction = ? AND entry_type = 'CREDIT'
			ORDER BY uid DESC LIMIT 1`, b.Tenant, payments.Out).Scan(t.Context(), &minor); err != nil || minor != 5_00 {
			t.Errorf("%+v pays %d %v", right, minor, err)
		}
	}
}

// What is wrong with a list of exceptions is told by the name that the list has in the request.
func TestAListOfExceptionsIsCalledByItsNameInTheRequest(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.call(b.program(), http.MethodPut, "/v2/positivepay/exception/approveall", `{}`).
		refused(t, "the older form", http.StatusBadRequest, "PPD001",
			"paymentUID: must name at least one payment")
	b.call(b.program(), http.MethodPatch, "/v1/positivepay/payments/decisions/approve", `{}`).
		refused(t, "today's", http.StatusBadRequest, "PPD001", "ids: must name at least one payment")
	for ids, why := range map[string]string{
		`[4711]`: "no such exception", `["4711", 4712]`: "no such exception", `[4711.0]`: "no such exception",
		`4711`: "must be a list", `[4711, {}]`: "[1]: must be a string or a number",
		`[4711, ""]`: "[1]: must be an id",
		`[null]`:     "[0]: must be an id", `["x"]`: "[0]: must be the digits", `[1.5]`: "[0]: must be the digits",
	} {
		b.call(b.program(), http.MethodPut, "/v2/positivepay/exception/approveall", `{"paymentUID": `+ids+`}`).
			refused(t, ids, http.StatusBadRequest, "PPD001", why)
		b.call(b.program(), http.MethodPatch, "/v1/positivepay/payments/decisions/approve", `{"ids": `+ids+`}`).
			refused(t, ids, http.StatusBadRequest, "PPD001", why)
	}
}

// A search whose members are all there, and empty, asks for nothing; the other side has two names in it.
func TestARuleSearchTakesEmptyMembersAsAbsent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	const path = "/v2/positivepay/rules/search?page=1&records=1"
	for _, body := range []string{
		`{"companyName": "", "beneName": "", "companyBankId": "", "beneBankId": "", "status": "", "amount": ""}`,
		`{"companyName": "", "beneName": "Nobody"}`,
	} {
		if said := b.call(b.program(), http.MethodPost, path, body); said.status != http.StatusOK {
			t.Errorf("%s: %s", body, said.body)
		}
	}
	b.call(b.program(), http.MethodPost, path, `{"companyName": "Somebody", "beneName": "Nobody"}`).
		refused(t, "two names", http.StatusBadRequest, "POSITIVERULE001", "must be given once")
}
