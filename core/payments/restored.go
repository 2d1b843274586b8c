package payments

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
)

// What a backup has as waiting may have left since it was made. So after a restore nothing leaves for a
// network until an operator has looked at what waits, cancelled what is out there already, and said that the
// rest may go.

// HoldSendingWhile holds the sending of a bank while look returns audit.ErrBehind: the database then lacks
// entries of the bank's record that were kept outside of it. It must be called before any work begins.
func (s *Service) HoldSendingWhile(look func(ctx context.Context) error) { s.behind = look }

// sendingHeld reports whether nothing may leave for a network, because the bank was restored and nobody has
// resumed its sending since.
func (s *Service) sendingHeld(ctx context.Context, d bun.IDB, tenant access.Tenant) (held bool, err error) {
	if s.behind != nil {
		err = s.behind(ctx)
	}
	epoch := int64(1)
	if err == nil {
		epoch, err = audit.EpochOf(ctx, d, tenant)
	}
	if errors.Is(err, audit.ErrMoved) || errors.Is(err, audit.ErrBehind) {
		return true, nil
	}
	if err == nil && epoch > 1 {
		err = d.NewRaw(`SELECT NOT EXISTS (SELECT FROM sending_resumptions WHERE tenant = ? AND epoch >= ?)`,
			tenant, epoch).
			Scan(ctx, &held)
	}
	if err != nil {
		return false, fmt.Errorf("look whether bank %d may send: %w", tenant, err)
	}
	return held, nil
}

// SendingHeld reports whether nothing leaves the caller's bank for a network, because it was restored and
// nobody has resumed its sending since. It is for operators.
func (s *Service) SendingHeld(ctx context.Context) (bool, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return false, err
	}
	return s.sendingHeld(ctx, s.db, caller.Tenant)
}

// ErrNotHeld is returned by ResumeSending for a bank whose sending is not held.
var ErrNotHeld = fault.New(fault.State, "sending.not_held", "nothing holds the sending of this bank")

// ResumeSending lets payments, files and messages of the caller's bank leave for the networks again after it
// was restored. The reason, at most 255 characters, says what was compared; it stays in the record. It is for
// operators.
func (s *Service) ResumeSending(ctx context.Context, reason string) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	if reason == "" || !check.IsPlain(reason) || utf8.RuneCountInString(reason) > 255 {
		return fault.Field("sending", "reason", fault.Malformed, "1 to 255 characters of plain text")
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		epoch, err := audit.EpochOf(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		held, err := s.sendingHeld(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		if !held {
			return ErrNotHeld
		}
		_, err = tx.NewRaw(`INSERT INTO sending_resumptions (tenant, epoch, reason) VALUES (?, ?, ?)`,
			caller.Tenant, epoch, reason).Exec(ctx)
		if err != nil {
			return fmt.Errorf("resume the sending of bank %d: %w", caller.Tenant, err)
		}
		return audit.WriteTx(ctx, tx, audit.Entry{
			Action: "resumeSending", Decision: audit.Done, Object: "tenant", UID: caller.TenantCode, Reason: reason,
		}.By(caller))
	})
}
