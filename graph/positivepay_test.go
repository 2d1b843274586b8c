package graph_test

import (
	"fmt"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/positivepay"
	"bankgraph/core/seal"
)

func init() {
	declare("PositivePayRule", node{
		needs: access.ViewPositiveRules, list: "positivePayRules", rows: positivePayRows,
		id: func(c customers.UID, n int) string { return "ppr_" + ruleOf(c, n).String() },
	})
	needs["Query.positivePayRules"] = []access.Permission{access.ViewPositiveRules}
	needs["PositivePayRule.account"] = []access.Permission{access.ViewAccounts}
	for list, way := range map[string]string{
		"Query.positivePayRules":    "{ %s }",
		"Customer.positivePayRules": "{ customers(first: 7) { nodes { %s } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"customer":     customers.UID.String,
			"account":      func(c customers.UID) string { return accountOf(c, 0).String() },
			"achCompanyId": func(c customers.UID) string { return fmt.Sprint("Alpha ACHCompanyID ", ruleOf(c, 0)) },
			"beneficiaryName": func(c customers.UID) string {
				return fmt.Sprint("alpha beneficiaryname ",
					ruleOf(c, 0))
			},
		} {
			lookups[list+".filter."+field] = lookup{
				fmt.Sprintf(way,
					`positivePayRules(first: 2, filter: {`+field+`: "%s"}) { totalCount
						nodes { ALL(PositivePayRule) } }`),
				value,
			}
		}
	}
	of := func(n int) func(customers.UID) string {
		return func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, ruleOf(activeOf(c), n)) }
	}
	const shown = `positivePayRule { id uid status type amount amountType frequency secCode achCompanyId
		beneficiaryName
		beneficiaryAccountNumber { masked } effectiveDate expiryDate numberOfPayments version customer { uid }
		account { uid } } approval { uid }`
	mutations["createPositivePayRule"] = tried{access.ManagePositiveRules, func(c customers.UID) string {
		return fmt.Sprintf(`account: "%s", type: ACH, achCompanyId: "9100011223",
			beneficiaryName: "Lakefront Utilities Inc",
			beneficiaryAccountNumber: "440055551", beneficiaryBankId: "611090001",
			beneficiaryBankName: "Old Mill Bank", amount: "1500",
			amountType: MAXIMUM, frequency: BI_WEEKLY, secCode: "CCD", individualId: "METER-7",
			effectiveDate: "2098-12-31",
			expiryDate: "2099-12-31", numberOfPayments: 12`, accountOf(activeOf(c), 0))
	}, shown}
	mutations["changePositivePayRule"] = tried{access.ManagePositiveRules, func(c customers.UID) string {
		return of(0)(c) +
			`, amount: "12.50", secCode: null, expiryDate: null, numberOfPayments: 0, amountType: EXACT`
	}, shown}
	mutations["activatePositivePayRule"] = tried{access.ManagePositiveRules, of(1), shown}
	mutations["suspendPositivePayRule"] = tried{access.ManagePositiveRules, of(0), shown}
	mutations["deletePositivePayRule"] = tried{access.ManagePositiveRules, of(0), `uid approval { uid }`}
}

func ruleOf(c customers.UID, n int) positivepay.UID {
	return positivepay.UID(int(c-theBank)*100 + n + 900_000_000)
}

// positivePayRows are rules for the first account of each customer, of which every second one is suspended.
func positivePayRows(b *bank, of []customers.UID) any {
	var all []positivepay.Rule
	for _, c := range of {
		for n := range 2 * each {
			r := positivepay.Rule{UID: ruleOf(c, n), Customer: c}
			b.fill(&r, int64(r.UID))
			expiry, number := now.AddDate(5, 0, n), int32(90)
			r.Tenant, r.Account, r.Type, r.Currency, r.Version = b.tenant, accountOf(c, 0), positivepay.ACH, "USD", 2
			r.AmountType, r.Frequency, r.SECCode, r.Minor = positivepay.Maximum, positivepay.Monthly,
				positivepay.AllClasses, int64(r.UID)
			r.EffectiveDate, r.ExpiryDate, r.NumberOfPayments = now.AddDate(0, 0, -n), &expiry, &number
			r.Used, r.LastUsed = 0, nil
			if r.State = positivepay.Active; n%2 == 1 {
				r.State = positivepay.Suspended
			}
			r.BeneficiaryNumber = keyset.Seal(fmt.Sprint("44", r.UID), seal.Place{
				Tenant: int64(b.tenant), Column: positivepay.NumberColumn, Row: int64(r.UID),
			})
			all = append(all, r)
		}
	}
	return &all
}

// A rule that is made is listed with its customer, in the state that its dates give it.
func TestARuleOfPositivePayIsMadeAndListed(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	staff := p.Staff()
	made := fmt.Sprintf(`mutation { createPositivePayRule(input: {account: "%s", type: FEDWIRE,
		beneficiaryBankId: "611090001",
		beneficiaryName: "Quarry Equipment Finance LLC", beneficiaryAccountNumber: "440055551",
		amount: "25000", amountType: EXACT,
		frequency: ONE_TIME, effectiveDate: "2026-11-20"}) { positivePayRule { status version }
		approval { uid } } }`, p.from.UID)
	want := `{"createPositivePayRule":{"positivePayRule":{"status":"PENDING","version":1},"approval":null}}`
	if data, errors := p.asks(t, staff, made); data != want || errors != nil {
		t.Fatalf("%s %v\nwant %s", data, errors, want)
	}
	list := fmt.Sprintf(`{ customer(by: {uid: "%s"}) { positivePayRules(filter: {status: [PENDING]}) {
		totalCount nodes { type amount
		amountType frequency secCode beneficiaryAccountNumber { masked } account { uid } expiryDate
		numberOfPayments } } }
		positivePayRules(filter: {status: [ACTIVE]}) { totalCount } }`, p.from.Customer)
	want = fmt.Sprintf(
		`{"customer":{"positivePayRules":{"totalCount":1,"nodes":[{"type":"FEDWIRE","amount":"25000.00",`+
			`"amountType":"EXACT","frequency":"ONE_TIME","secCode":"ALL",`+
			`"beneficiaryAccountNumber":{"masked":"****5551"},`+
			`"account":{"uid":"%s"},"expiryDate":null,"numberOfPayments":null}]}},`+
			`"positivePayRules":{"totalCount":0}}`, p.from.UID)
	if data, errors := p.asks(t, staff, list); data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
	p.Clock.Set(coretest.Start.AddDate(0, 0, 2))
	if data, errors := p.asks(t, staff,
		`{ positivePayRules(filter: {status: [ACTIVE]}) { totalCount } }`); data !=
		`{"positivePayRules":{"totalCount":1}}` || errors != nil {
		t.Errorf("%s %v", data, errors)
	}
	wrong := fmt.Sprintf(`mutation { createPositivePayRule(input: {account: "%s", type: ACH,
		beneficiaryName: "A",
		beneficiaryAccountNumber: "440055551", amount: "25000", amountType: EXACT, frequency: ONE_TIME,
		effectiveDate: "2026-11-20"}) { positivePayRule { status } } }`, p.from.UID)
	if data, errors := p.asks(t, staff, wrong); data != `{"createPositivePayRule":null}` || errors == nil {
		t.Errorf("%s %v", data, errors)
	}
}
