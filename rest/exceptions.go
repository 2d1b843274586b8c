package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails/calendar"
)

var (
	exceptionLines = table("PPD001", notAuthorized)

	exceptionSearchV2 = dialect{
		success: successExceptions, failure: failureC1, lines: exceptionLines, phrase: "Exception search failed",
	}

	exceptionsV2 = dialect{success: bare, failure: failureC1, lines: exceptionLines}

	decisionsV1 = dialect{success: bare, failure: failureC4, lines: exceptionLines}

	// oneDecisionV1 has no code, as published.
	oneDecisionV1 = dialect{success: bare, failure: failureC3, lines: exceptionLines}
)

// successExceptions has the rows under a name of their own, beside what C1 has.
func successExceptions(said answer) any {
	return struct {
		Status     string      `json:"status"`
		Code       *string     `json:"code"`
		Message    *string     `json:"message"`
		Pagination *pagination `json:"pagination"`
		Exceptions any         `json:"positivePayExceptions"`
	}{Status: "Success", Pagination: said.pages, Exceptions: said.data}
}

// searchExceptions takes the page from the query (rest/CONTRACT.md, pages).
func (a *api) searchExceptions(r *http.Request) (answer, error) {
	q := readBody(r)
	sheet, f := q.page(exceptionPages), q.fields()
	by := positivepay.ExceptionSearch{
		Payment:       int64(orZero(idIn(f, payments.ParseUID, "paymentUID"))),
		Customer:      orZero(idIn(f, customers.ParseUID, "customerUID")),
		CustomerName:  f.text("customerName").Value,
		AccountNumber: orZero(wordIn(f, accounts.ParseNumber, "customerAccountNumber")),
		SECCode:       f.text("secCode").Value,
		MinAmount:     orZero(idIn(f, positivepay.ParseExceptionAmount, "amountFrom")),
		MaxAmount:     orZero(idIn(f, positivepay.ParseExceptionAmount, "amountTo")),
		DecidedFrom:   orZero(wordIn(f, date, "decisionDateFrom")),
		DecidedTo:     orZero(wordIn(f, date, "decisionDateTo")),
		DebitFrom:     latest(orZero(wordIn(f, date, "debitDateFrom")), orZero(wordIn(f, date, "paymentDateFrom"))),
		DebitTo:       earliest(orZero(wordIn(f, date, "debitDateTo")), orZero(wordIn(f, date, "paymentDateTo"))),
		Status:        decisionStatuses(f),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.PositivePay.Exceptions(r.Context(), by, sheet.window())
	return list(found.Items, found.Total, sheet, exceptionOf), err
}

// decisionStatuses reads the status, one or several. Where none is given those count that are decided, as
// published.
func decisionStatuses(f fields) []positivepay.DecisionStatus {
	if _, several := f.members["status"].([]any); several {
		if all := f.texts("status").Value; len(all) > 0 && f.q.err == nil {
			found, err := positivepay.ParseDecisionStatuses("status", strings.Join(all, ","))
			f.q.fail(err)
			return found
		}
	} else if found := wordIn(f, positivepay.ParseDecisionStatuses, "status"); found != nil {
		return *found
	}
	return []positivepay.DecisionStatus{
		positivepay.AutoMatched, positivepay.Approved, positivepay.Declined, positivepay.DefaultDecision,
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earliest returns the earlier one of two days of which either may be absent.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

type exceptionDecided struct {
	PaymentID string `json:"paymentId"`
}

// decidedOne answers a decision on one exception.
func decidedOne(out changes.Outcome[payments.DecidedException], err error) (answer, error) {
	message := out.Result.Message
	return done(http.StatusOK, out.Receipt, envelopeC1{
		Status: "Success", Message: &message, Data: exceptionDecided{out.Result.Payment.String()},
	}), err
}

// acceptedAmount reads the amount to pay in place of the one that was asked for: from the query, or from the
// body, where one version of the texts has it. What is given in both must be the same.
func acceptedAmount(q *reader) string {
	const field = "acceptedAmount"
	accepted := inQuery(q, field, positivepay.ParseExceptionAmount)
	also := orZero(idIn(q.fields(), positivepay.ParseExceptionAmount, field))
	switch {
	case accepted == "":
		return also
	case also != "" && decimal(also) != decimal(accepted):
		q.fail(fault.Field(positivepay.ExceptionObject, field, fault.Malformed,
			"must be the same in the query and in the body"))
	}
	return accepted
}

func (a *api) approveException(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, options := inPath(q, "paymentId", payments.ParseUID), q.options()
	draft := payments.DecisionDraft{AcceptedAmount: acceptedAmount(q)}
	if q.err != nil {
		return answer{}, q.err
	}
	return decidedOne(a.core.Payments.ApproveException(r.Context(), uid, draft, options))
}

func (a *api) rejectException(r *http.Request) (answer, error) {
	q := read(r)
	uid, options := inPath(q, "paymentId", payments.ParseUID), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	return decidedOne(a.core.Payments.RejectException(r.Context(), uid, options))
}

// decision reads what is decided: whether debits are paid.
func decision(field, text string) (bool, error) {
	word, ok := ident.Word(text, "approve", "reject")
	if !ok {
		return false, fault.Field(positivepay.ExceptionObject, field, fault.Malformed, "must be approve or reject")
	}
	return word == "approve", nil
}

type decided struct {
	PaymentID string `json:"paymentId"`
	Message   string `json:"message"`
}

func (a *api) decideExceptions(r *http.Request) (answer, error) {
	q := readBody(r)
	receipt, all, err := a.decideMany(r, q, inPath(q, "decisionType", decision), "ids")
	return done(http.StatusOK, receipt, all), err
}

// approveExceptions is the older form, whose ids have another name and whose answer an envelope.
func (a *api) approveExceptions(r *http.Request) (answer, error) {
	q := readBody(r)
	receipt, all, err := a.decideMany(r, q, true, "paymentUID")
	return done(http.StatusOK, receipt, envelopeC1{Status: "Success", Data: all}), err
}

// decideMany decides on the exceptions whose payments a member of the body lists.
func (a *api) decideMany(
	r *http.Request, q *reader, approve bool, member string,
) (changes.Receipt, []decided, error) {
	draft, options := payments.ManyDecisions{Approve: approve}, q.options()
	draft.Payments = idsIn(q.fields(), payments.ParseUID, member)
	if approve && acceptedAmount(q) != "" {
		q.fail(fault.Field(positivepay.ExceptionObject, "acceptedAmount", fault.Forbidden,
			"is of one request for payment: approve it on its own"))
	}
	if q.err != nil {
		return changes.Receipt{}, nil, q.err
	}
	out, err := a.core.Payments.DecideExceptions(r.Context(), draft, options)
	return out.Receipt, each(out.Result, func(d payments.DecidedException) decided {
		return decided{d.Payment.String(), d.Message}
	}), fault.Called(err, map[string]string{"ids": member})
}

func (a *api) decideException(r *http.Request) (answer, error) {
	q := readBody(r)
	uid, approve, options := inPath(q, "paymentId", payments.ParseUID),
		inPath(q, "decisionType", decision), q.options()
	draft := payments.DecisionDraft{}
	if approve {
		draft.AcceptedAmount = acceptedAmount(q)
	}
	if q.err != nil {
		return answer{}, q.err
	}
	var out changes.Outcome[payments.DecidedException]
	var err error
	if approve {
		out, err = a.core.Payments.ApproveException(r.Context(), uid, draft, options)
	} else {
		out, err = a.core.Payments.RejectException(r.Context(), uid, options)
	}
	return done(http.StatusOK, out.Receipt, envelopeC3{out.Result.Message}), err
}

// manyApprovals names the operation that approves many exceptions.
func manyApprovals(*http.Request) string { return "/v1/positivepay/payments/decisions/approve" }

// manyDecisions names the operation that decides on many exceptions.
func manyDecisions(r *http.Request) string {
	return "/v1/positivepay/payments/decisions/" + strings.ToLower(chi.URLParam(r, "decisionType"))
}

// exception is an exception as it is shown.
type exception struct {
	ExceptionUID              string                     `json:"exceptionUID"`
	PaymentUID                string                     `json:"paymentUID"`
	PaymentRuleType           positivepay.Type           `json:"paymentRuleType"`
	Amount                    money.Amount               `json:"amount"`
	ACHCompanyID              string                     `json:"achCompanyID"`
	CustomerAccountNumber     string                     `json:"customerAccountNumber"`
	BeneName                  string                     `json:"beneName"`
	BeneBankName              string                     `json:"beneBankName"`
	ExceptionReason           positivepay.Mismatch       `json:"exceptionReason"`
	ExceptionDateTime         string                     `json:"exceptionDateTime"`
	ExpiryDateTime            string                     `json:"expiryDateTime"`
	PositivePayDecisionStatus positivepay.DecisionStatus `json:"positivePayDecisionStatus"`
	SECCode                   string                     `json:"secCode"`
	ApprovedBy                string                     `json:"approvedBy"`
	ApprovedDate              string                     `json:"approvedDate"`
}

func exceptionOf(e *positivepay.ShownException) exception {
	view := exception{
		ExceptionUID: e.UID.String(), PaymentUID: payments.UID(e.Payment).String(), PaymentRuleType: e.Type,
		Amount: e.Amount(), ACHCompanyID: e.ACHCompanyID, CustomerAccountNumber: e.AccountNumber(),
		BeneName: e.BeneficiaryName, BeneBankName: e.BeneficiaryBankName, ExceptionReason: e.Reason,
		ExceptionDateTime: eastern(e.CreatedAt), ExpiryDateTime: eastern(e.ExpiresAt),
		PositivePayDecisionStatus: e.Status, SECCode: e.SECCode, ApprovedBy: e.DecidedBy(),
	}
	if e.DecidedAt != nil {
		view.ApprovedDate = eastern(*e.DecidedAt)
	}
	return view
}

// eastern writes a time as exceptions have it: of clocks in New York (rest/CONTRACT.md, exceptions).
func eastern(at time.Time) string { return at.In(calendar.Zone()).Format("01-02-2006 15:04:05") }
