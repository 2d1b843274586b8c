package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Upload is what a request says about a file.
type Upload struct {
	Customer customers.UID
	Type     FileType
	// Open begins to read the file. It is called once, when it is known that the caller may upload one for
	// the customer. The name may have a path, of which only the last element counts; it ends with .csv or
	// .txt.
	Open func() (name string, content io.Reader, err error)
}

// OpenText returns an Open for a file whose name and content are at hand.
func OpenText(name string, content io.Reader) func() (string, io.Reader, error) {
	return func() (string, io.Reader, error) { return name, content, nil }
}

// uploaded is the draft of an upload. The same file uploaded again has the same draft, whatever its number.
type uploaded struct {
	Type FileType `json:"type"`
	Name string   `json:"name"`
	Hash string   `json:"hash"`
	Size int64    `json:"size"`
	uid  FileUID
}

// Saved is the answer to a change of a file.
type Saved struct {
	UID    FileUID    `json:"uid"`
	Name   string     `json:"name"`
	Status FileStatus `json:"status"`
}

const (
	uploadsEach    = 16 // of one caller at a time
	uploadsBank    = 32 // of one bank
	uploadsAll     = 64
	mostUnfinished = 50 // files of a customer
	mostUnread     = 20 // times MostBytes: text of one caller's files that waits to be checked
	mostUnreadBank = 80 // the same of one bank
	sameFileWithin = 24 * time.Hour
	fileObject     = "file"
)

// uploads counts what comes in, so that no caller and no bank takes memory, connections and disk from the
// others. What has arrived of a file counts until the file is made, or what is stored of it is removed.
type uploads struct {
	mu        sync.Mutex
	of        map[string]upcoming // by owner: all, a bank, a party of it
	mostBytes int64               // of one caller; twice as much of one bank, four times of all
}

type upcoming struct {
	files int
	bytes int64
}

// mostUpcoming is how many bytes of one caller's unfinished uploads may have arrived.
const mostUpcoming = 2*MostBytes + 100<<20

// share is how much of something one holder may have.
type share struct {
	of    string
	files int
	bytes int64
}

// incoming is one upload.
type incoming struct {
	from   *uploads
	shares []share
	bytes  int64
}

func (u *uploads) enter(by access.Caller) (*incoming, error) {
	bank := fmt.Sprint(by.Tenant)
	in := &incoming{from: u, shares: []share{
		{"", uploadsAll, 4 * u.mostBytes},
		{bank, uploadsBank, 2 * u.mostBytes},
		{bank + " " + by.Party(), uploadsEach, u.mostBytes},
	}}
	return in, in.add(1, 0)
}

// add counts files and bytes of an upload, if there is room for them.
func (in *incoming) add(files int, bytes int64) error {
	in.from.mu.Lock()
	defer in.from.mu.Unlock()
	for _, s := range in.shares {
		if now := in.from.of[s.of]; now.files+files > s.files || now.bytes+bytes > s.bytes {
			return ErrUploads
		}
	}
	in.count(files, bytes)
	in.bytes += bytes
	return nil
}

func (in *incoming) count(files int, bytes int64) {
	for _, s := range in.shares {
		now := in.from.of[s.of]
		if now.files, now.bytes = now.files+files, now.bytes+bytes; now == (upcoming{}) {
			delete(in.from.of, s.of)
			continue
		}
		in.from.of[s.of] = now
	}
}

// leave gives back what an upload has taken.
func (in *incoming) leave() {
	in.from.mu.Lock()
	defer in.from.mu.Unlock()
	in.count(-1, -in.bytes)
}

// counted reads a file as long as there is room for it.
type counted struct {
	io.Reader
	in *incoming
}

func (c counted) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	if full := c.in.add(0, int64(n)); full != nil {
		return 0, full
	}
	return n, err
}

// Upload takes in a file. It is stored at once, and checked in the background.
func (s *Service) Upload(
	ctx context.Context, in Upload, options changes.RequestOptions,
) (out changes.Outcome[Saved], err error) {
	caller, err := s.upload.Require(ctx, "")
	if err != nil {
		return out, err
	}
	incoming, err := s.uploads.enter(caller)
	if err != nil {
		return out, err
	}
	defer incoming.leave()
	b := s.db.Batch() // who owns the file is found out before anything of it is read
	scope := s.customers.Scoped(ctx, b, in.Customer)
	waits := db.Queue(b, countingUnread, caller.Tenant, in.Customer, caller.Client)
	if err := errors.Join(b.Send(ctx), waits.Err); err != nil {
		return out, err
	}
	if _, err := scope.Check(); err != nil {
		return out, err
	}
	if err := waits.Items[0].full(); err != nil {
		return out, err
	}
	given, text, err := in.Open()
	if err != nil {
		return out, err
	}
	name := path.Base(strings.ReplaceAll(given, `\`, "/"))
	c := check.Of("file")
	checkName(c, given)
	checkName(c, name)
	if end := strings.ToLower(path.Ext(name)); given != "" && end != ".csv" && end != ".txt" {
		c.Fail("file", fault.Malformed, "must be a .csv or a .txt file")
	}
	if err := c.Err(); err != nil {
		return out, err
	}
	uid, err := s.take(ctx, caller.Tenant)
	if err != nil {
		return out, err
	}
	kept, err := s.store(ctx, caller.Tenant, uid, counted{text, incoming})
	if err == nil {
		out, err = s.upload.Do(ctx, caller, changes.Target{Customer: int64(in.Customer)},
			uploaded{in.Type, name, kept.hash, kept.size, uid}, options)
	}
	if err != nil || out.Result.UID != uid {
		_ = s.discard(ctx, caller.Tenant, uid) // what is left of it, RemoveStray removes
	}
	return out, err
}

// unread is how many files of a customer are unfinished, and how much text waits to be checked.
type unread struct {
	Unfinished int   `bun:"unfinished"`
	Own        int64 `bun:"own"` // bytes that wait to be checked
	All        int64 `bun:"total"`
}

var countingUnread = db.NewQuery[unread](`SELECT
	(SELECT count(*) FROM bulk_files WHERE tenant = $1 AND customer = $2::bigint AND ` + isUnfinished +
	`) AS unfinished,
	coalesce(sum(size) FILTER (WHERE maker_client = $3::text), 0)::bigint AS own,
	  coalesce(sum(size), 0)::bigint AS total
	FROM bulk_files WHERE tenant = $1 AND status IN ('RECEIVED', 'VALIDATING')`)

// full returns a fault if so much waits already that another file is not even read. Text comes in faster than
// it is checked, and is stored meanwhile.
func (u *unread) full() error {
	switch {
	case u.Unfinished >= mostUnfinished:
		return ErrUnfinished
	case u.Own >= mostUnread*MostBytes, u.All >= mostUnreadBank*MostBytes:
		return ErrUnread
	}
	return nil
}

const isUnfinished = `status IN ('RECEIVED', 'VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED', 'PROCESSING')`

// take returns a number for a new file.
func (s *Service) take(ctx context.Context, tenant access.Tenant) (uid FileUID, err error) {
	for range mostTries {
		err = s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
			return db.Raw(tx, `SELECT nextval('file_numbers')`).Scan(ctx, &uid)
		})
		if !errors.Is(err, db.ErrUnknownOutcome) { // numbers may be lost
			break
		}
	}
	return uid, err
}

// uploadTx makes a file of what is stored.
func (s *Service) uploadTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d uploaded,
) (Saved, error) {
	// of two uploads of the same file, the second one waits here
	held, err := s.customers.LockTx(ctx, tx, tx.Caller, customers.UID(at.Customer))
	if err != nil {
		return Saved{}, err
	}
	hashes := s.keys.Hashes(int64(tx.Caller.Tenant), HashColumn, d.Hash)
	var same, unfinished int
	err = tx.NewRaw(`SELECT
		(SELECT count(*) FROM bulk_files WHERE tenant = ? AND customer = ? AND content_hash IN ? AND created_at > ?
		  AND status NOT IN ('FAILED', 'REJECTED', 'CANCELLED')),
		(SELECT count(*) FROM bulk_files WHERE tenant = ? AND customer = ? AND `+isUnfinished+`)`,
		tx.Caller.Tenant, held.UID, bun.Tuple(hashes), tx.Now.Add(-sameFileWithin), tx.Caller.Tenant, held.UID).
		Scan(ctx, &same, &unfinished)
	switch {
	case err != nil:
		return Saved{}, err
	case same > 0:
		return Saved{}, ErrSame
	case unfinished >= mostUnfinished:
		return Saved{}, ErrUnfinished
	}
	content := s.keys.Seal(d.Hash,
		seal.Place{Tenant: int64(tx.Caller.Tenant), Column: HashColumn, Row: int64(d.uid)})
	f := &BulkFile{
		Tenant: tx.Caller.Tenant, UID: d.uid, Customer: held.UID, Name: d.Name, Type: d.Type, Status: Received,
		Channel: "API", Size: d.Size, Hash: content.Hash, Content: content.Sealed,
		Faults: Faults{}, Maker: access.MakerOf(tx.Caller), MakerClient: tx.Caller.Client,
		MakerLogin: tx.Caller.LoginID, CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	f.UpdatedBy = f.CreatedBy()
	if _, err := tx.NewInsert().Model(f).Returning("NULL").Exec(ctx); err != nil {
		return Saved{}, fmt.Errorf("write a file: %w", err)
	}
	return saved(f), tx.Record(ctx, changes.Change{
		UID: f.UID, Customer: int64(f.Customer),
		Version: 1, After: f,
	})
}

// HashColumn names the column for which what a file is known again by is sealed (seal.Place).
const HashColumn = "bulk_files.content"

func saved(f *BulkFile) Saved { return Saved{f.UID, f.Name, f.Status} }
