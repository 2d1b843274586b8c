package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/limits"
)

// changeLimits answers no body.
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

// checkLimits answers 204 where no limit applies.
func (a *api) checkLimits(r *http.Request) (answer, error) {
	q := readBody(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	asked := limits.Asked{
		Rail:   inBody(q, "paymentRail", limits.ParseRail),
		Amount: q.numberInBody("paymentAmount"),
		On:     inBody(q, "deliveryDate", limits.ParseDate),
	}
	q.fail(asked.ParseClass(q.wordInBody("secCode"), q.wordInBody("entryType")))
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Limits.Check(r.Context(), customer, asked)
	return limitsOf(found), err
}
