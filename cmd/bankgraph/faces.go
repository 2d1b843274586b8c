package main

import (
	"context"
	"net/http"
	"slices"

	"bankgraph/db"
	"bankgraph/graph"
	"bankgraph/graph/playground"
	"bankgraph/graph/transport"
	"bankgraph/rest"
	"bankgraph/rest/docs"
)

// What the two faces are given by the program.

func restFace(serving context.Context, b *bank) *rest.Interface {
	return rest.New(b.Core, rest.Options{Unavailable: cannotAnswer, Serving: serving})
}

// cannotAnswer reports whether an error means that the database cannot answer now. Other errors are defects.
func cannotAnswer(err error) bool {
	return db.IsUnavailable(err) || db.IsTimeout(err) || db.IsRetryable(err)
}

// graphFace answers GraphQL; with a door it answers subscriptions, as streams.
func graphFace(b *bank, door transport.Door) http.Handler {
	return graph.New(b.Core, graph.Options{
		Door:        door,
		RequestID:   idOf,
		Unavailable: cannotAnswer,
		Deadline:    deadline,
	})
}

// partnersOwn turns examples to customers, an account number and a payment of the demo partner:
// src/examples.tsx of the playground has the same pairs.
var partnersOwn = [][2]string{
	{"1000001", "1000013"},
	{"1000002", "1000023"},
	{"404521680718", "406162467398"},
	{"2511", "2512"}, // the first payments over ACH
}

// referenceOwn turns the examples of the reference, which name a user, a role, a signatory, a fee tier,
// payments, a trade, a rule, a file and the words for a customer too.
var referenceOwn = append(slices.Clone(partnersOwn),
	[2]string{"11b1c69a-ea02-5c20-b76a-0db46c0d3d7b", "690e620b-2e9e-5767-92fe-7d547ae6f5fd"},
	[2]string{"c4d02a42-a3bc-54ba-9fc8-e261494eb2e7", "690e620b-2e9e-5767-92fe-7d547ae6f5fd"},
	[2]string{"eaa0c139-d648-5895-b2b4-0b22208db533", "9d383788-cc05-5155-86ba-3551dc403f47"},
	[2]string{`"example":8}`, `"example":104}`}, [2]string{`"example":"10"}`, `"example":"130"}`},
	[2]string{`"example":"12"}`, `"example":"132"}`}, [2]string{`"example":"13"}`, `"example":"133"}`},
	// the names of the customer and of its role
	[2]string{"Pinecrest Instruments LP", "Kingsley Property Management LLC"},
	[2]string{`"example":"pinecrest"`, `"example":"kingsley"`},
	[2]string{"PINECRESTINSTRUMENTS1", "KINGSLEYPROPERTY13"},
	[2]string{"CIF00000001", "CIF00000013"},
	[2]string{`"roleNames":["Payments Clerk"]`, `"roleNames":["Treasurer"]`},
	[2]string{ // which pays nothing
		`"applicationLimits":[{"name":"Payments","limits":[{"name":"Daily_Payment_Limits","value":5000}]}]`,
		`"applicationLimits":[]`,
	},
	[2]string{"86420975310011", "86420975310035"}, // a virtual account
	[2]string{"100001310", "100001312"},           // a contact whose bank instant payments reach
	// a trade, a rule of positive pay and a file
	[2]string{`"example":"1"}`, `"example":"2"}`}, [2]string{`"example":"4"}`, `"example":"52"}`},
	[2]string{`"example":"6000001"}`, `"example":"6000002"}`})

// offered are the keys with which the reference offers to sign in: the public ones of the demo bank.
func offered(demo bool) (keys []docs.Key) {
	if !demo {
		return nil
	}
	for _, k := range slices.Backward(demoKeys) {
		key := docs.Key{Key: k.key, Secret: k.key + "-secret", Who: k.name}
		if k.partner {
			key.Own = referenceOwn
		}
		keys = append(keys, key)
	}
	for _, k := range demoPeople {
		keys = append(keys, docs.Key{Key: k.key, Secret: k.key + "-secret", Who: "Speaks for " + k.login})
	}
	return keys
}

// pages are the reference and, if wanted, the playground. They contain no data: they ask for it with the
// caller's token.
func pages(plays, demo bool) map[string]http.Handler {
	reference := docs.Handler(rest.Spec, docs.Options{Codes: rest.Codes(), Keys: offered(demo), Plays: plays})
	all := map[string]http.Handler{"/docs": reference, "/docs/": reference, "/openapi.yaml": reference}
	play := http.NotFoundHandler()
	if plays {
		play = playground.Handler(playground.Options{Demo: demo})
	}
	all[playground.Path], all[playground.Path+"/"] = play, play
	return all
}
