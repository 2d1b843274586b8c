package graph_test

import (
	"fmt"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/waterfalls"
)

func init() {
	declare("Waterfall", node{
		needs: access.ViewPayments, rows: waterfallRows,
		id: func(c customers.UID, n int) string { return "wfl_" + waterfallOf(c, n).String() },
	})
	view := []access.Permission{access.ViewPayments}
	needs["Query.waterfall"], needs["Query.waterfalls"], needs["Waterfall.steps"] = view, view, view
	needs["WaterfallStep.payment"] = view
	required["Waterfall.steps"] = "(first: 1)"
	lookups["Query.waterfall.by.uid"] = lookup{
		`{ waterfall(by: {uid: "%s"}) { ALL(Waterfall) } }`,
		func(c customers.UID) string { return waterfallOf(c, 0).String() },
	}
	lookups["Query.waterfall.by.waterfallId"] = lookup{
		`{ waterfall(by: {waterfallId: "%s"}) { ALL(Waterfall) } }`,
		func(c customers.UID) string { return waterfallID(c, 0).String() },
	}
	lookups["Query.waterfalls.filter.externalReferenceId"] = lookup{
		`{ waterfalls(first: 2, filter: {externalReferenceId: "%s"}) { totalCount
			nodes { id externalReferenceId createdBy } } }`,
		func(c customers.UID) string { return fmt.Sprint("Alpha ExternalReferenceID ", waterfallOf(c, 0)) },
	}
	mutations["runWaterfall"] = tried{access.InitiatePayments, func(c customers.UID) string {
		side := func(n int) string {
			return fmt.Sprintf(`{number: "%s", type: "Deposit", subType: "Pseudo", routingNumber: "%s"}`,
				numberOf(activeOf(c), n), listedBank.number)
		}
		return fmt.Sprintf(`externalReferenceId: "BATCH-7", payments: [
			{paymentIndex: 2, amount: "1.50", notes: "Rent", debtorAccount: %s, creditorAccount: %s}]`,
			side(0), side(1))
	}, `waterfall { id status externalReferenceId payments madePayments createdBy
		steps(first: 2) { nodes { paymentIndex status amount currency notes faults { code }
		payment { uid } } } version }`}
	staffOnly["runWaterfall"] = true
}

// waterfallOf is one of the batches of a customer.
func waterfallOf(c customers.UID, n int) waterfalls.UID {
	return waterfalls.UID(int(c-theBank)*100 + n + 700_000_000)
}

// waterfallID is the UUID of one of the batches of a customer.
func waterfallID(c customers.UID, n int) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(waterfallOf(c, n).String()))
}

// waterfallRows are the batches of each customer.
func waterfallRows(b *bank, of []customers.UID) any {
	var all []waterfalls.Waterfall
	for _, c := range of {
		for n := range each {
			w := waterfalls.Waterfall{UID: waterfallOf(c, n), UUID: waterfallID(c, n), Customer: c}
			b.fill(&w, int64(w.UID))
			w.Tenant, w.Customer, w.UUID, w.Status, w.Version = b.tenant, c, waterfallID(c, n), waterfalls.Stopped, 2
			w.WaitsFor = 0
			all = append(all, w)
		}
	}
	return &all
}

// furnishWaterfalls gives each batch two steps, of which the first has a payment and a fault, so that every
// field has a value.
var furnishWaterfalls = []string{
	`INSERT INTO waterfall_steps (tenant, id, waterfall, payment_index, status, amount, currency, notes, faults,
	   draft_sealed, payment)
	 SELECT tenant, uid << 10 | n, uid, n, 'FAILED', n + uid % 1000, 'USD', ?3 || ' notes ' || uid,
	   json_build_array(json_build_object('field', ?3::text, 'code', 'STATUS', 'message',
	   ?3 || ' step ' || uid)), '', CASE n WHEN 1 THEN (customer - 1000000) * 100 + 500000000 + uid % 100 END
	 FROM waterfalls, generate_series(1, 2) AS n WHERE tenant = ?0 AND customer BETWEEN ?1 AND ?2`,
}
