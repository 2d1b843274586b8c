package webhooks

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"webhook_attempts", "webhook_cursors", "webhook_deliveries", "webhook_secrets", "webhooks"},
	Reads: map[string]string{
		"audit_seals": "a new webhook is told what comes after the record's last number, in the statement " +
			"that takes its own",
		"customers": "who is told of a payment follows from whose it is, for all events and webhooks in " +
			"one statement",
		"payment_steps": "an event tells of a step of a payment, and only of one; deliveries are shown " +
			"with its state",
		"payments":         "who pays and who is paid, in the statement that makes the deliveries",
		"virtual_postings": "whose a transaction is, in the statement that makes the deliveries",
		"tenants":          "whether the bank is a sandbox, whose webhooks may lead to this machine",
	},
}

// Options are the settings of the process for webhooks.
type Options struct {
	Loopback bool          // webhooks of sandbox banks may lead to this machine
	Limit    time.Duration // of an answer; 0 for 10 seconds
}

// Service keeps the webhooks of every bank, and posts to them.
type Service struct {
	db              *db.DB
	keys            *seal.Keys
	customers       *customers.Service
	payments        *payments.Service
	virtualAccounts *virtualaccounts.Service
	now             func() time.Time
	options         Options
	clients         clients
	replays         changes.Turns[customers.UID] // whose webhook was posted to again last
	behind          changes.Turns[customers.UID] // whose webhook that had fallen behind was told last
	looked          changes.Turns[UID]           // behind which webhook the next claim looks
	foreign         foreign                      // whose secrets this program cannot open
	operations
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, c *customers.Service, p *payments.Service,
	v *virtualaccounts.Service, all *changes.Service, now func() time.Time,
	options Options,
) *Service {
	if options.Limit == 0 {
		options.Limit = defaultLimit
	}
	s := &Service{
		db: d, keys: keys, customers: c, payments: p, virtualAccounts: v, now: now, options: options,
		clients: newClients(options.Limit),
	}
	s.declare(all)
	c.OnLeaving(s.leaveTx)
	return s
}

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

var identity = db.ColumnsOf[Webhook]("UID", "Customer")

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Webhook](db.Or[Webhook](want).And(identity), nil)
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
	where string
}

// Search narrows a list of webhooks.
type Search struct {
	Customer customers.UID
	Status   []Status // nil for any
}

var finding db.QueryCache[Webhook]

// FindMany reads webhooks by UID. Those of customers that the caller may not see, and deleted ones, are
// absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Webhook] {
	caller, err := access.Require(ctx, access.ViewWebhooks)
	if err != nil {
		return db.Refuse[UID, Webhook](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("w.tenant = $1").Where("w.uid = ANY($3)").Where(shown).
			Where(caller.Reach.Scope("w.customer")).String()
	})
	return db.QueueMany(b, text, func(w *Webhook) UID { return w.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// shown is the condition that a webhook is not deleted.
const shown = "w.status <> 'Deleted'"

func (by Search) list(caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "webhooks", Alias: "w", Key: "uid", Of: []string{"w.customer = seen.uid"},
		Seen: caller.Reach.Scope("w.customer"), Where: db.Conditions{shown},
	}
	if by.Status != nil {
		words := []string{}
		for _, word := range by.Status {
			words = append(words, string(word))
		}
		l.Where = append(l.Where, "w.status = ANY("+p.Add(words)+"::text[])")
	}
	if by.Customer != 0 {
		of := p.Add(by.Customer) + "::bigint"
		l.Where = append(l.Where, "w.customer = "+of)
		if caller.Reach != access.OfBank {
			l.Named = &access.Named{Own: caller.Reach.Scope(of)}
		}
	}
	return l
}

var lists = access.Lists[Webhook]{Needs: access.ViewWebhooks, Select: selecting}

// List reads a window of the webhooks that the caller may see, in order of UID.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Webhook] {
	return lists.Page(ctx, b, by.list, want, w)
}

// CountUpTo counts the webhooks that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	return lists.Count(ctx, b, by.list, most)
}
