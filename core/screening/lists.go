package screening

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/db"
)

// Format is how a file of names is written.
type Format string

const (
	// CSV has a header and the columns name, program and reference, in any order; the last two may be absent.
	CSV Format = "csv"
	// SDN is the file SDN.CSV of the Office of Foreign Assets Control: no header; number, name, type, program
	// and more, with -0- for what is absent.
	SDN Format = "sdn"
)

const (
	// MostNames bounds a list.
	MostNames = 100_000
	// longestName is how many characters a name has at most, and each other field.
	longestName = 400
	// longestFile bounds what is read of a file; in bytes.
	longestFile = 64 << 20
)

// Import is a list to be read in. The file is all of the list: what it does not name any more is gone.
type Import struct {
	List      string // its code, such as ofac-sdn
	Format    Format
	File      string // the file's name, for the record
	From      io.Reader
	AllowGone bool // also if more than a twentieth of the names is gone
}

// Report is what came of an import.
type Report struct {
	Added, Same, Gone int
}

var (
	ErrGone = fault.New(fault.Conflict, "screening.gone",
		"too many names of the list would be gone: the file may be cut off; to import it all the "+
			"same, allow it")
	ErrEmpty = fault.New(fault.Invalid, "screening.no_name", "the file has no name: nothing was changed")
	// ErrUnreadable is returned with the line that is wrong. A list that lacks a name lets a payment pass, so
	// no line is left out.
	ErrUnreadable = fault.New(fault.Invalid, "screening.unreadable",
		"the file cannot be read: nothing was changed")
)

// List is a list of names.
type List struct {
	bun.BaseModel `bun:"table:screening_lists,alias:sl"`

	Tenant     access.Tenant `bun:"tenant,pk"`
	Code       string        `bun:"code,pk"`
	Version    int64         `bun:"version"` // grows with each import
	Names      int64         `bun:"names"`
	File       string        `bun:"file"`     // that was read last
	Operator   string        `bun:"operator"` // who did
	ImportedAt time.Time     `bun:"imported_at"`
}

// Lists returns the lists of the caller's bank. It is for operators.
func (s *Service) Lists(ctx context.Context) (all []*List, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	if err = s.db.NewSelect().Model(&all).Where("sl.tenant = ?", caller.Tenant).Order("sl.code").
		Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the lists of bank %d: %w", caller.Tenant, err)
	}
	return all, nil
}

// Find returns the listed names of the caller's bank that a name may be. It is for operators.
func (s *Service) Find(ctx context.Context, name string) ([]Match, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	b := s.db.Batch()
	asked := Ask(b, caller.Tenant)
	if err := b.Send(ctx); err != nil {
		return nil, fmt.Errorf("look for a listed name: %w", err)
	}
	screen, err := s.screen(ctx, s.db.Batch, caller.Tenant, asked.Items[0])
	found, _ := screen.Find(name)
	return found, err
}

var listCode = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// Import reads a list of the caller's bank in, in one transaction: all of it, or nothing if a line is wrong.
// Payments that are carried out from then on are compared with it. It is for operators.
func (s *Service) Import(ctx context.Context, in Import) (done Report, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return done, err
	}
	if !listCode.MatchString(in.List) {
		return done, fault.Field(Object, "list", fault.Malformed,
			"a list is 1 to 40 small letters, digits and hyphens")
	}
	names, err := in.read()
	if err != nil {
		return done, err
	}
	for _, n := range names {
		n.Tenant, n.List = caller.Tenant, in.List
	}
	err = s.db.Load(ctx, int64(caller.Tenant), func(ctx context.Context, load *db.Load) error {
		is := &List{
			Tenant: caller.Tenant, Code: in.List, Names: int64(len(names)), File: in.File, Operator: caller.LoginID,
			ImportedAt: s.now(), Version: 1,
		}
		if _, err := load.Tx.NewInsert().Model(is).On("CONFLICT (tenant, code) DO UPDATE").
			Set("version = sl.version + 1, names = excluded.names, file = excluded.file, operator = " +
				"excluded.operator").
			Set("imported_at = excluded.imported_at").Exec(ctx); err != nil {
			return err
		}
		var was []*Name
		if err := load.Tx.NewSelect().Model(&was).Where("sn.tenant = ?", caller.Tenant).
			Where("sn.list = ?", in.List).Scan(ctx); err != nil {
			return err
		}
		done = compare(was, names)
		if done.Gone > len(was)/20 && !in.AllowGone {
			return ErrGone
		}
		if _, err := load.Tx.NewDelete().Model((*Name)(nil)).Where("tenant = ?", caller.Tenant).
			Where("list = ?", in.List).Exec(ctx); err != nil {
			return err
		}
		if _, err := db.CopyTo(ctx, load, slices.Values(names)); err != nil {
			return err
		}
		return audit.WriteTx(ctx, load.Tx, audit.Entry{
			Action: "importScreeningList", Decision: audit.Done, Object: "screeningList", UID: in.List,
			Reason: fmt.Sprintf("%s: %d added, %d the same, %d gone", in.File, done.Added, done.Same, done.Gone),
		}.By(caller))
	})
	if _, told := fault.Of(err); err != nil && !told {
		err = fmt.Errorf("import list %s: %w", in.List, err)
	}
	return done, err
}

// compare counts what a list had and has.
func compare(was, is []*Name) (done Report) {
	type entry struct{ name, program, reference string }
	had := map[entry]int{}
	for _, n := range was {
		had[entry{n.Name, n.Program, n.Reference}]++
	}
	for _, n := range is {
		if e := (entry{n.Name, n.Program, n.Reference}); had[e] > 0 {
			had[e]--
			done.Same++
		} else {
			done.Added++
		}
	}
	done.Gone = len(was) - done.Same
	return done
}

// read reads the names of a file.
func (in *Import) read() (all []*Name, err error) {
	from := &io.LimitedReader{R: in.From, N: longestFile + 1}
	text := bufio.NewReader(from)
	if mark, _ := text.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = text.Discard(3)
	}
	r := csv.NewReader(text)
	r.FieldsPerRecord = -1
	at := map[string]int{"reference": 0, "name": 1, "program": 3} // as SDN has them
	switch in.Format {
	case SDN:
	case CSV:
		if at, err = header(r); err != nil {
			return nil, err
		}
	default:
		return nil, fault.Field(Object, "format", fault.Malformed, "must be csv or sdn")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, ErrUnreadable.Saying(fmt.Sprintf("%v: nothing was changed", err))
		}
		line, _ := r.FieldPos(0)
		if in.Format == SDN && len(row) == 1 && row[0] == "\x1a" {
			continue // how the file of the Office ends
		}
		n := &Name{Line: int64(line)}
		for column, text := range map[string]*string{
			"name": &n.Name, "program": &n.Program, "reference": &n.Reference,
		} {
			i, there := at[column]
			if !there {
				continue
			}
			if i >= len(row) {
				return nil, wrong(line, "it has too few columns")
			}
			if *text = ident.Spaced(row[i]); in.Format == SDN && *text == "-0-" {
				*text = ""
			}
			if utf8.RuneCountInString(*text) > longestName || !check.IsPlain(*text) {
				return nil, wrong(line, fmt.Sprintf("its %s must be plain text of at most %d characters",
					column, longestName))
			}
		}
		if len(readings(n.Name)[0]) == 0 {
			return nil, wrong(line, "it has no name")
		}
		if all = append(all, n); len(all) > MostNames {
			return nil, wrong(line, fmt.Sprintf("a list has at most %d names", MostNames))
		}
	}
	if from.N <= 0 {
		return nil, ErrUnreadable.Saying("the file is larger than 64 MiB: nothing was changed")
	}
	if len(all) == 0 {
		return nil, ErrEmpty
	}
	return all, nil
}

func wrong(line int, why string) error {
	return ErrUnreadable.Saying(fmt.Sprintf("line %d: %s: nothing was changed", line, why))
}

// header finds the columns that a header names.
func header(r *csv.Reader) (at map[string]int, err error) {
	row, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	}
	if err != nil {
		return nil, ErrUnreadable.Saying(fmt.Sprintf("the header: %v: nothing was changed", err))
	}
	at = map[string]int{}
	for i, text := range row {
		name := strings.ToLower(strings.TrimSpace(text))
		if !slices.Contains([]string{"name", "program", "reference"}, name) {
			return nil, ErrUnreadable.Saying("the header must name the columns name, program, reference: nothing " +
				"was changed")
		}
		if _, twice := at[name]; twice {
			return nil, ErrUnreadable.Saying("the header names the column " + name + " twice: nothing was changed")
		}
		at[name] = i
	}
	if _, there := at["name"]; !there {
		return nil, ErrUnreadable.Saying("the header must name the column name: nothing was changed")
	}
	return at, nil
}
