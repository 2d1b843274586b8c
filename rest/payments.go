package rest

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

var (
	paymentsV3 = dialect{
		success: successC1, failure: failureC1, lines: table("PAYMENT001", notAuthorized,
			line{is: payments.ErrNotFound, status: http.StatusNotFound, code: serverFailure}),
	}

	returnsV3 = dialect{
		success: successC1, failure: failureC1, lines: table("PAYMENT003", notAuthorized,
			line{is: payments.ErrNotFound, status: http.StatusNotFound, code: serverFailure}),
		phrase: "Payment return failed",
	}

	reversalsV3 = dialect{
		success: successC1, failure: failureC1, lines: table("PAYMENT004", notAuthorized,
			line{is: payments.ErrNotFound, status: http.StatusNotFound, code: serverFailure}),
		phrase: "Payment reversal failed",
	}

	bookTransfersV3 = dialect{success: successC1, failure: failureC1, lines: table("BOOKTRF001", notAuthorized)}
)

func (a *api) bookTransfer(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := transferDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.Transfer(r.Context(), draft, options)
	return done(http.StatusOK, out.Receipt, paymentSavedOf(out.Result)), err
}

func (a *api) findPayment(r *http.Request) (answer, error) {
	q := read(r)
	uid := inPath(q, "paymentUID", payments.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	p, err := a.core.Payments.Show(r.Context(), uid)
	if err != nil {
		return answer{}, err
	}
	return versioned(p.Version, paymentOf(p, zoneOf(r))), nil
}

// zoneOf is the time zone of the caller's bank.
func zoneOf(r *http.Request) *time.Location {
	caller, err := access.Require(r.Context())
	if err != nil {
		return time.UTC // nobody is answered
	}
	return caller.Location()
}

// searchPayments reads the page from the body, too (rest/CONTRACT.md, PG5).
func (a *api) searchPayments(r *http.Request) (answer, error) {
	q := readBody(r)
	by, sheet := paymentSearch(q.fields()), q.pageInBody(paymentPages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Payments.Page(r.Context(), by, sheet.window())
	zone := zoneOf(r)
	return list(found.Items, found.Total, sheet,
		func(p *payments.Shown) paymentItem { return paymentItemOf(p, zone) }), err
}

func (a *api) cancelPayment(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options := inPath(q, "paymentUID", payments.ParseUID), q.options()
	options.Reason = inBody(q, "notes", atMost(100))
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.Cancel(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, paymentCancelled{out.Result.UID.String()}), err
}

// returnPayment gives back what came in. achReturnCode is the deprecated name of returnCode, which counts if
// both are given.
func (a *api) returnPayment(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentUID", payments.ParseUID), q.options(), q.fields()
	draft := payments.Return{
		Code: cmp.Or(f.text("returnCode").Value, f.text("achReturnCode").Value), Notes: f.text("returnNotes").Value,
		Type: f.text("returnType").Value, Amount: f.number("settlementAmount").Value,
		Reject: f.text("rejectReasonCode").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.Return(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, paymentCancelled{out.Result.UID.String()}), err
}

func (a *api) reversePayment(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "paymentUID", payments.ParseUID), q.options(), q.fields()
	draft := payments.Reversal{
		Code: f.text("reversalCode").Value, Notes: f.text("reversalNotes").Value,
		Party: f.text("initiatingParty").Value,
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.Reverse(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, paymentCancelled{out.Result.UID.String()}), err
}

// paymentSearch reads what to search for (rest/CONTRACT.md, payment search).
func paymentSearch(f fields) payments.Search {
	by := payments.Search{
		SenderNumber:        orZero(wordIn(f, payments.ParseNumber, "senderAccountNo")),
		ReceiverNumber:      orZero(wordIn(f, payments.ParseNumber, "receiverAccountNo")),
		SenderName:          f.text("senderName").Value,
		ReceiverName:        f.text("receiverName").Value,
		ExternalReferenceID: f.text("externalReferenceId").Value,
		Notes:               f.text("description").Value,
		SenderCurrency:      string(orZero(wordIn(f, currency, "currency"))),
		Decimal:             orZero(idIn(f, payments.ParseDecimal, "paymentAmount")),
		LeastDecimal:        orZero(idIn(f, payments.ParseDecimal, "minAmount")),
		MostDecimal:         orZero(idIn(f, payments.ParseDecimal, "maxAmount")),
		From:                orZero(wordIn(f, date, "fromDate")),
		To:                  orZero(wordIn(f, date, "toDate")),
		MostRecent:          f.flag("mostRecent").Value,

		UltimateReceiverName:   f.text("ultimateReceiverName").Value,
		UltimateReceiverNumber: orZero(wordIn(f, accounts.ParseNumber, "ultimateReceiverAccountNo")),
	}
	by.UID = sought(f, &by, payments.ParseUID, "paymentUID")
	by.Customer = sought(f, &by, customers.ParseUID, "customerUID")
	by.SenderAccount = sought(f, &by, accounts.ParseUID, "senderAccountId")
	if status := f.text("status").Value; status != "" {
		by.States = payments.StatesOf(payments.Status(strings.ToUpper(status)))
	}
	by.Recurrence = sought(f, &by, payments.ParseRecurrenceUID, "recurrenceId")
	by.Contact = sought(f, &by, contacts.ParseUID, "receiverId")
	by.Trade = sought(f, &by, fx.ParseTradeUID, "forexContractNo")
	if way := f.text("wireType").Value; way != "" {
		direction, known := wireTypes[strings.ToUpper(way)]
		by.Rails, by.Direction, by.None = rails.Networks, direction, by.None || !known
	}
	if method := f.text("deliveryMethod").Value; method != "" {
		rail, known := rails.ParseNetwork(method)
		by.Rails, by.None = []rails.Rail{rail}, by.None || !known
	}
	if number := f.number("sourceRefNo").Value; number != "" {
		uid, err := files.ParseFileUID("sourceRefNo", number)
		by.BulkFile, by.None = int64(uid), by.None || err != nil || uid == 0
	}
	for _, name := range unmet {
		by.None = f.number(name).Value != "" || by.None
	}
	return by
}

// wireTypes are the directions of payments over a network, as they are published.
var wireTypes = map[string]payments.Direction{
	string(payments.OutgoingPayment): payments.Out, string(payments.IncomingPayment): payments.In,
}

// unmet are the conditions that no payment meets yet: they are of tokens and of virtual accounts that pay.
var unmet = []string{
	"senderAccountTokenId", "receiverAccountTokenId",
	"ultimateSenderName", "ultimateSenderAccountNo",
}

// sought reads the number of a thing to search for. No thing has the number 0, which core takes for absent.
func sought[T ~int64](f fields, by *payments.Search, parse parser[T], name string) T {
	uid := idIn(f, parse, name)
	by.None = uid != nil && *uid == 0 || by.None
	return orZero(uid)
}

func orZero[T any](value *T) (zero T) {
	if value == nil {
		return zero
	}
	return *value
}
