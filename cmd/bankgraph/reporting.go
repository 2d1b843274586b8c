package main

import (
	"context"
	"fmt"
	"strings"
)

type reportingCommand struct {
	List   reportingList   `cmd:"" help:"List the keys."`
	Add    reportingAdd    `cmd:"" help:"Let contacts have entries under a key."`
	Remove reportingRemove `cmd:"" help:"Take no new entries under a key. Entries that there are stay."`
}

type reportingList struct{ ofTenant }

func (c *reportingList) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		keys, err := b.Contacts.ReportingKeys(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.out, strings.Join(keys, "\n"))
		return err
	})
}

type reportingAdd struct {
	ofTenant
	Key string `arg:"" help:"The key, such as TaxId."`
}

func (c *reportingAdd) Run(ctx context.Context, s *settings, _ *terminal) error {
	return c.on(ctx, s,
		func(ctx context.Context, b *bank) error { return b.Contacts.AddReportingKey(ctx, c.Key) })
}

type reportingRemove struct {
	ofTenant
	Key string `arg:"" help:"The key."`
}

func (c *reportingRemove) Run(ctx context.Context, s *settings, _ *terminal) error {
	return c.on(ctx, s,
		func(ctx context.Context, b *bank) error { return b.Contacts.RemoveReportingKey(ctx, c.Key) })
}
