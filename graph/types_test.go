package graph_test

import (
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/customers"
)

// node is what the tests of all types need to know of a type with global ids. The test file of its domain
// declares it, with the domain's mutations and lookups.
type node struct {
	id    func(c customers.UID, n int) string // the id of a customer's nth object
	needs access.Permission
	any   []access.Permission                   // of which one is needed, in place of needs
	list  string                                // the field of Customer for the list, if any
	rows  func(b *bank, of []customers.UID) any // the rows to insert for these customers
}

var nodes = map[string]node{}

// declare adds a type to the tables of these tests.
func declare(name string, n node) {
	nodes[name] = n
	first := func(c customers.UID) string { return n.id(c, 0) }
	all := fmt.Sprintf(`... on %s { ALL(%[1]s) }`, name)
	lookups["Query.node.id:"+name] = lookup{`{ node(id: "%s") { ` + all + ` } }`, first}
	lookups["Query.nodes.ids:"+name] = lookup{`{ nodes(ids: ["%s"]) { id ` + all + ` } }`, first}
	one := n.any
	if one == nil {
		one = []access.Permission{n.needs}
	}
	needs["Query.node:"+name], needs["Query.nodes:"+name] = one, one
	if n.list != "" {
		needs["Customer."+n.list], required["Customer."+n.list] = one, "(first: 2)"
	}
	for _, field := range schema.Types[name].Fields {
		switch field.Name {
		case "customer":
			needs[name+".customer"] = []access.Permission{access.ViewCustomers}
		case "history":
			needs[name+".history"], required[name+".history"] = []access.Permission{access.ViewAudit}, "(first: 1)"
		}
	}
}

func init() {
	for name, n := range map[string]node{
		"Customer": {
			needs: access.ViewCustomers, id: func(c customers.UID, _ int) string { return "cus_" + c.String() },
		},
		"Approval": {
			any: approvers,
			id:  func(c customers.UID, _ int) string { return "apr_" + approvalOf(c).String() },
		},
		"AuditEntry": {
			needs: access.ViewAudit, id: func(c customers.UID, _ int) string { return "aud_" + auditOf(c).String() },
		},
		"Account": {
			needs: access.ViewAccounts, list: "accounts",
			id: func(c customers.UID, n int) string { return "acc_" + accountOf(c, n).String() },
		},
		"Contact": {
			needs: access.ViewContacts, list: "contacts",
			id: func(c customers.UID, n int) string { return "con_" + contactOf(c, n).String() },
		},
		"User": {
			needs: access.ViewUsers, list: "users",
			id: func(c customers.UID, n int) string { return "usr_" + userOf(c, n).String() },
		},
		"Role": {
			needs: access.ViewUsers, list: "roles",
			id: func(c customers.UID, n int) string { return "rol_" + roleOf(c, n).String() },
		},
	} {
		declare(name, n)
	}
}
