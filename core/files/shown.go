package files

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// ShownFile is a file with its customer, the account that its batches are paid from, and its batches.
type ShownFile struct {
	BulkFile `bun:",extend"`

	CounterParty string `bun:"counter_party,scanonly"` // the short name of the customer
	Offset       Offset `bun:"embed:offset_"`

	Batches []*ShownBatch `bun:"-"` // the first hundred
}

// Offset is the account that the batches of a file, or one of them, are paid from; empty if there is none.
type Offset struct {
	Name   string     `bun:"name,scanonly"`
	Type   string     `bun:"type,scanonly"`
	BankID string     `bun:"bank_id,scanonly"`
	Number seal.Value `bun:"embed:number_"`
}

// ShownBatch is a batch with the account that it is paid from.
type ShownBatch struct {
	FileBatch `bun:",extend"`
	Offset    Offset `bun:"embed:offset_"`
}

// ShownLine is a line with the payment that was made of it, or else what the file says.
type ShownLine struct {
	FileLine `bun:",extend"`

	State       payments.State `bun:"state,scanonly"` // of the payment; '' where none was made
	Speed       payments.Speed `bun:"speed,scanonly"` // of the payment; '' where none was made
	PaymentDate *time.Time     `bun:"payment_date,scanonly"`
	CreatedAt   time.Time      `bun:"created_at,scanonly"` // of the payment, or else of the file
	// the account here that is debited, or credited by a debit; before there is a payment, the batch's, or else
	// the one that the line names
	Account Offset `bun:"embed:offset_"`
	// of the file's customer
	Line1 string `bun:"line1,scanonly"`
	Line2 string `bun:"line2,scanonly"`
	// why the payment was cancelled, "" if nobody said; nil if it was not
	CancelledAs *string `bun:"cancelled_as,scanonly"`

	Of *BulkFile `bun:"-"` // whose line it is
}

// Kind returns the kind of the payment, in the words of webhooks (rest/CONTRACT.md, bulk file answers); of a
// line for which no network was found, the type of the file.
func (l *ShownLine) Kind() string {
	if l.Rail == "" {
		return string(l.Of.Type)
	}
	paid := payments.Payment{Rail: l.Rail, Speed: l.Speed}
	if paid.Speed == "" && l.Order != nil {
		paid.Speed = payments.Speed(l.Order.Speed)
	}
	return string(paid.Kind())
}

var (
	listingShown    db.QueryCache[ShownFile]
	listingBatches  db.QueryCache[ShownBatch]
	listingPayments db.QueryCache[ShownLine]
)

// inShown returns the SQL expressions of the columns that ShownFile, ShownBatch and ShownLine have in
// addition to their tables'.
func inShown(alias, account string) map[string]string {
	return map[string]string{
		"offset_account": "coalesce(" + alias + ".offset_account, 0)",
		"offset_name":    "coalesce(" + account + ".name, '')", "offset_type": "coalesce(" + account + ".type, '')",
		"offset_bank_id":      "coalesce(" + account + ".bank_id, '')",
		"offset_number_last4": "coalesce(" + account + ".number_last4, '')",
	}
}

// namedAt is the SQL expression for when who changed a file last did: workers, who go on with it, change the
// time alone.
const namedAt = `CASE bf.updated_by
	WHEN coalesce(nullif(bf.maker_login, ''), bf.maker_client) THEN bf.created_at
	WHEN bf.approved_by THEN bf.approved_at ELSE bf.updated_at END`

// Page reads a page of the files that the caller may see and a search finds, newest first, with all that is
// shown of them, and how many there are. Callers need one of the permissions.
func (s *Service) Page(
	ctx context.Context, by FileSearch, w page.Window, oneOf ...access.Permission,
) (found page.Counted[*ShownFile], err error) {
	caller, err := access.Require(ctx, oneOf...)
	if err != nil {
		return found, err
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(caller, &p)
	list.Most, list.Newest = "$3::bigint + $4::bigint", true
	where := list.Conditions(caller.Reach)
	const window = " ORDER BY bf.uid DESC LIMIT $3::bigint OFFSET $4::bigint"
	key := queryKey{reach: caller.Reach, where: where.Key()}
	text := listingShown.Get(key, func() string {
		from := inShown("bf", "oa")
		from["counter_party"] = "c.short_name"
		for column, at := range map[string]string{
			"maker_client": "bf.created_at", "maker_login": "bf.created_at", "approved_by": "bf.approved_at",
			"updated_by": namedAt,
		} {
			from[column] = caller.Reach.SinceMove("bf."+column, "bf.customer", at)
		}
		return where.On(db.Select[ShownFile](db.Or[ShownFile](db.Columns{}), from).
			Join("JOIN customers AS c ON c.tenant = bf.tenant AND c.uid = bf.customer").
			Join("LEFT JOIN accounts AS oa ON oa.tenant = bf.tenant AND oa.uid = bf.offset_account").
			Where("bf.tenant = $1").Where("c.tenant = $1")).String() + window
	})
	batchText := listingBatches.Get(key, func() string {
		of := where.On(db.Select0[BulkFile]("bf.uid").Where("bf.tenant = $1")).String() + window
		return db.Select[ShownBatch](db.Or[ShownBatch](db.Columns{}), inShown("bb", "oa")).
			Join("LEFT JOIN accounts AS oa ON oa.tenant = bb.tenant AND oa.uid = bb.offset_account").
			Where("bb.tenant = $1").Where("bb.number <= " + strconv.Itoa(MostBatches)).
			Where("bb.file IN (" + of + ")").OrderExpr("bb.file, bb.number").String()
	})
	count := db.Params{caller.Tenant, caller.ScopeCustomer()}
	counted := by.list(caller, &count)
	counted.Most = count.Up(0)
	b := s.db.Batch()
	rows, batches := db.Queue(b, text, p...), db.Queue(b, batchText, p...)
	countText := counted.Count(caller.Reach)
	total := db.Queue(b, counting.Get(countText, func() string { return countText }), count...)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	of := map[FileUID][]*ShownBatch{}
	for _, one := range batches.Items {
		of[one.File] = append(of[one.File], one)
	}
	found.Items = page.Cut(rows.Items, w).Items
	for _, f := range found.Items {
		f.Batches = of[f.UID]
	}
	found.Total = total.Items[0].N
	return found, nil
}

// Find reads a file with all that is shown of it. It returns ErrNotFound for one that is absent, or that the
// caller may not see.
func (s *Service) Find(ctx context.Context, uid FileUID) (*ShownFile, error) {
	found, err := s.Page(ctx, FileSearch{UID: only(uid)}, page.First(1), access.ViewFiles)
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, ErrNotFound
	}
	return found.Items[0], nil
}

// only returns a number as a search takes it. 0, which no file has and which stands there for any, becomes
// another number that no file has.
func only(uid FileUID) FileUID {
	if uid == 0 {
		return -1
	}
	return uid
}

// Formats lists the formats of files that are taken in.
func (s *Service) Formats(ctx context.Context) ([]Format, error) {
	_, err := access.Require(ctx, access.ViewFiles)
	return slices.Clone(formats), err
}

// PaymentsOf reads a page of the payments of a file, in the order of its lines, and how many there are. It
// returns ErrNotFound for a file that is absent, or that the caller may not see.
func (s *Service) PaymentsOf(
	ctx context.Context, uid FileUID, w page.Window,
) (found page.Counted[*ShownLine], err error) {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return found, err
	}
	b := s.db.Batch()
	file := s.FindMany(ctx, b, []FileUID{uid}, db.Columns{})
	text := listingPayments.Get(caller.Reach, func() string { return paymentsText(caller.Reach) })
	rows := db.Queue(b, text, caller.Tenant, caller.ScopeCustomer(), lineID(uid, 0), lineID(uid+1, 0),
		w.Limit(), w.Offset)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	if len(file.Of[uid]) == 0 {
		return found, ErrNotFound
	}
	of := file.Of[uid][0]
	found.Items, found.Total = page.Cut(rows.Items, w).Items, int64(of.Valid)+int64(of.Failed)
	for _, l := range found.Items {
		l.Of = of
		if _, err := s.OrderOf(&l.FileLine); err != nil {
			return found, err
		}
	}
	return found, s.findNamed(ctx, of, found.Items)
}

// namedAccount is an account of a file's customer that a line names.
type namedAccount struct {
	Hash   []byte `bun:"number_hash"`
	Last4  string `bun:"number_last4"`
	BankID string `bun:"bank_id"`
}

var findingNamed = db.NewQuery[namedAccount](`SELECT number_hash, number_last4, bank_id FROM accounts
	WHERE tenant = $1 AND customer = $2 AND number_hash = ANY($3::bytea[]) AND deleted_at IS NULL`)

// findNamed finds the accounts of lines of which no payment was made, and that name them by their numbers
// alone.
func (s *Service) findNamed(ctx context.Context, of *BulkFile, lines []*ShownLine) error {
	var hashes [][]byte
	by := map[string][]*ShownLine{}
	for _, l := range lines {
		if l.Account.BankID != "" || l.Order == nil || l.Order.Sender.Number == "" ||
			l.Order.Sender.RoutingNumber != "" {
			continue
		}
		for _, hash := range s.keys.Hashes(int64(of.Tenant), accounts.NumberColumn, l.Order.Sender.Number) {
			hashes, by[string(hash)] = append(hashes, hash), append(by[string(hash)], l)
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	b := s.db.Batch()
	found := db.Queue(b, findingNamed, of.Tenant, of.Customer, hashes)
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, a := range found.Items {
		for _, l := range by[string(a.Hash)] {
			l.Account = Offset{BankID: a.BankID, Number: seal.Value{Last4: a.Last4}}
		}
	}
	return found.Err
}

// paymentsText reads a page of the lines of a file. Where it begins is found in the index alone: what is said
// of a line is neither read nor joined for those before it, of which there may be a million.
func paymentsText(reach access.Reach) string {
	from := inShown("bl", "oa")
	delete(from, "offset_account")
	from["payment"], from["state"] = "coalesce(bl.payment, 0)", "coalesce(pay.state, '')"
	from["speed"] = "coalesce(pay.speed, '')"
	from["payment_date"] = "coalesce(pay.payment_date, bf.payment_date)"
	from["created_at"] = "coalesce(pay.created_at, bf.created_at)"
	// a line with faults has no payer
	from["sender_name"] = "coalesce(nullif(bl.sender_name, ''), fc.legal_name)"
	from["line1"], from["line2"] = "fc.legal_line1", "fc.legal_line2"
	from["cancelled_as"] = "CASE WHEN pay.state = 'CANCELLED' THEN (SELECT ps.reason FROM payment_steps AS " +
		"ps WHERE ps.tenant = pay.tenant AND ps.payment = pay.uid AND ps.state = 'CANCELLED' " +
		"AND ps.tenant = $1) END"
	return db.Select[ShownLine](db.Or[ShownLine](db.Columns{}), from).
		Join("JOIN bulk_files AS bf ON bf.tenant = bl.tenant AND bf.uid = bl.file").
		Join("JOIN customers AS fc ON fc.tenant = bf.tenant AND fc.uid = bf.customer").
		Join("LEFT JOIN payments AS pay ON pay.tenant = bl.tenant AND pay.uid = bl.payment").
		Join("LEFT JOIN bulk_file_batches AS bb ON bb.tenant = bl.tenant AND bb.file = bl.file AND "+
			"bb.number = bl.batch").
		Join("LEFT JOIN accounts AS oa ON oa.tenant = bl.tenant AND oa.uid = CASE WHEN pay.uid IS NULL THEN "+
			"bb.offset_account WHEN pay.entry_type = 'DEBIT' THEN pay.receiver_account ELSE "+
			"pay.sender_account END").
		Where("bl.tenant = $1").Where("bf.tenant = $1").Where(reach.Scope("bf.customer")).
		Where("bl.id >= (SELECT skip.id FROM bulk_file_lines AS skip WHERE skip.tenant = $1 AND "+
			"skip.id >= $3::bigint AND skip.id < $4::bigint ORDER BY skip.id OFFSET $6::bigint LIMIT 1)").
		Where("bl.id < $4::bigint").OrderExpr("bl.id").String() + " LIMIT $5::bigint"
}

// Look finds files as partners ask for them: by number, with the name compared if one is given too
// (ErrMismatch), or else by a part of the name, among files of the last six months (rest/CONTRACT.md, bulk
// file search).
func (s *Service) Look(
	ctx context.Context, name string, number *FileUID, w page.Window,
) (found page.Counted[*ShownFile], err error) {
	by, err := s.looking(ctx, name, number)
	if err != nil {
		return found, err
	}
	if number == nil {
		return s.Page(ctx, by, w, access.ViewFiles)
	}
	name, by.Name, by.Since, w = by.Name, "", time.Time{}, page.First(1)
	found, err = s.Page(ctx, by, w, access.ViewFiles)
	if err == nil && name != "" && len(found.Items) > 0 && !sameName(found.Items[0].Name, name) {
		return page.Counted[*ShownFile]{}, ErrMismatch
	}
	return found, err
}

// LookAnd is the former Look: name and number must both be the file's, however old the file is, and the
// caller must have the permission to manage files.
func (s *Service) LookAnd(
	ctx context.Context, name string, number *FileUID, w page.Window,
) (found page.Counted[*ShownFile], err error) {
	by, err := s.looking(ctx, name, number)
	if err != nil {
		return found, err
	}
	by.Since = time.Time{}
	return s.Page(ctx, by, w, access.UploadFiles, access.ApproveFiles)
}

// searchedMonths is how far back a search by name looks.
const searchedMonths = 6

func (s *Service) looking(ctx context.Context, name string, number *FileUID) (by FileSearch, err error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return by, err
	}
	switch {
	case caller.Entity == 0:
		return by, ErrNoEntity
	case strings.TrimSpace(name) == "" && number == nil:
		return by, ErrNothing
	}
	now, err := s.now(ctx, caller.Tenant)
	by = FileSearch{Name: strings.TrimSpace(name), Since: now.AddDate(0, -searchedMonths, 0)}
	if number != nil {
		by.UID, by.Since = only(*number), time.Time{}
	}
	return by, err
}
