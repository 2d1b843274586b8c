package graph_test

import (
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/customers"
)

// node is what the tests of all types have to know of one that has global ids. The file of a domain's own
// tests says it, with the domain's mutations and the arguments that find something (mutations, lookups).
type node struct {
	id    func(c customers.UID, n int) string // of the nth of a customer
	needs access.Permission
	list  string                                // the field of Customer that shows them, if one does
	rows  func(b *bank, of []customers.UID) any // to be inserted: those of these customers
}

var nodes = map[string]node{}

// declare adds a type to the tables of what is tried of every type.
func declare(name string, n node) {
	nodes[name] = n
	first := func(c customers.UID) string { return n.id(c, 0) }
	all := fmt.Sprintf(`... on %s { ALL(%[1]s) }`, name)
	lookups["Query.node.id:"+name] = lookup{`{ node(id: "%s") { ` + all + ` } }`, first}
	lookups["Query.nodes.ids:"+name] = lookup{`{ nodes(ids: ["%s"]) { id ` + all + ` } }`, first}
	needs["Query.node:"+name], needs["Query.nodes:"+name] = n.needs, n.needs
	if n.list != "" {
		needs["Customer."+n.list], required["Customer."+n.list] = n.needs, "(first: 2)"
	}
	for _, field := range schema.Types[name].Fields {
		switch field.Name {
		case "customer":
			needs[name+".customer"] = access.ViewCustomers
		case "history":
			needs[name+".history"], required[name+".history"] = access.ViewAudit, "(first: 1)"
		}
	}
}

func init() {
	for name, n := range map[string]node{
		"Customer": {
			needs: access.ViewCustomers, id: func(c customers.UID, _ int) string { return "cus_" + c.String() },
		},
		"Approval": {
			needs: access.ViewCustomers,
			id:    func(c customers.UID, _ int) string { return "apr_" + approvalOf(c).String() },
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
