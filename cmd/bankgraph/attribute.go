package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"bankgraph/core/customers"
)

type attributeCommand struct {
	Add    attributeAdd    `cmd:"" help:"Let customers or accounts have a custom attribute."`
	List   attributeList   `cmd:"" help:"List the custom attributes of a bank."`
	Remove attributeRemove `cmd:"" help:"End a custom attribute. Its values stay, but no new ones are accepted."`
}

// namedAttribute names the attribute that a command works on.
type namedAttribute struct {
	ofTenant
	Level string `required:"" enum:"customer,account" help:"What carries it: customer or account."`
	Name  string `required:"" help:"Its name, at most 255 characters. Letter case does not count."`
}

type attributeAdd struct {
	namedAttribute
	Type string `required:"" enum:"Text,Boolean,Date" help:"What its values are: Text, Boolean (True, False) or Date (YYYY-MM-DD)."`
}

func (c *attributeAdd) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Customers.Configure(ctx, customers.Level(c.Level), c.Name,
			customers.AttributeType(c.Type)); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%ss may have %s\n", c.Level, c.Name)
		return nil
	})
}

type attributeList struct{ ofTenant }

func (c *attributeList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Customers.ConfiguredAttributes(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "LEVEL\tNAME\tTYPE")
		for _, a := range all {
			fmt.Fprintf(table, "%s\t%s\t%s\n", a.Level, a.Name, a.Type)
		}
		return table.Flush()
	})
}

type attributeRemove struct{ namedAttribute }

func (c *attributeRemove) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Customers.Unconfigure(ctx, customers.Level(c.Level), c.Name); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "%ss take no %s any more\n", c.Level, c.Name)
		return nil
	})
}
