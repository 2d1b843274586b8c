package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fair"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Upload is what a request says about a file.
type Upload struct {
	Customer customers.UID
	Type     FileType
	// Open begins to read the file. It is called once, when it is known that the caller may upload one for
	// the customer. All that it and the content wait for is read through counted: who sends nothing there has
	// to give way to others, too. The name may have a path, of which only the last element counts; it ends
	// with .csv or .txt.
	Open func(counted Counting) (name string, content io.Reader, err error)
	// Cut ends the reading of a content that is waited for; nil for one that is at hand. It does not wait.
	Cut func()
}

// Counting makes a reader of what is sent one that ends where the upload has to give way to others.
type Counting func(sent io.Reader) io.Reader

// OpenText returns an Open for a file whose name is at hand.
func OpenText(name string, content io.Reader) func(Counting) (string, io.Reader, error) {
	return func(counted Counting) (string, io.Reader, error) { return name, counted(content), nil }
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
	mostUploads    = 64        // at a time, of which one caller has a quarter, and one bank half
	mostUnfinished = 50        // files of a customer
	mostUnread     = 20        // times MostBytes: text of one caller's files that waits to be checked
	mostUnreadBank = 80        // the same of one bank, of which a party has half of what the others leave
	mostWasted     = 1_000_000 // lines of one caller's files that are no payments, as things are
	mostWastedOf   = 4         // times that of all callers of a party
	mostFruitless  = 1000      // files of one caller that ended in 24 hours, and paid nothing
	mostAhead      = 2         // times both: with those still to be paid, before no more lines are checked
	// lines of a file that are read before it is ended for what others of its maker had
	fewestWasted   = 10_000
	sameFileWithin = 24 * time.Hour
	fileObject     = "file"
)

// mostUpcoming is how many bytes of one caller's unfinished uploads may have arrived.
const mostUpcoming = 2*MostBytes + 100<<20

// uploads counts what comes in, so that no caller and no bank takes memory, connections and disk from the
// others. What has arrived of a file counts until the file is made, or what is stored of it is removed.
type uploads struct{ files, bytes *fair.Supply }

func newUploads() uploads {
	return uploads{fair.New(mostUploads, time.Now), fair.New(4*mostUpcoming, time.Now)}
}

// incoming is one upload.
type incoming struct{ files, bytes *fair.Holding }

// enter counts an upload. Cut ends the receiving of its text, where it has to give way to others; nil if it
// comes from somewhere that ends by itself.
func (u uploads) enter(by access.Caller, cut func()) (*incoming, error) {
	give := func(bool) {
		if cut != nil {
			cut()
		}
	}
	of := fair.Party{Bank: fmt.Sprint(by.Tenant), Caller: by.Party()}
	one, why := u.files.Take(of, 1, give)
	if why != fair.None {
		return nil, tooMuch(why)
	}
	bytes, _ := u.bytes.Take(of, 0, give)
	return &incoming{one, bytes}, nil
}

func tooMuch(why fair.Surplus) error {
	if why == fair.OfCaller {
		return ErrUploads
	}
	return ErrUploadsOfOthers
}

// leave gives back what an upload has taken.
func (in *incoming) leave() {
	in.files.Leave()
	in.bytes.Leave()
}

// came notes that the upload is complete, and gives way to none from now on.
func (in *incoming) came() error {
	if files, bytes := in.files.Keep(), in.bytes.Keep(); !files || !bytes {
		return ErrGaveWay
	}
	return nil
}

// counted reads what is sent of an upload as long as there is room for it.
type counted struct {
	io.Reader
	in *incoming
}

func (c counted) Read(into []byte) (int, error) {
	if files, bytes := c.in.files.Await(), c.in.bytes.Await(); !files || !bytes {
		return 0, ErrGaveWay
	}
	n, err := c.Reader.Read(into)
	if files, bytes := c.in.files.Moved(int64(n)), c.in.bytes.Moved(int64(n)); !files || !bytes {
		return 0, ErrGaveWay
	}
	if why := c.in.bytes.Grow(int64(n)); why != fair.None {
		return 0, tooMuch(why)
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
	incoming, err := s.uploads.enter(caller, in.Cut)
	if err != nil {
		return out, err
	}
	defer incoming.leave()
	b := s.db.Batch() // who owns the file is found out before anything of it is read
	scope := s.customers.Scoped(ctx, b, in.Customer)
	waits := db.Queue(b, countingUnread, caller.Tenant, in.Customer, caller.Client, caller.LoginID)
	lines := db.Queue(b, countingUnpaid, caller.Tenant, in.Customer, caller.Client, caller.LoginID,
		FileUID(math.MaxInt64))
	if err := errors.Join(b.Send(ctx), waits.Err, lines.Err); err != nil {
		return out, err
	}
	if _, err := scope.Check(); err != nil {
		return out, err
	}
	if err := waits.Items[0].full(); err != nil {
		return out, err
	}
	if lines.Items[0].wasted() {
		return out, ErrWasted
	}
	given, text, err := in.Open(func(sent io.Reader) io.Reader { return counted{sent, incoming} })
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
		err = incoming.came()
	}
	if err == nil {
		out, err = s.upload.Do(ctx, caller, changes.Target{Customer: int64(in.Customer)},
			uploaded{in.Type, name, kept.hash, kept.size, uid}, options)
	}
	unknown := errors.Is(err, changes.ErrUnknown) || errors.Is(err, changes.ErrRepeat) // it may yet be made
	if err != nil && !unknown || err == nil && out.Result.UID != uid {
		_ = s.discard(ctx, caller.Tenant, uid) // what is left of it, RemoveStray removes
	}
	return out, err
}

// unread is how many files of a customer are unfinished, and how much text waits to be checked. A party is a
// partner with its customers, or a customer of the bank's own. What a caller has of one party does not count
// for others: programs of the bank upload for many.
type unread struct {
	Unfinished int   `bun:"unfinished"`
	Own        int64 `bun:"own"` // bytes of the caller's files that wait to be checked, of the customer's party
	Party      int64 `bun:"party"`
	All        int64 `bun:"total"`
}

// partyOfCustomer is the party of the customer $2.
const partyOfCustomer = `(SELECT coalesce(nullif(owner, 0), uid) FROM customers
	WHERE tenant = $1 AND uid = $2::bigint)`

var countingUnread = db.NewQuery[unread](`SELECT
	(SELECT count(*) FROM bulk_files WHERE tenant = $1 AND customer = $2::bigint AND ` + isUnfinished +
	`) AS unfinished,
	coalesce(sum(size) FILTER (WHERE party = ` + partyOfCustomer + `), 0)::bigint AS party,
	coalesce(sum(size) FILTER (WHERE party = ` + partyOfCustomer + `
	  AND maker_client = $3::text AND maker_login = $4::text), 0)::bigint AS own,
	coalesce(sum(size), 0)::bigint AS total
	FROM bulk_files WHERE tenant = $1 AND status IN ('RECEIVED', 'VALIDATING')`)

// full returns a fault if so much waits already that another file is not even read. Text comes in faster than
// it is checked, and is stored meanwhile. A party has half of what the others leave of the bank's, and always
// a place for one file.
func (u *unread) full() error {
	left := mostUnreadBank*MostBytes - (u.All - u.Party)
	switch {
	case u.Unfinished >= mostUnfinished:
		return ErrUnfinished
	case u.Own >= mostUnread*MostBytes, u.Party >= max(1, left/2):
		return ErrUnread
	}
	return nil
}

// unpaid is how many lines of a party's files are no payments: they stay, and take room on the disk.
type unpaid struct {
	Own        int64 `bun:"own"` // of the caller's files, that are not going to be paid as things are
	OwnAhead   int64 `bun:"own_ahead"`
	Party      int64 `bun:"party"`
	PartyAhead int64 `bun:"party_ahead"` // that are being checked, or paid next

	// files that ended in the last 24 hours, and paid nothing
	OwnFiles   int64 `bun:"own_files"`
	PartyFiles int64 `bun:"party_files"`
}

// unpaidBut counts the lines that are no payments of a party's files but one: of those of the last 24 hours,
// and of all that have not ended. Of files that are still being checked, those that came in before that one
// count, so that the first never waits for later ones. Lines that are not going to be paid as things are have
// faults, or their file was given up or waits for people, who may never agree. Of one caller, the lines
// without faults of the largest such file do not count: an honest one has a large payroll that waits, or
// changes its mind once a day.
func unpaidBut(party string) string {
	return `SELECT (coalesce(sum(failed), 0) + coalesce(sum(rest) FILTER (WHERE stays), 0))::bigint AS party,
	coalesce(sum(rest) FILTER (WHERE ahead), 0)::bigint AS party_ahead,
	(coalesce(sum(failed) FILTER (WHERE own), 0) + coalesce(sum(rest) FILTER (WHERE own AND stays), 0)
	  - coalesce(max(rest) FILTER (WHERE own AND stays), 0))::bigint AS own,
	coalesce(sum(rest) FILTER (WHERE own AND ahead), 0)::bigint AS own_ahead,
	count(*) FILTER (WHERE ended) AS party_files, count(*) FILTER (WHERE own AND ended) AS own_files
	FROM (SELECT failed, valid - made AS rest, maker_client = $3::text AND maker_login = $4::text AS own,
	  status IN ('FAILED', 'REJECTED', 'CANCELLED', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED') AS stays,
	  status IN ('VALIDATING', 'APPROVED', 'PROCESSING') AS ahead,
	  status IN ('FAILED', 'REJECTED', 'CANCELLED') AS ended
	  FROM bulk_files WHERE tenant = $1 AND party = ` + party + ` AND uid <> $5::bigint
	  AND (uid < $5::bigint OR status <> 'VALIDATING')
	  AND (worked_at > now() - interval '24 hours' OR ` + isUnpaid + `)) AS f`
}

const isUnpaid = `status IN ('VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'APPROVED',
	'PROCESSING')`

var (
	countingUnpaid = db.NewQuery[unpaid](unpaidBut(partyOfCustomer))
	countingOthers = db.NewQuery[unpaid](unpaidBut("$2::bigint"))
)

// wasted reports whether so many lines are not going to be paid, or so many files came to nothing, that
// another file is not even read.
func (u *unpaid) wasted() bool {
	return u.Own >= mostWasted || u.Party >= mostWastedOf*mostWasted ||
		u.OwnFiles >= mostFruitless || u.PartyFiles >= mostWastedOf*mostFruitless
}

// full reports whether so many lines are no payments that no more are checked until there are fewer.
func (u *unpaid) full() bool {
	return u.Own+u.OwnAhead >= mostAhead*mostWasted ||
		u.Party+u.PartyAhead >= mostAhead*mostWastedOf*mostWasted
}

const isUnfinished = `status IN ('RECEIVED', 'VALIDATING', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED',
	'APPROVED', 'PROCESSING')`

// leaveTx gives up the share that unfinished files of a customer take of a partner that it leaves, which can
// neither approve nor cancel them any more. From then on they take none of anybody's (party 0).
func leaveTx(ctx context.Context, tx *changes.Tx, c *customers.Customer, _ customers.UID) error {
	return db.AtCommit(ctx, tx, tx.NewRaw(
		`UPDATE bulk_files SET party = 0 WHERE tenant = ? AND customer = ? AND `+isUnfinished, c.Tenant, c.UID))
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
		Tenant: tx.Caller.Tenant, UID: d.uid, Customer: held.UID, Party: cmp.Or(held.Owner, held.UID),
		Name: d.Name, Type: d.Type, Status: Received,
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
