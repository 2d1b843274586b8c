package rest

import (
	"net/http"

	"bankgraph/core/accounts"
	"bankgraph/core/fault"
)

var lookupV1 = dialect{
	success: bare, failure: failureC4, lines: table("LKUP_VALIDATION_ERROR", "LKUP_ACCESS_DENIED",
		wrong("accountNumber", fault.Max, "LKUP_ACCNUM_MAX"),
		wrong("accountNumber", fault.AllZero, "LKUP_ACCNUM_ALLZERO"),
		wrong("accountNumber", "", "LKUP_ACCNUM_INVALID"),
		wrong("accountType", "", "LKUP_ACCTYPE_INVALID"),
		line{kind: fault.Internal, status: http.StatusInternalServerError, code: "LKUP_INTERNAL_ERROR"}),
}

// lookUpCustomer answers without a profile if the number does not exist or belongs to a foreign customer.
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
