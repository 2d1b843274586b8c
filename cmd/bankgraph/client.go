package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
)

type clientCommand struct {
	Add     clientAdd     `cmd:"" help:"Add an API key. Its secret is shown once."`
	List    clientList    `cmd:"" help:"List the API keys of a bank."`
	Rotate  clientRotate  `cmd:"" help:"Give an API key a new secret, shown once. The old one counts for a while."`
	Revoke  clientRevoke  `cmd:"" name:"revoke-tokens" help:"End all tokens of an API key, within ten seconds. Its secret stays."`
	Answers clientAnswers `cmd:"" name:"responsible" help:"Name the person who answers for what an API key does."`
	Disable clientDisable `cmd:"" help:"End an API key for good. Its tokens die within ten seconds."`
}

// ofTenant is the bank that a command works on.
type ofTenant struct {
	Tenant string `env:"BANKGRAPH_TENANT" placeholder:"CODE" help:"Code of the bank; not needed while there is only one."`
}

// on opens the bank and runs do as its operator.
func (o ofTenant) on(ctx context.Context, s *settings, do func(context.Context, *bank) error) error {
	return o.in(ctx, s, open, do)
}

// sealing is on for commands that seal values or make secrets and tokens.
func (o ofTenant) sealing(ctx context.Context, s *settings, do func(context.Context, *bank) error) error {
	return o.in(ctx, s, openSealing, do)
}

func (o ofTenant) in(
	ctx context.Context, s *settings, open func(context.Context, *settings) (*bank, error),
	do func(context.Context, *bank) error,
) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	ctx, _, err = b.operator(ctx, o.Tenant)
	if err != nil {
		return err
	}
	return do(ctx, b)
}

type clientAdd struct {
	ofTenant
	Key         string   `arg:"" help:"Letters, digits, dots, hyphens and underscores."`
	Name        string   `help:"Name for people; the key itself if not set."`
	Customer    int64    `placeholder:"UID" help:"The partner that the key belongs to; the bank itself, or the customer of --user, if not set."`
	User        string   `placeholder:"LOGIN" help:"The user whom the key speaks for: it can do no more than that user, and dies with the user's suspension."`
	Responsible string   `placeholder:"LOGIN" help:"The person who answers for what the key does, where it speaks for nobody: they and their keys are one maker or checker of a change."`
	Permissions []string `required:"" placeholder:"NAME" help:"Names of permissions between commas; or all, readers, partners, of which a key outside the bank gets what partners' programs may have."`
}

func (c *clientAdd) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.sealing(ctx, s, func(ctx context.Context, b *bank) error {
		named, preset := permissions(c.Permissions)
		client, secret, err := b.Clients.Add(ctx, clients.Draft{
			Key: c.Key, Name: c.Name, Customer: c.Customer, User: c.User,
			Responsible: c.Responsible, Permissions: named, Preset: preset,
		})
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(access.All), func(p access.Permission) bool {
			return !slices.Contains(preset, p) || slices.Contains(client.Permissions, p)
		})
		if len(kept) > 0 {
			fmt.Fprintf(t.errs, "The key is outside the bank, so it was not given %s: those have "+
				"to be named.\n", strings.Join(permissionNames(kept), ", "))
		}
		fmt.Fprintf(t.errs, "API key of legal entity %d. The secret is shown this once.\n", client.Entity)
		fmt.Fprintf(t.out, "key     %s\nsecret  %s\n", client.Key, secret)
		return nil
	})
}

// permissions parts the words that stand for several permissions from the names of single ones.
func permissions(words []string) (named []string, preset []access.Permission) {
	sets := map[string][]access.Permission{
		"all": access.All, "readers": access.Readers, "partners": access.Partners,
	}
	for _, word := range words {
		if set, is := sets[word]; is {
			preset = append(preset, set...)
		} else {
			named = append(named, word)
		}
	}
	return named, preset
}

func permissionNames(set []access.Permission) []string {
	return access.Caller{Permissions: set}.Rights()
}

type clientList struct{ ofTenant }

func (c *clientList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Clients.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "KEY\tNAME\tLEGAL ENTITY\tUSER\tRESPONSIBLE\tSTATE\tPERMISSIONS")
		for _, client := range all {
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", client.Key, client.Name, client.Entity,
				orDash(client.UserLogin),
				orDash(client.Answers), state(client), strings.Join(permissionNames(client.Permissions), ","))
		}
		return table.Flush()
	})
}

func state(client *clients.Client) string {
	switch {
	case client.DisabledAt != nil:
		return "disabled"
	case client.FormerUntil != nil && client.FormerUntil.After(time.Now()):
		return "old secret until " + client.FormerUntil.UTC().Format("2006-01-02 15:04")
	}
	return "active"
}

type clientRotate struct {
	ofTenant
	Key     string        `arg:"" help:"The API key."`
	Overlap time.Duration `default:"24h" help:"How long the old secret and its tokens still count, at most 720h (${default}); 0s ends them at once."`
}

func (c *clientRotate) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.sealing(ctx, s, func(ctx context.Context, b *bank) error {
		secret, err := b.Clients.Rotate(ctx, c.Key, c.Overlap)
		if err != nil {
			return err
		}
		old := "counts no more, nor do its tokens within ten seconds"
		if c.Overlap > 0 {
			old = "counts until " + time.Now().Add(c.Overlap).UTC().Format("2006-01-02 15:04 MST")
		}
		fmt.Fprintf(t.errs, "The old secret %s. The new one is shown this once.\n", old)
		fmt.Fprintf(t.out, "key     %s\nsecret  %s\n", c.Key, secret)
		return nil
	})
}

type clientRevoke struct {
	ofTenant
	Key string `arg:"" help:"The API key."`
}

func (c *clientRevoke) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Clients.RevokeTokens(ctx, c.Key); err != nil {
			return err
		}
		fmt.Fprintln(t.out, "the tokens of", c.Key, "end within ten seconds")
		return nil
	})
}

type clientAnswers struct {
	ofTenant
	Key   string `arg:"" help:"The API key."`
	Login string `arg:"" optional:"" help:"The login id of an active user; nobody if not set."`
}

func (c *clientAnswers) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Clients.SetResponsible(ctx, c.Key, c.Login); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "responsible for %s: %s\n", c.Key, orDash(c.Login))
		return nil
	})
}

type clientDisable struct {
	ofTenant
	Key string `arg:"" help:"The API key."`
}

func (c *clientDisable) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Clients.Disable(ctx, c.Key); err != nil {
			return err
		}
		fmt.Fprintln(t.out, c.Key, "is disabled")
		return nil
	})
}
