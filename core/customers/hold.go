package customers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Held is a customer that is locked while something that it has is changed.
type Held struct {
	Customer `bun:",extend"`
	// the status of the customer's partner; '' without one, for a partner itself, and for callers of the bank
	Partner Status         `bun:"-"`
	Bank    AccessSettings `bun:"-"` // the bank's own settings, which count for every customer
}

// Asks reports whether the customer's settings, or those of the bank itself, ask for something.
func (h *Held) Asks(setting func(AccessSettings) bool) bool {
	return setting(h.Access) || setting(h.Bank)
}

// ErrInactive is returned when a caller outside the bank wants to change a customer, or what it has, that is
// suspended, Pending, or of a partner that is not active.
var ErrInactive = fault.New(fault.State, "customer.inactive", "the customer is not active")

// changeableBy returns ErrInactive if the caller may not change the customer, or what it has.
func (h *Held) changeableBy(caller access.Caller) error {
	if caller.Reach == access.OfBank || InBusiness(h.Status) && (h.Partner == "" || InBusiness(h.Partner)) {
		return nil
	}
	if !InBusiness(h.Status) {
		return ErrInactive.With(string(h.Status))
	}
	return ErrInactive.With(string(h.Partner)) // its partner's
}

// Working lists the statuses that let a customer change what it has, and pay.
var Working = []Status{Active, StatusNew}

// InBusiness reports whether a status is one of Working.
func InBusiness(s Status) bool { return slices.Contains(Working, s) }

// HoldTx reads a customer for a change of what it has, such as a signatory, and locks the customer itself
// against changes (FOR SHARE). It returns ErrNotFound, ErrOutOfScope or ErrInactive.
func (s *Service) HoldTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.changeableTx(ctx, tx, caller, uid, "SHARE")
}

// LockTx is HoldTx for a change during which nothing else of the customer may change.
func (s *Service) LockTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.changeableTx(ctx, tx, caller, uid, "NO KEY UPDATE")
}

// HoldAnyTx is HoldTx for changes that an inactive customer allows too, such as taking access away.
func (s *Service) HoldAnyTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.holdTx(ctx, tx, caller, uid, "SHARE")
}

// lockAnyTx is LockTx for a change of the customer's status.
func (s *Service) lockAnyTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.holdTx(ctx, tx, caller, uid, "NO KEY UPDATE")
}

func (s *Service) changeableTx(
	ctx context.Context, tx bun.IDB, caller access.Caller, uid UID, strength string,
) (*Held, error) {
	held, err := s.holdTx(ctx, tx, caller, uid, strength)
	if err == nil {
		err = held.changeableBy(caller)
	}
	if err != nil {
		return nil, err
	}
	return held, nil
}

// Hold is HoldTx, LockTx or HoldAnyTx.
type Hold func(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error)

// Of holds the customer of a thing that is created or changed, and sets it in the target: the customer that
// the request names, or else (0) that of the thing's row. A caller that names no customer must not learn of a
// thing outside its reach, which is therefore absent.
func (hold Hold) Of(
	table, key string, absent error,
) func(context.Context, *changes.Tx, *changes.Target) (*Held, error) {
	return func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*Held, error) {
		if at.Customer != 0 {
			return hold(ctx, tx, tx.Caller, UID(at.Customer))
		}
		err := tx.NewRaw(`SELECT customer FROM ? WHERE tenant = ? AND ? = ?`, bun.Ident(table),
			tx.Caller.Tenant, bun.Ident(key), at.UID).
			Scan(ctx, &at.Customer)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, absent
		}
		if err != nil {
			return nil, err
		}
		held, err := hold(ctx, tx, tx.Caller, UID(at.Customer))
		if errors.Is(err, ErrOutOfScope) {
			return nil, absent
		}
		return held, err
	}
}

// Asking makes a Lifecycle.Asks that reports whether a setting of the customer or of the bank asks for a
// second person.
func Asking[T any](setting func(AccessSettings) bool) func(held *Held, was, now *T) bool {
	return func(held *Held, _, _ *T) bool { return held.Asks(setting) }
}

func (s *Service) holdTx(
	ctx context.Context, tx bun.IDB, caller access.Caller, uid UID, strength string,
) (*Held, error) {
	held := new(Held)
	// the scope comes before the turn: nobody waits for another's customer, or makes others wait for it
	err := tx.NewSelect().Model(held).Where("c.tenant = ?", caller.Tenant).Where("c.uid = ?", uid).
		Where(caller.Reach.ScopeOfCustomersTx("c"), caller.Tenant, caller.ScopeCustomer()).
		Where(db.CustomersTurns.InTurn("c.uid", strength == "SHARE")).For(strength).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, absentTx(ctx, tx, caller, uid)
	case err != nil:
		return nil, fmt.Errorf("hold customer %s: %w", uid, err)
	case held.RelationshipType == RelationSelf:
		held.Bank = held.Access
		return held, nil
	}
	// read separately, after the wait for the lock, so that it is up to date
	if caller.Reach != access.OfBank && held.Owner != 0 && held.Owner != held.UID {
		if err := tx.NewRaw(`SELECT status FROM customers WHERE tenant = ? AND uid = ?`, held.Tenant, held.Owner).
			Scan(ctx, &held.Partner); err != nil {
			return nil, fmt.Errorf("read the partner of customer %s: %w", uid, err)
		}
	}
	var self Customer
	err = tx.NewSelect().Model(&self).Where("c.tenant = ?", caller.Tenant).Where("c.relationship_type = ?",
		RelationSelf).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the bank's own settings: %w", err)
	}
	held.Bank = self.Access
	return held, nil
}

// AskerTx returns the caller in whose name a worker makes payments of a customer that somebody asked for
// earlier (access.Maker). If that was a partner that the customer has left since, they are the bank's own
// work and go on within the customer's reach: what the customer has does not stop with its partner.
func AskerTx(
	ctx context.Context, tx bun.IDB, worker access.Caller, m access.Maker, of UID,
) (access.Caller, error) {
	if m.Reach != access.OfPartner {
		return m.Caller(worker), nil
	}
	var owner int64
	err := tx.NewRaw(`SELECT owner FROM customers WHERE tenant = ? AND uid = ?`, worker.Tenant, of).
		Scan(ctx, &owner)
	switch {
	case err != nil:
		return access.Caller{}, fmt.Errorf("read the partner of customer %s: %w", of, err)
	case owner != m.Entity:
		return m.Within(int64(of), worker), nil
	}
	return m.Caller(worker), nil
}

// absentTx returns ErrNotFound or ErrOutOfScope for a customer that the caller does not see.
func absentTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) error {
	if caller.Reach == access.OfBank {
		return ErrNotFound
	}
	var is bool
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM customers WHERE tenant = ? AND uid = ?)`, caller.Tenant, uid).
		Scan(ctx, &is)
	switch {
	case err != nil:
		return fmt.Errorf("look for customer %s: %w", uid, err)
	case is:
		return ErrOutOfScope
	}
	return ErrNotFound
}

// PreferCustomerFault returns the fault of the customer if there is one, and otherwise wrong, the fault of a
// draft: the customer is checked first (rest/CONTRACT.md, which fault comes first). It reads nothing if wrong
// is nil or the customer is 0.
func (s *Service) PreferCustomerFault(ctx context.Context, of UID, wrong error) error {
	if _, err := access.Require(ctx); err != nil {
		return err
	}
	if wrong == nil || of == 0 {
		return wrong
	}
	b := s.db.Batch()
	scope := s.Scoped(ctx, b, of)
	if err := b.Send(ctx); err != nil {
		return err
	}
	if _, err := scope.Check(); err != nil {
		return err
	}
	return wrong
}
