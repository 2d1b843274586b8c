package graph_test

import (
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/signatories"
)

func init() {
	declare("Signatory", node{
		needs: access.ViewSignatories, list: "signatories", rows: signatoryRows,
		id: func(c customers.UID, n int) string { return "sig_" + signatoryOf(c, n).String() },
	})
	mutations["addSignatory"] = tried{access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(`customer: "%s", fullName: "Ada Byron", emailAddress: "ada@mail.example",
			phoneNumber: "+16145550123", approvalLimit: "12.50"`, c)
	}, `signatory { id fullName approvalLimit status version customer { uid } } approval { uid }`}
	mutations["changeSignatory"] = tried{access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", title: "CFO", approvalLimit: null`, signatoryOf(c, 0))
	}, `signatory { uid title approvalLimit fullName version } approval { uid }`}
	mutations["removeSignatory"] = tried{access.ManageCustomers, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, signatoryOf(c, 1))
	}, `uid approval { uid }`}
}

func signatoryOf(c customers.UID, n int) signatories.UID {
	return signatories.UID(int(c-theBank)*100 + n + 1)
}

func signatoryRows(b *bank, of []customers.UID) any {
	var all []signatories.Signatory
	for _, c := range of {
		for n := range each {
			g := signatories.Signatory{UID: signatoryOf(c, n), Customer: c}
			b.fill(&g, int64(g.UID))
			g.Tenant, g.Status, g.Version = b.tenant, signatories.Active, 1
			all = append(all, g)
		}
	}
	return &all
}
