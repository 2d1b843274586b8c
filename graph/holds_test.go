package graph_test

import (
	"fmt"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/customers"
)

func init() {
	needs["Account.holds"], needs["Hold.payment"] = []access.Permission{access.ViewAccounts},
		[]access.Permission{access.ViewPayments}
	mutations["placeHold"] = tried{
		access.ManageAccounts, func(c customers.UID) string {
			return fmt.Sprintf(`account: "%s", amount: "12.50", reason: "Garnishment 12",
				expiresAt: "2099-12-31T00:00:00Z"`,
				accountOf(activeOf(c), 0))
		},
		`uid account { uid balances { held } holds { amount currency reason expiresAt
			version payment { uid } } } approval { uid }`,
	}
	mutations["releaseHold"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, overNetwork(c, placed))
	}, `uid account { uid holds { uid } } approval { uid }`}
}

// placed is the place of the number of a hold that is placed when it is needed.
const placed = "%PLACED"

// The holds of an account explain the difference between its ledger and its available balance.
func TestTheHoldsOfAnAccountExplainItsBalance(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	staff := p.Staff()
	for _, document := range []string{
		p.sends(`contact: "`+contact+`"`, "10.01", "1", `currency: "USD", speed: INSTANT`),
		fmt.Sprintf(`mutation { placeHold(input: {account: "%s", amount: "5", reason: "Garnishment 12"}) { uid } }`,
			p.from.UID),
	} {
		if data, errors := p.asks(t, staff, document); errors != nil {
			t.Fatal(data, errors)
		}
	}
	document := fmt.Sprintf(`{ account(by: {uid: "%s"}) { balances { ledger held available }
		holds { amount reason payment { amount } version } } }`, p.from.UID)
	want := `{"account":{"balances":{"ledger":"2000000.00","held":"15.01","available":"1999984.99"},"holds":[` +
		`{"amount":"5.00","reason":"Garnishment 12","payment":null,"version":1},` +
		`{"amount":"10.01","reason":null,"payment":{"amount":"10.01"},"version":0}]}}`
	if data, errors := p.asks(t, staff, document); data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
}
