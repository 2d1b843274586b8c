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
	"bankgraph/db"
)

// Upload is what a request says about a file.
type Upload struct {
	Customer customers.UID
	Type     FileType
	// Open begins to read the file. It is called once, when it is known that the caller may upload one of the
	// customer. A name has a path or none, of which only the end counts; it ends with .csv or .txt.
	Open func() (name string, content io.Reader, err error)
}

// Text opens a file whose name and content are at hand.
func Text(name string, content io.Reader) func() (string, io.Reader, error) {
	return func() (string, io.Reader, error) { return name, content, nil }
}

// uploaded is the draft of an upload: the same file again has the same one, whatever number it has.
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
	sameFileWithin = 24 * time.Hour
	fileObject     = "file"
)

// uploads counts what comes in, so that no caller and no bank takes the memory and the connections of the
// others.
type uploads struct {
	mu sync.Mutex
	of map[string]int // by whose they are: all, those of a bank, those of a party of it
}

func (u *uploads) enter(by access.Caller) (leave func(), err error) {
	bank := fmt.Sprint(by.Tenant)
	shares := []struct {
		of   string
		most int
	}{{"", uploadsAll}, {bank, uploadsBank}, {bank + " " + by.Party(), uploadsEach}}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range shares {
		if u.of[s.of] >= s.most {
			return nil, ErrUploads
		}
	}
	for _, s := range shares {
		u.of[s.of]++
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, s := range shares {
			if u.of[s.of]--; u.of[s.of] == 0 {
				delete(u.of, s.of)
			}
		}
	}, nil
}

// Upload takes in a file. It is stored at once, and checked in the background.
func (s *Service) Upload(
	ctx context.Context, in Upload, options changes.RequestOptions,
) (out changes.Outcome[Saved], err error) {
	caller, err := s.upload.Require(ctx, "")
	if err != nil {
		return out, err
	}
	leave, err := s.uploads.enter(caller)
	if err != nil {
		return out, err
	}
	defer leave()
	b := s.db.Batch() // whose file it is, before anything of it is read
	scope := s.customers.Scoped(ctx, b, in.Customer)
	if err := b.Send(ctx); err != nil {
		return out, err
	}
	if _, err := scope.Check(); err != nil {
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
	kept, err := s.store(ctx, caller.Tenant, uid, text)
	if err == nil {
		out, err = s.upload.Do(ctx, caller, changes.Target{Customer: int64(in.Customer)},
			uploaded{in.Type, name, kept.hash, kept.size, uid}, options)
	}
	if err != nil || out.Result.UID != uid {
		_ = s.discard(ctx, caller.Tenant, uid) // what is left of it now, RemoveStray removes
	}
	return out, err
}

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
func (s *Service) uploadTx(ctx context.Context, tx *changes.Tx, at changes.Target, d uploaded) (Saved, error) {
	held, err := s.customers.LockTx(ctx, tx, tx.Caller, customers.UID(at.Customer)) // one of two same files comes first
	if err != nil {
		return Saved{}, err
	}
	hashes := s.keys.Hashes(int64(tx.Caller.Tenant), hashColumn, d.Hash)
	var same, unfinished int
	err = tx.NewRaw(`SELECT
		(SELECT count(*) FROM bulk_files WHERE tenant = ? AND customer = ? AND content_hash IN ? AND created_at > ?
		  AND status NOT IN ('FAILED', 'REJECTED', 'CANCELLED')),
		(SELECT count(*) FROM bulk_files WHERE tenant = ? AND customer = ?
		  AND status IN ('RECEIVED', 'VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED', 'PROCESSING'))`,
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
	f := &BulkFile{
		Tenant: tx.Caller.Tenant, UID: d.uid, Customer: held.UID, Name: d.Name, Type: d.Type, Status: Received,
		Channel: "API", Size: d.Size, Hash: s.keys.Hash(int64(tx.Caller.Tenant), hashColumn, d.Hash), Faults: Faults{},
		Maker: access.MakerOf(tx.Caller), MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID, CreatedAt: tx.Now,
		UpdatedAt: tx.Now, Version: 1,
	}
	f.UpdatedBy = f.CreatedBy()
	if _, err := tx.NewInsert().Model(f).Returning("NULL").Exec(ctx); err != nil {
		return Saved{}, fmt.Errorf("write a file: %w", err)
	}
	return saved(f), tx.Record(ctx, changes.Change{UID: f.UID, Customer: int64(f.Customer), Version: 1, After: f})
}

const hashColumn = "bulk_files.content"

func saved(f *BulkFile) Saved { return Saved{f.UID, f.Name, f.Status} }
