package rest

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/waterfalls"
)

// waterfallsV1 answers batches of book transfers (rest/CONTRACT.md, waterfalls).
var waterfallsV1 = dialect{
	success: bare, failure: failureWaterfall,
	lines: table("WF_REQUEST_INVALID", "WF_ACCESS_DENIED",
		line{
			is: waterfalls.ErrReference, status: http.StatusConflict,
			code: "WF_EXTERNALREF_CONFLICT", exact: true,
		},
		line{
			is: changes.ErrKeyReused, status: http.StatusConflict,
			code: "WF_IDEMPOTENT_KEY_CONFLICT", exact: true,
		},
		line{is: errBatchKey, status: http.StatusBadRequest, code: "WF_IDEMPOTENT_KEY_REQUIRED", exact: true},
		line{is: errNoUUID, status: http.StatusBadRequest, code: "WF_IDEMPOTENT_KEY_INVALID", exact: true},
		line{kind: fault.Unauthenticated, status: http.StatusUnauthorized, code: "WF_CALLINGORG_UNAUTHORIZED"},
		line{kind: fault.TooMany, status: http.StatusTooManyRequests, code: "WF_ERROR"},
		line{kind: fault.Unavailable, status: http.StatusServiceUnavailable, code: "WF_ERROR"},
		line{kind: fault.Internal, status: http.StatusInternalServerError, code: "WF_ERROR"}),
}

// errBatchKey is of a batch without an idempotency key.
var errBatchKey = fault.New(fault.Invalid, "waterfall.key", "is required: a batch runs once for each key").
	On("Idempotent-Key")

// waterfallAreas are the beginnings of the codes of fields; the first that fits counts.
var waterfallAreas = []area{
	{"externalReferenceId", "WF_EXTERNALREF"},
	{"paymentIndex", "WF_PAYMENT_INDEX"},
	{"paymentAmount", "WF_PAYMENT_AMOUNT"},
	{"paymentNotes", "WF_PAYMENT_NOTES"},
	{"debtorAccount.routingNumber", "WF_DEBTOR_ROUTINGNUMBER"},
	{"debtorAccount.accountNumber", "WF_DEBTOR_ACCOUNTNUMBER"},
	{"debtorAccount.accountType", "WF_DEBTOR_ACCOUNTTYPE"},
	{"debtorAccount.accountSubType", "WF_DEBTOR_ACCOUNTSUBTYPE"},
	{"debtorAccount.currency", "WF_DEBTOR_CURRENCY"},
	{"debtorAccount", "WF_DEBTOR_ACCOUNT"},
	{"creditorAccount.routingNumber", "WF_CREDITOR_ROUTINGNUMBER"},
	{"creditorAccount.accountNumber", "WF_CREDITOR_ACCOUNTNUMBER"},
	{"creditorAccount.accountType", "WF_CREDITOR_ACCOUNTTYPE"},
	{"creditorAccount.accountSubType", "WF_CREDITOR_ACCOUNTSUBTYPE"},
	{"creditorAccount.currency", "WF_CREDITOR_CURRENCY"},
	{"creditorAccount", "WF_CREDITOR_ACCOUNT"},
	{"payments", "WF_PAYMENTS"},
}

// waterfallFault is one mistake, with the index of its payment where it is of one.
type waterfallFault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Index   int64  `json:"paymentIndex,omitzero"`
}

// inBatch is a field of a payment, by the payment's index.
var inBatch = regexp.MustCompile(`^payments(\[(\d+)\])?\.?`)

// failureWaterfall is a list of codes, with the index of the payment that each is about (rest/CONTRACT.md,
// waterfalls).
func failureWaterfall(_ string, all []reported) any {
	return struct {
		Errors []waterfallFault `json:"errors"`
	}{each(all, func(t reported) waterfallFault {
		view := waterfallFault{Code: t.code, Message: t.message}
		if t.status != http.StatusBadRequest {
			return view
		}
		field := t.field
		if at := inBatch.FindStringSubmatch(field); at != nil && field != "payments" {
			view.Index, _ = strconv.ParseInt(at[2], 10, 32)
			field = strings.TrimPrefix(field, at[0])
		}
		for _, a := range waterfallAreas {
			if field == a.field {
				view.Code = a.code + "_" + string(t.problem)
				break
			}
		}
		return view
	})}
}

func (a *api) runWaterfall(r *http.Request) (answer, error) {
	q := readBody(r)
	draft, options := waterfallDraft(q.fields()), q.options()
	switch {
	case options.IdempotencyKey == "":
		q.fail(errBatchKey)
	case uuid.Validate(options.IdempotencyKey) != nil:
		q.fail(errNoUUID)
	}
	if q.err != nil {
		return answer{}, byIndex(q.err, draft)
	}
	out, err := a.core.Waterfalls.Run(r.Context(), draft, options)
	return done(http.StatusCreated, out.Receipt, waterfallAccepted{out.Result.ID}), byIndex(err, draft)
}

// waterfallAccepted answers that a batch runs.
type waterfallAccepted struct {
	ID uuid.UUID `json:"waterfallId"`
}

func waterfallDraft(body fields) waterfalls.Draft {
	d := waterfalls.Draft{ExternalReferenceID: body.text("externalReferenceId").Value}
	items, _ := body.each("payments")
	for _, item := range items {
		d.Payments = append(d.Payments, waterfalls.Transfer{
			Index: orZero(idIn(item, paymentIndex, "paymentIndex")), Amount: item.number("paymentAmount").Value,
			Notes: item.text("paymentNotes").Value, Debtor: waterfallParty(item.object("debtorAccount")),
			Creditor: waterfallParty(item.object("creditorAccount")),
		})
	}
	return d
}

func waterfallParty(f fields) payments.Party {
	return payments.Party{
		Number: f.text("accountNumber").Value, Type: f.text("accountType").Value,
		SubType:       f.text("accountSubType").Value,
		RoutingNumber: f.text("routingNumber").Value,
	}
}

// paymentIndex reads the place of a payment in its batch.
func paymentIndex(field, text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return 0, fault.Field("waterfall", field, fault.Number, "must be a whole number from 1 on")
	case n < 1: // 0 is given, and not absent
		return 0, fault.Field("waterfall", field, fault.Min, "must be 1 or more")
	}
	return int32(n), nil
}

// place is a payment's place in the request.
var place = regexp.MustCompile(`^payments\[(\d+)\]`)

// byIndex names what is wrong with payments by their indexes, as answers do, and not by their places in the
// request. Of a payment without an index the message says its place.
func byIndex(err error, d waterfalls.Draft) error {
	named := func(f *fault.Fault) *fault.Fault {
		at := place.FindStringSubmatch(f.Field)
		if at == nil {
			return f
		}
		field := strings.TrimPrefix(f.Field, at[0])
		n, wrong := strconv.Atoi(at[1])
		if wrong == nil && n < len(d.Payments) && d.Payments[n].Index > 0 {
			return f.On("payments[" + strconv.Itoa(int(d.Payments[n].Index)) + "]" + field)
		}
		return f.On("payments" + field).Saying("payment " + strconv.Itoa(n+1) +
			" of the request: " + f.Message)
	}
	var several fault.Faults
	if errors.As(err, &several) {
		all := make(fault.Faults, len(several))
		for i, f := range several {
			all[i] = named(f)
		}
		return all
	}
	if f, is := fault.Of(err); is && f.Field != "" {
		return named(f)
	}
	return err
}
