package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"bankgraph/core/payments"
)

type sendingCommand struct {
	List   sendingList   `cmd:"" help:"List what is to leave for a network: payments, returns, recalls and other messages; count it by kind, and say whether it may."`
	Left   sendingLeft   `cmd:"" help:"After a restore, take a payment that waits as what has left before, as the network reports it: nothing goes out, and its money counts as sent."`
	Resume sendingResume `cmd:"" help:"Let payments leave for the networks again after a restore, when those that had left before are noted."`
}

type sendingList struct{ ofTenant }

func (c *sendingList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		held, err := b.Payments.SendingHeld(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "KIND\tPAYMENT\tSTATUS\tRAIL\tAMOUNT\tFROM\tTO\tREFERENCE\tSINCE")
		for _, from := range payments.LeavingPlaces {
			for after := int64(0); ; {
				some, err := b.Payments.ToLeave(ctx, from, after)
				if err != nil {
					return err
				}
				if len(some) == 0 {
					break
				}
				for _, l := range some {
					writeLeaving(table, l)
				}
				after = some[len(some)-1].Number
				if err := table.Flush(); err != nil {
					return err
				}
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
		counted, err := b.Payments.CountToLeave(ctx)
		if err != nil {
			return err
		}
		for _, c := range counted {
			fmt.Fprintf(t.errs, "%s: %d\n", c.Kind, c.N)
		}
		if held {
			fmt.Fprintln(t.errs, "The bank was restored, and nothing leaves it for a network. Compare all of this "+
				"with what the\nnetworks have, note those that had left before (bankgraph sending left), "+
				"and run: bankgraph sending resume\n--reason ...")
		}
		return nil
	})
}

// writeLeaving writes a line of the list.
func writeLeaving(to io.Writer, l *payments.Leaving) {
	payment, amount := "-", "-"
	if l.Payment != 0 {
		payment = l.Payment.String()
	}
	if l.Minor != 0 {
		amount = l.Amount().String() + " " + string(l.Currency)
	}
	fmt.Fprintf(to, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Kind, payment,
		orDash(string(l.Status())), l.Rail, amount, orDash(l.From), orDash(l.To), orDash(l.Reference),
		l.Since.UTC().Format(time.RFC3339))
}

type sendingLeft struct {
	ofTenant
	Payment   int64  `xor:"what" required:"" help:"The number of the payment that has left, or whose return, reversal or other message has."`
	Return    int64  `xor:"what" required:"" help:"Of a wire that no account took: the number in the reference of its return, as sending list shows it."`
	Entry     int64  `xor:"what" required:"" help:"Of an entry of ACH that no account took: the number in the reference of its return."`
	Reference string `required:"" help:"By what the network has it: of ACH the trace number, else the id of the message."`
	Reason    string `required:"" help:"What was compared, such as: the network's report of 3 May."`
	Settled   bool   `help:"The network reports that it has settled. Entries of ACH settle by themselves."`
}

func (c *sendingLeft) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		what, err := b.Payments.NoteLeft(ctx, payments.Left{
			Payment: payments.UID(c.Payment), Return: c.Return, Entry: c.Entry, Reference: c.Reference,
			Reason: c.Reason, Settled: c.Settled,
		})
		if err != nil {
			return err
		}
		if c.Payment == 0 {
			fmt.Fprintf(t.out, "the %s counts as sent, as %s\n", what, c.Reference)
			return nil
		}
		fmt.Fprintf(t.out, "payment %d: the %s counts as sent, as %s\n", c.Payment, what, c.Reference)
		return nil
	})
}

type sendingResume struct {
	ofTenant
	Reason string `required:"" help:"What was compared, such as: the networks' reports of 3 May, 12 payments had left."`
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
