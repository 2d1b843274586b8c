package waterfalls

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"waterfall_steps", "waterfalls"},
	Reads: map[string]string{
		"payments": "a batch goes on once the payment that it waits for is decided: found in the " +
			"statement that finds batches to work on",
	},
}

// Service runs the batches of every bank.
type Service struct {
	db       *db.DB
	keys     *seal.Keys
	payments *payments.Service
	now      clock.Now

	turns changes.Turns[asker] // whose batch was worked on last
	run   *changes.Operation[Draft, Saved]
}

// Saved is the answer to a batch.
type Saved struct {
	UID UID       `json:"uid"`
	ID  uuid.UUID `json:"waterfallId"`
}

const object = "waterfall"

// New makes the service.
func New(d *db.DB, keys *seal.Keys, p *payments.Service, all *changes.Service, now clock.Now) *Service {
	s := &Service{db: d, keys: keys, payments: p, now: now}
	s.run = changes.Declare(all, "runWaterfall", object, access.InitiatePayments, s.runTx)
	return s
}

// Run accepts a batch of book transfers, all of it or nothing. Workers make its payments one after the other,
// in the order of their indexes. Only the bank's own people and programs may.
func (s *Service) Run(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.run.Require(ctx, "")
	switch {
	case err != nil:
	case caller.Entity == 0:
		err = ErrNoInstitution
	case caller.Reach != access.OfBank:
		err = access.ErrDenied
	default:
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.run.Do(ctx, caller, changes.Target{}, draft, options)
}

// runTx stores a batch whose payments could be made as things are, but for what the accounts hold.
func (s *Service) runTx(ctx context.Context, tx *changes.Tx, _ changes.Target, d Draft) (Saved, error) {
	taken := time.Now() // it takes its turn behind those that were worked on before
	w := &Waterfall{
		Tenant: tx.Caller.Tenant, UUID: uuid.New(), WorkedAt: &taken, Customer: customers.UID(tx.Caller.Entity),
		ExternalReferenceID: d.ExternalReferenceID, Status: Received,
		Payments: int32(len(d.Payments)), //nolint:gosec // 100 at most
		Maker:    access.MakerOf(tx.Caller), MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID,
		CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	if err := tx.NewRaw(`SELECT nextval('waterfall_numbers')`).Scan(ctx, &w.UID); err != nil {
		return Saved{}, err
	}
	if _, err := tx.NewInsert().Model(w).Returning("NULL").Exec(ctx); err != nil {
		if constraint, taken := db.UniqueViolation(err); taken && constraint == "waterfalls_reference" {
			return Saved{}, ErrReference
		}
		return Saved{}, fmt.Errorf("write a waterfall: %w", err)
	}
	drafts := make([]*payments.Draft, len(d.Payments))
	for i := range d.Payments {
		drafts[i] = d.Payments[i].draft(d.ExternalReferenceID)
	}
	refusals, err := s.payments.RefusalsTx(ctx, tx.Tx, tx.Caller, drafts, tx.Now)
	if err == nil {
		err = placed(refusals)
	}
	if err != nil {
		return Saved{}, err
	}
	var steps []*Step
	for n, i := range d.inOrder() {
		amount, err := money.Parse(d.Payments[i].Amount, currency)
		if err != nil {
			return Saved{}, err
		}
		step := &Step{
			Tenant: w.Tenant, ID: stepID(w.UID, n+1), Waterfall: w.UID, Index: d.Payments[i].Index,
			Status: StepWaiting, Minor: amount.Minor, Currency: currency, Notes: d.Payments[i].Notes,
			Found: []byte("[]"),
		}
		if err := step.seals(s.keys, drafts[i]); err != nil {
			return Saved{}, err
		}
		steps = append(steps, step)
	}
	if err := db.InsertAtCommit(ctx, steps); err != nil {
		return Saved{}, err
	}
	return Saved{w.UID, w.UUID}, tx.Record(ctx, changes.Change{
		UID: w.UID, Customer: int64(w.Customer), Version: 1, After: w,
	})
}

// mostFaults bounds the faults of an answer.
const mostFaults = 100

// placed names what is wrong with payments by their places in the request; nil if nothing is.
func placed(refusals []error) error {
	var all fault.Faults
	for i, why := range refusals {
		for _, f := range faultsOf(why) {
			at := fmt.Sprintf("payments[%d]", i)
			if f.Field != "" {
				at += "." + f.Field
			}
			if all = append(all, f.On(at)); len(all) == mostFaults {
				return all
			}
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// Search narrows a list of batches. All fields that are not empty must match.
type Search struct {
	ID                  uuid.UUID
	ExternalReferenceID string
	Status              []Status
}

var (
	finding  db.QueryCache[Waterfall]
	identity = db.ColumnsOf[Waterfall]("UID", "Customer", "Version")
)

type queryKey struct {
	want  db.Columns
	reach access.Reach
}

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Waterfall](db.Or[Waterfall](want).And(identity),
		map[string]string{"waits_for": "coalesce(wf.waits_for, 0)"})
}

// FindMany reads batches by number. Those that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Waterfall] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Waterfall](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("wf.tenant = $1").Where(caller.Reach.Scope("wf.customer")).
			Where("wf.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(w *Waterfall) UID { return w.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// where returns the conditions that narrow a list; p collects their values.
func (by Search) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	if by.ID != uuid.Nil {
		all = append(all, "wf.waterfall_id = "+p.Add(by.ID.String())+"::uuid")
	}
	if by.ExternalReferenceID != "" {
		all = append(all, "wf.external_reference_id = "+p.Add(by.ExternalReferenceID)+"::text")
	}
	if by.Status != nil {
		all = append(all, "wf.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	return all
}

func (by Search) list(caller access.Caller, p *db.Params) access.List {
	return access.List{
		Table: "waterfalls", Alias: "wf", Key: "uid", Newest: true, Of: []string{"wf.customer = seen.uid"},
		Seen: caller.Reach.Scope("wf.customer"), Where: by.where(caller.Tenant, p),
	}
}

var lists = access.Lists[Waterfall]{Needs: access.ViewPayments, Select: selecting}

// List reads a window of the batches that the caller may see and a search finds, newest first.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Waterfall] {
	return lists.Page(ctx, b, by.list, want, w)
}

// CountUpTo counts the batches that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	return lists.Count(ctx, b, by.list, most)
}
