package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"bankgraph/core/banks"
)

type banksCommand struct {
	Import  banksImport  `cmd:"" help:"Read a directory of banks in: all of it or, if something is wrong with it, nothing."`
	List    banksList    `cmd:"" help:"List the banks whose routing numbers begin so."`
	Show    banksShow    `cmd:"" help:"Show a bank by its routing number, BIC or IBAN."`
	Sources banksSources `cmd:"" help:"List the directories that were read in, with how many banks each has."`
}

// withDirectory opens the database and runs do as the operator of no bank: the directory is everybody's.
func withDirectory(ctx context.Context, s *settings, do func(context.Context, *banks.Service) error) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	return do(b.anywhere(ctx), b.Banks)
}

type banksImport struct {
	File      string `arg:"" help:"The file; - for standard input."`
	Format    string `required:"" enum:"fedach,fedwire,bundesbank,csv" help:"The file's format: fedach, fedwire, bundesbank or csv."`
	Source    string `placeholder:"NAME" help:"What the directory is called; its format if not set. A file replaces what its source said before, and nothing else."`
	AllowGone bool   `name:"allow-gone" help:"Import the file also if more than a twentieth of its source's banks is not in it any more."`
}

// mostRefusals is how many refused lines are shown.
const mostRefusals = 100

func (c *banksImport) Run(ctx context.Context, s *settings, t *terminal) error {
	file, size, err := openInput(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	shown := 0
	show := progress(t.errs, c.File)
	in := banks.Import{
		Format: banks.Format(c.Format), Source: c.Source, File: filepath.Base(c.File), From: file,
		AllowGone: c.AllowGone,
		Refused: func(line int64, because string) {
			if shown++; shown <= mostRefusals {
				fmt.Fprintf(t.errs, "%s:%d: %s\n", c.File, line, because)
			}
		},
	}
	if size > 0 {
		in.Progress = func(bytes int64) { show(int(bytes), size) }
	}
	return withDirectory(ctx, s, func(ctx context.Context, all *banks.Service) error {
		done, err := all.Import(ctx, in)
		if shown > mostRefusals {
			fmt.Fprintf(t.errs, "and %d more lines\n", shown-mostRefusals)
		}
		if errors.Is(err, banks.ErrGone) {
			return fmt.Errorf("%w: --allow-gone", err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(t.out,
			"%s: %d added, %d changed, %d the same, %d gone, %d lines refused, %d skipped\n",
			done.Source, done.Added, done.Changed, done.Same, done.Gone, done.Refused, done.Skipped)
		return err
	})
}

// openInput opens the file that a command reads; - is standard input. Its size is 0 where that is not known.
func openInput(name string) (io.ReadCloser, int, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	about, err := file.Stat()
	if err == nil && about.IsDir() {
		err = fmt.Errorf("%s is a folder", name)
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, err
	}
	return file, int(about.Size()), nil
}

type banksList struct {
	Prefix string `arg:"" help:"The first three to nine digits."`
}

func (c *banksList) Run(ctx context.Context, s *settings, t *terminal) error {
	prefix, err := banks.ParseRoutingPrefix("prefix", c.Prefix)
	if err != nil {
		return err
	}
	return withDirectory(ctx, s, func(ctx context.Context, all *banks.Service) error {
		found, err := all.Beginning(ctx, prefix)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NUMBER\tNAME\tCITY\tREACHED BY")
		for _, b := range found {
			fmt.Fprintln(table, strings.Join([]string{b.NationalID, b.Name, b.Address.City, reachedBy(b)}, "\t"))
		}
		if len(found) == banks.MostFound {
			fmt.Fprintf(table, "the first %d; more digits find fewer\n", banks.MostFound)
		}
		return table.Flush()
	})
}

func reachedBy(b *banks.Bank) string { return strings.Trim(fmt.Sprint(b.DeliveryMethods()), "[]") }

type banksShow struct {
	Type    string `default:"NID" enum:"NID,BIC,IBAN" help:"What the number is: NID, BIC or IBAN (${default})."`
	Country string `placeholder:"CODE" help:"The country, two letters; that of the IBAN or the United States if not set."`
	Number  string `arg:"" help:"The number."`
}

func (c *banksShow) Run(ctx context.Context, s *settings, t *terminal) error {
	asked := banks.Lookup{ID: c.Number, Type: c.Type, Country: c.Country}
	if c.Country == "" && c.Type == string(banks.IBAN) {
		asked.Country = c.Number[:min(2, len(c.Number))]
	}
	return withDirectory(ctx, s, func(ctx context.Context, all *banks.Service) error {
		b, err := all.Look(ctx, asked)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		for _, line := range [][2]string{
			{"name", b.Name},
			{"country", b.Country},
			{b.NationalIDType, b.NationalID},
			{"BIC", b.Code},
			{"address", strings.Join([]string{
				b.Address.Line1, b.Address.City, b.Address.State,
				b.Address.PostalCode,
			}, ", ")},
			{"reached by", reachedBy(b)},
			{"successor", b.Successor},
		} {
			if line[1] != "" {
				fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
			}
		}
		return table.Flush()
	})
}

type banksSources struct{}

func (banksSources) Run(ctx context.Context, s *settings, t *terminal) error {
	return withDirectory(ctx, s, func(ctx context.Context, all *banks.Service) error {
		sources, err := all.Sources(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "SOURCE\tBANKS\tFORMAT\tFILE\tREAD\tBY")
		for _, known := range sources {
			fmt.Fprintln(table, strings.Join([]string{
				known.Name, strconv.FormatInt(known.Banks, 10), string(known.Format), oneLine(known.File),
				known.At.UTC().Format(time.RFC3339), known.By,
			}, "\t"))
		}
		return table.Flush()
	})
}

// oneLine quotes a text that would break a table or command the terminal.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
