package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"

	"bankgraph/core/demo"
)

// workload is one kind of request, sent to both servers for the same rows.
type workload struct {
	letter      string
	name        string
	floor       float64 // the least ratio of requests per second, the bank's to the handwritten server's
	goal        float64
	pick        func(r *rand.Rand) string // picks a row
	ours        func(row string) []byte   // the whole HTTP request
	hand        func(row string) []byte
	writes      *written // what each request creates, which is compared too; nil if nothing
	connections int      // 0: as usual
}

const customer360 = `query Customer360($uid: UID!) {
  customer(by: {uid: $uid}) {
    uid legalName shortName type status taxId { masked } achCompanyId customerId lei swiftCode language
    emailAddress phoneNumber faxNumber website mailAddressSameAsLegal relationshipType partnerOrgShortName
    parentEntityShortName costCenter relationshipManager originatingOfficer
    accounts(first: 20) {
      nodes { uid number { masked } name type subType status currency balances { ledger held available } }
    }
    contacts(first: 10) {
      nodes {
        uid name templateName emailAddress phoneNumber address { line1 city state postalCode countryCode }
        bank { name nationalCode swiftCode accountCurrency accountNumber { masked } }
      }
    }
    signatories { nodes { uid fullName title emailAddress phoneNumber approvalLimit status } }
    limits(rail: FEDWIRE) { code name period currency current used remaining }
  }
}`

const customersByName = `query CustomersByName($prefix: String!) {
  customers(first: 50, filter: {namePrefix: $prefix}, orderBy: NAME) {
    nodes {
      uid legalName shortName type status
      accounts(first: 5) { nodes { uid number { masked } name type subType status currency } }
      signatories(first: 5) { nodes { uid fullName title emailAddress phoneNumber approvalLimit status } }
    }
  }
}`

const accountByNumber = `query AccountByNumber($number: String!) {
  account(by: {number: $number}) {
    uid number { masked } name type subType status currency balances { ledger held available }
    customer { uid legalName shortName type status }
  }
}`

func workloads(ctx context.Context, b *bank) ([]*workload, error) {
	prefixes, err := namePrefixes(ctx, b)
	if err != nil {
		return nil, err
	}
	names, err := sampleNames(ctx, b)
	if err != nil {
		return nil, err
	}
	able, err := samplePayers(ctx, b.owner)
	if err != nil {
		return nil, err
	}
	customer := func(r *rand.Rand) int64 { return 1 + r.Int64N(b.customers) }
	uid := func(r *rand.Rand) string { return demo.Customer(customer(r)).String() }
	number := func(r *rand.Rand) string { return demo.AccountNumber(customer(r), 0) }
	prefix := func(r *rand.Rand) string { return prefixes[r.IntN(len(prefixes))] }
	sheet := func(r *rand.Rand) string { return strconv.Itoa(1 + r.IntN(20)) }
	name := func(r *rand.Rand) string { return names[r.IntN(len(names))] }
	numberOf := func(r *rand.Rand) string {
		n := customer(r)
		return demo.Customer(n).String() + "/accounts?accountNumber=" + demo.AccountNumber(n, 0)
	}
	// Over REST both servers answer the same requests.
	page := func(row string) []byte { return b.get("/v2/customers?page=" + row + "&limit=50") }
	search := func(row string) []byte {
		return b.get("/v2/customers?page=1&limit=50&legalName=" + url.QueryEscape(row))
	}
	account := func(row string) []byte { return b.get("/customers/" + row) }
	create := func(row string) []byte { return b.create(row, false) }
	createOnce := func(row string) []byte { return b.create(row, true) }
	return []*workload{
		{
			letter: "a", name: "Customer 360: 22 fields, accounts, 10 contacts, signatories, limits", floor: 0.5,
			goal: 1, pick: uid, ours: b.graphQL(customer360, "uid"),
			hand: func(row string) []byte { return b.get("/customer-360/" + row) },
		},
		{
			letter: "b", name: "50 customers by name prefix, each with accounts and signatories", floor: 0.35,
			goal: 1, pick: prefix, ours: b.graphQL(customersByName, "prefix"),
			hand: func(row string) []byte { return b.get("/customers-by-name?prefix=" + url.QueryEscape(row)) },
		},
		{
			letter: "c", name: "Account by number, with its customer", floor: 0.5, goal: 0.85, pick: number,
			ours: b.graphQL(accountByNumber, "number"),
			hand: func(row string) []byte { return b.get("/account-by-number/" + row) },
		},
		{
			letter: "d", name: "REST, a page of 50 customers: /v2/customers?page=N&limit=50", floor: 0.5, goal: 0.85,
			pick: sheet, ours: page, hand: page,
		},
		{
			letter: "d2", name: "REST, customers by legal name: /v2/customers?legalName=…", floor: 0.5, goal: 0.85,
			pick: name, ours: search, hand: search,
		},
		{
			letter: "e", name: "REST, account by number: /customers/{customerUID}/accounts?accountNumber=…",
			floor: 0.5, goal: 0.85, pick: numberOf, ours: account, hand: account,
		},
		{
			letter: "g", name: "REST, a new customer with address, audit entry and event: POST /v2/customers",
			floor: 0.5, goal: 0.8, pick: newcomer, ours: create, hand: create, writes: created,
		},
		{
			letter: "g2", name: "the same with an Idempotency-Key", floor: 0.5, goal: 0.8, pick: newcomer,
			ours: createOnce, hand: createOnce, writes: created,
		},
		{
			letter: "g3",
			name:   "GraphQL, a new customer with address, two limits, audit entries and events: createCustomer",
			floor:  0.5, goal: 0.8, pick: newcomer, ours: b.createLimited,
			hand: b.createLimitedByHand, writes: created,
		},
		{
			letter: "h",
			name: "REST, a book transfer with fee, books, audit entry and event: POST /v3/payments/booktransfer, " +
				"any account pays",
			floor: 0.5, goal: 1, pick: transfers(able, 0), ours: b.transfer, hand: b.transfer,
			writes: paid, connections: 64,
		},
		{
			letter: "h1", name: "the same, one account pays everything", floor: 0.5, goal: 1,
			pick: transfers(able, able[0]), ours: b.transfer, hand: b.transfer, writes: paid, connections: 64,
		},
	}, nil
}

// namePrefixes are beginnings of names that more than fifty customers share.
func namePrefixes(ctx context.Context, b *bank) ([]string, error) {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	for letters := 6; letters > 0; letters-- {
		rows, err := conn.Query(ctx,
			`SELECT lower(left(legal_name, $1)) FROM customers GROUP BY 1
				HAVING count(*) > 50 ORDER BY 1`, letters)
		if err != nil {
			return nil, err
		}
		prefixes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(prefixes) >= 10 || letters == 1 && len(prefixes) > 0 {
			return prefixes, err
		}
	}
	return nil, errors.New("the bank is too small: no fifty customers share the beginning of their names")
}

// sampleNames are the names of a thousand customers.
func sampleNames(ctx context.Context, b *bank) ([]string, error) {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT legal_name FROM customers ORDER BY uid LIMIT 1000`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// graphQL makes requests of one document with one variable.
func (b *bank) graphQL(document, variable string) func(string) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return func(row string) []byte {
		body := fmt.Sprintf(`{"query":%s,"variables":{"%s":"%s"}}`, text, variable, row)
		return fmt.Appendf(nil,
			"POST /graphql HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: "+
				"application/json\r\nAccept: application/json\r\nContent-Length: %d\r\n\r\n%s",
			b.token, len(body), body)
	}
}

func (b *bank) get(path string) []byte {
	return fmt.Appendf(nil,
		"GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
			"Accept: application/json\r\n\r\n", path,
		b.token)
}
