package banks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Import is a directory to be read in. The file is the whole directory of its source: what it does not name
// any more is gone.
type Import struct {
	Format    Format
	Source    string // what the directory is called; "" means as its format
	File      string // the file's name, for the record
	From      io.Reader
	AllowGone bool // also if more than a twentieth of the source's banks is gone

	Progress func(bytes int64)                // called now and then; may be nil
	Refused  func(line int64, because string) // called for each line that is refused; may be nil
}

// Report is what came of an import.
type Report struct {
	bun.BaseModel `bun:"table:bank_imports,alias:bi" json:"-"`

	ID       int64     `bun:"id,pk,autoincrement" json:"id"`
	At       time.Time `bun:"at" json:"at"`
	Operator string    `bun:"operator" json:"operator"`
	Source   string    `bun:"source" json:"source"`
	Format   Format    `bun:"format" json:"format"`
	File     string    `bun:"file" json:"file"`
	Added    int64     `bun:"added" json:"added"`
	Changed  int64     `bun:"changed" json:"changed"`
	Same     int64     `bun:"same" json:"same"`
	Gone     int64     `bun:"gone" json:"gone"`
	Refused  int64     `bun:"refused" json:"refused"` // lines that are no bank
	Skipped  int64     `bun:"skipped" json:"skipped"` // lines that are right and name no bank, such as branches
}

var (
	ErrGone = fault.New(fault.Conflict, "bank.gone",
		"too many banks of the source would be gone: the file may be cut off; to import it all the "+
			"same, allow it")
	ErrEmpty = fault.New(fault.Invalid, "bank.no_entry",
		"the file names no bank: nothing was changed")
	ErrOtherFormat = fault.New(fault.Invalid, "bank.other_format",
		"more lines were refused than taken: the file seems to have another format; nothing was changed")
	ErrCutOff = fault.New(fault.Invalid, "bank.cut_off",
		"the file ends in the middle of a record: nothing was changed")
	ErrTooLong = fault.New(fault.Invalid, "bank.too_long",
		"a record is longer than a megabyte: this is no directory of banks; nothing was changed")
	ErrUnreadable = fault.New(fault.Invalid, "bank.unreadable", "the file cannot be read: nothing was changed")
)

// arrival is a line of the file, in a table that lasts as long as the import.
type arrival struct {
	bun.BaseModel `bun:"table:bank_arrivals,alias:ba"`

	Line int64 `bun:"line"`
	Entry
}

var sourceName = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// Import reads a directory in, in one transaction: readers see all of it or nothing, and a file that fails
// changes nothing. It is streamed to the database, so memory does not grow with the file. Imports wait for
// each other. It is for operators.
func (s *Service) Import(ctx context.Context, in Import) (*Report, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	format, known := formats[in.Format]
	if in.Source == "" {
		in.Source = string(in.Format)
	}
	if !known || !sourceName.MatchString(in.Source) {
		return nil, fault.Field("bank", "source", fault.Malformed,
			"a source is 1 to 40 small letters, digits and hyphens; formats are fedach, fedwire, "+
				"bundesbank and csv")
	}
	done := &Report{
		At: s.now(), Operator: caller.LoginID, Source: in.Source, Format: in.Format, File: in.File,
	}
	err = s.db.Load(ctx, 0, func(ctx context.Context, load *db.Load) error {
		if err := receive(ctx, load, format, &in, done); err != nil {
			return err
		}
		return take(ctx, load.Tx, format.rank, in.AllowGone, done)
	})
	if _, told := fault.Of(err); err != nil && !told {
		err = fmt.Errorf("import %s: %w", in.Source, err)
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// receive copies the file's entries into a table of the transaction.
func receive(ctx context.Context, load *db.Load, format form, in *Import, done *Report) error {
	for _, statement := range []string{
		// What has just been written has no statistics, so the planner would join it row by row.
		`SET LOCAL enable_nestloop = off`,
		// One import at a time; reads are not held up.
		`LOCK TABLE bank_listings IN SHARE ROW EXCLUSIVE MODE`,
		`CREATE TEMP TABLE bank_arrivals ON COMMIT DROP AS SELECT 0::bigint AS line, ref, ` + columns("") +
			` FROM banks WITH NO DATA`,
		`CREATE TEMP TABLE bank_touched (ref text COLLATE "C" NOT NULL) ON COMMIT DROP`,
	} {
		if _, err := load.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	refuse := func(line int64, because string) {
		done.Refused++
		if in.Refused != nil {
			in.Refused(line, because)
		}
	}
	var failed error
	taken, err := db.CopyTo(ctx, load, func(yield func(*arrival) bool) {
		failed = format.read(newInput(in.From, in.Progress), func(line int64, e *Entry, err error) bool {
			if err == nil && e == nil {
				done.Skipped++
				return true
			}
			if err == nil {
				err = e.complete()
			}
			if err != nil {
				refuse(line, err.Error())
				return true
			}
			return yield(&arrival{Line: line, Entry: *e})
		})
	})
	if failed != nil {
		return unreadable(failed)
	}
	if err != nil {
		return err
	}
	twice, err := refuseTwins(ctx, load.Tx, refuse)
	if err != nil {
		return err
	}
	switch taken -= twice; {
	case done.Refused > taken:
		return ErrOtherFormat
	case taken == 0:
		return ErrEmpty
	}
	_, err = load.ExecContext(ctx, `ANALYZE bank_arrivals`)
	return err
}

// unreadable returns what an operator is told of a file that could not be read to its end.
func unreadable(err error) error {
	if _, told := fault.Of(err); told {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCutOff
	}
	return ErrUnreadable.Saying("the file cannot be read: " + err.Error() + ": nothing was changed")
}

// refuseTwins refuses lines that name a bank of an earlier line.
func refuseTwins(
	ctx context.Context, tx bun.Tx, refuse func(line int64, because string),
) (twice int64, err error) {
	rows, err := tx.QueryContext(ctx, `
		WITH earliest AS (SELECT ref, min(line) AS line FROM bank_arrivals GROUP BY ref HAVING count(*) > 1)
		DELETE FROM bank_arrivals AS a USING earliest AS e WHERE a.ref = e.ref AND a.line > e.line
		RETURNING a.line, e.line`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); twice++ {
		var line, of int64
		if err := rows.Scan(&line, &of); err != nil {
			return twice, err
		}
		refuse(line, fmt.Sprintf("names the same bank as line %d", of))
	}
	return twice, rows.Err()
}

// take makes the source's listings those that arrived, and describes the banks anew that they say something
// else of.
func take(ctx context.Context, tx bun.Tx, rank int, allowGone bool, done *Report) error {
	var known int64
	if err := tx.NewRaw(`SELECT count(*) FROM bank_listings WHERE source = ?`, done.Source).
		Scan(ctx, &known); err != nil {
		return err
	}
	for _, step := range []struct {
		n    *int64
		text string
		args []any
	}{
		{&done.Gone, `WITH gone AS (DELETE FROM bank_listings AS l WHERE l.source = ?
			AND NOT EXISTS (SELECT FROM bank_arrivals AS a WHERE a.ref = l.ref) RETURNING l.ref)
			INSERT INTO bank_touched SELECT ref FROM gone`, []any{done.Source}},
		{&done.Changed, `WITH changed AS (UPDATE bank_listings AS l SET rank = ?, (` + columns("") + `) = ROW (` +
			columns("a.") + `) FROM bank_arrivals AS a WHERE l.source = ? AND l.ref = a.ref
			AND (l.rank, ` + columns("l.") + `) IS DISTINCT FROM (?, ` + columns("a.") + `) RETURNING l.ref)
			INSERT INTO bank_touched SELECT ref FROM changed`, []any{rank, done.Source, rank}},
		{&done.Added, `WITH added AS (INSERT INTO bank_listings (source, rank, ref, ` + columns("") + `)
			SELECT ?, ?, a.ref, ` + columns("a.") + ` FROM bank_arrivals AS a WHERE NOT EXISTS
			(SELECT FROM bank_listings AS l WHERE l.source = ? AND l.ref = a.ref) RETURNING ref)
			INSERT INTO bank_touched SELECT ref FROM added`, []any{done.Source, rank, done.Source}},
	} {
		result, err := tx.ExecContext(ctx, step.text, step.args...)
		if err != nil {
			return err
		}
		if *step.n, err = result.RowsAffected(); err != nil {
			return err
		}
		if step.n == &done.Gone && done.Gone*mostGone > known && !allowGone {
			return ErrGone.Saying(fmt.Sprintf("%d of the %d banks of %s would be gone: the file may be cut off; "+
				"to import it all the same, allow it", done.Gone, known, done.Source))
		}
	}
	done.Same = known - done.Gone - done.Changed
	if err := describe(ctx, tx); err != nil {
		return err
	}
	_, err := tx.NewInsert().Model(done).ExcludeColumn("id").Exec(ctx)
	return err
}

// mostGone is the part of a source's banks that one import may remove without being allowed to: a twentieth.
const mostGone = 20

// describe writes the banks that were touched as their listings together describe them.
func describe(ctx context.Context, tx bun.Tx) error {
	for _, text := range []string{
		`ANALYZE bank_touched`,
		`DELETE FROM banks AS b USING bank_touched AS t WHERE b.ref = t.ref
			AND NOT EXISTS (SELECT FROM bank_listings AS l WHERE l.ref = t.ref)`,
		`INSERT INTO banks AS b (ref, ` + columns("") + `)
			SELECT l.ref, ` + merged() +
			` FROM bank_touched AS t JOIN bank_listings AS l ON l.ref = t.ref GROUP BY l.ref
			ON CONFLICT (ref) DO UPDATE SET (` + columns("") + `) = ROW (` + columns("EXCLUDED.") + `)`,
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// The columns of an entry besides its ref, by how listings are merged: of words the first that is there, of
// an address all of the first that has a city, of an instant network all of the first that says it reaches the
// bank, if there is one. Any other rail reaches the bank if any listing says so.
var (
	words = strings.Fields(`country national_id_type national_id bic name record_type successor rtp_participant
		rtp_receiving_connection rtp_sign_on_status rtp_activated_on rtp_connection_status
		fednow_connection_status`)
	instant = strings.Fields(`rtp_status rtp_services fednow_status fednow_services`)
	address = strings.Fields(`address_line1 address_line2 address_city address_state address_postal_code
		address_country_code address_country`)
	flags = strings.Fields(`ach fedwire_transfer fedwire_settlement_only fedwire_securities`)
)

// columns lists the columns of an entry besides its ref, each after a prefix.
func columns(prefix string) string {
	var all []string
	for _, group := range [][]string{words, instant, address, flags} {
		for _, column := range group {
			all = append(all, prefix+column)
		}
	}
	return strings.Join(all, ", ")
}

// merged lists the expressions of columns over the listings l of a bank.
func merged() string {
	var all []string
	first := func(column, before, there string) string {
		return "coalesce((array_agg(l." + column + " ORDER BY " + before + "l.rank, l.source) FILTER (WHERE l." +
			there + " <> ''))[1], '')"
	}
	for _, column := range words {
		all = append(all, first(column, "", column))
	}
	for _, column := range instant {
		network, _, _ := strings.Cut(column, "_")
		all = append(all, first(column, reached(network)+" DESC, ", network+"_status"))
	}
	for _, column := range address {
		all = append(all, first(column, "", "address_city"))
	}
	for _, column := range flags {
		or := "bool_or(l." + column + ")"
		if column == "fedwire_settlement_only" {
			or += " AND NOT bool_or(l.fedwire_transfer AND NOT l." + column + ")"
		}
		all = append(all, or)
	}
	return strings.Join(all, ", ")
}

// reached is the condition that an instant network takes credits to a bank by what a listing l says
// (takesCredits).
func reached(network string) string {
	return "(lower(l." + network + "_status) = 'active' AND (l." + network + "_services = '' OR 'CRDT' = ANY(" +
		"string_to_array(l." + network + "_services, ' '))))"
}

// Source is a directory that was imported.
type Source struct {
	Name   string    `bun:"source" json:"source"`
	Banks  int64     `bun:"banks" json:"banks"`
	At     time.Time `bun:"at" json:"at"` // of the last import
	By     string    `bun:"operator" json:"operator"`
	File   string    `bun:"file" json:"file"`
	Format Format    `bun:"format" json:"format"`
}

// Sources lists the directories that were imported, by name. It is for operators.
func (s *Service) Sources(ctx context.Context) (all []*Source, err error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	err = s.db.NewRaw(`SELECT DISTINCT ON (i.source) i.source, i.at, i.operator, i.file, i.format,
		(SELECT count(*) FROM bank_listings AS l WHERE l.source = i.source) AS banks
		FROM bank_imports AS i ORDER BY i.source, i.id DESC`).Scan(ctx, &all)
	if err != nil {
		return nil, fmt.Errorf("list the sources of banks: %w", err)
	}
	return all, nil
}
