package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
)

var recurrencesV1 = dialect{
	success: bare, failure: failureC12,
	lines: table("RECURRENCE_REQUEST_INVALID", notAuthorized,
		because(payments.ErrNoRecurrence, "RECURRING_PAYMENT_NOT_FOUND").exactly(),
		because(payments.ErrRecurrenceOver, "RECURRENCE_STATUS_INVALID").exactly(),
		because(payments.ErrLimit, "RECURRENCE_AMOUNT_LIMIT").exactly(),
		because(payments.ErrOwnLimit, "RECURRENCE_AMOUNT_LIMIT").exactly(),
		because(payments.ErrNetworkLimit, "RECURRENCE_AMOUNT_LIMIT").exactly()),
}

// recurrencesV4 is the older form, which answers a message alone.
var recurrencesV4 = dialect{
	success: bare, failure: failureC3, lines: recurrencesV1.lines,
	spelled: map[string]string{"numberOfPayments": "noOfPayments"},
}

// envelopeC12 answers changes of series; of one that is done, errors is empty.
type envelopeC12 struct {
	Message string           `json:"message"`
	Errors  []codeAndMessage `json:"errors"`
}

// failureC12 has a code for each field, such as RECURRENCE_ENDDATE_REQUIRED.
func failureC12(_ string, all []reported) any {
	return envelopeC12{Message: messages(all), Errors: each(all, func(t reported) codeAndMessage {
		return codeAndMessage{recurrenceCode(t), t.message}
	})}
}

// recurrenceCode is the code of what is wrong with a series: its end and its number are REQUIRED or INVALID,
// whatever is wrong with them (rest/CONTRACT.md, recurrences).
func recurrenceCode(t reported) string {
	if t.status != http.StatusBadRequest {
		return t.code
	}
	code := strings.Replace(t.detail("RECURRENCE"), "NUMBEROFPAYMENTS", "COUNT", 1)
	for _, field := range []string{"RECURRENCE_ENDDATE_", "RECURRENCE_COUNT_"} {
		if strings.HasPrefix(code, field) && t.problem != fault.Required {
			return field + string(fault.Malformed)
		}
	}
	return code
}

func (a *api) skipRecurrence(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "recurrenceId", payments.ParseRecurrenceUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.SkipRecurrence(r.Context(), uid, options)
	return done(http.StatusOK, out.Receipt, envelopeC12{
		says(out.Receipt, "Next payment skipped"),
		[]codeAndMessage{},
	}), err
}

func (a *api) changeRecurrence(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "recurrenceId", payments.ParseRecurrenceUID), q.options(), q.fields()
	draft := payments.RecurrenceDraft{
		End: orZero(wordIn(f, date, "endDate")), Number: f.whole("numberOfPayments"),
		Frequency: f.text("frequency").Value, Amount: f.number("amount").Value,
		Next: orZero(wordIn(f, date, "nextPaymentDate")),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.ChangeRecurrence(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, envelopeC12{
		says(out.Receipt, "Recurrence updated"),
		[]codeAndMessage{},
	}), err
}

// changeRecurrenceV4 names a payment of the series beside it, and writes days with slashes.
func (a *api) changeRecurrenceV4(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options, f := inPath(q, "recurrenceId", payments.ParseRecurrenceUID), q.options(), q.fields()
	draft := payments.RecurrenceDraft{
		Payment: inPath(q, "paymentUID", payments.ParseUID),
		End:     orZero(wordIn(f, dateWithSlashes, "endDate")), Number: f.whole("noOfPayments"),
		Frequency: f.text("frequency").Value, Amount: f.number("amount").Value,
		Next: orZero(wordIn(f, dateWithSlashes, "nextPaymentDate")),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.ChangeRecurrence(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, envelopeC3{says(out.Receipt, "Recurrence updated")}), err
}

// recurrenceInV1 is the successor of the older form.
func recurrenceInV1(r *http.Request) string {
	return "/v1/recurrences/" + chi.URLParam(r, "recurrenceId")
}

func (a *api) cancelRecurrence(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "recurrenceId", payments.ParseRecurrenceUID), q.options()
	options.Reason = inQuery(q, "cancelReason", atMost(100))
	draft := payments.Cancellation{Source: inQuery(q, "cancellationSource", atMost(50))}
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Payments.CancelRecurrence(r.Context(), uid, draft, options)
	return done(http.StatusOK, out.Receipt, envelopeC12{
		says(out.Receipt, "Recurrence cancelled"),
		[]codeAndMessage{},
	}), err
}

// repetition reads how a payment is to be repeated, by days that day reads; nil for a single one.
func repetition(body fields, day parser[time.Time]) *payments.Repetition {
	f := body.object("recurrence")
	if f.members == nil {
		return nil
	}
	return &payments.Repetition{
		Frequency: f.text("frequency").Value, Until: f.text("payUntil").Value,
		End:    orZero(wordIn(f, day, "endDate")),
		Number: f.whole("numberOfPayments"),
	}
}

// recurrence is what a payment shows of the series that it was made of.
type recurrence struct {
	PaymentRecurrenceID string `json:"paymentRecurrenceId"`
	// the same, as it was called before
	PaymentOccurrenceID  string                    `json:"paymentOccurrenceId"`
	EndAmount            money.Amount              `json:"endAmount"` // of the payments to come
	Frequency            payments.Frequency        `json:"frequency"`
	PayUntil             payments.PayUntil         `json:"payUntil"`
	StartDate            string                    `json:"startDate"`
	EndDate              string                    `json:"endDate"`
	EndNumberPayments    int32                     `json:"endNumberPayments"` // 0 without one
	Status               payments.RecurrenceStatus `json:"status"`
	NextPaymentDate      string                    `json:"nextPaymentDate"`
	LastPaymentReference payments.UID              `json:"lastPaymentReference"`
}

// recurrenceOf is nil for a single payment.
func recurrenceOf(s *payments.Series) *recurrence {
	if s.UID == 0 {
		return nil
	}
	return &recurrence{
		PaymentRecurrenceID: s.UID.String(), PaymentOccurrenceID: s.UID.String(), EndAmount: s.Amount(),
		Frequency: s.Frequency, PayUntil: s.Until, StartDate: shownDay(s.Start), EndDate: shownDay(s.End),
		EndNumberPayments: s.Number, Status: s.Status, NextPaymentDate: shownDay(s.Next),
		LastPaymentReference: s.Last,
	}
}

func shownDay(day *time.Time) string {
	if day == nil {
		return ""
	}
	return day.Format(time.DateOnly)
}
