package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/payments"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// Post posts a delivery that was claimed, and writes the outcome.
func (s *Service) Post(ctx context.Context, due *Due) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	o, err := s.post(ctx, caller, due)
	if err != nil {
		return fmt.Errorf("post delivery %s: %w", due.UID, err)
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return s.finishTx(ctx, tx, caller, due, o)
	})
	if err != nil {
		return fmt.Errorf("write what came of delivery %s: %w", due.UID, err)
	}
	return nil
}

// post makes the message of a delivery and posts it.
func (s *Service) post(ctx context.Context, caller access.Caller, due *Due) (o outcome, err error) {
	if due.secrets == nil || len(due.secrets.signing) == 0 {
		return outcome{why: "the webhook has no secret that can be read", never: true}, nil
	}
	now := s.now()
	topic := due.topic(&due.webhook.Webhook)
	m := &message{
		target: due.webhook.Target, path: paths[topic], id: due.MessageID(), at: now, user: due.webhook.BasicUser,
		password: due.secrets.password, local: due.local,
	}
	if m.body, err = s.bodyOf(ctx, caller, due, topic, now); err != nil {
		return o, err
	}
	if m.body == nil {
		return outcome{why: "the customer no longer sees what it tells of", never: true}, nil
	}
	if m.signature, err = Sign(due.secrets.signing, m.id, now, m.body); err != nil {
		return o, err
	}
	return s.clients.post(ctx, m), nil
}

// bodyOf returns what a delivery says; nil if the webhook's customer no longer sees what it is about.
func (s *Service) bodyOf(
	ctx context.Context, caller access.Caller, due *Due, topic Topic, now time.Time,
) (json.RawMessage, error) {
	reach, of := due.webhook.Reach, int64(due.webhook.Customer)
	mark := payments.StepKey{Payment: due.Payment, Number: due.Number}
	var posting *virtualaccounts.ShownPosting
	switch {
	case due.Posting != 0:
		var err error
		if posting, err = s.virtualAccounts.PostingFor(ctx, reach, of, due.Posting); err != nil ||
			posting == nil {
			return nil, err
		}
		mark = payments.StepKey{Payment: payments.UID(posting.Payment), Number: posting.Step}
	case due.Payment == 0 && topic == OfTransactions:
		return sampleTransaction(now)
	case due.Payment == 0:
		return sample(now)
	}
	all, err := s.payments.SnapshotsFor(ctx, reach, of, []payments.StepKey{mark})
	told := all[mark]
	if err != nil || told == nil {
		return nil, err
	}
	if posting != nil {
		return json.Marshal(transactionOf(posting, told))
	}
	return body(told, caller.Location())
}

// finishTx writes the outcome of an attempt. If the lease has run out and another worker has taken the
// delivery, it writes only the attempt.
func (s *Service) finishTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, due *Due, o outcome,
) error {
	now := s.now()
	_, err := db.Raw(tx, `UPDATE webhook_attempts SET status = ?, error = ?, took = ?
		WHERE tenant = ? AND delivery = ?
		AND number = ?`, o.answer, o.why, o.took.Milliseconds(), due.Tenant, due.UID, due.Attempts).Exec(ctx)
	if err != nil {
		return err
	}
	// the webhook is locked before its deliveries, as in Claim
	w := new(Webhook)
	if err := tx.NewSelect().Model(w).Where("w.tenant = ?", due.Tenant).Where("w.uid = ?", due.Webhook).
		For("NO KEY UPDATE").Scan(ctx); err != nil {
		return err
	}
	state, next := o.after(due.Tries, *due.TriedAt, now)
	var done *time.Time
	if state != Waiting {
		done = &now
	}
	written, err := db.Raw(tx, `UPDATE webhook_deliveries SET state = ?, due_at = ?, done_at = ?,
		leased_until = NULL
		WHERE tenant = ? AND uid = ? AND attempts = ? AND state = 'WAITING'`, state, next, done,
		due.Tenant, due.UID, due.Attempts).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := written.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if state == Waiting && due.Payment != 0 { // later events of the payment cannot be posted before
		if _, err := db.Raw(tx, `UPDATE webhook_deliveries SET due_at = greatest(due_at, ?)
			WHERE tenant = ? AND webhook = ?
			AND payment = ? AND number > ? AND state = 'WAITING'`,
			next, due.Tenant, due.Webhook, due.Payment, due.Number).
			Exec(ctx); err != nil {
			return err
		}
	}
	return s.healthTx(ctx, tx, caller, w, o, now)
}

// healthTx writes whether a webhook fails, and disables one that has failed for too long.
func (s *Service) healthTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, w *Webhook, o outcome, now time.Time,
) error {
	was := *w
	switch {
	case o.arrived() && w.FailingSince == nil:
		return nil
	case o.arrived():
		w.FailingSince, w.Failures = nil, 0
	case w.FailingSince == nil:
		w.FailingSince, w.Failures = &now, 1
	default:
		w.Failures++
	}
	off := w.Status == Active && w.FailingSince != nil && w.Failures >= fewestFailures &&
		now.Sub(*w.FailingSince) >= longestFailing
	if off {
		w.Status, w.Reason = Disabled, "nothing has arrived since "+w.FailingSince.UTC().Format(time.RFC3339)
		w.Version, w.UpdatedAt = w.Version+1, now
		if err := w.stopTx(ctx, tx); err != nil {
			return err
		}
	}
	_, err := tx.NewUpdate().Model(w).
		Column("failing_since", "failures", "status", "reason", "behind_from", "behind_to",
			"version", "updated_at").
		WherePK().Exec(ctx)
	if err != nil || !off {
		return err
	}
	done := changes.Change{
		Action: "disableWebhook", Object: "webhook", UID: w.UID, Customer: int64(w.Customer), Version: w.Version,
		Before: &was, After: w,
	}.Recorded(caller, "")
	return events.RecordTx(ctx, tx, done.Entry, *done.Event)
}
