package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// welcoming prints the welcome at once and at each signal for it, until the servers fail or are told to stop.
func welcoming(ctx context.Context, failed <-chan error, again <-chan os.Signal, welcome func()) error {
	for {
		welcome()
		select {
		case <-again:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// welcome prints at the end of a start, all at once: the addresses, and first calls that work as pasted.
func (c *serveCommand) welcome(t *terminal, public, metrics string, demo bool, next string) {
	var text strings.Builder
	fmt.Fprintf(&text, `
bankgraph is ready.

  GraphQL     %[1]s/graphql
  REST        %[1]s
  reference   %[1]s/docs
  metrics     http://%[2]s/metrics
`, public, metrics)
	if c.plays(demo) {
		fmt.Fprintf(&text, "  playground  %s/playground\n", public)
	}
	if demo {
		fmt.Fprintf(&text, "\n  The demo bank is tenant %s. Its API keys and their secrets:\n\n", sandbox)
		for _, demo := range slices.Backward(demoKeys) {
			fmt.Fprintf(&text, "    %-14s %-22s %s\n", demo.key, demo.key+"-secret", demo.name)
		}
		for _, person := range demoPeople {
			fmt.Fprintf(&text, "    %-14s %-22s Speaks for %s, who may decide on what waits\n", person.key,
				person.key+"-secret", person.login)
		}
		token := fmt.Sprintf(
			`$(curl -sS -u demo-staff:demo-staff-secret -d grant_type=client_credentials `+
				`%s/auth/realms/%s/protocol/openid-connect/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')`,
			public, sandbox)
		fmt.Fprintf(&text, `
  First calls, as they are:

    curl -sS %[1]s/graphql -H "Authorization: Bearer %[2]s" -H "Content-Type: application/json" -d '{"query":"%[3]s"}'

    curl -sS "%[1]s/v2/customers?page=1&limit=2" -H "Authorization: Bearer %[2]s"
`, public, token, firstQuery)
	}
	if next != "" {
		fmt.Fprintf(&text, "\n  %s\n", next)
	}
	fmt.Fprintf(&text, "\n  Read this again: kill -USR1 %d\n\n", os.Getpid())
	_, _ = io.WriteString(t.out, text.String())
}

// next is advice on what to do in a bank other than the demo.
func (b *bank) next(ctx context.Context, demo bool) (string, error) {
	all, err := b.Tenants.List(b.anywhere(ctx))
	switch {
	case err != nil || demo:
		return "", err
	case len(all) == 0:
		return "There is no bank yet. In another terminal, with the same settings: bankgraph tenant add --help", nil
	}
	return fmt.Sprintf(
		"A token for a first call: bankgraph token KEY --tenant %s; its keys: bankgraph client list --tenant %[1]s",
		all[0].Code), nil
}

// firstQuery shows what GraphQL is for: a thing and what belongs to it, in one request. It is written as JSON
// inside the shell's single quotes.
const firstQuery = `{ customer(by: { uid: \"1000001\" }) { legalName status ` +
	`accounts(first: 2) { nodes { name number { masked } balances { currency available } } } ` +
	`signatories(first: 2) { nodes { fullName title } } limits(rail: FEDWIRE) { name remaining } } }`
