package rest

import (
	"net/http"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

var (
	accountLines = table("ACC001", notAuthorized,
		because(accounts.ErrNotFound, "ACC002"))

	accountsG1 = dialect{success: successC1, failure: failureC1, lines: accountLines, spelled: accountWords}

	accountsV2 = accountsG1

	accountsV3 = dialect{success: successV3, failure: failureC5, lines: accountLines}

	// Changes in the third generation answer C6 and C8 without an envelope around them.
	accountsSavedV3 = dialect{success: bare, failure: failureC5, lines: accountLines, spelled: featureWords}

	accountActionsV2 = dialect{success: bare, failure: failureC5, lines: table("ACC001", notAuthorized,
		because(accounts.ErrNotFound, "ACC002"),
		wrong("action", fault.Required, "CUSTOMER_BNKACCTACTION_REQUIRED").exactly(),
		wrong("action", "", "CUSTOMER_BNKACCTACTION_INVALID").exactly(),
		wrong("reason", fault.Required, "CUSTOMER_BNKACCTREASON_REQUIRED").exactly())}
)

// accountWords are the names that the first two generations use for fields of core.
var accountWords = map[string]string{
	"enableUnderWritten": "isUnderWritten", "enableAchPrefund": "isAchPrefund",
}

// featureWords are the paths of an account's features in the third generation.
var featureWords = map[string]string{
	"enableWire":              "accountFeatures.fedWireFeature.enableWire",
	"enableDomesticWire":      "accountFeatures.fedWireFeature.enableDomesticWire",
	"enableInternationalWire": "accountFeatures.fedWireFeature.enableInternationalWire",
	"enableCallbacks":         "accountFeatures.fedWireFeature.enableCallbacks",
	"callbackLimit":           "accountFeatures.fedWireFeature.callbackLimit",
	"enableACH":               "accountFeatures.achFeature.enableACH",
	"enableOffset":            "accountFeatures.achFeature.enableOffset",
	"defaultOffset":           "accountFeatures.achFeature.defaultOffset",
	"enableUnderWritten":      "accountFeatures.achFeature.enableUnderWritten",
	"enableAchPrefund":        "accountFeatures.achFeature.enableAchPrefund",
	"achCompanyId":            "accountFeatures.achFeature.achCompanyId",
	"debitExposureLimit":      "accountFeatures.achFeature.debitExposureLimit",
	"creditExposureLimit":     "accountFeatures.achFeature.creditExposureLimit",
	"secCodes":                "accountFeatures.achFeature.secCodes",
}

// searchAccountsG1 answers one object if an account number is given, and else an array: a published
// walkthrough reads the UID from data.accountUID (rest/CONTRACT.md, account search).
func (a *api) searchAccountsG1(r *http.Request) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	by := accountFilters(q, yesNo)
	if by.Number == "" {
		return a.searchAccounts(q, customer, by, accountPagesG1, accountG1Of)
	}
	return a.findAccountByNumberG1(q, customer, by)
}

func (a *api) findAccountByNumberG1(q *reader, customer customers.UID, by accounts.Search) (answer, error) {
	if q.err != nil {
		return answer{}, q.err
	}
	account, err := a.core.Accounts.OfNumber(q.r.Context(), customer, by, accounts.WithoutBalances())
	if err != nil {
		return answer{}, err
	}
	return versioned(account.Version, accountG1Of(account)), nil
}

func (a *api) searchAccountsV2(r *http.Request) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	return a.searchAccounts(q, customer, accountFilters(q, flag), pagesV2, accountItemV2Of)
}

// accountFilters are those of both generations: one that is ignored would show all accounts. Their switches
// are written differently.
func accountFilters(q *reader, flag parser[*bool]) accounts.Search {
	return accounts.Search{
		Number:     inQuery(q, "accountNumber", accounts.ParseNumber),
		Type:       inQuery(q, "accountType", accounts.ParseType),
		SubType:    inQuery(q, "accountSubType", accounts.ParseSubType),
		Status:     inQuery(q, "status", accounts.ParseStatus),
		Currency:   inQuery(q, "currency", currency),
		CostCenter: inQuery(q, "costCenter", words),
		Wires:      inQuery(q, "wireEnabled", flag),
	}
}

// searchAccountsV3 reads the search from the body and the pages from the query.
func (a *api) searchAccountsV3(r *http.Request) (answer, error) {
	q := readBody(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	by := accounts.Search{
		Number:  inBody(q, "accountNumber", accounts.ParseNumber),
		Type:    inBody(q, "accountType", accounts.ParseType),
		SubType: inBody(q, "accountSubType", accounts.ParseSubType),
		Status:  inBody(q, "status", accounts.ParseStatus), Currency: inBody(q, "currency", currency),
		CostCenter: inBody(q, "costCenter", words), Wires: q.flagInBody("wireEnabled"),
		Fedwire: q.flagInBody("fedwireEnabled"), ACH: q.flagInBody("achEnabled"),
		FedNow: q.flagInBody("fedNowEnabled"), RTP: q.flagInBody("rtpEnabled"),
		SWIFT: q.flagInBody("swiftEnabled"),
	}
	return a.searchAccounts(q, customer, by, accountPagesV3, accountV3Of)
}

// searchAccounts is shared by the three searches. Balances are read only for the retrieval of one account.
func (a *api) searchAccounts(
	q *reader, of customers.UID, by accounts.Search, n numbering, view func(*accounts.Account) any,
) (answer, error) {
	sheet := q.page(n)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Accounts.Of(q.r.Context(), of, by, accounts.WithoutBalances(), sheet.window())
	return list(found.Items, found.Total, sheet, view), err
}

// findAccountG1 ignores page and limit, which are published too (rest/CONTRACT.md, account search).
func (a *api) findAccountG1(r *http.Request) (answer, error) {
	return a.findAccount(r, accountG1Of, yesNo)
}

func (a *api) findAccountV2(r *http.Request) (answer, error) {
	return a.findAccount(r, accountV2Of, flag)
}

func (a *api) findAccountV3(r *http.Request) (answer, error) {
	return a.findAccount(r, accountV3Of, flag)
}

func (a *api) findAccount(
	r *http.Request, view func(*accounts.Account) any, flag parser[*bool],
) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	uid := inPath(q, "accountUID", accounts.ParseUID)
	balances := inQuery(q, "includeAccountBalance", flag)
	if q.err != nil {
		return answer{}, q.err
	}
	account, err := a.core.Accounts.Find(r.Context(), customer, uid,
		accounts.Everything(balances != nil && *balances))
	if err != nil {
		return answer{}, err
	}
	return versioned(account.Version, view(account)), nil
}
