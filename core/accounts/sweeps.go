package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/db"
)

type sweeping struct {
	setSweep, changeSweep *changes.Operation[SweepDraft, SweepName]
	removeSweep           *changes.Operation[struct{}, SweepName]
}

// SweepName names a sweep: an account has one in each direction.
type SweepName struct {
	Account   UID       `json:"account"`
	Direction Direction `json:"direction"`
}

func (n SweepName) String() string { return n.Account.String() + "/" + string(n.Direction) }

func (s *Service) declareSweeps(all *changes.Service) {
	s.setSweep = changes.Declare(all, "setSweep", "sweep", access.ManageAccounts, s.setSweepTx)
	s.changeSweep = changes.Declare(all, "changeSweep", "sweep", access.ManageAccounts, s.changeSweepTx)
	s.removeSweep = changes.Declare(all, "removeSweep", "sweep", access.ManageAccounts, s.removeSweepTx)
}

// SetSweep sets up a sweep for an active account that has none in this direction. It takes somebody who may
// pay, too, as the sweep does. If the customer's settings ask for dual approval, the sweep appears once a
// second person has approved.
func (s *Service) SetSweep(
	ctx context.Context, of customers.UID, name SweepName, draft SweepDraft, options changes.RequestOptions,
) (changes.Outcome[SweepName], error) {
	caller, err := s.setSweep.Require(ctx, name.String())
	if err == nil { // it pays in the caller's name
		attempt := access.Attempt{Action: "setSweep", Object: "sweep", UID: name.String()}
		caller, err = access.RequireTo(ctx, attempt, access.InitiatePayments)
	}
	if err != nil {
		return changes.Outcome[SweepName]{}, err
	}
	if err := draft.check(name.Direction, true); err != nil {
		return changes.Outcome[SweepName]{}, s.customers.PreferCustomerFault(ctx, of, err)
	}
	maker := access.MakerOf(caller)
	draft.Maker = &maker
	return s.setSweep.Do(ctx, caller, name.target(of), draft, options)
}

// ChangeSweep changes the fields that the draft gives; the balance type cannot change.
func (s *Service) ChangeSweep(
	ctx context.Context, of customers.UID, name SweepName, draft SweepDraft, options changes.RequestOptions,
) (changes.Outcome[SweepName], error) {
	caller, err := s.changeSweep.Require(ctx, name.String())
	if err == nil { // it pays in the caller's name
		attempt := access.Attempt{Action: "changeSweep", Object: "sweep", UID: name.String()}
		caller, err = access.RequireTo(ctx, attempt, access.InitiatePayments)
	}
	if err != nil {
		return changes.Outcome[SweepName]{}, err
	}
	if err := draft.check(name.Direction, false); err != nil {
		return changes.Outcome[SweepName]{}, s.customers.PreferCustomerFault(ctx, of, err)
	}
	maker := access.MakerOf(caller)
	draft.Maker = &maker
	return s.changeSweep.Do(ctx, caller, name.target(of), draft, options)
}

// RemoveSweep removes a sweep.
func (s *Service) RemoveSweep(
	ctx context.Context, of customers.UID, name SweepName, options changes.RequestOptions,
) (changes.Outcome[SweepName], error) {
	caller, err := s.removeSweep.Require(ctx, name.String())
	if err != nil {
		return changes.Outcome[SweepName]{}, err
	}
	return s.removeSweep.Do(ctx, caller, name.target(of), struct{}{}, options)
}

func (n SweepName) target(of customers.UID) changes.Target {
	return changes.Target{Customer: int64(of), UID: n.String()}
}

// sweepName reads a name from a target.
func sweepName(at changes.Target) (n SweepName) {
	_, _ = fmt.Sscanf(at.UID, "%d/%s", &n.Account, &n.Direction)
	return n
}

func (s *Service) setSweepTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft SweepDraft,
) (SweepName, error) {
	return s.sweepTx(ctx, tx, at, func(a *Account, was, w *Sweep) (*Sweep, error) {
		if was != nil {
			return nil, ErrSweepExists
		}
		*w = Sweep{
			Tenant: a.Tenant, Account: a.UID, Direction: sweepName(at).Direction, Currency: a.Currency,
			CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
		}
		if err := s.alongTx(ctx, tx, w); err != nil {
			return nil, err
		}
		if err := s.fillTx(ctx, tx, a, w, draft); err != nil {
			return nil, err
		}
		next := w.NextAfter(civil(tx.Now, tx.Caller))
		w.Next = &next
		return w, nil
	})
}

// alongTx returns ErrSweepBeside if the sweep would stand beside one in both directions, or is one itself and
// not alone: one would undo what the other does.
func (s *Service) alongTx(ctx context.Context, tx *changes.Tx, w *Sweep) error {
	return s.refusedTx(ctx, tx, ErrSweepBeside,
		`SELECT EXISTS (SELECT FROM sweeps WHERE tenant = ? AND account = ?
			AND (direction = 'both' OR ? = 'both'))`, w.Tenant, w.Account, w.Direction)
}

// apartTx returns a fault if a sweep into the account and one out of it would undo what the other does, over
// and over: as the target of what comes in is above that of what goes out.
func (s *Service) apartTx(ctx context.Context, tx *changes.Tx, w *Sweep) error {
	if w.Direction == Both {
		return nil // which stands alone
	}
	other, beyond, why := Out, "<", "must not be above that of the sweep out of the account"
	if w.Direction == Out {
		other, beyond, why = In, ">", "must not be below that of the sweep into the account"
	}
	return s.refusedTx(ctx, tx, fault.Field("sweep", "targetBalance", fault.NoMatch, why),
		`SELECT EXISTS (SELECT FROM sweeps WHERE tenant = ? AND account = ? AND direction = ?
			AND target_balance ? ?)`, w.Tenant, w.Account, other, bun.Safe(beyond), w.TargetMinor)
}

func (s *Service) changeSweepTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft SweepDraft,
) (SweepName, error) {
	return s.sweepTx(ctx, tx, at, func(a *Account, was, w *Sweep) (*Sweep, error) {
		if was == nil {
			return nil, ErrNoSweep
		}
		w.UpdatedAt, w.Version = tx.Now, was.Version+1
		w.FailedAt, w.Failure = nil, ""
		if err := s.fillTx(ctx, tx, a, w, draft); err != nil {
			return nil, err
		}
		if w.Frequency != was.Frequency || w.DayOfWeek != was.DayOfWeek || w.DayOfMonth != was.DayOfMonth {
			next := w.NextAfter(civil(tx.Now, tx.Caller))
			w.Next = &next
		}
		return w, nil
	})
}

func (s *Service) removeSweepTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (SweepName, error) {
	return s.sweepTx(ctx, tx, at, func(_ *Account, was, _ *Sweep) (*Sweep, error) {
		if was == nil {
			return nil, ErrNoSweep
		}
		return nil, nil
	})
}

// fillTx writes a draft into a sweep of an active account. Its contacts must be the customer's and active,
// neither waiting for approval nor refused; what was asked for with a contact that has been changed since is
// stale, as it may have another account.
func (s *Service) fillTx(ctx context.Context, tx *changes.Tx, a *Account, w *Sweep, draft SweepDraft) error {
	if a.Status != Active {
		return ErrNotActive.With(string(a.Status))
	}
	if err := draft.to(w); err != nil {
		return err
	}
	if err := s.apartTx(ctx, tx, w); err != nil {
		return err
	}
	w.Customer = a.Customer
	if draft.Maker != nil {
		w.Maker = *draft.Maker
	}
	seen := map[contacts.UID]int32{}
	for _, named := range []struct {
		field   string
		contact *contacts.UID
	}{{"sweepFrom.contactId", draft.FromContact}, {"sweepTo.contactId", draft.ToContact}} {
		if named.contact == nil {
			continue
		}
		version, err := contacts.ActiveTx(ctx, tx.Tx, a.Tenant, a.Customer, *named.contact)
		switch {
		case err != nil:
			return err
		case version == 0:
			return fault.Field("sweep", named.field, fault.Unknown,
				"must be an active contact of the customer")
		case tx.Approved() && version != draft.Seen[*named.contact]:
			return changes.ErrStale
		}
		seen[*named.contact] = version
	}
	if tx.Approved() {
		return nil
	}
	draft.Seen = seen
	return tx.Keep(draft)
}

// sweepTx creates, changes or removes a sweep: modify gets the existing one (nil if none) and returns the new
// one (nil to remove it).
func (s *Service) sweepTx(
	ctx context.Context, tx *changes.Tx, at changes.Target,
	modify func(a *Account, was, w *Sweep) (*Sweep, error),
) (SweepName, error) {
	name := sweepName(at)
	of := changes.Target{Customer: at.Customer, UID: name.Account.String()}
	customer, err := s.holding()(ctx, tx, &of)
	if err != nil {
		return name, err
	}
	a, err := lock(ctx, tx, customer, of)
	if err != nil {
		return name, err
	}
	was, err := s.lockSweepTx(ctx, tx, name)
	if err != nil {
		return name, err
	}
	w := new(Sweep)
	if was != nil {
		if err := tx.CheckVersion(was.Version); err != nil {
			return name, err
		}
		*w = *was
	}
	w, err = modify(a, was, w)
	if err != nil {
		return name, err
	}
	asked := customer.Asks(customers.AccessSettings.DualForCustomers)
	return name,
		tx.ProposeOr(ctx, asked, name.proposal(of, was, w),
			func() error { return s.writeSweepTx(ctx, tx, of, name, was, w) })
}

// proposal makes a proposal of a change. A new sweep gets no row before it is approved.
func (n SweepName) proposal(of changes.Target, was, w *Sweep) changes.Proposal {
	p := changes.Proposal{Customer: of.Customer, UID: n, Before: new(Sweep), After: w}
	if was != nil {
		p.Before, p.Version = was, was.Version
	}
	return p
}

// lockSweepTx reads and locks a sweep; it returns nil if there is none.
func (s *Service) lockSweepTx(ctx context.Context, tx *changes.Tx, name SweepName) (*Sweep, error) {
	w := new(Sweep)
	err := tx.NewSelect().Model(w).Where("w.tenant = ?", tx.Caller.Tenant).
		Where("w.account = ?", name.Account).
		Where("w.direction = ?", name.Direction).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return w, err
}

func (s *Service) writeSweepTx(
	ctx context.Context, tx *changes.Tx, of changes.Target, name SweepName, was, w *Sweep,
) (err error) {
	done := changes.Change{UID: name, Customer: of.Customer, Before: was, After: w}
	switch {
	case w == nil:
		_, err = tx.NewDelete().Model(was).WherePK().Exec(ctx)
	case was == nil:
		done.Version = w.Version
		_, err = tx.NewInsert().Model(w).Exec(ctx)
	default:
		done.Version = w.Version
		_, err = tx.NewUpdate().Model(w).WherePK().Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("write a sweep: %w", err)
	}
	return tx.Record(ctx, done)
}

var ofAccounts db.QueryCache[Sweep]

// SweepsOf reads the sweeps of each account that the caller may see, in order of direction.
func (s *Service) SweepsOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Sweep] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, Sweep](err)
	}
	today, err := s.today(ctx, caller)
	if err != nil {
		return db.Refuse[UID, Sweep](err)
	}
	text := ofAccounts.Get(caller.Reach, func() string {
		return db.Select[Sweep](db.Columns{}, map[string]string{"today": "$4::date"}).
			Join("JOIN accounts AS a ON a.tenant = w.tenant AND a.uid = w.account AND a.deleted_at IS NULL").
			Where("w.tenant = $1").
			Where(caller.Reach.Scope("a.customer")).Where("w.account = ANY($3)").Where("a.uid = ANY($3)").
			OrderExpr("w.account, w.direction").String()
	})
	return db.QueueMany(b, text, func(w *Sweep) UID { return w.Account }, caller.Tenant,
		caller.ScopeCustomer(), of, today)
}

// today returns the bank's civil day, as YYYY-MM-DD.
func (s *Service) today(ctx context.Context, caller access.Caller) (string, error) {
	now, err := s.clock(ctx, caller.Tenant)
	return civil(now, caller).Format(time.DateOnly), err
}

// civil returns the day that it is in the caller's bank; midnight UTC.
func civil(now time.Time, caller access.Caller) time.Time {
	year, month, day := now.In(caller.Location()).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// FindSweep reads one sweep of one account, in one round trip. If of is not 0, an account of another customer
// is absent.
func (s *Service) FindSweep(ctx context.Context, of customers.UID, name SweepName) (*Sweep, error) {
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	var scope *customers.Scope
	if of != 0 {
		scope = s.customers.Scoped(ctx, b, of)
	}
	account := s.FindMany(ctx, b, []UID{name.Account}, identity)
	sweeps := s.SweepsOf(ctx, b, []UID{name.Account})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if of != 0 {
		if _, err := scope.Check(); err != nil {
			return nil, err
		}
	}
	if found := account.Of[name.Account]; len(found) == 0 || of != 0 && found[0].Customer != of {
		return nil, ErrNotFound.On("accountUID")
	}
	for _, w := range sweeps.Of[name.Account] {
		if w.Direction == name.Direction {
			return w, nil
		}
	}
	return nil, ErrNoSweep
}

// SweptTo reports whether sweeps pay a contact, or collect from it.
func (s *Service) SweptTo(
	ctx context.Context, tx *changes.Tx, k *contacts.Contact,
) (to contacts.Redirection, err error) {
	to.Pays, err = tx.NewSelect().Model((*Sweep)(nil)).Where("w.tenant = ?", k.Tenant).
		Where("? IN (w.to_contact, w.from_contact)", k.UID).Exists(ctx)
	return to, err
}
