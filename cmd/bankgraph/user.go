package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"bankgraph/core/changes"
	"bankgraph/core/users"
)

type userCommand struct {
	Link   userLink   `cmd:"" help:"Let the tokens of an identity provider that name a subject speak for a user."`
	Unlink userUnlink `cmd:"" help:"End the link of a user to a subject, within ten seconds."`
	Links  userLinks  `cmd:"" help:"List who is who at the identity providers of a bank."`
}

// userAt is a user at an identity provider.
type userAt struct {
	ofTenant
	Login    string `arg:"" help:"The user's login id."`
	Issuer   string `required:"" placeholder:"URL" help:"The identity provider's address."`
	Audience string `placeholder:"TEXT" help:"The audience; not needed while the bank accepts the provider with one alone."`
	Reason   string `help:"Why, for the record."`
}

// change makes or ends a link, and prints the result.
func (c *userAt) change(ctx context.Context, s *settings, t *terminal, what string,
	do func(context.Context, *bank, users.UID, changes.RequestOptions) (changes.Outcome[users.Saved], error),
) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		uid, err := b.Users.UIDOf(ctx, c.Login)
		if err != nil {
			return fmt.Errorf("%w: %s", err, c.Login)
		}
		done, err := do(ctx, b, uid, changes.RequestOptions{Reason: c.Reason})
		if err != nil {
			return err
		}
		if done.Approval != 0 {
			what = fmt.Sprintf("waits for a second person, as approval %d", done.Approval)
		}
		fmt.Fprintln(t.out, c.Login, what)
		return nil
	})
}

type userLink struct {
	userAt
	Subject string `required:"" placeholder:"TEXT" help:"What the subject claim of the person's tokens says, exactly."`
}

func (c *userLink) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.change(ctx, s, t, "is linked",
		func(ctx context.Context, b *bank, uid users.UID,
			options changes.RequestOptions,
		) (changes.Outcome[users.Saved], error) {
			return b.Users.Link(ctx, uid,
				users.SubjectDraft{Issuer: c.Issuer, Audience: c.Audience, Subject: c.Subject}, options)
		})
}

type userUnlink struct{ userAt }

func (c *userUnlink) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.change(ctx, s, t, "is linked no more",
		func(ctx context.Context, b *bank, uid users.UID,
			options changes.RequestOptions,
		) (changes.Outcome[users.Saved], error) {
			return b.Users.Unlink(ctx, uid, users.SubjectDraft{Issuer: c.Issuer, Audience: c.Audience}, options)
		})
}

type userLinks struct{ ofTenant }

func (c *userLinks) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Users.Subjects(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ISSUER\tAUDIENCE\tCLAIM\tSUBJECT\tUSER\tLINKED\tSTATE")
		for _, link := range all {
			state := "disabled" // the issuer is, or names people by another claim
			if link.Live {
				state = "active"
			}
			fmt.Fprintln(table, strings.Join([]string{
				link.URL, link.Audience, link.Claim, link.Subject, link.Login,
				link.LinkedAt.UTC().Format("2006-01-02 15:04"), state,
			}, "\t"))
		}
		return table.Flush()
	})
}
