package main

import (
	"context"
	"fmt"
)

// tokenCommand prints an access token. It needs no secret: whoever can read the database and its keyset is
// the operator. The token's issuer is this service's address, so --addr or --public-url must be those of
// serve.
type tokenCommand struct {
	ofTenant
	Key string `arg:"" help:"The API key."`
}

func (c *tokenCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.sealing(ctx, s, func(ctx context.Context, b *bank) error {
		tokens, err := b.Clients.IssueUnasked(ctx, c.Key)
		if err != nil {
			return err
		}
		fmt.Fprintln(t.out, tokens.AccessToken)
		return nil
	})
}
