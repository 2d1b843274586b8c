package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

const (
	// MostBytes is the largest file.
	MostBytes = 200 << 20
	partSize  = 256 << 10
	partBits  = 16 // of a part's id that are its own; those before are the file's
)

// PartColumn names the column for which parts of files are sealed (seal.Place).
const PartColumn = "bulk_file_parts.content"

// part is a piece of a file's text.
type part struct {
	bun.BaseModel `bun:"table:bulk_file_parts,alias:bp"`

	Tenant  access.Tenant `bun:"tenant,pk"`
	ID      int64         `bun:"id,pk"`
	File    FileUID       `bun:"file"`
	Content []byte        `bun:"content,type:bytea"`
}

func (p *part) place() seal.Place {
	return seal.Place{Tenant: int64(p.Tenant), Column: PartColumn, Row: p.ID}
}

// stored says what has been stored of a file.
type stored struct {
	size int64
	hash string // SHA-256 of its text, hexadecimal
}

// store keeps the text of a file, sealed, a piece at a time, and checks that it is text.
func (s *Service) store(
	ctx context.Context, tenant access.Tenant, of FileUID, from io.Reader,
) (stored, error) {
	var kept stored
	digest, piece := sha256.New(), make([]byte, partSize)
	text := new(textCheck)
	for number := int64(0); ; number++ {
		n, last, err := readPiece(from, piece)
		if err != nil {
			return kept, err
		}
		if kept.size += int64(n); kept.size > MostBytes {
			return kept, ErrTooLarge
		}
		if err := text.take(piece[:n], last); err != nil {
			return kept, err
		}
		digest.Write(piece[:n])
		if n > 0 {
			p := &part{Tenant: tenant, ID: int64(of)<<partBits | number, File: of}
			p.Content = s.keys.Encrypt(string(piece[:n]), p.place())
			if err := s.keep(ctx, p); err != nil {
				return kept, fmt.Errorf("store a part of file %s: %w", of, err)
			}
		}
		if last {
			if kept.size == 0 {
				return kept, fault.Field("file", "file", fault.Required, "must not be empty")
			}
			kept.hash = hex.EncodeToString(digest.Sum(nil))
			return kept, nil
		}
	}
}

// keep writes a part. If it is unknown whether that was committed, it writes the part again, which does no
// harm, as each part has a number of its own.
func (s *Service) keep(ctx context.Context, p *part) (err error) {
	for range mostTries {
		err = s.db.InTx(ctx, int64(p.Tenant), func(ctx context.Context, _ bun.Tx) error {
			return db.InsertAtCommit(ctx, []*part{p})
		})
		if constraint, _ := db.UniqueViolation(err); constraint == "bulk_file_parts_pkey" {
			return nil
		}
		if !errors.Is(err, db.ErrUnknownOutcome) {
			return err
		}
	}
	return err
}

// mostTries bounds how often a write is tried whose commit was lost.
const mostTries = 5

// readPiece fills a piece, unless the text ends before. A text that is cut off has not ended:
// io.ErrUnexpectedEOF is an error here.
func readPiece(from io.Reader, piece []byte) (n int, last bool, err error) {
	for n < len(piece) && err == nil {
		var more int
		more, err = from.Read(piece[n:])
		n += more
	}
	if errors.Is(err, io.EOF) {
		return n, true, nil
	}
	return n, false, err
}

// discard removes the text of a file that was never made.
func (s *Service) discard(ctx context.Context, tenant access.Tenant, of FileUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx, `DELETE FROM bulk_file_parts WHERE tenant = ? AND id >= ? AND id < ? AND NOT EXISTS (
			SELECT FROM bulk_files WHERE tenant = ? AND uid = ?)`,
			tenant, int64(of)<<partBits, int64(of+1)<<partBits,
			tenant, of).Exec(ctx)
		return err
	})
}

// strayAfter is how long stored text may be without its file: longer than any upload takes.
const strayAfter = time.Hour

// RemoveStray removes text of files of the caller's bank that nobody reads any more: of files that are
// checked, as each line is kept by itself then, and of files that were never made, as the process ended. It
// is for workers.
func (s *Service) RemoveStray(ctx context.Context) (removed int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		done, err := db.Raw(tx, `DELETE FROM bulk_file_parts WHERE tenant = ? AND id IN (
			SELECT p.id FROM bulk_file_parts AS p LEFT JOIN bulk_files AS f ON f.tenant = ? AND f.uid = p.file
			  WHERE p.tenant = ?
			  AND CASE WHEN f.uid IS NULL THEN p.created_at < clock_timestamp() - ?::interval
			      ELSE f.status NOT IN (?) END LIMIT 100)`, caller.Tenant, caller.Tenant, caller.Tenant,
			strayAfter.String(),
			bun.List([]FileStatus{Received, Validating})).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		removed = int(n)
		return err
	})
	return removed, err
}

const (
	// unpaidKept is how long lines of which no payment was made stay, once their file has ended. The file's own
	// counts stay for good.
	unpaidKept = 90 * 24 * time.Hour
	// clearedAtATime bounds the lines that one transaction looks at.
	clearedAtATime = 5000
)

// RemoveUnpaid removes lines of which no payment was made, of a file of the caller's bank that ended long
// ago, some at a time. It is for workers.
func (s *Service) RemoveUnpaid(ctx context.Context) (removed int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		f := new(BulkFile)
		err := tx.NewSelect().Model(f).Column("uid", "cleared").
			Where("bf.tenant = ?", db.Number(caller.Tenant)).
			Where("bf.status IN ('FAILED', 'REJECTED', 'CANCELLED', 'PARTIALLY_PROCESSED')").
			Where("bf.cleared < bf.checked").Where("bf.updated_at < ?", now.Add(-unpaidKept)).
			OrderExpr("bf.updated_at").Limit(1).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		to := f.Cleared + clearedAtATime
		if _, err := db.Raw(tx, `DELETE FROM bulk_file_lines WHERE tenant = ? AND id > ?
			AND id <= ? AND status <> ?`,
			caller.Tenant, lineID(f.UID, f.Cleared), lineID(f.UID, to), LineMade).Exec(ctx); err != nil {
			return err
		}
		_, err = db.Raw(tx, `UPDATE bulk_files SET cleared = ? WHERE tenant = ? AND uid = ?`, to, caller.Tenant,
			f.UID).Exec(ctx)
		removed = 1 // there may be more
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove lines of which no payment was made: %w", err)
	}
	return removed, nil
}

// textCheck finds files that are not text: archives, spreadsheets, UTF-16.
type textCheck struct {
	begun bool
	tail  []byte // a character that goes on in the next piece
}

func (t *textCheck) take(piece []byte, last bool) error {
	if !t.begun && (bytes.HasPrefix(piece, []byte("PK\x03\x04")) ||
		bytes.HasPrefix(piece, []byte("\xd0\xcf\x11\xe0"))) {
		return fault.Field("file", "file", fault.Malformed,
			"is an archive or a spreadsheet: save it as csv or txt, in UTF-8")
	}
	t.begun = t.begun || len(piece) > 0
	if bytes.IndexByte(piece, 0) >= 0 {
		return errNoText
	}
	text := append(t.tail, piece...)
	t.tail = nil
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			if !last && !utf8.FullRune(text) {
				t.tail = bytes.Clone(text)
				return nil
			}
			return errNoText
		}
		text = text[n:]
	}
	return nil
}

var errNoText = fault.Field("file", "file", fault.Malformed, "must be text in UTF-8")

// content reads the text of a file, and opens one part after the other.
type content struct {
	ctx  context.Context //nolint:containedctx // of the reading
	s    *Service
	of   *BulkFile
	next int64 // part
	left []byte
}

// text returns a reader of a file's text, from a byte on.
func (s *Service) text(ctx context.Context, of *BulkFile, from int64) (io.Reader, error) {
	c := &content{ctx: ctx, s: s, of: of, next: from / partSize}
	if skip := from % partSize; skip > 0 {
		if err := c.fetch(); err != nil {
			return nil, err
		}
		if int64(len(c.left)) < skip {
			return nil, fmt.Errorf("file %s has fewer than %d bytes", of.UID, from)
		}
		c.left = c.left[skip:]
	}
	return c, nil
}

func (c *content) Read(into []byte) (int, error) {
	if len(c.left) == 0 {
		if c.next*partSize >= c.of.Size {
			return 0, io.EOF
		}
		if err := c.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(into, c.left)
	c.left = c.left[n:]
	return n, nil
}

type readPart struct {
	Content []byte `bun:"content"`
}

var readingPart = db.NewQuery[readPart](`SELECT content FROM bulk_file_parts WHERE tenant = $1 AND id = $2`)

func (c *content) fetch() error {
	p := &part{Tenant: c.of.Tenant, ID: int64(c.of.UID)<<partBits | c.next}
	b := c.s.db.PrimaryBatch()
	found := db.Queue(b, readingPart, p.Tenant, p.ID)
	if err := b.Send(c.ctx); err != nil {
		return err
	}
	if len(found.Items) == 0 {
		return fmt.Errorf("part %d of file %s is missing", c.next, c.of.UID)
	}
	text, err := c.s.keys.Open(seal.Value{Sealed: found.Items[0].Content}, p.place())
	if err != nil {
		return fmt.Errorf("open part %d of file %s: %w", c.next, c.of.UID, err)
	}
	c.left = []byte(text)
	c.next++
	return nil
}

// checkName refuses names that no file can have.
func checkName(c *check.Fields, name string) {
	c.Required("file", name)
	c.AtMost("file", name, longestName)
	if !check.IsPlain(name) {
		c.Fail("file", fault.Malformed, "must have a name of plain text")
	}
}

// longestName is the published length of file names in events.
const longestName = 100
