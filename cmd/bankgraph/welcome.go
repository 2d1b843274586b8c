package main

import "fmt"

// welcome ends the start: where everything is, and a first call that works as pasted.
func (c *serveCommand) welcome(t *terminal, public, metrics string, demo bool) {
	fmt.Fprintf(t.out, `
bankgraph is ready.

  GraphQL   %[1]s/graphql
  REST      %[1]s            reference: %[1]s/docs
  metrics   http://%[2]s/metrics
`, public, metrics)
	if !demo {
		return
	}
	if c.Playground == nil || *c.Playground {
		fmt.Fprintf(t.out, "  play      %s/playground\n", public)
	}
	fmt.Fprint(t.out, "\n  The demo bank is tenant "+sandbox+". Its API keys and their secrets:\n\n")
	for i := range demoKeys {
		demo := demoKeys[len(demoKeys)-1-i]
		fmt.Fprintf(t.out, "    %-14s %-22s %s\n", demo.key, demo.key+"-secret", demo.name)
	}
	fmt.Fprintf(t.out, `
  A first request:

    TOKEN=$(curl -s -u demo-staff:demo-staff-secret -d grant_type=client_credentials \
      %[1]s/auth/realms/%[2]s/protocol/openid-connect/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
    curl -s -H "Authorization: Bearer $TOKEN" "%[1]s/v2/customers?page=1&limit=2"

`, public, sandbox)
}
