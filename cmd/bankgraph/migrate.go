package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"bankgraph/db"
)

// migrateCommand changes the schema. serve does "up" by itself.
type migrateCommand struct {
	Do string `arg:"" optional:"" enum:"up,down,status" default:"up" help:"up: to the newest version. down: undo the last step. status: show where it stands."`
}

func (c *migrateCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	at, stop, err := database(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	switch c.Do {
	case "down":
		undone, err := db.MigrateDown(ctx, at.owner)
		if err != nil {
			return err
		}
		fmt.Fprintln(t.out, "undone:", undone.Version, undone.Name)
		return nil
	case "status":
		return c.status(ctx, at.owner, t)
	}
	if err := at.migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "schema is at version", db.LatestVersion())
	return nil
}

func (c *migrateCommand) status(ctx context.Context, url string, t *terminal) error {
	all, err := db.MigrationStatus(ctx, url)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tNAME\tAPPLIED")
	for _, m := range all {
		applied := "no"
		if !m.Applied.IsZero() {
			applied = m.Applied.UTC().Format("2006-01-02 15:04:05")
		}
		if !m.Known {
			m.Name = "(of a newer program)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", m.Version, m.Name, applied)
	}
	return table.Flush()
}
