package files

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"bulk_file_batches", "bulk_file_lines", "bulk_file_parts", "bulk_files"},
	Reads: map[string]string{
		"accounts": "the accounts of all batches of a file are found in one statement, and so are " +
			"those of lines that are shown",
		"customers": "in that statement, the company id of those without one of their own; and files are " +
			"shown with whose they are; what waits to be checked is counted by partner",
		"payment_steps": "why a payment of a file was cancelled, in that statement",
		"payments":      "the lines of a file are shown with what became of their payments",
	},
}

// Service takes in the files of every bank.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	customers *customers.Service
	payments  *payments.Service
	changes   *changes.Service
	now       clock.Now
	uploads   uploads
	readings  firstReadings
	step      time.Duration // how long one call of Check or Pay works

	upload *changes.Operation[uploaded, Saved]
	cancel *changes.Operation[struct{}, Saved]
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, c *customers.Service, p *payments.Service, all *changes.Service, now clock.Now,
) *Service {
	s := &Service{
		db: d, keys: keys, customers: c, payments: p, changes: all, now: now,
		uploads: newUploads(), step: longestStep,
	}
	s.upload = changes.Declare(all, "uploadFile", fileObject, access.UploadFiles, s.uploadTx).
		DecidedWith(access.ApproveFiles).Settle(s.settleTx).Partly(s.agreeTx).
		ByNow(s.takesNow)
	s.cancel = changes.Declare(all, "cancelFile", fileObject, access.UploadFiles, s.cancelTx)
	c.OnLeaving(leaveTx)
	return s
}

const nachaMost = nacha.MostBytes

// worker returns the caller of background work, and its bank's time.
func (s *Service) worker(ctx context.Context) (caller access.Caller, now time.Time, err error) {
	if caller, err = access.Require(ctx, access.ManageTenants); err == nil {
		now, err = s.now(ctx, caller.Tenant)
	}
	return caller, now, err
}

func parseAmount(text string) (int64, error) {
	amount, err := money.Parse(text, inCents)
	return amount.Minor, err
}

func named(uid accounts.UID) *int64 {
	if uid == 0 {
		return nil
	}
	n := int64(uid)
	return &n
}

// textOf writes faults in the form of their column.
func textOf(all Faults) json.RawMessage {
	text, err := json.Marshal(all)
	if err != nil || all == nil {
		return json.RawMessage("[]")
	}
	return text
}

// FileSearch narrows a list of files. All fields that are not empty must match.
type FileSearch struct {
	UID      FileUID
	Customer customers.UID
	Name     string // part of it, in any letter case
	Status   []FileStatus
	Type     []FileType
	Since    time.Time // created then or later
}

var (
	finding  db.QueryCache[BulkFile]
	counting db.QueryCache[db.Count]
	identity = db.ColumnsOf[BulkFile]("UID", "Customer", "Version")
)

type queryKey struct {
	want  db.Columns
	reach access.Reach
	where string
}

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[BulkFile](db.Or[BulkFile](want).And(identity), map[string]string{
		"offset_account": "coalesce(bf.offset_account, 0)",
	})
}

// FindMany reads files by number. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []FileUID, want db.Columns,
) *db.Many[FileUID, BulkFile] {
	caller, err := access.Require(ctx, access.ViewFiles)
	if err != nil {
		return db.Refuse[FileUID, BulkFile](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("bf.tenant = $1").Where("bf.uid = ANY($3)").
			Where(caller.Reach.Scope("bf.customer")).String()
	})
	return db.QueueMany(b, text, func(f *BulkFile) FileUID { return f.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

var ofCustomers = customers.Children[BulkFile]{
	Needs: access.ViewFiles, Table: "bf", Key: "uid", Select: selecting,
	Customer: func(f *BulkFile) customers.UID { return f.Customer },
}

// OfCustomers reads a window of the files of each customer, newest first.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by FileSearch, want db.Columns, w page.Window,
) *db.Many[customers.UID, BulkFile] {
	w.Backward = !w.Backward // Children lists by UID
	return ofCustomers.List(ctx, b, of, by.where, want, w)
}

// CountOfCustomers counts the files of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by FileSearch, most int64,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, by.where, most)
}

// where returns the conditions that narrow a list; p collects their values.
func (by FileSearch) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	if by.UID != 0 {
		all = append(all, "bf.uid = "+p.Add(by.UID)+"::bigint")
	}
	if by.Customer != 0 {
		all = append(all, "bf.customer = "+p.Add(by.Customer)+"::bigint")
	}
	if by.Name != "" {
		all = append(all, "strpos(lower(bf.name), lower("+p.Add(by.Name)+"::text)) > 0")
	}
	if by.Status != nil {
		all = append(all, "bf.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	if by.Type != nil {
		all = append(all, "bf.type = ANY("+p.Add(db.Texts(by.Type))+"::text[])")
	}
	if !by.Since.IsZero() {
		all = append(all, "bf.created_at >= "+p.Add(by.Since)+"::timestamptz")
	}
	return all
}

func (by FileSearch) list(caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "bulk_files", Alias: "bf", Key: "uid", Newest: true, Of: []string{"bf.customer = seen.uid"},
		Seen: caller.Reach.Scope("bf.customer"), Where: by.where(caller.Tenant, p),
	}
	if by.Customer != 0 && caller.Reach != access.OfBank {
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

var lists = access.Lists[BulkFile]{Needs: access.ViewFiles, Select: selecting}

// List reads a window of the files that the caller may see and a search finds, newest first.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by FileSearch, want db.Columns, w page.Window,
) *db.Rows[BulkFile] {
	return lists.Page(ctx, b, by.list, want, w)
}

// CountUpTo counts the files that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by FileSearch, most int64) *db.Rows[db.Count] {
	return lists.Count(ctx, b, by.list, most)
}

// sameName reports whether two names of files are the same. Spaces around them and letter case do not count.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
