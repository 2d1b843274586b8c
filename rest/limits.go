package rest

import (
	"net/http"
	"slices"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
)

var (
	// shared by checks and updates of limits
	limitLines = slices.Clip([]line{
		because(customers.ErrNotFound, "CUSTOMER_CUSTOMERID_NOTFOUND"),
		because(customers.ErrOutOfScope, "CUSTOMER_CUSTOMERID_NOTFOUND").toldAs(customers.ErrNotFound),
		{is: errMediaType, status: http.StatusUnsupportedMediaType, code: "CUSTOMERLIMIT_UNSUPPORTED_MEDIATYPE"},
		wrong("customerUID", fault.AllZero, "CUSTOMER_CUSTOMERID_ALLZERO"),
		wrong("customerUID", "", "CUSTOMER_CUSTOMERID_NUMBER"),
	})

	limitsV1 = dialect{
		success: bare, failure: failureC4,
		lines: table("CUSTOMERLIMIT_INVALID_REQUEST", notAuthorized, append(limitLines,
			wrong("paymentRail", fault.Required, "CUSTOMERLIMIT_PAYMENTRAIL_REQUIRED"),
			wrong("paymentRail", "", "CUSTOMERLIMIT_PAYMENTRAIL_INVALID"),
			wrong("paymentAmount", "", "CUSTOMERLIMIT_AMOUNT_INVALID"),
			wrong("deliveryDate", "", "CUSTOMERLIMIT_DATE_INVALID"),
			wrong("secCode", "", "CUSTOMERLIMIT_SECCODE_INVALID"),
			wrong("entryType", fault.Required, "CUSTOMERLIMIT_ENTRYTYPE_REQUIRED"),
			wrong("entryType", "", "CUSTOMERLIMIT_ENTRYTYPE_INVALID"))...),
	}

	// Failures of the server have a code of their own in the update, with status 400 (rest/CONTRACT.md,
	// failures of the server).
	limitUpdateV1 = dialect{
		success: bare, failure: failureC4,
		lines: table("CUSTOMERLIMIT_INVALID_REQUEST", notAuthorized, append(limitLines,
			because(customers.ErrInactive, "CUSTOMER_CUSTOMERID_STATUS"),
			because(limits.ErrProcessingOrg, "CUSTOMER_CUSTOMERID_NOTALLOWED"),
			because(limits.ErrNone, "CUSTOMERLIMIT_BASELINE_NOTFOUND"),
			line{is: changes.ErrStale, status: http.StatusConflict, code: "CUSTOMERLIMIT_UPDATE_FAILED"},
			because(changes.ErrWaiting, "CUSTOMERLIMIT_UPDATE_FAILED"),
			line{kind: fault.Internal, status: http.StatusBadRequest, code: "CUSTOMERLIMIT_UPDATE_FAILED"},
			line{
				subject: "limit", field: "body", problem: fault.Required, status: http.StatusBadRequest,
				code: "CUSTOMERLIMIT_LIST_EMPTY",
			},
			wrong("entityLimitId", fault.Required, "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED"),
			wrong("entityLimitId", fault.Unknown, "CUSTOMERLIMIT_UNKNOWN_KEY"),
			wrong("entityLimitValue", fault.Required, "CUSTOMERLIMIT_VALUE_REQUIRED"),
			wrong("entityLimitValue", fault.Min, "CUSTOMERLIMIT_VALUE_NEGATIVE"),
			wrong("entityLimitValue", "", "CUSTOMERLIMIT_VALUE_INVALID"))...),
	}
)

// changeLimits answers without a body.
func (a *api) changeLimits(r *http.Request) (answer, error) {
	q := readList(r)
	customer, drafts, options := inPath(q, "customerUID", customers.ParseUID), each(q.items(), limitDraft),
		q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Limits.Change(r.Context(), customer, drafts, options)
	return done(http.StatusOK, out.Receipt, nil), err
}

// checkLimits answers 204 if no limit applies.
func (a *api) checkLimits(r *http.Request) (answer, error) {
	q := readBody(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	asked := limits.Asked{
		Rail:   inBody(q, "paymentRail", limits.ParseRail),
		Amount: q.numberInBody("paymentAmount"),
		On:     inBody(q, "deliveryDate", date),
	}
	q.fail(asked.ParseClass(q.wordInBody("secCode"), q.wordInBody("entryType")))
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Limits.Check(r.Context(), customer, asked)
	return limitsOf(found), err
}
