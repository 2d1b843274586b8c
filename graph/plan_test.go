package graph_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	gql "github.com/vektah/gqlparser/v2/ast"
)

// The plan reads only the columns that a document asks for. A field asked for alone must therefore have the
// same value as with all its siblings, on every way to its type.

// required are the required arguments of fields.
var required = map[string]string{
	"Account.sweepRuns":           `(first: 1)`,
	"Payment.informationRequests": `(last: 2)`,
	"Customer.limits":             `(rail: ACH, entryType: CREDIT, secCode: PPD, amount: "9999999.99")`,
}

// mayBeEmpty are fields that may be null, false or zero in some row.
var mayBeEmpty = map[string]bool{
	"house":           true, // of customers' accounts
	"hasPreviousPage": true, // on a first page
	"entryType":       true, // of a limit for both directions
	"secCode":         true, // of a limit for all classes
	"used":            true, // of a limit per transaction
	"targetBalance":   true, // of a sweep that leaves a range
	"individualName":  true, // of a notice of change about an account
	"identification":  true, // likewise
	"payment":         true, // of a hold that people place
	"transaction":     true, // of a delivery that tells of a payment
}

// branch is a field of a document with what is selected in it.
type branch struct {
	head string // with arguments
	kids []branch
}

func (b branch) String() string {
	if len(b.kids) == 0 {
		return b.head
	}
	return b.head + " { " + joined(b.kids) + " }"
}

func joined(kids []branch) string {
	var text []string
	for _, kid := range kids {
		text = append(text, kid.String())
	}
	return strings.Join(text, " ")
}

// alone returns copies of the branch with one leaf each.
func (b branch) alone() []branch {
	if len(b.kids) == 0 {
		return []branch{b}
	}
	var ones []branch
	for _, kid := range b.kids {
		for _, one := range kid.alone() {
			ones = append(ones, branch{b.head, []branch{one}})
		}
	}
	return ones
}

// everything is all that can be asked of a type. Related objects show only their ids and first text.
func everything(def *gql.Definition) (all []branch) {
	for _, field := range fieldsOf(def) {
		of := schema.Types[field.Type.Name()]
		b := branch{head: field.Name + required[def.Name+"."+field.Name]}
		switch {
		case of.IsLeafType():
		case strings.HasSuffix(of.Name, "Connection"):
			item := schema.Types[strings.TrimSuffix(of.Name, "Connection")]
			row := func(name string) branch {
				switch {
				case contains(item.Interfaces, "Node"):
					return branch{name, identityOf(item)}
				case name == "nodes":
					return branch{name, everything(item)}
				}
				// the deepest documents are at the limit of depth
				return branch{name, []branch{{fieldsOf(item)[0].Name, nil}}}
			}
			b.kids = []branch{
				{"totalCount", nil},
				row("nodes"),
				{"edges", []branch{{"cursor", nil}, row("node")}},
				{"pageInfo", everything(schema.Types["PageInfo"])},
			}
		case contains(of.Interfaces, "Node"):
			b.kids = identityOf(of)
		default:
			b.kids = everything(of)
		}
		all = append(all, b)
	}
	return all
}

func identityOf(def *gql.Definition) []branch {
	kids := []branch{{"id", nil}, {"uid", nil}}
	for _, field := range fieldsOf(def) {
		if field.Type.String() == "String!" {
			return append(kids, branch{field.Name, nil})
		}
	}
	return kids
}

// ways are documents that lead to objects of a type; %s is their selection.
func ways() map[string][]string {
	customers := []string{
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { %%s } }`, star),
		fmt.Sprintf(`{ customer(by: {accountNumber: "%s"}) { %%s } }`, numberOf(star, 1)),
		fmt.Sprintf(`{ customer(by: {customerId: "cif-%d"}) { %%s } }`, star),
		fmt.Sprintf(`{ customer(by: {shortName: "SHORT-%d"}) { %%s } }`, star),
		fmt.Sprintf(`{ customers(first: 5, filter: {parent: "%d"}) { nodes { %%s } } }`, partner),
		fmt.Sprintf(`{ customers(first: 5, filter: {parent: "%d"}, orderBy: NAME) { edges { node { %%s } } } }`,
			partner),
		fmt.Sprintf(`{ node(id: "cus_%d") { ... on Customer { %%s } } }`, star),
		fmt.Sprintf(`{ nodes(ids: ["cus_%d", "acc_%d", "cus_%d"]) { ... on Customer { %%s } } }`, star,
			accountOf(star, 0), partner),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { parent { %%s } } }`, star),
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { customer { %%s } } }`, accountOf(star, 1)),
		fmt.Sprintf(`{ account(by: {number: "%s"}) { customer { parent { %%s } } } }`, numberOf(star, 1)),
		fmt.Sprintf(
			`{ nodes(ids: ["acc_%d", "con_%d"]) { ... on Account { customer { %%s } }
				... on Contact { customer { uid } } } }`, accountOf(star, 0), contactOf(star, 0)),
		fmt.Sprintf(
			`{ nodes(ids: ["sig_%d", "usr_%s"]) { ... on Signatory { customer { %%s } }
				... on User { customer { uid } } } }`, signatoryOf(star, 0), userOf(star, 0)),
		fmt.Sprintf(`{ node(id: "rol_%s") { ... on Role { customer { %%s } } } }`, roleOf(star, 0)),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: 2) { nodes { customer { %%s } } } } }`, star),
		fmt.Sprintf(
			`{ customer(by: {uid: "%d"}) { accounts(first: 2) { edges { node { customer { parent { %%s } } } } } } }`,
			star),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { contacts(first: 2) { nodes { customer { %%s } } } } }`, star),
		fmt.Sprintf(
			`{ customer(by: {uid: "%d"}) { signatories(first: 2) { nodes { customer { parent { %%s } } } } } }`, star),
	}
	ways := map[string][]string{
		"Customer": customers,
		"Account": {
			fmt.Sprintf(`{ account(by: {uid: "%d"}) { %%s } }`, accountOf(star, 1)),
			fmt.Sprintf(`{ account(by: {number: "%s"}) { %%s } }`, numberOf(star, 2)),
		},
	}
	ways["Quote"] = []string{
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { trades(first: 2) { nodes { quote { %%s } } } } }`, star),
	}
	ways["BalanceAlert"] = []string{
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { balanceAlerts(first: 2) { nodes { %%s } } } }`,
			accountOf(star, 0)),
		fmt.Sprintf(`{ node(id: "%s") { ... on BalanceAlert { %%s } } }`, nodes["BalanceAlert"].id(star, 1)),
		`{ customers(first: 3) { nodes { accounts(first: 1) {
			nodes { balanceAlerts(last: 1) { edges { node { %s } } } } } } } }`,
	}
	ways["ContactVerification"] = []string{
		fmt.Sprintf(`{ node(id: "con_%d") { ... on Contact { verifications(first: 2) { nodes { %%s } } } } }`,
			contactOf(star, 0)),
		fmt.Sprintf(`{ nodes(ids: ["con_%d", "con_%d"]) { ... on Contact { verification { %%s } } } }`,
			contactOf(star, 0), contactOf(star, 1)),
		fmt.Sprintf(`{ node(id: "%s") { ... on ContactVerification { %%s } } }`,
			nodes["ContactVerification"].id(star, 1)),
		`{ customers(first: 3) { nodes { contacts(first: 1) {
			nodes { verifications(last: 1) { edges { node { %s } } } } } } } }`,
	}
	ways["VirtualTransaction"] = []string{
		fmt.Sprintf(`{ virtualAccount(by: {uid: "%s"}) { transactions(first: 2) { nodes { %%s } } } }`,
			virtualOf(star, 0)),
		fmt.Sprintf(`{ node(id: "%s") { ... on VirtualTransaction { %%s } } }`,
			nodes["VirtualTransaction"].id(star, 1)),
		`{ webhooks(first: 3, filter: {status: DISABLED}) {
			nodes { deliveries(first: 2) { nodes { transaction { %s } } } } } }`,
	}
	for name, n := range nodes {
		if n.list == "" {
			continue
		}
		id, relation := n.id(star, 1), n.list
		ways[name] = append(ways[name],
			fmt.Sprintf(`{ node(id: "%s") { ... on %s { %%s } } }`, id, name),
			fmt.Sprintf(`{ nodes(ids: ["cus_%d", "%s"]) { ... on %s { %%s } } }`, star, id, name),
			fmt.Sprintf(`{ customer(by: {uid: "%d"}) { %s(first: 2) { nodes { %%s } } } }`, star, relation),
			fmt.Sprintf(`{ customer(by: {uid: "%d"}) { %s(last: 2) { edges { node { %%s } } } } }`, star, relation),
			fmt.Sprintf(`{ customers(first: 3) { nodes { %s(first: 2) { nodes { %%s } } } } }`, relation),
			fmt.Sprintf(`{ account(by: {uid: "%d"}) { customer { %s(first: 2) { nodes { %%s } } } } }`,
				accountOf(star, 1), relation),
			fmt.Sprintf(
				`{ node(id: "con_%d") { ... on Contact { customer { parent { %s(first: 2) { nodes { %%s } } } } } } }`,
				contactOf(star, 1), relation),
		)
	}
	ways["AuditEntry"] = []string{
		fmt.Sprintf(`{ node(id: "aud_%d") { ... on AuditEntry { %%s } } }`, auditOf(star)),
		fmt.Sprintf(`{ nodes(ids: ["cus_%d", "aud_%d"]) { ... on AuditEntry { %%s } } }`, star, auditOf(star)),
		`{ audit(first: 3) { nodes { %s } } }`,
		`{ audit(last: 3, filter: {object: "contact"}) { edges { node { %s } } } }`,
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { history(first: 2) { nodes { %%s } } } }`, star),
		`{ customers(first: 3) { nodes { signatories(first: 2) {
			nodes { history(last: 2) { edges { node { %s } } } } } } } }`,
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { history { nodes { %%s } } } }`, accountOf(star, 1)),
		fmt.Sprintf(`{ node(id: "con_%d") { ... on Contact { history { nodes { %%s } } } } }`, contactOf(star, 1)),
	}
	ways["Webhook"] = []string{
		fmt.Sprintf(`{ node(id: "whk_%d") { ... on Webhook { %%s } } }`, webhookOf(star, 0)),
		fmt.Sprintf(`{ nodes(ids: ["cus_%d", "whk_%d"]) { ... on Webhook { %%s } } }`, star, webhookOf(star, 0)),
		fmt.Sprintf(`{ webhooks(last: 3, filter: {customer: "%d", status: ACTIVE}) { edges { node { %%s } } } }`,
			star),
		fmt.Sprintf(`{ node(id: "whd_%d") { ... on WebhookDelivery { webhook { %%s } } } }`, deliveryOf(star, 0)),
	}
	ways["WebhookDelivery"] = []string{
		fmt.Sprintf(`{ node(id: "whd_%d") { ... on WebhookDelivery { %%s } } }`, deliveryOf(star, 0)),
		`{ webhooks(first: 3, filter: {status: ACTIVE}) {
			nodes { deliveries(first: 2, filter: {state: WAITING}) { nodes { %s } } } } }`,
		fmt.Sprintf(`{ payment(uid: "%d") { webhookDeliveries(last: 1) { edges { node { %%s } } } } }`,
			paymentOf(star, 0)),
	}
	ways["Waterfall"] = []string{
		fmt.Sprintf(`{ node(id: "wfl_%d") { ... on Waterfall { %%s } } }`, waterfallOf(star, 0)),
		fmt.Sprintf(`{ waterfall(by: {waterfallId: "%s"}) { %%s } }`, waterfallID(star, 1)),
		`{ waterfalls(first: 3, filter: {status: STOPPED}) { nodes { %s } } }`,
		`{ waterfalls(last: 2) { edges { node { %s } } } }`,
	}
	ways["WaterfallStep"] = []string{
		fmt.Sprintf(`{ waterfall(by: {uid: "%d"}) { steps(first: 2) { nodes { %%s } } } }`, waterfallOf(star, 0)),
		`{ waterfalls(first: 3) { nodes { steps(last: 1, filter: {status: FAILED}) { edges { node { %s } } } } } }`,
	}
	ways["BulkFileLine"] = []string{
		fmt.Sprintf(`{ node(id: "fil_%d") { ... on BulkFile { lines(first: 1) { nodes { %%s } } } } }`,
			fileOf(star, 0)),
		`{ bulkFiles(first: 3) { nodes { lines(last: 1, filter: {status: MADE, batch: 1}) {
			edges { node { %s } } } } } }`,
	}
	ways["BulkFile"] = append(ways["BulkFile"],
		fmt.Sprintf(`{ bulkFiles(last: 2, filter: {customer: "%d", type: NACHA}) { nodes { %%s } } }`, star))
	ways["Approval"] = []string{
		fmt.Sprintf(`{ node(id: "apr_%d") { ... on Approval { %%s } } }`, approvalOf(star)),
		fmt.Sprintf(`{ nodes(ids: ["cus_%d", "apr_%d"]) { ... on Approval { %%s } } }`, star, approvalOf(star)),
		`{ approvals(first: 3, filter: {}) { nodes { %s } } }`,
		`{ approvals(last: 3, filter: {status: REFUSED}) { edges { node { %s } } } }`,
	}
	ways["Bank"] = []string{
		fmt.Sprintf(`{ bank(by: {routingNumber: "%s"}) { %%s } }`, listedBank.number),
		fmt.Sprintf(`{ bank(by: {bic: "%s"}) { %%s } }`, listedBank.bic),
		fmt.Sprintf(`{ bank(by: {nationalId: {countryCode: "USA", id: "%s"}}) { %%s } }`, listedBank.number),
		`{ banks(first: 3) { nodes { %s } } }`,
		`{ banks(last: 3, filter: {text: "list", city: "col", routingNumberPrefix: "611",
			countryCode: "us"}) { edges { node { %s } } } }`,
		fmt.Sprintf(`{ node(id: "bnk_%d") { ... on Bank { %%s } } }`, listedBank.uid),
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { bank { %%s } } }`, accountOf(star, 1)),
		`{ customers(first: 3) { nodes { accounts(first: 2) { nodes { bank { %s } } } } } }`,
		fmt.Sprintf(`{ node(id: "con_%d") { ... on Contact { bank { entry { %%s } } } } }`, contactOf(star, 1)),
		`{ customers(first: 3) { nodes { contacts(first: 2) { nodes { intermediaryBank { entry { %s } } } } } } }`,
	}
	ways["Sweep"] = []string{
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { sweeps { %%s } } }`, accountOf(star, 1)),
		fmt.Sprintf(`{ account(by: {number: "%s"}) { customer { uid } sweeps { %%s } } }`, numberOf(star, 1)),
		fmt.Sprintf(`{ node(id: "acc_%d") { ... on Account { sweeps { %%s } } } }`, accountOf(star, 1)),
		`{ customers(first: 3) { nodes { accounts(first: 2) { nodes { sweeps { %s } } } } } }`,
	}
	ways["SweepRun"] = []string{
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { sweepRuns(first: 2) { nodes { %%s } } } }`, accountOf(star, 1)),
		fmt.Sprintf(`{ payment(uid: "%d") { senderAccount { sweepRuns(last: 2) { nodes { %%s } } } } }`,
			paymentOf(star, 0)),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: 2) { nodes {
			sweepRuns(last: 1, filter: {direction: BOTH, outcome: PAID}) { edges { node { %%s } } } } } } }`, star),
	}
	ways["PaymentSweep"] = []string{
		fmt.Sprintf(`{ payment(uid: "%d") { sweep { %%s } } }`, paymentOf(star, 0)),
		`{ payments(first: 3) { nodes { sweep { %s } } } }`,
	}
	ways["PaymentStep"] = []string{
		fmt.Sprintf(`{ payment(uid: "%d") { timeline { %%s } } }`, paymentOf(star, 1)),
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { payments(last: 2) { nodes { timeline { %%s } } } } }`,
			accountOf(star, 2)),
		`{ payments(first: 3) { edges { node { timeline { %s } } } } }`,
	}
	for name, place := range map[string]string{
		"PaymentInformationRequest": "informationRequests { %s }",
		"PaymentInformationItem":    "informationRequests { missingInformation { %s } }",
		"NoticeOfChange":            "noticesOfChange { %s }",
	} {
		for _, way := range []string{
			fmt.Sprintf(`{ payment(uid: "%d") { %%s } }`, paymentOf(star, 1)),
			fmt.Sprintf(`{ account(by: {uid: "%d"}) { payments(last: 2) { nodes { %%s } } } }`, accountOf(star, 2)),
			`{ payments(first: 3) { edges { node { %s } } } }`,
		} {
			ways[name] = append(ways[name], strings.Replace(way, "%s", place, 1))
		}
	}
	statement := "statement" + required["Account.statement"]
	for name, place := range map[string]string{
		"Statement": "%s", "BookEntry": "entries(last: 2) { edges { node { %s } } }",
		"Journal":        "entries { nodes { journal { %s } } }",
		"JournalPosting": "entries(orderBy: NEWEST) { nodes { journal { postings { %s } } } }",
	} {
		for _, way := range []string{
			fmt.Sprintf(`{ account(by: {uid: "%d"}) { %s { %%s } } }`, accountOf(star, 1), statement),
			fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: 2) { nodes { %s { %%s } } } } }`, star,
				statement),
			fmt.Sprintf(`{ node(id: "acc_%d") { ... on Account { %s { %%s } } } }`, accountOf(star, 1), statement),
		} {
			ways[name] = append(ways[name], strings.Replace(way, "%s", place, 1))
		}
	}
	ways["Payment"] = append(ways["Payment"],
		fmt.Sprintf(`{ payment(uid: "%d") { %%s } }`, paymentOf(star, 0)),
		`{ payments(last: 3) { nodes { %s } } }`,
		fmt.Sprintf(`{ payments(filter: {account: "%d"}) { edges { node { %%s } } } }`, accountOf(star, 2)),
		fmt.Sprintf(
			`{ customer(by: {uid: "%d"}) { accounts(first: 1) {
				nodes { payments(first: 2) { nodes { %%s } } } } } }`, star),
	)
	for name, relation := range map[string]string{
		"Limit": "limits" + required["Customer.limits"], "FeeTier": "fees",
	} {
		ways[name] = []string{
			fmt.Sprintf(`{ customer(by: {uid: "%d"}) { %s { %%s } } }`, star, relation),
			fmt.Sprintf(`{ customers(first: 3) { nodes { %s { %%s } } } }`, relation),
			fmt.Sprintf(`{ node(id: "cus_%d") { ... on Customer { %s { %%s } } } }`, star, relation),
			fmt.Sprintf(`{ account(by: {uid: "%d"}) { customer { parent { %s { %%s } } } } }`,
				accountOf(star, 1), relation),
		}
	}
	return ways
}

func TestAFieldAskedAloneSaysTheSameAsWithItsSiblings(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	// so that returnStatus has a value
	b.exec(t, `UPDATE payments SET state = 'RECALLED' WHERE tenant = ?`, b.tenant)
	b.exec(t, `INSERT INTO payment_requests (tenant, payment, execution_date, expiry_date, amount_modifiable,
		early, guaranteed, credit)
		SELECT tenant, uid, now(), now(), true, true, true, uid FROM payments WHERE tenant = ?`, b.tenant)
	b.exec(t, `INSERT INTO account_holds (tenant, uid, account, customer, amount, currency, reason, expires_at,
		status, maker_client, maker_login, created_at, updated_at, version)
		SELECT a.tenant, a.uid, a.uid, a.customer, 5, 'USD', 'Court order', now(), 'Active', 'key', 'ann', now(),
		  now(), 1
		FROM accounts AS a JOIN balances AS b ON b.tenant = a.tenant AND b.account = a.uid
		WHERE a.tenant = ?`, b.tenant)
	b.exec(t, `INSERT INTO holds (tenant, id, account, amount, currency, placed, state, placed_at)
		SELECT tenant, uid, account, amount, currency, uid, 'OPEN', now()
		FROM account_holds WHERE tenant = ?`, b.tenant)
	b.exec(t, `UPDATE virtual_accounts SET balance = 1000 + uid % 1000 WHERE tenant = ?`, b.tenant)
	b.exec(t, `UPDATE ach_notices SET maker_client = 'key', maker_login = 'ann', maker_reach = 'Bank',
		applied_at = now()
		WHERE tenant = ?`, b.tenant)
	b.exec(t, `UPDATE payments AS p SET trade = t.uid, sold = p.uid + 7, sold_currency = 'EUR'
		FROM fx_trades AS t
		WHERE p.tenant = ? AND t.tenant = p.tenant AND t.customer = p.customer AND p.trade IS NULL
		AND t.status = 'Booked'`, b.tenant)
	for name, ways := range ways() {
		for i, way := range ways {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				all := everything(schema.Types[name])
				full := b.ask(t, b.staff(), filled(way, joined(all))).fine(t)
				for _, kid := range all {
					for _, one := range kid.alone() {
						document := filled(way, one.String())
						alone := b.ask(t, b.staff(), document).fine(t)
						if problem := within(alone.data, full.data, ""); problem != "" {
							t.Errorf("%s\n%s", document, problem)
						}
					}
				}
			})
		}
	}
}

// Every type that is read from the database is in ways.
func TestNoNodeTypeIsLeftOut(t *testing.T) {
	t.Parallel()
	known := ways()
	for _, def := range ours() {
		if contains(def.Interfaces, "Node") && len(known[def.Name]) == 0 {
			t.Errorf("no way to %s", def.Name)
		}
	}
}

func filled(way, selection string) string {
	if strings.Contains(way, "%[1]s") {
		return fmt.Sprintf(way, selection)
	}
	return strings.ReplaceAll(way, "%s", selection)
}

// within returns where alone is not a part of full, or is empty.
func within(alone, full any, name string) string {
	switch a := alone.(type) {
	case map[string]any:
		f, ok := full.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: %v against %v", name, alone, full)
		}
		for key, value := range a {
			if problem := within(value, f[key], key); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		f, ok := full.([]any)
		if !ok || len(a) != len(f) {
			return fmt.Sprintf("%s: %v against %v", name, alone, full)
		}
		if len(a) == 0 {
			return name + " is an empty list: the test has nothing to compare"
		}
		for i := range a {
			if problem := within(a[i], f[i], name); problem != "" {
				return problem
			}
		}
		return ""
	}
	if !reflect.DeepEqual(alone, full) {
		return fmt.Sprintf("%s: %v alone, %v with its siblings", name, alone, full)
	}
	if !mayBeEmpty[name] && (alone == nil || alone == "" || alone == false || alone == 0.0 || alone == "0.00") {
		return fmt.Sprintf("%s is %v: the test cannot tell it from a column that was not read", name, alone)
	}
	return ""
}

// The same selection in other notations.

func TestTheSameFieldsWrittenOtherwiseSayTheSame(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for name, ways := range ways() {
		for i, way := range ways {
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				all := everything(schema.Types[name])
				plain := b.ask(t, b.staff(), filled(way, joined(all))).fine(t)
				same := func(what, document string, variables ...any) {
					t.Helper()
					if got := b.ask(t, b.staff(), document, variables...).fine(t); !reflect.DeepEqual(got.data, plain.data) {
						t.Errorf("%s: %.3000s\nis not\n%.3000s", what, got.body, plain.body)
					}
				}
				fragment := " fragment F on " + name + " { " + joined(all) + " }"
				same("named fragment", filled(way, "...F")+fragment)
				same("fragment in fragment", filled(way, "...G")+" fragment G on "+name+" { ...F }"+fragment)
				var inline, twice, included []string
				third := len(all)/3 + 1
				for at := 0; at < len(all); at += third {
					part := joined(all[at:min(at+third, len(all))])
					inline = append(inline, "... on "+name+" { "+part+" }")
					included = append(included, "... @include(if: $yes) { "+part+" }")
				}
				same("inline fragments", filled(way, strings.Join(inline, " ")))
				for at, kid := range all {
					twice = append(twice, kid.String())
					if name != "Customer" || at%3 == 0 { // a document has a bound of fields
						twice = append(twice, kid.String())
					}
				}
				same("fields twice", filled(way, strings.Join(twice, " ")))
				same("fields and fragment together", filled(way, joined(all[:len(all)/2])+" ...F")+fragment)
				same("@include", "query($yes: Boolean!) "+filled(way, strings.Join(included, " ")), "yes", true)
				same("@skip",
					"query($no: Boolean!, $yes: Boolean!) "+
						filled(way, joined(all)+" ...F @skip(if: $yes) ... @skip(if: $no) { __typename @skip(if: $yes) }")+
						fragment, "no", false, "yes", true)

				aliased := make([]branch, len(all))
				for i, kid := range all {
					aliased[i] = kid
					if strings.Contains(way, "%s") || i%3 == 0 { // otherwise a document has too many aliases
						aliased[i].head = fmt.Sprintf("x%d: %s", i, kid.head)
					}
				}
				got := b.ask(t, b.staff(), filled(way, joined(aliased))).fine(t)
				if renamed := rename(got.data, all); !reflect.DeepEqual(renamed, any(plain.data)) {
					t.Errorf("aliases: %.3000v\nis not\n%.3000s", renamed, plain.body)
				}
			})
		}
	}
}

// rename replaces x0, x1 … by the names of the fields.
func rename(value any, all []branch) any {
	switch v := value.(type) {
	case map[string]any:
		renamed := map[string]any{}
		for key, inner := range v {
			var i int
			if n, _ := fmt.Sscanf(key, "x%d", &i); n == 1 {
				key, _, _ = strings.Cut(all[i].head, "(")
			}
			renamed[key] = rename(inner, all)
		}
		return renamed
	case []any:
		for i := range v {
			v[i] = rename(v[i], all)
		}
	}
	return value
}

func TestSkippedFieldsAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, b.staff(), fmt.Sprintf(`query($skip: Boolean!) { customer(by: {uid: "%d"}) {
		uid legalName @skip(if: $skip) accounts @skip(if: $skip) { totalCount }
		... @skip(if: $skip) { parent { uid } } } }`, star), "skip", true).fine(t)
	if want := fmt.Sprintf(`{"data":{"customer":{"uid":"%d"}}}`, star); got.body != want ||
		got.statements != 1 {
		t.Errorf("%s, %d statements", got.body, got.statements)
	}
}

// A fragment spread in two places is one text with different siblings in each place.
func TestAFragmentSharedByTwoPlacesReadsWhatEachPlaceNeeds(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, one := range []struct {
		name, document string
		path           []any
	}{
		{
			"nodes need more",
			fmt.Sprintf(
				`{ customer(by: {uid: "%d"}) { accounts(first: 1) { nodes { ...F customer { legalName } }
					edges { node { ...F } } } } } fragment F on Account { customer { uid } }`, star),
			[]any{"customer", "accounts", "nodes", 0, "customer", "legalName"},
		},
		{
			"edges need more",
			fmt.Sprintf(
				`{ customer(by: {uid: "%d"}) { accounts(first: 1) { nodes { ...F }
					edges { node { ...F customer { legalName } } } } } }
					fragment F on Account { customer { uid } }`, star),
			[]any{"customer", "accounts", "edges", 0, "node", "customer", "legalName"},
		},
		{
			"roots' nodes need more",
			fmt.Sprintf(
				`{ customers(first: 5, filter: {parent: "%d"}) { nodes { ...F accounts { nodes { name } } }
					edges { node { ...F } } } }
					fragment F on Customer { accounts { nodes { uid } } }`, partner),
			[]any{"customers", "nodes", 0, "accounts", "nodes", 0, "name"},
		},
		{
			"roots' edges count",
			fmt.Sprintf(
				`{ customers(filter: {parent: "%d"}) { edges { node { ...F accounts { totalCount } } }
					nodes { ...F } } } fragment F on Customer { accounts { nodes { uid } } }`, partner),
			[]any{"customers", "edges", 0, "node", "accounts", "totalCount"},
		},
		{
			"the account's first customer needs more",
			fmt.Sprintf(
				`{ account(by: {uid: "%d"}) { a: customer { ...F accounts { nodes { name } } }
					b: customer { ...F } } }
					fragment F on Customer { accounts { nodes { uid } } }`, accountOf(star, 0)),
			[]any{"account", "a", "accounts", "nodes", 0, "name"},
		},
		{
			"the account's second customer needs more",
			fmt.Sprintf(
				`{ account(by: {uid: "%d"}) { a: customer { ...F }
					b: customer { ...F parent { legalName } } } }
					fragment F on Customer { parent { uid } }`, accountOf(star, 0)),
			[]any{"account", "b", "parent", "legalName"},
		},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			got := b.ask(t, b.staff(), one.document).fine(t)
			if value := got.at(one.path...); value == nil || value == "" || value == 0.0 {
				t.Errorf("%v is %v: %s", one.path, value, got.body)
			}
		})
	}
}

func TestAnIdGivenTwiceGivesTheSameObjectTwice(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, b.staff(),
		`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Customer { accounts { nodes { uid } }
			parent { uid } } } }`,
		"ids", []string{fmt.Sprintf("cus_%d", star), fmt.Sprintf("cus_%d", star)}).fine(t)
	if first, second := got.at("nodes", 0), got.at("nodes", 1); !reflect.DeepEqual(first, second) {
		t.Errorf("%s", got.body)
	}
	if n := len(got.at("nodes", 0, "accounts", "nodes").([]any)); n != each {
		t.Errorf("%d accounts: %s", n, got.body)
	}
}
