package graph_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	gql "github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/graph"
)

// Who sees what, generated from the schema. Two banks have the same rows with the same numbers, but the other
// bank's texts contain a canary. It also has rows of its own.

const canary = "CANARY"

// onlyThere exists only in the other bank.
const onlyThere customers.UID = 1005000

// twins makes our bank and the one with the canaries.
func twins(t *testing.T) (ours, other *bank) {
	t.Helper()
	ours, other = newBank(t), newBankMarked(t, canary)
	itself := onlyThere
	other.add(t,
		customers.Customer{
			UID: onlyThere, Parent: &itself, Owner: partner, Type: customers.Corporate,
			RelationshipType: customers.RelationCustomer,
		})
	return ours, other
}

// lookup is a document that finds something.
type lookup struct {
	document string // %s is the value
	value    func(customers.UID) string
}

// lookups are all arguments that find something, each with its value for a customer or for something of a
// customer. TestEveryArgumentThatFindsSomethingIsInTheMatrix fails if one is missing.
var lookups = map[string]lookup{
	"Query.audit.filter.customer": {
		`{ audit(filter: {customer: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`, customers.UID.String,
	},
	"Query.audit.filter.object": {
		`{ audit(filter: {object: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`,
		func(customers.UID) string { return "signatory" },
	},
	"Query.audit.filter.objectUid": {
		`{ audit(filter: {object: "signatory", objectUid: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`,
		func(c customers.UID) string { return signatoryOf(c, 0).String() },
	},
	"Query.audit.filter.action": {
		`{ audit(filter: {action: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`,
		func(c customers.UID) string { return "Alpha action " + c.String() },
	},
	"Query.audit.filter.client": {
		`{ audit(filter: {client: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`,
		func(c customers.UID) string { return "Alpha client " + c.String() },
	},
	"Query.audit.filter.loginId": {
		`{ audit(filter: {loginId: "%s"}) { totalCount nodes { ALL(AuditEntry) } } }`,
		func(c customers.UID) string { return "Alpha login " + c.String() },
	},
	"Query.approvals.filter.customer": {
		`{ approvals(filter: {customer: "%s"}) { totalCount nodes { ALL(Approval) } } }`, customers.UID.String,
	},
	"Query.customer.by.uid": {
		`{ customer(by: {uid: "%s"}) { ALL(Customer) } }`, customers.UID.String,
	},
	"Query.customer.by.accountNumber": {
		`{ customer(by: {accountNumber: "%s"}) { ALL(Customer) } }`,
		func(c customers.UID) string { return numberOf(c, 0) },
	},
	"Query.customer.by.customerId": {
		`{ customer(by: {customerId: "%s"}) { ALL(Customer) } }`,
		func(c customers.UID) string { return "cif-" + c.String() },
	},
	"Query.customer.by.shortName": {
		`{ customer(by: {shortName: "%s"}) { ALL(Customer) } }`,
		func(c customers.UID) string { return "short-" + c.String() },
	},
	"Query.account.by.uid": {
		`{ account(by: {uid: "%s"}) { ALL(Account) customer { ALL(Customer) } } }`,
		func(c customers.UID) string { return accountOf(c, 0).String() },
	},
	"Query.account.by.number": {
		`{ account(by: {number: "%s"}) { ALL(Account) customer { ALL(Customer) } } }`,
		func(c customers.UID) string { return numberOf(c, 0) },
	},
	"Query.customers.filter.text": {
		`{ customers(first: 12, filter: {text: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return c.String() },
	},
	"Query.customers.filter.namePrefix": {
		`{ customers(first: 15, filter: {namePrefix: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "alpha legalname " + c.String() },
	},
	"Query.customers.filter.shortName": {
		`{ customers(first: 15, filter: {shortName: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "short-" + c.String() },
	},
	"Query.customers.filter.customerId": {
		`{ customers(first: 15, filter: {customerId: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "cif-" + c.String() },
	},
	"Query.customers.filter.taxId": {
		`{ customers(first: 15, filter: {taxId: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "99" + c.String() },
	},
	"Query.customers.filter.lei": {
		`{ customers(first: 15, filter: {lei: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "LEI" + c.String() },
	},
	"Query.customers.filter.achCompanyId": {
		`{ customers(first: 15, filter: {achCompanyId: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return "ACH" + c.String() },
	},
	"Query.customers.filter.parent": {
		`{ customers(first: 15, filter: {parent: "%s"}) { totalCount nodes { ALL(Customer) } } }`,
		func(c customers.UID) string { return parentOf(c).String() },
	},
	"Customer.accounts.filter.number": {
		`{ customers(first: 8) { nodes { accounts(first: 2, filter: {number: "%s"}) { totalCount
			nodes { ALL(Account) } } } } }`, func(c customers.UID) string { return numberOf(c, 0) },
	},
	"Customer.accounts.filter.costCenter": {
		`{ customers(first: 8) { nodes { accounts(first: 2, filter: {costCenter: "%s"}) { totalCount
			nodes { ALL(Account) } } } } }`,
		func(c customers.UID) string { return "Alpha CostCenter " + accountOf(c, 0).String() },
	},
	"Customer.contacts.filter.name": {
		`{ customers(first: 8) { nodes { contacts(first: 3, filter: {name: "%s"}) { totalCount
			nodes { ALL(Contact) } } } } }`,
		func(c customers.UID) string { return "alpha name " + contactOf(c, 0).String() },
	},
	"Customer.contacts.filter.accountNumber": {
		`{ customers(first: 8) { nodes { contacts(first: 3, filter: {accountNumber: "%s"}) { totalCount
			nodes { ALL(Contact) } } } } }`, func(c customers.UID) string { return "55" + numberOf(c, 0) },
	},
	"Customer.users.filter.loginId": {
		`{ customers(first: 8) { nodes { users(first: 3, filter: {loginId: "%s"}) { totalCount
			nodes { ALL(User) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("Alpha LoginID ", signatoryOf(c, 0)) },
	},
	"Customer.users.filter.firstName": {
		`{ customers(first: 8) { nodes { users(first: 3, filter: {firstName: "%s"}) { totalCount
			nodes { ALL(User) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("Alpha FirstName ", signatoryOf(c, 0)) },
	},
	"Customer.users.filter.lastName": {
		`{ customers(first: 8) { nodes { users(first: 3, filter: {lastName: "%s"}) { totalCount
			nodes { ALL(User) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("Alpha LastName ", signatoryOf(c, 0)) },
	},
	"Customer.users.filter.email": {
		`{ customers(first: 8) { nodes { users(first: 3, filter: {email: "%s"}) { totalCount
			nodes { ALL(User) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("Alpha EmailAddress ", signatoryOf(c, 0)) },
	},
	"Customer.users.filter.phoneNumber": {
		`{ customers(first: 8) { nodes { users(first: 3, filter: {phoneNumber: "%s"}) { totalCount
			nodes { ALL(User) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("+1 614-", signatoryOf(c, 0)) },
	},
	"Customer.roles.filter.name": {
		`{ customers(first: 8) { nodes { roles(first: 3, filter: {name: "%s"}) { totalCount
			nodes { ALL(Role) } } } } }`,
		func(c customers.UID) string { return fmt.Sprint("alpha name ", signatoryOf(c, 0)) },
	},
}

// reference begins the places of arguments that find what is the same for every bank and every caller; see
// TestEverybodyReadsTheSameDirectory.
const reference = "Query.bank"

// planned begins the places of arguments that describe a payment. Few of them find something.
const planned = "Query.preview"

var finding = map[string]bool{
	planned + "Payment.input.senderAccount.uid": true, planned + "Payment.input.senderAccount.number": true,
	planned + "Payment.input.receiver.contact":   true,
	planned + "Transfer.input.senderAccount.uid": true, planned + "Transfer.input.senderAccount.number": true,
	planned + "Transfer.input.receiverAccount.uid": true, planned +
		"Transfer.input.receiverAccount.number": true,
}

// narrowing are arguments that find nothing by themselves.
var narrowing = map[string]bool{"first": true, "after": true, "last": true, "before": true}

// parentOf is the parent of a customer in the matrix.
func parentOf(c customers.UID) customers.UID {
	return map[customers.UID]customers.UID{
		star: partner, otherStar: otherPartner, onlyThere: onlyThere, absent: absent,
	}[c]
}

func matrixDocument(document, value string) string {
	for _, def := range ours() {
		if strings.Contains(document, "ALL("+def.Name+")") {
			document = strings.ReplaceAll(document, "ALL("+def.Name+")", joined(everything(def)))
		}
	}
	return strings.ReplaceAll(document, "%s", value)
}

func TestEveryArgumentThatFindsSomethingIsInTheMatrix(t *testing.T) {
	t.Parallel()
	var need func(place string, typ *gql.Type)
	need = func(place string, typ *gql.Type) {
		of := schema.Types[typ.Name()]
		if of.Kind == gql.InputObject {
			for _, field := range of.Fields {
				need(place+"."+field.Name, field.Type)
			}
			return
		}
		if name := typ.Name(); name != "String" && name != "ID" && name != "UID" ||
			narrowing[place[strings.LastIndex(place, ".")+1:]] {
			return
		}
		if strings.HasPrefix(place, reference) || strings.HasPrefix(place, planned) && !finding[place] {
			return
		}
		for known := range lookups {
			if known == place || strings.HasPrefix(known, place+":") {
				return
			}
		}
		t.Errorf("%s is missing in lookups", place)
	}
	for _, def := range ours() {
		// Mutations have their own table, and subscriptions live_test.go.
		if def.Kind == gql.Object && def.Name != "Mutation" && def.Name != "Subscription" {
			for _, field := range fieldsOf(def) {
				for _, argument := range field.Arguments {
					need(def.Name+"."+field.Name+"."+argument.Name, argument.Type)
				}
			}
		}
	}
}

// principal is a caller, and whether the bank under test is the caller's.
type principal struct {
	name   string
	caller *access.Caller
	bank   *bank
	sees   map[customers.UID]bool
}

// fullPrincipals is how many of the principals come before those that lack one permission each.
const fullPrincipals = 11

func principals(ours, other *bank) []principal {
	none := *ours.staff()
	none.Permissions = nil
	reader := *ours.staff()
	reader.Permissions = access.Readers
	otherPartners := *ours.partner()
	otherPartners.Entity, otherPartners.Partner = int64(otherPartner), int64(otherPartner)
	all := []principal{
		{"staff", ours.staff(), ours, map[customers.UID]bool{star: true, otherStar: true}},
		{"reader", &reader, ours, map[customers.UID]bool{star: true, otherStar: true}},
		{"partner", ours.partner(), ours, map[customers.UID]bool{star: true}},
		{"other partner", &otherPartners, ours, map[customers.UID]bool{otherStar: true}},
		{
			"other bank's staff", other.staff(), other,
			map[customers.UID]bool{star: true, otherStar: true, onlyThere: true},
		},
		{"other bank's partner", other.partner(), other, map[customers.UID]bool{star: true, onlyThere: true}},
		{"somebody of a customer", ours.somebodyOf(star), ours, map[customers.UID]bool{star: true}},
		{
			"somebody of another's customer", ours.somebodyOf(otherStar), ours,
			map[customers.UID]bool{otherStar: true},
		},
		{
			"somebody of the other bank's customer", other.somebodyOf(star), other,
			map[customers.UID]bool{star: true},
		},
		{"nobody", nil, ours, nil},
		{"staff without any permission", &none, ours, nil},
	}
	for _, p := range access.All {
		all = append(all,
			principal{
				"staff without " + string(p), without(ours.staff(), p), ours,
				map[customers.UID]bool{star: true, otherStar: true},
			})
		all = append(all,
			principal{
				"partner without " + string(p), without(ours.partner(), p), ours,
				map[customers.UID]bool{star: true},
			})
	}
	return all
}

func TestNobodySeesAnotherBankOrAnotherPartner(t *testing.T) {
	t.Parallel()
	ours, other := twins(t)
	for i, name := range slices.Sorted(maps.Keys(lookups)) {
		lookup := lookups[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k, p := range principals(ours, other) {
				// of those who lack one permission an eighth: the lookups beside it try the others
				if k >= fullPrincipals && (i+k)%8 != 0 {
					continue
				}
				ask := func(c customers.UID) answer {
					return ours.ask(t, p.caller, matrixDocument(lookup.document, lookup.value(c)))
				}
				nothing := ask(absent)
				for _, c := range []customers.UID{star, otherStar, onlyThere} {
					got := ask(c)
					foreign := canary
					if p.bank == other {
						foreign = "Alpha"
					}
					if strings.Contains(got.body, foreign) {
						t.Errorf("%s sees another bank's %d: %.1000s", p.name, c, got.body)
					}
					if !p.sees[c] && got.body != nothing.body {
						t.Errorf("%s can tell %d from one that does not exist: %.1000s\n%.1000s",
							p.name, c, got.body, nothing.body)
					}
					// Our bank's texts find nothing in the other bank, though its rows have the same numbers.
					seen := p.sees[c] && len(p.caller.Permissions) == len(access.All) &&
						(p.bank != other || !strings.Contains(strings.ToLower(lookup.value(c)), "alpha"))
					if seen && !strings.Contains(got.body, p.bank.mark) {
						t.Errorf("%s does not see %d: %.1000s", p.name, c, got.body)
					}
				}
			}
		})
	}
}

// A partner's list contains only its own customers and what belongs to them.
func TestAPartnersListsHoldItsOwnOnly(t *testing.T) {
	t.Parallel()
	ours, _ := twins(t)
	got := ours.ask(t, ours.partner(),
		`{ customers(orderBy: NAME) { totalCount nodes { uid parent { uid } accounts { nodes { uid } } } }
		filtered: customers(filter: {status: ACTIVE}) { totalCount nodes { uid } } }`).fine(t)
	if uids := []any{
		got.at("customers", "nodes", 0, "uid"), got.at("customers", "nodes", 1, "uid"),
		got.at("customers", "nodes", 2),
	}; !reflect.DeepEqual(uids, []any{partner.String(), star.String(), nil}) {
		t.Errorf("%s", got.body)
	}
	if got.at("customers", "totalCount") != 2.0 || got.at("filtered", "totalCount") != 2.0 {
		t.Errorf("%s", got.body)
	}
	if got.at("customers", "nodes", 0, "parent") != nil { // a partner must not see the bank itself
		t.Errorf("the partner sees its bank: %s", got.body)
	}
	for _, name := range []string{"short-" + otherStar.String(), "short-" + theBank.String()} {
		if got := ours.ask(t, ours.partner(), `query($n: String!) { customer(by: {shortName: $n}) { uid } }`, "n",
			name).fine(t); got.at("customer") != nil {
			t.Errorf("%s", got.body)
		}
	}
}

// To a caller of a customer, lists show only that customer and what belongs to it.
func TestTheListsOfSomebodyOfACustomerHoldThatCustomerAlone(t *testing.T) {
	t.Parallel()
	ours, _ := twins(t)
	got := ours.ask(t, ours.somebodyOf(star),
		`{ viewer { reach } customers { totalCount nodes { uid parent { uid } accounts { nodes { uid } } } }
		filtered: customers(filter: {status: ACTIVE}) { totalCount }
		others: customers(filter: {shortName: "short-`+
			otherStar.String()+`"}) { totalCount nodes { uid } } }`).fine(t)
	if got.at("viewer", "reach") != "CUSTOMER" || got.at("customers", "nodes", 0, "uid") != star.String() ||
		got.at("customers", "nodes", 1) != nil ||
		got.at("customers", "nodes", 0, "accounts", "nodes", 0) == nil {
		t.Errorf("%s", got.body)
	}
	if got.at("customers", "totalCount") != 1.0 || got.at("filtered", "totalCount") != 1.0 ||
		got.at("others", "totalCount") != 0.0 {
		t.Errorf("%s", got.body)
	}
	if got.at("customers", "nodes", 0, "parent") != nil { // a customer must not see its parent
		t.Errorf("%s", got.body)
	}
}

// needs are the permissions of which each field needs one, besides those added by declare. Fields that are
// not listed need none.
var needs = map[string][]access.Permission{
	"Query.customer": {access.ViewCustomers}, "Query.customers": {access.ViewCustomers},
	"Query.account": {access.ViewAccounts}, "Query.approvals": approvers, "Query.audit": {access.ViewAudit},
	"User.roles": {access.ViewUsers}, "User.limits": {access.ViewUsers}, "Account.sweeps": {access.ViewAccounts},
	"Account.sweepRuns": {access.ViewAccounts}, "Payment.sweep": {access.ViewAccounts},
	"SweepRun.payment": {access.ViewPayments}, "Customer.parent": {access.ViewCustomers},
	"Customer.limits": {access.ViewCustomers}, "Customer.fees": {access.ViewCustomers},
}

// approvers are the permissions that show approvals of some kind.
var approvers = []access.Permission{
	access.ViewCustomers, access.ViewAccounts, access.ViewContacts, access.ViewSignatories, access.ViewUsers,
	access.ViewPayments, access.ViewFiles, access.ViewWebhooks, access.ViewPositiveRules,
}

// Taking one permission away at a time must make exactly the fields null that need it, each with its own
// error, and change nothing else.
func TestAMissingPermissionHidesItsFieldsAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for place, document := range placesOf() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			whole := b.ask(t, b.staff(), document).fine(t)
			for _, lost := range access.All {
				caller := without(b.staff(), lost)
				got := b.ask(t, caller, document)
				var hidden []string
				for _, e := range got.errors {
					if e.Extensions.Kind != "DENIED" || e.Extensions.Code != "API901" ||
						e.Extensions.RequestID != requestID {
						t.Errorf("%+v", e)
					}
					hidden = append(hidden, fmt.Sprint(e.Path))
				}
				expected := hide(whole.data, document, place, caller)
				if !caller.May(access.ManageContacts) {
					expected = maskNotices(expected)
				}
				if !reflect.DeepEqual(any(got.data), expected) {
					t.Errorf("without %s: %.2000s\nwant %.2000v", lost, got.body, expected)
				}
				// Each new null has its error, and there are no other errors.
				var nulls []string
				newNulls(whole.data, got.data, nil, &nulls)
				slices.Sort(nulls)
				slices.Sort(hidden)
				if !slices.Equal(nulls, hidden) {
					t.Errorf("without %s: errors at %v, null at %v", lost, hidden, nulls)
				}
			}
		})
	}
}

// placesOf are documents that ask every root field for everything, including relations.
func placesOf() map[string]string {
	documents := map[string]string{}
	for name, lookup := range lookups {
		if strings.HasPrefix(name, "Query.node") || name == "Query.customer.by.uid" ||
			strings.HasPrefix(name, "Query.account") || name == "Query.customers.filter.parent" {
			document := matrixDocument(lookup.document, lookup.value(star))
			documents[name] = "{ viewer { tenant }" + strings.TrimPrefix(document, "{")
		}
	}
	return documents
}

// hide replaces by null all fields for which the caller lacks a permission.
func hide(data map[string]any, document, place string, caller *access.Caller) any {
	var walk func(value any, typ string) any
	walk = func(value any, typ string) any {
		switch v := value.(type) {
		case []any:
			shown := make([]any, len(v))
			for i := range v {
				shown[i] = walk(v[i], typ)
			}
			return shown
		case map[string]any:
			shown := map[string]any{}
			for key, inner := range v {
				field := schema.Types[typ].Fields.ForName(key)
				if p, ok := needs[typ+"."+key]; ok && !slices.ContainsFunc(p, caller.May) {
					shown[key] = nil
					continue
				}
				if typ == "Approval" && key == "changes" && !caller.May(access.ViewSignatories) {
					shown[key] = []any{} // they are of signatories here
					continue
				}
				of := field.Type.Name()
				if of == "Node" {
					_, of, _ = strings.Cut(place, ":")
					if p := needs["Query."+key+":"+of]; !slices.ContainsFunc(p, caller.May) {
						shown[key] = nil
						if key == "nodes" {
							shown[key] = []any{nil}
						}
						continue
					}
				}
				shown[key] = walk(inner, of)
			}
			return shown
		}
		return value
	}
	return walk(data, "Query")
}

// newNulls collects the paths of values that became null.
func newNulls(before, after any, path []any, found *[]string) {
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			*found = append(*found, fmt.Sprint(path))
			return
		}
		for key := range b {
			newNulls(b[key], a[key], append(slices.Clone(path), key), found)
		}
	case []any:
		a, ok := after.([]any)
		if ok && len(a) == 0 {
			return
		}
		if !ok {
			*found = append(*found, fmt.Sprint(path))
			return
		}
		for i := range b {
			newNulls(b[i], a[i], append(slices.Clone(path), float64(i)), found)
		}
	}
}

// Every field that reads the database is in needs.
func TestEveryRelationDeclaresItsPermission(t *testing.T) {
	t.Parallel()
	for _, def := range ours() {
		if def.Kind != gql.Object || def.Name != "Query" && !contains(def.Interfaces, "Node") {
			continue
		}
		for _, field := range fieldsOf(def) {
			of := schema.Types[field.Type.Name()]
			related := strings.HasSuffix(of.Name, "Connection") || contains(of.Interfaces, "Node") ||
				of.Name == "Node" || of.Name == "Limit" || of.Name == "FeeTier"
			if !related || of.Name == "Bank" || of.Name == "BankConnection" { // a directory for everybody
				continue
			}
			place := def.Name + "." + field.Name
			if needs[place] == nil && (of.Name != "Node" || needs[place+":Customer"] == nil) {
				t.Errorf("%s declares no permission", place)
			}
			if field.Type.NonNull && of.Name != "Node" {
				t.Errorf("%s must be nullable: a caller without the permission gets null there", place)
			}
		}
	}
}

// permissions.txt lists the permission of each field that needs one. Operators read it by "bankgraph
// permissions".
func TestThePermissionsOfFieldsAreExported(t *testing.T) {
	t.Parallel()
	var lines []string
	for place, permissions := range needs {
		if root, kind, of := strings.Cut(place, ":"); of {
			place = root + " on " + kind
		}
		lines = append(lines, place+"\t"+enough(permissions...))
	}
	for name, needed := range subscribing {
		lines = append(lines, "Subscription."+name+"\t"+enough(needed))
	}
	changing := map[string]bool{} // what decisions need
	for name, m := range mutations {
		if !deciding[name] {
			line := "Mutation." + name + "\t" + enough(m.needs)
			for _, too := range needsToo[name] {
				line += "+" + enough(too)
			}
			lines = append(lines, line)
			changing[enough(m.needs)] = true
		}
	}
	for name := range deciding {
		for needed := range changing {
			lines = append(lines, "Mutation."+name+" of what needs "+needed+"\t"+needed)
		}
	}
	b := newBank(t)
	for place, lookup := range lookups { // some arguments need more than their field
		field, argument, ok := strings.Cut(place, ".by.")
		if !ok {
			continue
		}
		root := strings.TrimPrefix(field, "Query.")
		document := fmt.Sprintf(`{ %s(by: {%s: "%s"}) { uid } }`, root, argument, lookup.value(star))
		needed := coretest.Enough(func(may ...access.Permission) bool {
			caller := *b.staff()
			caller.Permissions = may
			return b.ask(t, &caller, document).at(root) != nil
		})
		if needed != enough(needs[field]...) {
			lines = append(lines, field+" by "+argument+"\t"+needed)
		}
	}
	slices.Sort(lines)
	table := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("permissions.txt", []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if graph.Permissions != table && !*update {
		t.Errorf("permissions.txt is stale: go test ./graph -run Permissions -update")
	}
}

// deciding are the mutations that need what the change needs that they decide on.
var deciding = map[string]bool{"approveChange": true, "refuseChange": true}

// enough are the permissions that suffice where one of these is needed: themselves and those that imply them.
func enough(needs ...access.Permission) string {
	var all []string
	for _, p := range access.All {
		if slices.ContainsFunc(needs, access.Caller{Permissions: []access.Permission{p}}.May) {
			all = append(all, string(p))
		}
	}
	return strings.Join(all, "|")
}

// maskNotices returns data in which the account numbers of notices of change are masked: only whoever may
// change contacts reads them whole.
func maskNotices(data any) any {
	switch data := data.(type) {
	case []any:
		all := make([]any, len(data))
		for i := range data {
			all[i] = maskNotices(data[i])
		}
		return all
	case map[string]any:
		all := maps.Clone(data)
		for name, of := range data {
			all[name] = maskNotices(of)
		}
		if number, is := data["accountNumber"].(string); is && data["code"] == "C07" {
			all["accountNumber"] = "****" + number[len(number)-4:]
		}
		return all
	}
	return data
}
