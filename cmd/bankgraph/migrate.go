package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"bankgraph/db"
)

// migrateCommand changes the schema. serve runs "up" itself.
type migrateCommand struct {
	Do  string `arg:"" optional:"" enum:"up,down,status" default:"up" help:"up: to the newest version. down: undo the last step. status: show where it stands."`
	Yes bool   `help:"Undo the last step without asking, although what banks keep in it is deleted."`
}

func (c *migrateCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	at, stop, err := database(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	switch c.Do {
	case "down":
		if err := at.same(ctx); err != nil {
			return err
		}
		if err := c.agreed(ctx, at.owner, os.Stdin, t); err != nil {
			return err
		}
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
	if err := at.skip(ctx, s.checkpointsFile()); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "schema is at version", db.LatestVersion())
	return nil
}

// agreed asks before data is deleted, unless the database has no bank yet. Input that ends at once, as in
// scripts, is no answer.
func (c *migrateCommand) agreed(ctx context.Context, url string, in io.Reader, t *terminal) error {
	banks, err := db.Banks(ctx, url)
	if err != nil || banks == 0 || c.Yes {
		return err
	}
	all, err := db.MigrationStatus(ctx, url)
	if err != nil {
		return err
	}
	last := ""
	for _, m := range all {
		if !m.Applied.IsZero() {
			last = m.Version + " " + m.Name
		}
	}
	loss := fmt.Sprintf("undoing %s deletes what this step keeps, of %d bank(s)", last, banks)
	if file, ok := in.(*os.File); ok && terminalOf(file) {
		fmt.Fprintf(t.errs, "%s; a backup is the only way back. Undo it? [yes/no] ", loss)
		var answer string
		if _, err := fmt.Fscanln(in, &answer); err == nil && answer == "yes" {
			return nil
		}
	}
	return errors.New("nothing was undone: " + loss + "; say --yes if that is meant")
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
