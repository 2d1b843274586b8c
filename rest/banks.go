package rest

import (
	"net/http"

	"bankgraph/core/banks"
	"bankgraph/core/fault"
)

var (
	// The two operations with a routing number in their path answer alike.
	routingV1 = dialect{
		success: bare, failure: failureC11, lines: table("ROUTING_NUMBER_INVALID", notAuthorized,
			because(banks.ErrNotFound, "ROUTING_NUMBER_NOTFOUND")),
	}

	banksV1 = dialect{
		success: successV3, failure: failureC4, lines: table("BANK_INVALID_REQUEST", notAuthorized,
			because(banks.ErrNotFound, "BANK_BANKID_NOTFOUND"),
			wrong("bankId", fault.Required, "BANK_BANKID_REQUIRED"),
			wrong("bankIdType", "", "BANK_BANKIDTYPE_INVALID"),
			wrong("countryCode", fault.Required, "BANK_COUNTRYCODE_REQUIRED"),
			wrong("countryCode", "", "BANK_COUNTRYCODE_EXACT"),
			wrong("bankId", "", "BANK_BANKID_NOMATCH")),
	}
)

func (a *api) findRoutedBank(r *http.Request) (answer, error) {
	q := read(r)
	number := inPath(q, "routingNumber", banks.ParseRouting)
	if q.err != nil {
		return answer{}, q.err
	}
	bank, err := a.core.Banks.Routed(r.Context(), number)
	if err != nil {
		return answer{}, err
	}
	return one(routedOne{RoutingNumber: routedOf(bank)}), nil
}

func (a *api) searchBanks(r *http.Request) (answer, error) {
	q := read(r)
	prefix := inPath(q, "routingNumber", banks.ParseRoutingPrefix)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Banks.Beginning(r.Context(), prefix)
	return one(routedList{RoutingNumber: each(found, routedOf)}), err
}

func (a *api) lookUpBank(r *http.Request) (answer, error) {
	q := read(r)
	asked := banks.Lookup{
		ID: inQuery(q, "bankId", text), Type: inQuery(q, "bankIdType", text),
		Country: inQuery(q, "countryCode", text),
	}
	if q.err != nil {
		return answer{}, q.err
	}
	bank, err := a.core.Banks.Look(r.Context(), asked)
	if err != nil {
		return answer{}, err
	}
	return one(lookedUpOf(bank)), nil
}
