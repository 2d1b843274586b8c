package graph_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// The cost of a read must grow with its answer, not with the bank: no plan may read a whole table. The texts
// are those that the server has prepared for real documents; the plans are the generic ones that the read
// pool uses.
func TestNoReadScansATable(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{Connections: 1}) // so that one connection has all prepared texts
	b.crowd(t)
	// Each combination of filter, order and direction has its own text.
	lists := []string{`(first: 50)`, `(last: 50)`, `(first: 50, orderBy: NAME)`, `(last: 50, orderBy: NAME)`}
	for _, filter := range []string{
		`namePrefix: "crowd"`, `text: "crow"`, `shortName: "short-1000011"`, `customerId: "cif-1000011"`,
		`taxId: "991000011"`, `lei: "LEI1000011"`,
		`parent: "1000010"`, `type: CORPORATE`, `status: SUSPENDED`,
	} {
		lists = append(lists, `(filter: {`+filter+`})`, `(filter: {`+filter+`}, last: 20)`)
	}
	lists = append(lists, `(filter: {namePrefix: "crowd"}, orderBy: NAME)`,
		`(filter: {parent: "1000010"}, orderBy: NAME)`)
	var documents []string
	for _, list := range lists {
		documents = append(documents,
			`{ customers`+list+` { totalCount nodes { uid legalName } pageInfo { endCursor } } }`)
	}
	for _, order := range []string{"UID", "NAME"} {
		cursor := b.ask(t, b.staff(), paging, "first", 2, "order", order).fine(t).at("customers", "pageInfo",
			"endCursor")
		documents = append(documents,
			fmt.Sprintf(`{ customers(after: "%s", orderBy: %s) { nodes { uid } } }`, cursor, order),
			fmt.Sprintf(`{ customers(last: 20, before: "%s", orderBy: %s) { nodes { uid } } }`, cursor, order),
			fmt.Sprintf(`{ customers(after: "%s", orderBy: %s, filter: {namePrefix: "crowd"}) { nodes { uid } } }`,
				cursor, order))
	}
	for _, relation := range []string{
		`accounts(first: 5)`, `accounts(last: 5)`, `accounts(filter: {number: "x"})`,
		`accounts(filter: {status: ACTIVE, wires: true})`, `accounts(filter: {costCenter: "x"})`,
		`contacts(first: 5)`, `contacts(last: 5)`, `contacts(filter: {name: "c"})`,
		`contacts(filter: {accountNumber: "x"})`, `signatories(first: 5)`, `signatories(last: 5)`,
		`payments(first: 5)`, `payments(last: 5)`, `payments(filter: {uid: "1"})`,
	} {
		documents = append(documents,
			`{ customers(first: 5) { nodes { x: `+relation+` { totalCount nodes { uid } } } } }`)
	}
	for _, page := range []string{"first: 5", "last: 5", `first: 5, filter: {uid: "1"}`} {
		documents = append(documents, `{ customers(first: 5) { nodes { accounts(first: 2) { nodes {
			x: payments(`+page+
			`) { totalCount nodes { uid timeline { at } senderNumber { masked }
				receiverAccount { uid } } } } } } } }`)
	}
	for _, part := range []string{
		`statement { opening closing debits credits }`,
		`statement { entries(first: 5) { nodes { kind payment { uid } } } }`,
		`statement { entries(last: 5) { nodes { journal { postings { account { uid } } } } } }`,
		`balanceAt(bookedAt: "2026-11-19T00:00:00Z") { ledger }`,
		`balanceAt(valueDate: "2026-11-19") { ledger }`,
	} {
		documents = append(documents,
			`{ customers(first: 5) { nodes { accounts(first: 2) { nodes { x: `+part+` } } } } }`)
	}
	for _, document := range placesOf() {
		documents = append(documents, document)
	}
	documents = append(documents,
		`{ customers(first: 50) { nodes { limits(rail: ACH) { used } fees { accountNumber { masked } }
			parent { uid } accounts { nodes { balances { ledger } customer { uid } } } } } }`,
		customer360Of(star),
		fmt.Sprintf(`{ customer(by: {accountNumber: "%s"}) { uid } }`, numberOf(star, 0)))
	// A connection forgets its oldest texts, also because of EXPLAIN. Plans are therefore checked before more
	// is asked.
	tables, texts := map[string]bool{}, map[string]bool{}
	for _, caller := range []*access.Caller{b.staff(), b.partner()} {
		before := len(texts)
		for some := range slices.Chunk(documents, 30) {
			for _, document := range some {
				b.ask(t, caller, document).fine(t)
			}
			b.explain(t, texts, tables)
		}
		if len(texts) < before+len(lists) {
			t.Fatalf("only %d texts are prepared", len(texts)-before)
		}
	}
	t.Logf("%d texts", len(texts))
	for _, table := range []string{
		"customers", "accounts", "contacts", "signatories", "limits", "limit_usage", "fee_tiers", "balances",
		"payments", "payment_steps", "journals", "postings",
	} {
		if !tables[table] {
			t.Errorf("no text reads %s: the test does not see what it should", table)
		}
	}
}

// scan matches what no plan may have. customer_counts has only a few rows for each owner. A filter on rows
// that only the tenant limits reads the whole bank.
var scan = regexp.MustCompile(
	`Seq Scan on (?:customers|accounts|contacts|signatories|limits|limit_usage|fee_tiers|balances|payments|` +
		`payment_steps|journals|postings)\b|` +
		`Index Cond: \(tenant = \$1\)\n\s*Filter: .*`)

// explain checks the plans of prepared texts that it has not seen, and adds the texts and their tables to the
// maps.
func (b *bank) explain(t *testing.T, seen, tables map[string]bool) {
	t.Helper()
	type prepared struct {
		Name       string `bun:"name"`
		Statement  string `bun:"statement"`
		Parameters int64  `bun:"parameters"`
	}
	batch := b.core.Batch()
	texts := db.Queue(batch,
		db.NewQuery[prepared](`SELECT name, statement, cardinality(parameter_types)::bigint AS parameters
		FROM pg_prepared_statements WHERE statement ~
			  'customers|accounts|contacts|signatories|limits|payments|journals|postings'`))
	if err := batch.Send(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts.Items {
		if seen[text.Statement] || strings.Contains(text.Statement, "pg_prepared_statements") {
			continue
		}
		seen[text.Statement] = true
		values := strings.TrimSuffix(strings.Repeat("NULL, ", int(text.Parameters)), ", ")
		if values != "" {
			values = "(" + values + ")"
		}
		type line struct {
			Plan string `bun:"QUERY PLAN"`
		}
		batch := b.core.Batch()
		plan := db.Queue(batch, db.NewQuery[line](`EXPLAIN EXECUTE "`+text.Name+`"`+values))
		if err := batch.Send(context.Background()); err != nil {
			t.Fatalf("%v: %s", err, text.Statement)
		}
		var whole strings.Builder
		for _, one := range plan.Items {
			whole.WriteString(one.Plan + "\n")
		}
		if found := scan.FindString(whole.String()); found != "" {
			t.Errorf("%s:\n%s\n%s", found, text.Statement, whole.String())
		}
		for _, table := range regexp.MustCompile(`(?:Scan.* (?:on|using \w+ on)) (\w+)`).
			FindAllStringSubmatch(whole.String(), -1) {
			tables[table[1]] = true
		}
	}
}

func customer360Of(uid customers.UID) string {
	return strings.NewReplacer("query Customer360($uid: UID!) ", "", "$uid", `"`+uid.String()+`"`).
		Replace(customer360)
}

// crowd adds three thousand customers with what belongs to them, and updates PostgreSQL's statistics.
func (b *bank) crowd(t *testing.T) {
	t.Helper()
	statements := []string{
		`SET LOCAL statement_timeout = 0`, // the machine may be busy
		`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status, parent, customer_id, lei,
			tax_id_hash, note)
		 SELECT 1, 1100000 + n, CASE WHEN n % 3 = 0 THEN 1000010 ELSE 0 END, 'Crowd ' || n, 'crowd' || n,
		   (ARRAY['Consumer', 'Corporate'])[1 + n % 2],
		        (ARRAY['Active', 'Active', 'Active', 'Suspended'])[1 + n % 4], CASE
		        WHEN n % 100 = 0 THEN 1000010 END, 'crowd' || n, 'CROWD' || n, decode(md5(n::text), 'hex'),
		        repeat('x', 300)
		 FROM generate_series(1, 3000) AS n`,
		`INSERT INTO accounts (tenant, uid, customer, name, number_sealed, number_hash, number_last4, type,
			sub_type, system_of_record, currency, bank_id, bank_id_type, status)
		 SELECT 1, 200000000 + n, 1100000 + 1 + n / 2, 'Crowd', '\x00', decode(md5(n::text), 'hex'), '0000',
		   'Deposit', 'Checking', 'Internal Core', 'USD', '021000021', 'NID', 'Active'
		 FROM generate_series(0, 5999) AS n`,
		`INSERT INTO balances (tenant, account, currency) SELECT 1, 200000000 + n, 'USD'
			FROM generate_series(0, 5999) AS n`,
		`INSERT INTO journals (tenant, id, kind, value_date, booked_at)
			SELECT 1, 900000000 + n, 'opening', DATE '2026-11-01', now() FROM generate_series(0, 11999) AS n`,
		`INSERT INTO postings (tenant, account, version, journal, amount, currency, balance_after)
		 SELECT 1, 200000000 + n % 6000, 1 + n / 6000, 900000000 + n, 1, 'USD', 1 + n / 6000
		 	  FROM generate_series(0, 11999) AS n`,
		`INSERT INTO contacts (tenant, uid, customer, name, bank_account_number_hash)
			SELECT 1, 300000000 + n, 1100000 + 1 + n / 2, 'Crowd', decode(md5(n::text), 'hex')
			FROM generate_series(0, 5999) AS n`,
		`INSERT INTO signatories (tenant, uid, customer, full_name, email_address, phone_number, currency, status)
		 SELECT 1, 400000000 + n, 1100000 + 1 + n / 2, 'Crowd', 'crowd' || n || '@example.com', '+1', 'USD',
		 	  'Active' FROM generate_series(0, 5999) AS n`,
		`INSERT INTO limits (tenant, customer, code, application, ceiling, currency)
		 SELECT 1, 1100000 + n, code, 'Payments', 1, 'USD'
		 	  FROM generate_series(1, 3000) AS n, (VALUES ('ACH_PAYMENT_LIMIT_PER_DAY'),
		 	('ACH_PAYMENT_LIMIT_PER_MONTH'), ('FEDWIRE_PAYMENT_LIMIT_PER_DAY')) AS c(code)`,
		`INSERT INTO limit_usage (tenant, customer, rail, day, amount, payments)
		 SELECT 1, 1100000 + n, 'ACH', DATE '2026-11-01' + d, 1, 1
		 	  FROM generate_series(1, 3000) AS n, generate_series(0, 2) AS d`,
		`INSERT INTO payments (tenant, uid, customer, rail, state, amount, currency, payment_date, sender_account,
		   sender_name, receiver_account, receiver_customer, receiver_name, maker_client, created_at, updated_at,
		   version)
		 SELECT 1, 600000000 + n, 1100000 + 1 + n / 2, 'BOOK', 'SETTLED', 1, 'USD', DATE '2026-11-01',
		   200000000 + n, 'Crowd', 200000000 + (n + 7) % 6000,
		   1100000 + 1 + (n + 7) % 6000 / 2, 'Crowd', 'staff', now(), now(), 1
		   FROM generate_series(0, 5999) AS n`,
		`INSERT INTO payment_steps (tenant, payment, number, state, at, client)
			SELECT 1, 600000000 + n, 1, 'SETTLED', now(), 'staff' FROM generate_series(0, 5999) AS n`,
		`INSERT INTO fee_tiers (tenant, id, customer, application, fee_tier, fee_name, product)
			SELECT 1, 1000000 + n, 1100000 + n, 'Payments', 'T', 'F', 'P' FROM generate_series(1, 3000) AS n`,
	}
	err := b.core.DB.InTx(context.Background(), 1, func(ctx context.Context, tx bun.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.asOwner(t, `ANALYZE`)
}
