package graph_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"bankgraph/core/coretest"
	"bankgraph/graph"
)

// The memory of documents grows with the number of documents, not of requests.
func TestWhatIsRememberedDoesNotGrowWithRequests(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Account(customer)
	signatory := bank.Signatory(customer)
	handler, remembered := graph.Remembering(bank.Core, graph.Options{})
	type variables = map[string]any
	type request struct {
		query     string
		variables variables
	}
	uid := customer.UID.String()
	fragments := ` fragment one on Customer { uid legalName accounts { nodes { uid } } }
		fragment two on Customer { uid legalName accounts { nodes { name customer { ...one } } } }`
	var requests []request
	for n := range 10 {
		first := variables{"uid": uid, "n": n + 1, "yes": n%2 == 0}
		requests = append(requests,
			request{
				`query($uid: UID!, $n: Int) { customer(by: {uid: $uid}) { uid accounts(first: $n) { totalCount
					nodes { uid customer { uid parent { uid } } } } } }`, first,
			},
			request{
				`query($uid: UID!) { a: customer(by: {uid: $uid}) { ...one ...two }
					b: customer(by: {uid: $uid}) { ...two ...one legalName } }` + fragments, variables{"uid": uid},
			},
			request{
				`query($uid: UID!, $yes: Boolean!) { customer(by: {uid: $uid}) { uid
					legalName @include(if: $yes) signatories { nodes { uid } } } }`, first,
			},
			request{
				`query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Customer { ...one }
					... on Signatory { fullName customer { ...one ...two } } } }` + fragments,
				variables{"ids": []string{"cus_" + uid, "sig_" + signatory.UID.String()}},
			},
			request{
				`query($n: Int) { customers(first: $n) { nodes { ...one } edges { node { ...two } } }
					customers(first: $n) { totalCount } }` + fragments, variables{"n": n + 1},
			},
			request{
				`mutation($in: ChangeSignatoryInput!) { changeSignatory(input: $in) { replayed
					signatory { uid title customer { ...one } }
					again: signatory { fullName customer { ...two } } } }` + fragments,
				variables{
					"in": variables{
						"uid": signatory.UID.String(), "title": fmt.Sprint("Director ", n),
						"idempotencyKey": fmt.Sprint("key ", n),
					},
				},
			},
			request{
				`{ __type(name: "Customer") { name } customer(by: {uid: "` + uid + `"}) { ...two } }` + fragments, nil,
			},
		)
	}
	bodies := make([]string, len(requests))
	for i, r := range requests {
		body, err := json.Marshal(variables{"query": r.query, "variables": r.variables})
		if err != nil {
			t.Fatal(err)
		}
		bodies[i] = string(body)
		if got := post(bank.Staff(), handler, bodies[i]); len(got.Errors) > 0 {
			t.Fatalf("%s: %s", bodies[i], got.Errors)
		}
	}
	before := remembered()
	var running sync.WaitGroup
	for worker := range 4 {
		running.Go(func() {
			for n := range 2_500 {
				post(bank.Staff(), handler, bodies[(worker*31+n)%len(bodies)])
			}
		})
	}
	running.Wait()
	if after := remembered(); after != before || before == 0 {
		t.Errorf("%d selections were remembered, then %d", before, after)
	}
}
