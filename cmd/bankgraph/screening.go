package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"bankgraph/core/screening"
)

type screeningCommand struct {
	Import screeningImport `cmd:"" help:"Read a list of names in, in place of what it said before: all of it or, if a line is wrong, nothing."`
	Lists  screeningLists  `cmd:"" help:"List the lists of names that payments are compared with."`
	Find   screeningFind   `cmd:"" help:"Find the listed names that a name may be."`
}

type screeningImport struct {
	ofTenant
	List      string `arg:"" help:"What the list is called: small letters, digits and hyphens, such as ofac-sdn."`
	File      string `arg:"" help:"The file; - for standard input."`
	Format    string `default:"csv" enum:"csv,sdn" help:"csv, with a header and the columns name, program and reference, or sdn, the SDN.CSV of OFAC (${default})."`
	AllowGone bool   `name:"allow-gone" help:"Import the file also if more than a twentieth of the list's names is not in it any more."`
}

func (c *screeningImport) Run(ctx context.Context, s *settings, t *terminal) error {
	file, _, err := openInput(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		done, err := b.Screening.Import(ctx, screening.Import{
			List: c.List, Format: screening.Format(c.Format), File: filepath.Base(c.File), From: file,
			AllowGone: c.AllowGone,
		})
		if errors.Is(err, screening.ErrGone) {
			return fmt.Errorf("%w: --allow-gone", err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out, "%s: %d added, %d the same, %d gone\n", c.List, done.Added,
			done.Same, done.Gone)
		return err
	})
}

type screeningLists struct{ ofTenant }

func (c *screeningLists) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		all, err := b.Screening.Lists(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "LIST\tNAMES\tFILE\tIMPORTED AT\tBY")
		for _, l := range all {
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", l.Code, l.Names, orDash(l.File),
				l.ImportedAt.UTC().Format(time.RFC3339), orDash(l.Operator))
		}
		return table.Flush()
	})
}

type screeningFind struct {
	ofTenant
	Name string `arg:"" help:"The name."`
}

func (c *screeningFind) Run(ctx context.Context, s *settings, t *terminal) error {
	return c.on(ctx, s, func(ctx context.Context, b *bank) error {
		found, err := b.Screening.Find(ctx, c.Name)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			_, err := fmt.Fprintln(t.out, "no listed name")
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "LIST\tNAME\tPROGRAM\tREFERENCE")
		for _, m := range found {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.List, m.Name, orDash(m.Program), orDash(m.Reference))
		}
		return table.Flush()
	})
}
