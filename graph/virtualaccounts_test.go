package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
)

func init() {
	view := []access.Permission{access.ViewAccounts}
	declare("VirtualAccount", node{
		needs: access.ViewAccounts, list: "virtualAccounts", rows: virtualAccountRows,
		id: func(c customers.UID, n int) string { return "vac_" + virtualOf(c, n).String() },
	})
	declare("VirtualTransaction", node{
		needs: access.ViewAccounts,
		id: func(c customers.UID, n int) string {
			return fmt.Sprint("vtx_", 4*int64(virtualOf(c, n/4))+int64(n%4))
		},
	})
	needs["Query.virtualAccount"], needs["Query.virtualAccounts"], needs["Account.virtualAccounts"] =
		view, view, view
	needs["VirtualAccount.account"], needs["VirtualAccount.transactions"], needs["VirtualAccount.fullNumber"] =
		view, view, view
	needs["VirtualTransaction.virtualAccount"] = view
	needs["VirtualTransaction.payment"] = []access.Permission{access.ViewPayments}
	required["Account.virtualAccounts"], required["VirtualAccount.transactions"] = "(first: 2)", "(first: 2)"
	lookups["Query.virtualAccount.by.uid"] = lookup{
		`{ virtualAccount(by: {uid: "%s"}) { ALL(VirtualAccount) } }`,
		func(c customers.UID) string { return virtualOf(c, 0).String() },
	}
	lookups["Query.virtualAccount.by.number"] = lookup{
		`{ virtualAccount(by: {number: "%s"}) { ALL(VirtualAccount) } }`,
		func(c customers.UID) string { return virtualNumber(virtualOf(c, 0)) },
	}
	for list, way := range map[string]string{
		"Query.virtualAccounts":    "{ %s }",
		"Customer.virtualAccounts": "{ customers(first: 7) { nodes { %s } } }",
		"Account.virtualAccounts":  "{ customers(first: 7) { nodes { accounts(first: 1) { nodes { %s } } } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"customer": customers.UID.String,
			"account":  func(c customers.UID) string { return accountOf(c, 0).String() },
			"name":     func(c customers.UID) string { return fmt.Sprint("alpha name ", virtualOf(c, 0)) },
			"purpose":  func(c customers.UID) string { return fmt.Sprint("alpha purpose ", virtualOf(c, 0)) },
			"externalAccountReference": func(c customers.UID) string {
				return fmt.Sprint("Alpha ExternalAccountReference ", virtualOf(c, 0))
			},
		} {
			lookups[list+".filter."+field] = lookup{
				fmt.Sprintf(way,
					`virtualAccounts(first: 2, filter: {`+field+`: "%s"}) { totalCount
						nodes { ALL(VirtualAccount) } }`),
				value,
			}
		}
	}
	of := func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, virtualOf(activeOf(c), 0)) }
	const shown = `virtualAccount { id uid name productCode purpose externalAccountReference submittedBy
		status currency limit limitPeriod version customer { uid } account { uid } } approval { uid }`
	mutations["openVirtualAccount"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`customer: "%s", account: "%s", name: "Suite 300", productCode: "RENT", purpose: "Rent",
			externalAccountReference: "LEASE-300", submittedBy: "ada", limit: "1500",
			limitPeriod: HALF_YEARLY`, c, accountOf(c, 0))
	}, shown}
	mutations["changeVirtualAccount"] = tried{access.ManageAccounts, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", name: "Suite 310", productCode: "LEASE", purpose: null,
			externalAccountReference: null,
			submittedBy: "bea", limit: "12.50", limitPeriod: ANNUALLY`, virtualOf(c, 0))
	}, shown}
	mutations["closeVirtualAccount"] = tried{access.ManageAccounts, of, shown}
}

func virtualOf(c customers.UID, n int) virtualaccounts.UID {
	return virtualaccounts.UID(int(c-theBank)*100 + n + 970_000_000)
}

func virtualNumber(of virtualaccounts.UID) string { return fmt.Sprintf("8%013d", of) }

// virtualAccountRows are three virtual accounts on each account of each customer.
func virtualAccountRows(b *bank, of []customers.UID) any {
	var all []virtualaccounts.VirtualAccount
	for _, c := range of {
		for n := range 3 * each {
			v := virtualaccounts.VirtualAccount{UID: virtualOf(c, n), Customer: c}
			b.fill(&v, int64(v.UID))
			limit := int64(v.UID)
			v.Tenant, v.Account, v.Status, v.Currency, v.Version = b.tenant, accountOf(c, n%each),
				virtualaccounts.Active, "USD", 2
			v.LimitPeriod, v.LimitMinor = virtualaccounts.Monthly, &limit
			v.Number = keyset.Seal(virtualNumber(v.UID), seal.Place{
				Tenant: int64(b.tenant), Column: virtualaccounts.NumberColumn, Row: int64(v.UID),
			})
			all = append(all, v)
		}
	}
	return &all
}

// insertVirtualTransactions makes four transactions of each virtual account, one for each journal of its
// account. They leave no balance, so that it can be closed.
const insertVirtualTransactions = `INSERT INTO virtual_postings (tenant, id, virtual_account, customer,
	   account, payment, journal, amount, fee, currency, at, client, login_id, reach)
	 SELECT va.tenant, 4 * va.uid + n, va.uid, va.customer, va.account, j.payment, j.id,
	   (CASE n % 2 WHEN 0 THEN 1 ELSE -1 END) * (1000 + va.uid % 1000),
	   1 + va.uid % 100, va.currency, j.booked_at, ?3 || ' client ' || va.uid, ?3 || ' login ' || va.uid,
	   'Partner'
	 FROM virtual_accounts AS va, generate_series(0, 3) AS n, journals AS j
	 WHERE va.tenant = ?0 AND j.tenant = ?0 AND j.id = 4 * va.account + n AND va.customer BETWEEN ?1 AND ?2`

// A portal opens a virtual account, shows its number to who pays, and sees what comes in.
func TestAVirtualAccountIsOpenedPaidAndShown(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	staff := p.Staff()
	opened, errors := p.asks(t, staff,
		fmt.Sprintf(`mutation { openVirtualAccount(input: {customer: "%s", account: "%s", name: "Suite 100",
		productCode: "RENT"}) { virtualAccount { uid status balance version }
		approval { uid } } }`, p.from.Customer, p.from.UID))
	if errors != nil || !strings.Contains(opened, `"status":"ACTIVE","balance":"0.00","version":1}`) {
		t.Fatal(opened, errors)
	}
	found, err := p.VirtualAccounts.Page(staff, virtualaccounts.Search{Master: p.from.UID}, page.First(1))
	if err != nil || len(found.Items) != 1 {
		t.Fatal(found, err)
	}
	v := found.Items[0]
	_, err = p.Sandbox.PlayCredit(staff, sandbox.Credit{
		Account: p.from.UID, Virtual: string(v.Clear), Amount: "30", Rail: "FEDNOW", SenderBank: listedBank.number,
	}, changes.RequestOptions{})
	if err == nil {
		_, err = p.Payments.Receive(access.Operator(t.Context(), p.Tenant, "test", coretest.Zone()))
	}
	if err != nil {
		t.Fatal(err)
	}
	const shown = `{ virtualAccount(by: {number: "%s"}) { fullNumber { digits } number { masked } balance
		account { uid }
		transactions(first: 5) { totalCount nodes { amount fee postedBy payment { receiverName }
		virtualAccount { name } } } } }`
	want := fmt.Sprintf(`{"virtualAccount":{"fullNumber":{"digits":"%s"},"number":{"masked":"****%s"},`+
		`"balance":"30.00","account":{"uid":"%s"},`+
		`"transactions":{"totalCount":1,"nodes":[{"amount":"30.00","fee":"0.00",`, v.Clear,
		v.Clear[10:], p.from.UID)
	if data, errors := p.asks(t, staff, fmt.Sprintf(shown, v.Clear)); errors != nil ||
		!strings.HasPrefix(data, want) {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
	closed, errors := p.asks(t, staff,
		fmt.Sprintf(`mutation { closeVirtualAccount(input: {uid: "%s"}) { virtualAccount { status } } }`, v.UID))
	if closed != `{"closeVirtualAccount":{"virtualAccount":{"status":"CLOSED"}}}` || errors != nil {
		t.Error(closed, errors)
	}
}
