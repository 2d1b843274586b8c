package graph_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/customers"
)

// tied is a bank with 23 customers and few names, some of which differ only by letter case.
func tied(t *testing.T) *bank {
	t.Helper()
	b := newBank(t)
	names := []string{"Beech", "beech", "BEECH", "Ash", "Élm", "Oak & <Sons>", "oak"}
	rows := make([]customers.Customer, 17)
	for i := range rows {
		rows[i] = customers.Customer{
			UID: customers.UID(1002000 + i), LegalName: names[i%len(names)], Type: customers.Consumer,
			RelationshipType: customers.RelationCustomer,
		}
	}
	b.add(t, rows...)
	return b
}

const paging = `query($first: Int, $after: String, $last: Int, $before: String, $order: CustomerOrder) {
  customers(first: $first, after: $after, last: $last, before: $before, orderBy: $order) {
    edges { cursor node { uid legalName } } pageInfo { hasNextPage hasPreviousPage startCursor
    endCursor } totalCount } }`

// pageOf reads the rows of an answer.
func pageOf(t *testing.T, got answer) (uids []string) {
	t.Helper()
	got.fine(t)
	edges := got.at("customers", "edges").([]any)
	for i := range edges {
		uids = append(uids, got.at("customers", "edges", i, "node", "uid").(string))
	}
	if len(edges) > 0 &&
		(got.at("customers", "pageInfo", "startCursor") != got.at("customers", "edges", 0, "cursor") ||
			got.at("customers", "pageInfo", "endCursor") != got.at("customers", "edges", len(edges)-1, "cursor")) {
		t.Errorf("pageInfo names other cursors than the edges: %s", got.body)
	}
	if total := got.at("customers", "totalCount"); total != 23.0 {
		t.Errorf("totalCount %v", total)
	}
	return uids
}

func TestEveryRowIsOnOnePageForwardsAndBackwards(t *testing.T) {
	t.Parallel()
	b := tied(t)
	for _, order := range []string{"UID", "NAME"} {
		whole := pageOf(t, b.ask(t, b.staff(), paging, "first", 200, "order", order))
		for _, size := range []int{1, 2, 5, 22, 23, 24} {
			t.Run(fmt.Sprintf("%s by %d", order, size), func(t *testing.T) {
				t.Parallel()
				var read []string
				var cursor any
				for {
					got := b.ask(t, b.staff(), paging, "first", size, "after", cursor, "order", order)
					read = append(read, pageOf(t, got)...)
					if previous := got.at("customers", "pageInfo", "hasPreviousPage"); previous != (cursor != nil) {
						t.Errorf("hasPreviousPage %v at %v", previous, cursor)
					}
					if cursor = got.at("customers", "pageInfo",
						"endCursor"); got.at("customers", "pageInfo", "hasNextPage") == false {
						break
					}
				}
				if !slices.Equal(read, whole) {
					t.Errorf("forwards %v\nwant %v", read, whole)
				}
				read, cursor = nil, nil
				for {
					got := b.ask(t, b.staff(), paging, "last", size, "before", cursor, "order", order)
					read = append(pageOf(t, got), read...)
					if next := got.at("customers", "pageInfo", "hasNextPage"); next != (cursor != nil) {
						t.Errorf("hasNextPage %v at %v", next, cursor)
					}
					if cursor = got.at("customers", "pageInfo",
						"startCursor"); got.at("customers", "pageInfo", "hasPreviousPage") == false {
						break
					}
				}
				if !slices.Equal(read, whole) {
					t.Errorf("backwards %v\nwant %v", read, whole)
				}
			})
		}
	}
}

func TestListsUnderACustomerArePagedBothWays(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, relation := range []string{"accounts", "contacts", "signatories"} {
		t.Run(relation, func(t *testing.T) {
			t.Parallel()
			document := fmt.Sprintf(
				`query($first: Int, $after: String, $last: Int, $before: String) { customer(by: {uid: "%d"}) {
				page: %s(first: $first, after: $after, last: $last, before: $before) { nodes { uid }
				pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } } }`, star, relation)
			var read []string
			var cursor any
			for range each {
				got := b.ask(t, b.staff(), document, "first", 1, "after", cursor).fine(t)
				read = append(read, got.at("customer", "page", "nodes", 0, "uid").(string))
				cursor = got.at("customer", "page", "pageInfo", "endCursor")
				if more := got.at("customer", "page", "pageInfo", "hasNextPage"); more != (len(read) < each) ||
					got.at("customer", "page", "totalCount") != float64(each) {
					t.Errorf("%d: %s", len(read), got.body)
				}
			}
			if empty := b.ask(t, b.staff(), document, "first", 1, "after", cursor).
				fine(t); len(empty.at("customer", "page", "nodes").([]any)) != 0 ||
				empty.at("customer", "page", "pageInfo", "endCursor") != nil {
				t.Errorf("%s", empty.body)
			}
			cursor = nil
			for i := range each {
				got := b.ask(t, b.staff(), document, "last", 1, "before", cursor).fine(t)
				if uid := got.at("customer", "page", "nodes", 0, "uid"); uid != read[each-1-i] {
					t.Errorf("backwards %d: %v of %v", i, uid, read)
				}
				cursor = got.at("customer", "page", "pageInfo", "startCursor")
			}
		})
	}
}

func TestALongNameStillMakesACursor(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.add(t,
		customers.Customer{
			UID: 1003000, LegalName: "!" + strings.Repeat("<&", 127), Type: customers.Consumer,
			RelationshipType: customers.RelationCustomer,
		},
		customers.Customer{
			UID: 1003001, LegalName: "!" + strings.Repeat("語", 254), Type: customers.Consumer,
			RelationshipType: customers.RelationCustomer,
		},
	)
	first := b.ask(t, b.staff(), paging, "first", 1, "order", "NAME").fine(t)
	second := b.ask(t, b.staff(), paging, "first", 1, "order", "NAME", "after",
		first.at("customers", "pageInfo", "endCursor")).fine(t)
	third := b.ask(t, b.staff(), paging, "first", 1, "order", "NAME", "after",
		second.at("customers", "pageInfo", "endCursor")).fine(t)
	if first.at("customers", "edges", 0, "node", "uid") != "1003000" ||
		second.at("customers", "edges", 0, "node", "uid") != "1003001" || len(third.errors) > 0 {
		t.Errorf("%s %s", first.body, second.body)
	}
}

func TestAPageOutOfBoundsIsInvalidAndNamesItsArgument(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	named := b.ask(t, b.staff(), paging, "first", 1, "order", "NAME").fine(t).at("customers", "pageInfo",
		"endCursor").(string)
	byUID := b.ask(t, b.staff(), paging, "first", 1, "order", "UID").fine(t).at("customers", "pageInfo",
		"endCursor").(string)
	ofAccounts := b.ask(t, b.staff(),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: 1) { pageInfo { endCursor } } } }`, star)).
		fine(t).
		at("customer", "accounts", "pageInfo", "endCursor").(string)
	forge := func(json string) string { return "1" + base64.RawURLEncoding.EncodeToString([]byte(json)) }
	text := func(s string) string { return fmt.Sprintf("%q", s) }
	for _, one := range []struct{ arguments, field string }{
		{`first: 0`, "first"},
		{`first: -1`, "first"},
		{`first: 201`, "first"},
		{`first: 2147483647`, "first"},
		{`last: 0`, "last"},
		{`last: -1`, "last"},
		{`last: 201`, "last"},
		{`first: 5, last: 5`, "last"},
		{`first: 5, before: ` + text(byUID), "before"},
		{`last: 5, after: ` + text(byUID), "after"},
		{`after: ` + text(named), "after"},
		{`last: 1, before: ` + text(named), "before"},
		{`orderBy: NAME, after: ` + text(byUID), "after"},
		{`after: ` + text(ofAccounts), "after"},
		{`after: ""`, "after"},
		{`after: "1"`, "after"},
		{`after: "x"`, "after"},
		{`after: "1!!!!"`, "after"},
		{`after: ` + text(byUID[:len(byUID)-1]), "after"},
		{`after: ` + text(byUID[:len(byUID)/2]), "after"},
		{`after: ` + text("2"+byUID[1:]), "after"},
		{`after: ` + text(byUID+"A"), "after"},
		{`after: ` + text(forge(`{"o":"Customer.uid","u":0}`)), "after"},
		{`after: ` + text(forge(`{"o":"Customer.uid","u":-5}`)), "after"},
		{`after: ` + text(forge(`{"o":"Customer.uid","u":1e3}`)), "after"},
		{`after: ` + text(forge(`{"o":"Customer.uid","u":9223372036854775808}`)), "after"},
		{`after: ` + text(forge(`{"o":"Customer.uid","u":5,"x":1}`)), "after"},
		{`after: ` + text(forge(`[]`)), "after"},
		{`after: ` + text(forge(`null`)), "after"},
		{`orderBy: NAME, after: ` + text(forge(`{"o":"Customer.name","v":"\u0000","u":5}`)), "after"},
		{`orderBy: NAME, after: ` + text(forge(`{"o":"Customer.name","v":"`+"\xff"+`","u":5}`)), "after"},
		{`after: ` + text(strings.Repeat("A", 5000)), "after"},
	} {
		for name, document := range map[string]string{
			"customers": `{ customers(%s) { nodes { uid } } }`,
			"accounts":  fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(%%s) { nodes { uid } } } }`, star),
		} {
			if name == "accounts" &&
				(strings.Contains(one.arguments, "orderBy") || strings.Contains(one.arguments, ofAccounts) ||
					strings.Contains(one.arguments, "5, ")) {
				continue
			}
			t.Run(name+" "+one.arguments[:min(60, len(one.arguments))], func(t *testing.T) {
				t.Parallel()
				got := b.ask(t, b.staff(), fmt.Sprintf(document, one.arguments))
				if len(got.errors) != 1 || got.errors[0].Extensions.Kind != "INVALID" ||
					got.errors[0].Extensions.Field != one.field {
					t.Errorf("%s", got.body)
				}
				if got.statements > 1 {
					t.Errorf("%d statements", got.statements)
				}
			})
		}
	}
}

// Validation refuses these by their type, before the list is read.
func TestAPageSizeThatIsNoWholeNumberIsInvalid(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, literal := range []string{`3000000000`, `"5"`, `5.0`, `true`, `[5]`, `99999999999999999999`} {
		for _, one := range []answer{
			b.ask(t, b.staff(), `{ viewer { tenant } customers(first: `+literal+`) { nodes { uid } } }`),
			b.send(t, b.staff(),
				`{"query":"query($n: Int) { viewer { tenant } customers(first: $n) { nodes { uid } } }",`+
					`"variables":{"n":`+
					literal+`}}`),
			b.ask(t, b.staff(),
				fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: %s) { nodes { uid } } } }`, star, literal)),
		} {
			if e := one.errors; len(e) != 1 || e[0].Extensions.Kind != "INVALID" ||
				one.status == 200 && e[0].Extensions.Field != "first" || one.statements > 1 {
				t.Errorf("%s: %d statements %s", literal, one.statements, one.body)
			}
		}
	}
}
