package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"bankgraph/core/issuers"
)

type issuerCommand struct {
	Add     issuerAdd     `cmd:"" help:"Accept the access tokens of an identity provider: they speak for the bank's users."`
	List    issuerList    `cmd:"" help:"List the identity providers of a bank."`
	Disable issuerDisable `cmd:"" help:"Accept an identity provider's tokens no more. They die within ten seconds."`
}

type issuerAdd struct {
	ofTenant
	URL          string        `arg:"" help:"Its address, exactly as its tokens name it in iss."`
	Audience     string        `required:"" placeholder:"TEXT" help:"What its tokens for this service name in aud."`
	UserClaim    []string      `placeholder:"NAME" help:"The claim that holds the user's login id; the first of several that is there. preferred_username,sub if not set."`
	PartnerClaim string        `placeholder:"NAME" help:"The claim that holds the partner id; the owner of the user's customer if not set."`
	EntityClaim  string        `placeholder:"NAME" help:"A claim that must name the user's customer; not looked at if not set."`
	SubjectClaim string        `placeholder:"NAME" help:"The claim that names somebody for good, such as sub or oid: staff link its value to a user once (user link), and login ids do not count. Best set."`
	Scope        string        `default:"roles" placeholder:"WORD" help:"What the scope of its tokens must hold (${default}); '' for nothing, where the audience is for this service alone."`
	IDTokens     bool          `name:"id-tokens" help:"Its access tokens are made like id tokens, without a type, as Dex does: then every token for the audience counts."`
	LongestLife  time.Duration `default:"24h" help:"Tokens that live longer from iat to exp are refused (${default})."`
	Algorithms   []string      `placeholder:"NAME" help:"What its tokens may be signed with; ES256,RS256,PS256,EdDSA if not set."`
}

func (c *issuerAdd) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		added, err := b.Issuers.Add(ctx, issuers.Draft{
			URL: c.URL, Audience: c.Audience, UserClaims: c.UserClaim,
			PartnerClaim: c.PartnerClaim, EntityClaim: c.EntityClaim, Algorithms: c.Algorithms,
			SubjectClaim: c.SubjectClaim, Scope: &c.Scope, IDTokens: c.IDTokens, LongestLife: c.LongestLife,
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(t.out, added.URL, "is accepted within ten seconds")
		found, err := b.Issuers.Reach(ctx, added.URL)
		if err != nil { // until they can be read, its tokens are refused with 503
			fmt.Fprintln(t.errs, "warning: from this machine its keys cannot be read now:", err)
			return nil
		}
		fmt.Fprintf(t.errs, "Keys that it shows: %d.\n", found)
		return nil
	})
}

type issuerList struct{ ofTenant }

func (c *issuerList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Issuers.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table,
			"ISSUER\tAUDIENCE\tSTATE\tSUBJECT\tUSER\tPARTNER\tLEGAL ENTITY\tSCOPE\tLONGEST LIFE\tTOKENS\tALGORITHMS")
		for _, one := range all {
			names := make([]string, len(one.Algorithms))
			for i, algorithm := range one.Algorithms {
				names[i] = string(algorithm)
			}
			state, users, tokens := "active", strings.Join(one.UserClaims, ","), "access"
			if one.SubjectClaim != "" {
				users = "-"
			}
			if one.IDTokens {
				tokens = "id"
			}
			if one.DisabledAt != nil {
				state = "disabled"
			}
			fmt.Fprintln(table, strings.Join([]string{
				one.URL, one.Audience, state, orDash(one.SubjectClaim), users,
				orDash(one.PartnerClaim), orDash(one.EntityClaim), orDash(one.Scope),
				(time.Duration(one.LongestLife) * time.Second).String(), tokens, strings.Join(names, ","),
			}, "\t"))
		}
		return table.Flush()
	})
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

type issuerDisable struct {
	ofTenant
	URL      string `arg:"" help:"Its address."`
	Audience string `placeholder:"TEXT" help:"Only for this audience; for all if not set."`
}

func (c *issuerDisable) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		if err := b.Issuers.Disable(ctx, c.URL, c.Audience); err != nil {
			return err
		}
		fmt.Fprintln(t.out, c.URL, "is disabled")
		return nil
	})
}
