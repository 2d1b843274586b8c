package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"bankgraph/core/fees"
)

type feeCommand struct {
	Add    feeAdd    `cmd:"" help:"Configure a fee, or give it another price."`
	List   feeList   `cmd:"" help:"List the fees that a bank is configured for."`
	Remove feeRemove `cmd:"" help:"Take a fee out of the catalogue. Tiers that customers hold stay."`
}

// feeNamed names a fee of the catalogue.
type feeNamed struct {
	Application string `arg:"" help:"The application, such as Payments."`
	Product     string `arg:"" help:"The product, such as \"Outgoing Payment\"."`
	Name        string `arg:"" help:"The fee, such as SPOT."`
	Tier        string `arg:"" help:"The tier, such as Gold."`
}

func (f feeNamed) fee() fees.Fee {
	return fees.Fee{Application: f.Application, Product: f.Product, FeeName: f.Name, FeeTier: f.Tier}
}

type feeAdd struct {
	ofTenant
	feeNamed
	Price    string `arg:"" help:"What it costs: a decimal amount."`
	Currency string `default:"USD" help:"The price's currency."`
}

func (c *feeAdd) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Fees.Configure(ctx, c.fee(), c.Price, c.Currency); err != nil {
			return err
		}
		_, err := fmt.Fprintln(t.out, "configured")
		return err
	})
}

type feeList struct{ ofTenant }

func (c *feeList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Fees.Catalogue(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "APPLICATION\tPRODUCT\tFEE\tTIER\tPRICE\tCURRENCY")
		for _, f := range all {
			fmt.Fprintln(table,
				strings.Join([]string{
					f.Application, f.Product, f.FeeName, f.FeeTier, f.Price().String(), string(f.Currency),
				}, "\t"))
		}
		return table.Flush()
	})
}

type feeRemove struct {
	ofTenant
	feeNamed
}

func (c *feeRemove) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Fees.Unconfigure(ctx, c.fee()); err != nil {
			return err
		}
		_, err := fmt.Fprintln(t.out, "removed")
		return err
	})
}
