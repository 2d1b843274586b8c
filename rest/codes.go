package rest

import (
	"slices"
	"strings"

	"bankgraph/core/fault"
)

// Code is a published code of failures: its area, its status, and when it is answered.
type Code struct {
	Area   string `json:"area"`
	Status int    `json:"status"`
	Code   string `json:"code"` // "" in areas where failures are only a message
	When   string `json:"when"`
}

// families are the dialects with the names of their areas for readers.
var families = []struct {
	name string
	dialect
}{
	{"Customers", customersV2},
	{"Contacts", contactsV2},
	{"Accounts, v3", accountsV3},
	{"Accounts, v2 and oldest form", accountsV2},
	{"Accounts, v2 actions", accountActionsV2},
	{"Sweeps", sweepsV1},
	{"Payments", paymentsV3},
	{"Credit requests", creditsV3},
	{"Credits, v4", creditsV4},
	{"Debits, v4", debitsV4},
	{"Book transfers", bookTransfersV3},
	{"Waterfalls", waterfallsV1},
	{"Recurrences", recurrencesV1},
	{"Requests for information", rfiV1},
	{"File uploads", uploadsV1},
	{"File search", fileSearch},
	{"File payments", filePaymentsV1},
	{"Positive pay search", positiveRuleSearch},
	{"Positive pay rules, v2", positiveRulesV2},
	{"Positive pay rules, v3", positiveRulesV3},
	{"Virtual accounts", virtualAccountsV2},
	{"Quotes", quotesV3},
	{"Quote acceptances", acceptancesV2},
	{"Quote rejections", rejectionsV2},
	{"Trades", tradesV2},
	{"Signatories", signatoriesV1},
	{"Users and roles", peopleV1},
	{"Limit check", limitsV1},
	{"Limit update", limitUpdateV1},
	{"Fees", feesV1},
	{"Lookup", lookupV1},
	{"Banks", banksV1},
	{"Banks by routing number", routingV1},
}

// Codes returns the codes of all areas, from the dialects. The reference shows them.
func Codes() []Code {
	var all []Code
	for _, family := range families {
		seen := map[*fault.Fault]bool{}
		for _, l := range family.lines {
			if seen[l.is] {
				continue // only the first line that fits counts
			}
			seen[l.is] = l.is != nil
			at := slices.IndexFunc(all,
				func(c Code) bool {
					return c.Area == family.name && c.Code == l.code && c.Status == l.status
				})
			switch {
			case at < 0:
				all = append(all, Code{family.name, l.status, l.code, l.when()})
			case !strings.Contains(all[at].When, l.when()):
				all[at].When += "; " + l.when()
			}
		}
	}
	return all
}

// when describes the faults that a line stands for.
func (l line) when() string {
	switch {
	case l.as != nil:
		return l.as.Message
	case l.is != nil:
		return l.is.Message
	case l.field == wholeBody:
		return "the body names nothing"
	case l.field != "":
		return l.field + " " + problems[l.problem]
	}
	return kinds[l.kind]
}

var problems = map[fault.Problem]string{
	"": "is wrong in another way", fault.Required: "is missing", fault.Malformed: "does not have its form",
	fault.Max:   "is too long or too large",
	fault.Exact: "does not have its length", fault.NoMatch: "does not fit its type or another field",
	fault.Min: "is too small", fault.AllZero: "is all zeros", fault.Unknown: "names nothing that there is",
}

var kinds = map[fault.Kind]string{
	"":                    "anything else that is wrong with the request: the message names the field",
	fault.Unauthenticated: "no valid access token",
	fault.Denied:          "the caller may not do this", fault.TooMany: "too many requests",
	fault.Unavailable: "the bank cannot answer now",
	fault.Internal:    "the server failed",
}
