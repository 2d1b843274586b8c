package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/sandbox"
	"bankgraph/graph"
)

func init() {
	decide := []access.Permission{access.ManageExceptions}
	declare("PositivePayException", node{
		needs: access.ManageExceptions, list: "positivePayExceptions",
		id: func(c customers.UID, n int) string { return "ppe_" + exceptionOf(c, n).String() },
	})
	needs["Query.positivePayExceptions"], needs["Payment.positivePayException"] = decide, decide
	needs["PositivePayException.account"] = []access.Permission{access.ViewAccounts}
	needs["PositivePayException.payment"] = []access.Permission{access.ViewPayments}
	needs["PositivePayException.rule"] = []access.Permission{access.ViewPositiveRules}
	for list, way := range map[string]string{
		"Query.positivePayExceptions":    "{ %s }",
		"Customer.positivePayExceptions": "{ customers(first: 7) { nodes { %s } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"customer": customers.UID.String,
			"account":  func(c customers.UID) string { return accountOf(c, 0).String() },
			"secCode":  func(customers.UID) string { return "ccd" },
		} {
			lookups[list+".filter."+field] = lookup{fmt.Sprintf(way,
				`positivePayExceptions(first: 2, filter: {`+field+
					`: "%s"}) { totalCount nodes { ALL(PositivePayException) } }`), value}
		}
	}
	of := func(c customers.UID) string { return fmt.Sprintf(`payment: "%s"`, overNetwork(c, debited)) }
	const shown = `positivePayException { id uid status reason amount currency achCompanyId beneficiaryName
		secCode debitDate decidedBy rule { uid } payment { uid status } version } approval { uid }`
	mutations["approvePositivePayException"] = tried{access.ManageExceptions, of, shown}
	mutations["rejectPositivePayException"] = tried{access.ManageExceptions, of, shown}
	mutations["decidePositivePayExceptions"] = tried{access.ManageExceptions, func(c customers.UID) string {
		return fmt.Sprintf(`payments: ["%s"], approve: false`, overNetwork(c, debited))
	}, `decisions { payment refused message status } approval { uid }`}
}

func exceptionOf(c customers.UID, n int) positivepay.ExceptionUID {
	return positivepay.ExceptionUID(int(c-theBank)*100 + n + 950_000_000)
}

// insertExceptions makes exceptions of the first payments of each customer, whose rules allow them. They have
// a reason, too, so that every field has a value.
const insertExceptions = `INSERT INTO positive_pay_exceptions (tenant, uid, payment, customer, account, type,
	   rule, amount, currency, ach_company_id, beneficiary_name, beneficiary_bank_id, beneficiary_bank_name,
	   sec_code, individual_id, debit_date, reason, status, created_at, expires_at, decided_at, decided_client,
	   decided_login, decided_reach, updated_at, version)
	 SELECT tenant, uid + 450000000, uid, customer, sender_account, 'ACH', uid + 400000000, 1000 + uid % 1000,
	   'USD', ?3 || ' company ' || uid, ?3 || ' beneficiary ' || uid, '611090001', ?3 || ' bank ' || uid, 'CCD',
	   ?3 || ' id ' || uid, payment_date, 'amount mismatch', 'AUTO_MATCHED', created_at, updated_at, updated_at,
	   ?3 || ' decider ' || uid, ?3 || ' deciding ' || uid, 'Partner', updated_at, 2
	 FROM payments WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`

// debit lets a company at another bank debit the account of who pays, and returns the payment.
func (p *payers) debit(t *testing.T, amount string) (uid payments.UID) {
	t.Helper()
	_, err := p.Sandbox.PlayDebit(p.Staff(), sandbox.Debit{
		Account: p.from.UID, Amount: amount,
		CompanyBank: listedBank.number,
	},
		changes.RequestOptions{})
	if err == nil {
		_, err = p.Payments.Receive(access.Operator(t.Context(), p.Tenant, "test", coretest.Zone()))
	}
	if err == nil {
		err = p.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ? AND direction = 'IN'`, p.Tenant).
			Scan(t.Context(), &uid)
	}
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

// A portal shows the debits that wait for people, and a person decides: one by one, or many alike, of which
// each has its own answer.
func TestDebitsThatNoRuleAllowsAreDecidedByPeople(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.from = p.Account(p.Customer(coretest.OwnedBy(p.payer)), coretest.Holding(100_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.EnablePositivePay = true })
	staff := p.Staff()
	first, second, third := p.debit(t, "25"), p.debit(t, "30"), p.debit(t, "35")

	waiting := fmt.Sprintf(`{ positivePayExceptions(filter: {status: [PENDING], account: "%s",
		debitDateFrom: "2026-11-18",
		debitDateTo: "2026-11-18", secCode: "ccd"}) { totalCount nodes { amount reason status beneficiaryName
		secCode debitDate
		expiresAt decidedAt decidedBy rule { uid } payment { uid status } customer { uid } } } }`, p.from.UID)
	row := func(amount string, of payments.UID) string {
		return fmt.Sprintf(`{"amount":"%s","reason":"NO_RULE","status":"PENDING",`+
			`"beneficiaryName":"Other bank's co",`+
			`"secCode":"CCD","debitDate":"2026-11-18","expiresAt":"2026-11-19T22:00:00Z","decidedAt":null,`+
			`"decidedBy":null,`+
			`"rule":null,"payment":{"uid":"%s","status":"HOLD"},"customer":{"uid":"%s"}}`, amount, of, p.from.Customer)
	}
	want := fmt.Sprintf(`{"positivePayExceptions":{"totalCount":3,"nodes":[%s,%s,%s]}}`,
		row("35.00", third), row("30.00", second), row("25.00", first))
	if data, errors := p.asks(t, staff, waiting); data != want || errors != nil {
		t.Fatalf("%s %v\nwant %s", data, errors, want)
	}

	approve := fmt.Sprintf(`mutation { approvePositivePayException(input: {payment: "%s", version: 1}) {
		positivePayException { status decidedBy version payment { status } }
		approval { uid } replayed } }`, first)
	want = `{"approvePositivePayException":{"positivePayException":{"status":"APPROVED",` +
		`"decidedBy":"staff","version":2,` +
		`"payment":{"status":"PROCESSED"}},"approval":null,"replayed":false}}`
	data, errors := p.asks(t, staff, approve)
	if data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}

	many := fmt.Sprintf(`mutation { decidePositivePayExceptions(input: {payments: ["%s", "%s", "%s"],
		approve: false}) { decisions { payment refused message status } } }`, third, first, second)
	want = fmt.Sprintf(`{"decidePositivePayExceptions":{"decisions":[`+
		`{"payment":"%s","refused":false,"message":"Payment rejected","status":"REJECTED"},`+
		`{"payment":"%s","refused":true,"message":"the exception is decided already: APPROVED","status":null},`+
		`{"payment":"%s","refused":false,"message":"Payment rejected","status":"REJECTED"}]}}`,
		third, first, second)
	if data, errors := p.asks(t, staff, many); data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}

	again := fmt.Sprintf(`mutation { rejectPositivePayException(input: {payment: "%s"}) {
		positivePayException { status } } }`, second)
	if data, errors := p.asks(t, staff, again); data != `{"rejectPositivePayException":null}` ||
		len(errors) != 1 ||
		errors[0] != "STATE PPD001" {
		t.Errorf("%s %v", data, errors)
	}
	// the message says once how it was decided
	said := ask(staff, graph.New(p.Core, graph.Options{}), again).Errors
	if len(said) != 1 || strings.Count(string(said[0]), "REJECTED") != 2 { // the other one is the state
		t.Errorf("%s", said)
	}
	none := `mutation { decidePositivePayExceptions(input: {payments: [], approve: true}) {
		decisions { payment } } }`
	if data, errors := p.asks(t, staff, none); data != `{"decidePositivePayExceptions":null}` ||
		len(errors) != 1 ||
		errors[0] != "INVALID VALIDATION_ERROR payments" {
		t.Errorf("%s %v", data, errors)
	}
	told := fmt.Sprintf(`{ payment(uid: "%s") { positivePayException { status
		history(first: 5) { nodes { action } } } } }`, first)
	want = `{"payment":{"positivePayException":{"status":"APPROVED",` +
		`"history":{"nodes":[{"action":"approveException"},{"action":"screenDebit"}]}}}}`
	if data, errors := p.asks(t, staff, told); data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
}

// A decision on as many debits as one may name spends its statements, and is no reason to split it.
func TestManyExceptionsAreDecidedInOneOperation(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.from = p.Account(p.Customer(coretest.OwnedBy(p.payer)), coretest.Holding(1000_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.EnablePositivePay = true })
	var all []string
	for range payments.MostDecisions {
		all = append(all, `"`+p.debit(t, "1").String()+`"`)
	}
	many := `mutation { decidePositivePayExceptions(input: {payments: [` + strings.Join(all,
		",") + `], approve: true}) {
		decisions { refused } } }`
	want := `{"decidePositivePayExceptions":{"decisions":[` +
		strings.TrimSuffix(strings.Repeat(`{"refused":false},`, len(all)), ",") + `]}}`
	if data, errors := p.asks(t, p.Staff(), many); data != want || errors != nil {
		t.Errorf("%s %v", data, errors)
	}
}
