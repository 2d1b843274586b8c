// Package demo makes the demo bank: believable customers with accounts, contacts, signatories and limits,
// each row a pure function of its number (Fill), and the payments of their last weeks, which go through the
// services as everybody's do (Live).
package demo

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Options describe a demo bank. The same options always give the same bank.
type Options struct {
	Customers int // how many, besides the bank itself: at least Fewest; 0 means 250
	// the time that dates are relative to; zero means the present time of the clock
	Start    time.Time
	Progress func(done, total int) // called after each batch; may be nil
}

// Fewest is the smallest number of customers, so that the documented ones are among them.
const Fewest = 50

// batch is how many customers are written at a time. Only the balances of the house accounts are kept between
// batches.
const batch = 1000

var (
	ErrNoBank = fault.New(fault.NotFound, "tenant.no_demo_bank", "there is no such bank to fill")
	ErrFilled = fault.New(fault.Conflict, "tenant.filled",
		"the bank has customers already: a demo bank fills an empty one")
	ErrNumbered = fault.New(fault.Conflict, "tenant.numbered_otherwise",
		"the bank's own customer has another number than the demo bank's: use a database of its own")
	ErrFewest = fault.Field("demo", "customers", fault.Min,
		fmt.Sprintf("a demo bank has at least %d customers", Fewest))
)

// Fill fills an empty bank. The customer that represents the bank itself is completed if it exists, under the
// number Institution, and otherwise created.
//
// Everything is written by COPY in one transaction: after a crash the bank is still empty, and Fill can be
// called again. The owner of the tables should call db.Analyze afterwards.
func Fill(ctx context.Context, c *core.Core, tenant access.Tenant, o Options) error {
	if o.Customers == 0 {
		o.Customers = 250
	}
	if o.Customers < Fewest {
		return ErrFewest
	}
	if o.Start.IsZero() {
		o.Start = c.Now()
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	err := c.DB.Load(ctx, int64(tenant),
		func(ctx context.Context, load *db.Load) error { return fill(ctx, load, c, tenant, o) })
	if err != nil {
		return fmt.Errorf("fill the demo bank: %w", err)
	}
	return nil
}

func fill(ctx context.Context, load *db.Load, c *core.Core, tenant access.Tenant, o Options) error {
	b, existing, err := start(ctx, load.Tx, c, tenant, o.Start)
	if err != nil {
		return err
	}
	// First, so that customers that are added meanwhile get numbers after the demo bank's.
	if err := advanceSequences(ctx, load.Tx, int64(o.Customers)); err != nil {
		return err
	}
	books := newBooks(b)
	if _, err := db.CopyTo(ctx, load, slices.Values(books.house)); err != nil {
		return err
	}
	if err := institution(ctx, load.Tx, b.customer(0), existing); err != nil {
		return err
	}
	counts := map[customers.UID]int64{0: 1}
	if existing {
		counts[0] = 0
	}
	for done := 0; done < o.Customers; {
		from, to := int64(done+1), int64(min(done+batch, o.Customers))
		if err := b.copyBatch(ctx, load, books, from, to); err != nil {
			return err
		}
		for n := from; n <= to; n++ {
			counts[owner(n)]++
		}
		done = int(to)
		o.Progress(done, o.Customers)
	}
	if err := b.copyPeople(ctx, load); err != nil {
		return err
	}
	if err := b.copyList(ctx, load); err != nil {
		return err
	}
	offered, traded := b.deals()
	if err := copyEach(ctx, load, slices.Values(offered)); err != nil {
		return err
	}
	if err := copyEach(ctx, load, slices.Values(traded)); err != nil {
		return err
	}
	if err := copyEach(ctx, load, slices.Values(b.attributes())); err != nil {
		return err
	}
	if err := copyEach(ctx, load, slices.Values(b.catalogue())); err != nil {
		return err
	}
	return finish(ctx, load.Tx, b, books, counts)
}

// start reads and locks the bank, so that nobody else fills it too, and refuses a bank that has customers.
func start(
	ctx context.Context, tx bun.Tx, c *core.Core, tenant access.Tenant, at time.Time,
) (b *bank, existing bool, err error) {
	var banks []struct {
		Code, Name, Zone string
	}
	if err := tx.NewRaw(`SELECT code, name, zone FROM tenants WHERE id = ? FOR NO KEY UPDATE`, tenant).Scan(ctx,
		&banks); err != nil {
		return nil, false, err
	}
	if len(banks) == 0 {
		return nil, false, ErrNoBank
	}
	zone, err := time.LoadLocation(banks[0].Zone)
	if err != nil {
		return nil, false, err
	}
	b = &bank{
		tenant: tenant, shortName: banks[0].Code, name: banks[0].Name, keys: c.Keys,
		start: at.In(zone).Truncate(time.Microsecond),
	}
	var known []*customers.Customer
	err = tx.NewSelect().Model(&known).Column("uid", "relationship_type", "short_name", "legal_name").
		Where("c.tenant = ?", tenant).Limit(2).Scan(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case len(known) == 0:
		return b, false, nil
	case len(known) > 1 || known[0].RelationshipType != customers.RelationSelf:
		return nil, false, ErrFilled
	case known[0].UID != Institution:
		return nil, false, ErrNumbered
	}
	b.shortName, b.name = known[0].ShortName, known[0].LegalName
	return b, true, nil
}

func institution(ctx context.Context, tx bun.Tx, self *customers.Customer, existing bool) error {
	if !existing {
		_, err := tx.NewInsert().Model(self).Exec(ctx)
		return err
	}
	_, err := tx.NewUpdate().Model(self).WherePK().ExcludeColumn("created_at", "updated_at").Exec(ctx)
	return err
}

// advanceSequences moves the sequences past the demo bank's numbers, never back.
func advanceSequences(ctx context.Context, tx bun.Tx, n int64) error {
	for _, s := range []struct {
		name string
		past int64
	}{
		{"customer_uids", int64(Customer(n + 1))},
		{"account_uids", int64(Account(n+1, 0))},
		{"signatory_uids", int64(Signatory(n+1, 0))},
		{"fee_tier_ids", (n + 1) * 8},
		{"journal_ids", journalID(n+1, 0)},
		{"payment_uids", int64(Payment(n+1, 0))},
		{"recurrence_uids", n + 1},
		{"positive_pay_rule_uids", int64(Rule(n+1, 0))},
		{"virtual_account_uids", int64(VirtualAccount(n+1, 0))},
		{"balance_alert_uids", int64(BalanceAlert(n+1, 0))},
		{"contact_verification_uids", int64(Verification(n+1, 0))},
		{"ach_prenote_ids", int64(Verification(n+1, 0))},
		{"trade_uids", Trades},
		{"cover_uids", 1},
		{"role_numbers", mostPeople},
		{"user_numbers", mostPeople},
	} {
		// the service may take numbers, and no more
		_, err := tx.NewRaw(`SELECT count(nextval(?0)) FROM ?1 AS s, generate_series(s.last_value, ?2)`, s.name,
			bun.Ident(s.name), s.past).Exec(ctx)
		if err != nil {
			return fmt.Errorf("advance %s: %w", s.name, err)
		}
	}
	return nil
}

// copyBatch writes a range of customers with all that they have.
func (b *bank) copyBatch(ctx context.Context, load *db.Load, books *books, from, to int64) error {
	opened := slices.Collect(each(from, to, accountsOf, b.account))
	paid := b.transfers(opened)
	series, err := b.series(paid)
	if err != nil {
		return err
	}
	for _, write := range []func() error{
		func() error { return copyEach(ctx, load, each(from, to, once, b.nth)) },
		func() error { return copyEach(ctx, load, bare(opened)) },
		func() error { return copyEach(ctx, load, each(from, to, contactsOf, b.contact)) },
		func() error { return copyEach(ctx, load, each(from, to, signatoriesOf, b.signatory)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.sweepsOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.rulesOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.virtualAccountsOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.alertsOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.verificationsOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.limitsOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.usageOf)) },
		func() error { return copyEach(ctx, load, listed(from, to, b.tiersOf)) },
		func() error { return copyEach(ctx, load, slices.Values(series)) },
		func() error { return copyEach(ctx, load, slices.Values(paid)) },
		func() error { return copyEach(ctx, load, steps(paid)) },
		func() error { return books.write(ctx, load, opened, paid) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func once(int64) int { return 1 }

func (b *bank) nth(n int64, _ int) *customers.Customer { return b.customer(n) }

func bare(all []*opened) iter.Seq[*accounts.Account] {
	return func(yield func(*accounts.Account) bool) {
		for _, a := range all {
			if !yield(a.Account) {
				return
			}
		}
	}
}

func steps(all []*payments.Payment) iter.Seq[*payments.Step] {
	return func(yield func(*payments.Step) bool) {
		for _, p := range all {
			if !yield(stepOf(p)) {
				return
			}
		}
	}
}

func copyEach[T any](ctx context.Context, load *db.Load, rows iter.Seq[*T]) error {
	_, err := db.CopyTo(ctx, load, rows)
	return err
}

// each yields the rows of a range of customers, count(n) rows for each.
func each[T any](from, to int64, count func(n int64) int, row func(n int64, k int) *T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := from; n <= to; n++ {
			for k := range count(n) {
				if !yield(row(n, k)) {
					return
				}
			}
		}
	}
}

func listed[T any](from, to int64, rows func(n int64) []*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := from; n <= to; n++ {
			for _, row := range rows(n) {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// finish writes what is known only at the end: the balances of the house accounts and the counts of
// customers.
func finish(ctx context.Context, tx bun.Tx, b *bank, books *books, counts map[customers.UID]int64) error {
	if _, err := tx.NewUpdate().Model(&books.house).Column("ledger", "version", "booked_at").Bulk().
		Where("b.tenant = ?",
			b.tenant).Exec(ctx); err != nil {
		return fmt.Errorf("write the house's balances: %w", err)
	}
	for owner, count := range counts {
		_, err := tx.NewRaw(`INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, ?, 0, ?)
			ON CONFLICT (tenant, owner, shard) DO UPDATE
				  SET customers = customer_counts.customers + excluded.customers`,
			b.tenant, owner, count).Exec(ctx)
		if err != nil {
			return fmt.Errorf("count the customers: %w", err)
		}
	}
	return nil
}
