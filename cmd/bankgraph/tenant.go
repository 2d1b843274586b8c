package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"bankgraph/core/tenants"
)

type tenantCommand struct {
	Add   tenantAdd   `cmd:"" help:"Add a bank: the tenant, its own customer, its first user."`
	List  tenantList  `cmd:"" help:"List the banks."`
	Set   tenantSet   `cmd:"" help:"Show the settings of a bank, or change them."`
	Rekey tenantRekey `cmd:"" help:"Rotate the key that signs a bank's access tokens. Tokens stay valid."`
}

type tenantAdd struct {
	Code     string `arg:"" help:"Letters and digits, with single dots or hyphens between them: the realm in the token address."`
	Name     string `required:"" help:"Legal name of the bank."`
	Zone     string `required:"" help:"Time zone that its days are counted in, such as America/New_York."`
	Currency string `required:"" help:"Its currency, such as USD."`
	Admin    string `required:"" help:"Login id of its first user."`
}

func (c *tenantAdd) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := beginSealing(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	tenant, err := b.Tenants.Add(b.anywhere(ctx), tenants.Draft{
		Code: c.Code, Name: c.Name, Zone: c.Zone, Currency: c.Currency, Admin: c.Admin,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "bank %s added; its API keys: bankgraph client add KEY --tenant %s --permissions …\n",
		tenant.Code, tenant.Code)
	return nil
}

type tenantList struct{}

func (c *tenantList) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	all, err := b.Tenants.List(b.anywhere(ctx))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CODE\tNAME\tZONE\tCURRENCY\tSANDBOX")
	for _, tenant := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%t\n", tenant.Code, tenant.Name, tenant.Zone, tenant.Currency,
			tenant.Sandbox)
	}
	return table.Flush()
}

type tenantSet struct {
	Code          string `arg:"" help:"The bank's code."`
	PeopleDecide  *bool  `negatable:"" help:"Only people approve or refuse changes that wait for a second person; --no-people-decide lets programs too."`
	QuoteSeconds  *int32 `help:"For how many seconds a quote of foreign exchange holds, 1 to 3600."`
	ScreenAll     *bool  `negatable:"" help:"People look at every payment over a network, not only at those to listed names."`
	CancelMinutes *int32 `help:"For how many minutes after it was booked a trade can be cancelled from outside the bank, 0 to 1440."`
}

func (c *tenantSet) Run(ctx context.Context, s *settings, t *terminal) error {
	if c.QuoteSeconds != nil && (*c.QuoteSeconds < 1 || *c.QuoteSeconds > 3600) {
		return errors.New("--quote-seconds must be 1 to 3600")
	}
	if c.CancelMinutes != nil && (*c.CancelMinutes < 0 || *c.CancelMinutes > 1440) {
		return errors.New("--cancel-minutes must be 0 to 1440")
	}
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	ctx, _, err = b.operator(ctx, c.Code)
	if err != nil {
		return err
	}
	is, err := b.Tenants.Set(ctx, func(settings *tenants.Settings) {
		if c.PeopleDecide != nil {
			settings.PeopleDecide = *c.PeopleDecide
		}
		if c.QuoteSeconds != nil {
			settings.QuoteSeconds = *c.QuoteSeconds
		}
		if c.ScreenAll != nil {
			settings.ScreenAll = *c.ScreenAll
		}
		if c.CancelMinutes != nil {
			settings.CancelMinutes = *c.CancelMinutes
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "people-decide   %t\nquote-seconds   %d\ncancel-minutes  %d\nscreen-all      %t\n",
		is.PeopleDecide, is.QuoteSeconds, is.CancelMinutes, is.ScreenAll)
	return nil
}

type tenantRekey struct {
	Code string `arg:"" help:"The bank's code."`
}

func (c *tenantRekey) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	ctx, _, err = b.operator(ctx, c.Code)
	if err != nil {
		return err
	}
	kid, from, err := b.Clients.RotateSigningKey(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "key %s is published and signs from %s\n", kid,
		from.UTC().Format("2006-01-02 15:04:05 MST"))
	return nil
}
