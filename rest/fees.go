package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/fees"
)

func (a *api) addFeeTier(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, terms := inPath(q, "customerUID", customers.ParseUID), feeDraft(q.fields()), q.terms()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Fees.Add(r.Context(), customer, draft, terms)
	return done(http.StatusCreated, out.Mark, feeSaved{out.Result.ID}), err
}

// changeFeeTier merges: what the body does not give stays as it is.
func (a *api) changeFeeTier(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, id := inPath(q, "customerUID", customers.ParseUID), inPath(q, "feeId", fees.ParseID)
	draft, terms := feeDraft(q.fields()), q.terms()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Fees.Change(r.Context(), customer, id, draft, terms)
	return done(http.StatusOK, out.Mark, feeSaved{out.Result.ID}), err
}
