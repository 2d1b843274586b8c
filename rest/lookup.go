package rest

import (
	"net/http"

	"bankgraph/core/accounts"
)

// lookUpCustomer answers no profile for a number that leads nowhere or to somebody else's customer.
func (a *api) lookUpCustomer(r *http.Request) (answer, error) {
	q := read(r)
	number := inPath(q, "accountNumber", accounts.ParseNumber)
	of := inQuery(q, "accountType", accounts.ParseType)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Accounts.Lookup(r.Context(), number, of)
	return one(profilesOf(found)), err
}
