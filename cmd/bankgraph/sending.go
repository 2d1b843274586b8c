package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"bankgraph/core/payments"
)

type sendingCommand struct {
	List   sendingList   `cmd:"" help:"List the payments that are to leave for a network, and say whether they may."`
	Resume sendingResume `cmd:"" help:"Let payments leave for the networks again after a restore, when those that had left before are cancelled."`
}

type sendingList struct{ ofTenant }

func (c *sendingList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		held, err := b.Payments.SendingHeld(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "PAYMENT\tSTATUS\tRAIL\tAMOUNT\tDATE\tFROM\tTO\tMADE AT")
		for after := payments.UID(0); ; {
			some, err := b.Payments.ToLeave(ctx, after)
			if err != nil {
				return err
			}
			if len(some) == 0 {
				break
			}
			for _, p := range some {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s %s\t%s\t%s\t%s\t%s\n", p.UID, p.Status(), p.Rail, p.Amount(), p.Currency,
					p.Date.Format(time.DateOnly), orDash(p.SenderName), orDash(p.ReceiverName),
					p.CreatedAt.UTC().Format(time.RFC3339))
				after = p.UID
			}
			if err := table.Flush(); err != nil {
				return err
			}
		}
		if held {
			fmt.Fprintln(t.errs, "The bank was restored, and nothing leaves it for a network. Compare these payments with what the\n"+
				"networks have, cancel those that had left before, and run: bankgraph sending resume --reason ...")
		}
		return table.Flush()
	})
}

type sendingResume struct {
	ofTenant
	Reason string `required:"" help:"What was compared, such as: the networks' reports of 3 May, 12 payments cancelled."`
}

func (c *sendingResume) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Payments.ResumeSending(ctx, c.Reason); err != nil {
			return err
		}
		fmt.Fprintln(t.out, "payments leave for the networks again")
		return nil
	})
}
