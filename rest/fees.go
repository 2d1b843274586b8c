package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/fees"
)

// feesV1 has no codes: a failure is only a message.
var feesV1 = dialect{success: bare, failure: failureC3, lines: table("", notAuthorized)}

func (a *api) addFeeTier(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerUID", customers.ParseUID), feeDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Fees.Add(r.Context(), customer, draft, options)
	return done(http.StatusCreated, out.Receipt, feeSaved{out.Result.ID}), err
}

// changeFeeTier merges: fields that the body does not give stay as they are.
func (a *api) changeFeeTier(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, id := inPath(q, "customerUID", customers.ParseUID), inPath(q, "feeId", fees.ParseID)
	draft, options := feeDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Fees.Change(r.Context(), customer, id, draft, options)
	return done(http.StatusOK, out.Receipt, feeSaved{out.Result.ID}), err
}
