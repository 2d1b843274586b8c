package graph_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/graph"
)

func TestSmoke(t *testing.T) {
	d, err := db.Open(dbtest.URL(t), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys := seal.New()
	c := core.New(core.Options{DB: d, Keys: keys})
	ctx := context.Background()
	if _, err := d.ExecContext(ctx, "INSERT INTO tenants (id, code, name, zone, currency) VALUES (1,'t','T','America/New_York','USD')"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		uid := customers.UID(1000001 + i)
		_, err = d.NewInsert().Model(&customers.Customer{Tenant: 1, UID: uid, LegalName: "Acme " + string(rune('A'+i)), ShortName: "acme" + uid.String(), Type: customers.Corporate, Status: customers.Active, RelationshipType: "Customer", TaxID: keys.Seal("123456789", seal.Place{Tenant: 1, Column: customers.TaxIDColumn, Row: int64(uid)}), SECCodes: []string{"PPD"}, AdditionalAttributes: []customers.Attribute{{Name: "a", Value: "b"}}}).Exec(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			a := accounts.UID(100000000 + i*16 + k)
			_, err = d.NewInsert().Model(&accounts.Account{Tenant: 1, UID: a, Customer: uid, Name: "Operating", Number: keys.Seal("90000"+a.String(), seal.Place{Tenant: 1, Column: accounts.NumberColumn, Row: int64(a)}), Type: "Deposit", SubType: "Checking", SystemOfRecord: "Internal Core", Currency: "USD", CountryCode: "US", BankID: "021000021", BankIDType: "NID", Status: "Active", SECCodes: []string{}, AdditionalAttributes: []customers.Attribute{}}).Exec(ctx)
			if err != nil {
				t.Fatal(err)
			}
			d.ExecContext(ctx, "INSERT INTO balances (tenant, account, currency, ledger, held) VALUES (1, ?, 'USD', 123456, 456)", a)
		}
		d.ExecContext(ctx, "INSERT INTO limits (tenant, customer, code, application, ceiling, currency) VALUES (1, ?, 'FEDWIRE_PAYMENT_LIMIT_PER_DAY', 'Payments', 1000000, 'USD')", uid)
		d.ExecContext(ctx, "INSERT INTO signatories (tenant, customer, full_name, email_address, phone_number, approval_limit, currency, status) VALUES (1, ?, 'Ann', 'a@example.com', '+12025550100', 5000, 'USD', 'Active')", uid)
	}
	caller := access.Caller{Tenant: 1, TenantCode: "t", Entity: 1, Institution: true, Permissions: access.All}
	h := graph.New(c, graph.Options{})
	var m *db.Meter
	ask := func(q string) {
		m = &db.Meter{}
		r := httptest.NewRequest("POST", "/graphql", strings.NewReader(q))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(db.WithMeter(access.With(ctx, caller), m)))
		b, _ := io.ReadAll(w.Body)
		t.Log(w.Code, m.Statements.Load(), m.RoundTrips.Load(), string(b))
		_ = http.StatusOK
	}
	ask(`{"query":"{viewer{tenant permissions} customer(by:{uid:\"1000001\"}){id uid legalName taxId{masked} secCodes additionalAttributes{name value} faxNumber legalAddress{city} accounts(first:2){totalCount pageInfo{hasNextPage endCursor} edges{cursor node{id name number{masked} balances{ledger available} features{wires callbackLimit}}}} contacts{nodes{id}} signatories{nodes{fullName approvalLimit}} limits(rail:FEDWIRE,amount:\"10000.01\"){code current used remaining exceededBy message} fees{name}}}"}`)
	ask(`{"query":"{customers(first:2,filter:{namePrefix:\"acm\"},orderBy:NAME){totalCount pageInfo{hasNextPage endCursor} nodes{legalName accounts{nodes{uid customer{legalName}}} signatories{nodes{fullName}}}}}"}`)
	ask(`{"query":"{account(by:{number:\"90000100000000\"}){uid customer{legalName} }}"}`)
	ask(`{"query":"{nodes(ids:[\"cus_1000001\",\"acc_100000001\",\"zzz\"]){id ... on Customer{legalName parent{id}} ... on Account{name customer{legalName}}}}"}`)
	ask(`{"query":"{customers(first:0){totalCount}}"}`)
}
