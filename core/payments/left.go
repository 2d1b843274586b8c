package payments

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/db"
)

// Left says that a network has something of a payment, which the backup of a bank that was restored has as
// waiting: the payment itself, its return, its reversal or another message about it.
type Left struct {
	Payment UID
	// in place of a payment, the number (Leaving) of what goes back without one: of a wire, or an entry of ACH,
	// that no account took
	Return, Entry int64
	Reference     string // of ACH the trace number; else the id of the message, as the network reports it
	Reason        string // what was compared, at most 255 characters, for the record
	Settled       bool   // the network reports that it has settled; entries of ACH settle by themselves
}

// ErrNothingLeft is returned by NoteLeft for a payment of which nothing waits to leave.
var ErrNothingLeft = fault.New(fault.State, "sending.nothing_waits",
	"nothing of the payment waits to leave for a network")

// NoteLeft takes something of a payment as what left for its network before the bank was restored: the books
// have it as sent, no message and no entry of ACH goes out, and what the network says of its reference is
// heard as an answer. It returns in words what that is: payment, return, recall. What was noted already
// settles if it is noted again as Settled. It is for operators, while the sending of the bank is held.
func (s *Service) NoteLeft(ctx context.Context, l Left) (what string, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return "", err
	}
	l.Reference, l.Reason = strings.TrimSpace(l.Reference), strings.TrimSpace(l.Reason)
	for field, text := range map[string]string{"reference": l.Reference, "reason": l.Reason} {
		if text == "" || !check.IsPlain(text) || utf8.RuneCountInString(text) > 255 {
			return "", fault.Field("sending", field, fault.Malformed, "1 to 255 characters of plain text")
		}
	}
	kind := ""
	if err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		held, err := s.sendingHeld(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		if !held {
			return ErrNotHeld
		}
		if l.Payment == 0 {
			if kind, err = s.leftAloneTx(ctx, tx, caller, now, &l); err != nil {
				return err
			}
			return audit.WriteTx(ctx, tx, audit.Entry{
				Action: notingLeft, Decision: audit.Done, Object: "tenant", UID: caller.TenantCode,
				Reason: l.Reference + ": " + l.Reason,
			}.By(caller))
		}
		if kind, err = s.leftTx(ctx, tx, caller, now, &l); err != nil {
			return err
		}
		return audit.WriteTx(ctx, tx, audit.Entry{
			Action: notingLeft, Decision: audit.Done, Object: "payment", UID: l.Payment.String(),
			Reason: l.Reference + ": " + l.Reason,
		}.By(caller))
	}); err != nil {
		return "", err
	}
	what = cmp.Or(messageWords[kind], kind)
	if !l.Settled || l.Payment == 0 || !slices.Contains(ofMoney, kind) {
		return what, nil
	}
	return what, s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return s.reportedTx(ctx, tx, caller, now, l.Payment)
	})
}

const (
	wholePayment = "payment"  // what NoteLeft says of a payment that waited to be sent
	notingLeft   = "noteLeft" // the action of the record
)

var (
	// ofMoney are the messages by which money moves, or is asked for, and the whole payment.
	ofMoney = []string{wholePayment, creditKind, returnKind, requestKind}
	// answersOfOurs are those messages to other banks that may come twice: nothing moves by them.
	answersOfOurs = []string{
		kindOf(iso20022.TypeStatus), kindOf(iso20022.TypePaymentAnswer), recallAnswerKind,
		kindOf(iso20022.TypeInformation), kindOfFile,
	}
)

// leftTx writes that something of a payment has left, and returns what. Of a payment on its way it is what
// waits for a file, or else the oldest message about it that waits and moves money, or else another one that
// is no answer to another bank: these may come twice.
func (s *Service) leftTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, l *Left,
) (kind string, err error) {
	p := new(Payment)
	err = tx.NewSelect().Model(p).Where("pay.tenant = ?", caller.Tenant).Where("pay.uid = ?", l.Payment).
		For("NO KEY UPDATE").Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", ErrNotFound.On("payment")
	case err != nil:
		return "", err
	}
	if err := l.fitsTx(ctx, tx, caller.Tenant, p.Rail); err != nil {
		return "", err
	}
	if p.State == Queued {
		sent, failed, err := s.sendAllTx(ctx, tx, caller, now, []UID{p.UID}, l.Reference)
		if err == nil && failed == nil && sent == 0 {
			err = ErrNothingLeft
		}
		return wholePayment, errors.Join(failed, err)
	}
	if p.Rail == rails.ACH {
		return s.leftInFileTx(ctx, tx, p, now, l.Reference)
	}
	err = tx.NewRaw(`UPDATE network_messages SET message_id = ?2, handed_at = ?3 WHERE tenant = ?0
		AND id = (SELECT nm.id FROM network_messages AS nm WHERE nm.tenant = ?0 AND nm.payment = ?1
		  AND nm.direction = 'OUT' AND nm.handed_at IS NULL AND nm.kind NOT IN (?4)
		  ORDER BY nm.kind IN (?5) DESC, nm.id LIMIT 1) RETURNING kind`,
		p.Tenant, p.UID, l.Reference, now, bun.List(answersOfOurs), bun.List(ofMoney)).Scan(ctx, &kind)
	if errors.Is(err, sql.ErrNoRows) {
		return l.notedTx(ctx, tx, p)
	}
	return kind, err
}

// notedTx returns what of a payment is noted already as what left, under the same reference, where that is to
// settle by now: whoever noted it did not say so then, or was stopped before it had settled. It returns
// ErrNothingLeft if that is nothing.
func (l *Left) notedTx(ctx context.Context, tx bun.Tx, p *Payment) (kind string, _ error) {
	of := map[State][]string{Sent: {creditKind, requestKind}, Returning: {returnKind}}[p.State]
	if !l.Settled || len(of) == 0 {
		return "", ErrNothingLeft
	}
	noted, err := audit.DoneForTx(ctx, tx, p.Tenant, "payment", p.UID.String(), notingLeft, l.Reference+": ")
	if err == nil && noted {
		err = tx.NewRaw(`SELECT EXISTS (SELECT FROM network_messages AS nm WHERE nm.tenant = ? AND nm.payment = ?
			AND nm.direction = 'OUT' AND nm.message_id = ? AND nm.handed_at IS NOT NULL AND nm.kind IN (?))`,
			p.Tenant, p.UID, l.Reference, bun.List(of)).Scan(ctx, &noted)
	}
	switch {
	case err != nil:
		return "", err
	case !noted:
		return "", ErrNothingLeft
	case p.State == Sent:
		return wholePayment, nil
	}
	return returnKind, nil
}

// fitsTx returns a fault of the reference if a network does not have such ones, or it is of something else.
func (l *Left) fitsTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, over rails.Rail) error {
	switch {
	case over == rails.ACH && (len(l.Reference) != 15 || strings.Trim(l.Reference, "0123456789") != ""):
		return fault.Field("sending", "reference", fault.Malformed, "must be the trace number, of 15 digits")
	case over != rails.ACH && (Profiles[over] == nil || !Profiles[over].FitsID(l.Reference)):
		return fault.Field("sending", "reference", fault.Malformed,
			"must be the id of the message, in the form that the network has for them")
	}
	var taken bool
	if err := tx.NewRaw(`SELECT EXISTS (SELECT FROM network_messages WHERE tenant = ?0 AND rail = ?1
		  AND direction = 'OUT' AND message_id = ?2 AND NOT coalesce(payment = ?3, id = ?4))
		OR ?1 = 'ACH' AND (EXISTS (SELECT FROM ach_entries WHERE tenant = ?0 AND trace = ?2)
		  OR EXISTS (SELECT FROM ach_received WHERE tenant = ?0 AND return_trace = ?2)
		  OR EXISTS (SELECT FROM ach_reversals WHERE tenant = ?0 AND trace = ?2))`,
		tenant, over, l.Reference, l.Payment, l.Return).Scan(ctx, &taken); err != nil {
		return err
	}
	if taken {
		return fault.Field("sending", "reference", fault.NoMatch,
			"is of something else that has left, or waits")
	}
	return nil
}

// leftAloneTx writes that the return of what no account took has left, and returns what it is. No payment,
// and so nothing in the books, is about it.
func (s *Service) leftAloneTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, l *Left,
) (kind string, err error) {
	if l.Return == 0 {
		if err := l.fitsTx(ctx, tx, caller.Tenant, rails.ACH); err != nil {
			return "", err
		}
		file, err := s.leftFileTx(ctx, tx, caller.Tenant, now, l.Reference)
		if err != nil {
			return "", err
		}
		return "return", changedTx(tx.NewRaw(`UPDATE ach_received SET file = ?2, return_trace = ?3 WHERE tenant = ?0
			AND id = ?1 AND payment IS NULL AND returned_at IS NOT NULL AND file IS NULL`,
			caller.Tenant, l.Entry, file, l.Reference).Exec(ctx))
	}
	m := new(Message)
	err = tx.NewSelect().Model(m).Column("id", "rail", "kind").Where("nm.tenant = ?", caller.Tenant).
		Where("nm.id = ?", l.Return).Where("nm.direction = ?", Out).Where("nm.kind = ?", returnKind).
		Where("nm.payment IS NULL").Where("nm.handed_at IS NULL").For("UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrNothingLeft
	}
	if err == nil {
		err = l.fitsTx(ctx, tx, caller.Tenant, m.Rail)
	}
	if err == nil {
		_, err = tx.NewRaw(`UPDATE network_messages SET message_id = ?2, handed_at = ?3
			WHERE tenant = ?0 AND id = ?1`, caller.Tenant, m.ID, l.Reference, now).Exec(ctx)
	}
	return m.Kind, err
}

// changedTx returns ErrNothingLeft if a statement has changed nothing.
func changedTx(done sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n > 0 || err != nil {
		return err
	}
	return ErrNothingLeft
}

// leftFileTx writes what stands for the file in which something left.
func (s *Service) leftFileTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, now time.Time, trace string,
) (id MessageID, err error) {
	if err := tx.NewRaw(`SELECT nextval('network_messages_ids')`).Scan(ctx, &id); err != nil {
		return 0, err
	}
	_, err = tx.NewInsert().Model(s.leftFile(tenant, id, now, trace)).Exec(ctx)
	return id, err
}

// leftFile returns what stands for the file in which something left.
func (s *Service) leftFile(tenant access.Tenant, id MessageID, now time.Time, trace string) *Message {
	m := &Message{
		Tenant: tenant, ID: id, Rail: rails.ACH, Direction: Out, Kind: kindOfFile, MessageID: "left-" + trace,
		Code: "left before the restore", At: now, HandedAt: &now,
	}
	m.Body = s.keys.Encrypt("", m.place())
	return m
}

// leftInFileTx writes that what waits of a payment for a file of ACH has left in one: its entry, its return
// or its reversal, in this order; and returns which.
func (s *Service) leftInFileTx(
	ctx context.Context, tx bun.Tx, p *Payment, now time.Time, trace string,
) (what string, err error) {
	id, err := s.leftFileTx(ctx, tx, p.Tenant, now, trace)
	if err != nil {
		return "", err
	}
	settles := calendar.SettlesAt(calendar.ACH, calendar.Default().Plan(calendar.ACH, now, time.Time{}).Settles,
		now)
	for _, of := range []struct{ what, text string }{
		{"entry", `UPDATE ach_entries SET file = ?2, trace = ?3
		WHERE tenant = ?0 AND payment = ?1 AND taken_at IS NOT NULL AND file IS NULL`},
		{"return", `UPDATE ach_received SET file = ?2, return_trace = ?3
		WHERE tenant = ?0 AND payment = ?1 AND returned_at IS NOT NULL AND file IS NULL`},
		{"reversal", `UPDATE ach_reversals SET file = ?2, trace = ?3, settles_at = ?4
		WHERE tenant = ?0 AND payment = ?1 AND file IS NULL AND answered_at IS NULL`},
	} {
		err := changedTx(tx.NewRaw(of.text, p.Tenant, p.UID, id, trace, settles).Exec(ctx))
		if !errors.Is(err, ErrNothingLeft) {
			return of.what, err
		}
	}
	return "", ErrNothingLeft
}

// leftEntryTx writes, at the end of the transaction, in what the entry of a payment has left that is sent
// now.
func leftEntryTx(ctx context.Context, entries []*Payment, files []*Message, trace string) error {
	if trace == "" || len(entries) == 0 {
		return nil
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_entries SET file = $3, trace = $4
		WHERE tenant = $1 AND payment = $2`,
		entries[0].Tenant, int64(entries[0].UID), int64(files[0].ID), trace)
}

// reportedTx settles a payment, or a return, of which its network reports that it has settled.
func (s *Service) reportedTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of UID,
) error {
	in := s.intake(caller, now)
	if err := in.lockTx(ctx, tx, []UID{of}, want{}); err != nil {
		return err
	}
	p := in.by[of]
	if p == nil || p.Rail == rails.ACH {
		return nil
	}
	kind := creditKind
	if p.State == Returning {
		kind = returnKind
	}
	err := in.answer(&incoming{over: p.Rail, says: accepted, payment: of}, kind)
	if err != nil {
		return fmt.Errorf("settle payment %s: %w", of, err)
	}
	return in.writeTx(ctx, tx)
}
