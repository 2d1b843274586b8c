package customers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// Held is a customer that stays as it is until a change of what it has is made.
type Held struct {
	Customer
	Bank AccessSettings // the bank's own: what they ask for counts for every customer
}

// Asks tells whether the customer's settings, or those of the bank itself, ask for something.
func (h *Held) Asks(setting func(AccessSettings) bool) bool {
	return setting(h.Access) || setting(h.Bank)
}

// HoldTx reads a customer for a change of what it has, such as a signatory, and keeps others from changing the customer
// itself meanwhile. ErrNotFound is one that is absent, ErrOutOfScope one that is another partner's.
func (s *Service) HoldTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.holdTx(ctx, tx, caller, uid, "SHARE")
}

// HoldOwnerTx is HoldTx for the owner of a thing that is to be changed: the customer that the request names, or where it
// names none (0) the one that the thing itself has, which owner reads. Who does not name the customer must not learn that
// there is one, so a thing that is not the caller's to see is absent.
func (s *Service) HoldOwnerTx(ctx context.Context, tx bun.IDB, caller access.Caller, named UID, owner *bun.RawQuery, absent error) (*Held, error) {
	if named != 0 {
		return s.HoldTx(ctx, tx, caller, named)
	}
	err := owner.Scan(ctx, &named)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, absent
	}
	if err != nil {
		return nil, err
	}
	held, err := s.HoldTx(ctx, tx, caller, named)
	if errors.Is(err, ErrOutOfScope) {
		return nil, absent
	}
	return held, err
}

// LockTx is HoldTx for a change of the customer itself.
func (s *Service) LockTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID) (*Held, error) {
	return s.holdTx(ctx, tx, caller, uid, "NO KEY UPDATE")
}

func (s *Service) holdTx(ctx context.Context, tx bun.IDB, caller access.Caller, uid UID, strength string) (*Held, error) {
	held := new(Held)
	err := tx.NewSelect().Model(&held.Customer).Where("c.tenant = ?", caller.Tenant).Where("c.uid = ?", uid).For(strength).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("hold customer %s: %w", uid, err)
	case !caller.Institution && held.Owner != UID(caller.Owner()):
		return nil, ErrOutOfScope
	case held.RelationshipType == RelationSelf:
		held.Bank = held.Access
		return held, nil
	}
	var self Customer
	err = tx.NewSelect().Model(&self).Where("c.tenant = ?", caller.Tenant).Where("c.relationship_type = ?", RelationSelf).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the bank's own settings: %w", err)
	}
	held.Bank = self.Access
	return held, nil
}

// WithinFirst is what is wrong with the customer, where something is, rather than with a draft of what it has: the
// contract checks the customer first. Without anything wrong with the draft, or without a customer (0), it asks nothing.
func (s *Service) WithinFirst(ctx context.Context, of UID, wrong error) error {
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
