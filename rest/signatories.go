package rest

import (
	"net/http"

	"bankgraph/core/customers"
)

// listSignatories counts pages from zero and answers no page object (contract, paging style PG3).
func (a *api) listSignatories(r *http.Request) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerId", customers.ParseUID)
	sheet := q.sheet(signatoryPages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Signatories.Of(r.Context(), customer, sheet.window())
	return one(signatoriesOf(found.Items)), err
}
