package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// Saved is the answer to a change of a webhook.
type Saved struct {
	UID    UID    `json:"uid"`
	Status Status `json:"status"`
	// of a new secret. Stored answers have no secret in them: a repeated request reads this one.
	Secret SecretID `json:"secret,omitempty"`
	clear  string
}

// Rotation says for how long the former secret still counts.
type Rotation struct {
	Overlap time.Duration `json:"overlap"`
}

// mostOverlap bounds how long two secrets count.
const mostOverlap = 7 * 24 * time.Hour

type operations struct {
	create, change          *changes.Operation[Draft, Saved]
	rotate                  *changes.Operation[Rotation, Saved]
	enable, disable, remove *changes.Operation[struct{}, Saved]
	replay                  *changes.Operation[Replay, Saved]
	test, resend            *changes.Operation[struct{}, Asked]
}

func (s *Service) declare(all *changes.Service) {
	const object = "webhook"
	s.create = changes.Declare(all, "createWebhook", object, access.ManageWebhooks, s.createTx).
		Settle(s.settleTx)
	s.change = changes.Declare(all, "changeWebhook", object, access.ManageWebhooks, s.changeTx)
	s.rotate = changes.Declare(all, "rotateWebhookSecret", object, access.ManageWebhooks, s.rotateTx)
	s.enable = changes.Declare(all, "enableWebhook", object, access.ManageWebhooks, s.enableTx)
	s.disable = changes.Declare(all, "disableWebhook", object, access.ManageWebhooks, s.disableTx)
	s.remove = changes.Declare(all, "deleteWebhook", object, access.ManageWebhooks, s.removeTx)
	s.replay = changes.Declare(all, "replayWebhook", object, access.ManageWebhooks, s.replayTx)
	s.test = changes.Declare(all, "testWebhook", object, access.ManageWebhooks, s.testTx)
	s.resend = changes.Declare(all, "resendWebhookDelivery", "webhookDelivery",
		access.ManageWebhooks, s.resendTx)
}

// Create registers an address, and returns the secret with which its owner verifies signatures. If the
// customer's settings ask for dual approval (customerDualApproval), nothing is posted until a second person
// approves.
func (s *Service) Create(
	ctx context.Context, of customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], string, error) {
	caller, err := s.create.Require(ctx, "")
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, "", err
	}
	return s.withSecret(ctx, caller)(
		s.create.Do(ctx, caller, changes.Target{Customer: int64(of)}, draft, options))
}

// withSecret adds the secret to the answer of the change that made it; "" if another one was made since, or
// the caller no longer sees the webhook.
func (s *Service) withSecret(
	ctx context.Context, caller access.Caller,
) func(changes.Outcome[Saved], error) (changes.Outcome[Saved], string, error) {
	return func(done changes.Outcome[Saved], err error) (changes.Outcome[Saved], string, error) {
		if err != nil {
			return done, "", err
		}
		clear := done.Result.clear
		done.Result.clear = ""
		if !done.Replayed {
			return done, clear, nil
		}
		clear, err = s.present(ctx, caller, done.Result.UID, done.Result.Secret)
		return done, clear, err
	}
}

// Change changes the fields in the draft. It waits for a second person as Create does.
func (s *Service) Change(
	ctx context.Context, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err == nil {
		err = draft.check(false)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// RotateSecret makes a new secret, and returns it. Until the overlap ends, what is posted is also signed with
// the former one.
func (s *Service) RotateSecret(
	ctx context.Context, uid UID, overlap time.Duration, options changes.RequestOptions,
) (changes.Outcome[Saved], string, error) {
	caller, err := s.rotate.Require(ctx, uid.String())
	if err == nil && (overlap < 0 || overlap > mostOverlap) {
		err = fault.Field("webhook", "overlapHours", fault.Malformed, "must be 0 to 168")
	}
	if err != nil {
		return changes.Outcome[Saved]{}, "", err
	}
	return s.withSecret(ctx, caller)(
		s.rotate.Do(ctx, caller, changes.Target{UID: uid.String()}, Rotation{overlap}, options))
}

// Enable lets events be posted again, from now on. Replay posts what happened meanwhile.
func (s *Service) Enable(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.enable, uid, options)
}

// Disable stops the posting of events, at once.
func (s *Service) Disable(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.disable, uid, options)
}

// Delete removes a webhook, with its secrets. The row stays for the record, but no answer shows it.
func (s *Service) Delete(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.remove, uid, options)
}

func simple[R any](
	ctx context.Context, o *changes.Operation[struct{}, R], uid interface{ String() string },
	options changes.RequestOptions,
) (changes.Outcome[R], error) {
	caller, err := o.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[R]{}, err
	}
	return o.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

type lifecycle = changes.Lifecycle[*customers.Held, Webhook]

// lifecycle returns how webhooks are changed. write writes what belongs to a webhook beside its row; nil for
// nothing.
func (s *Service) lifecycle(
	hold customers.Hold, write func(ctx context.Context, tx *changes.Tx, was, now *Webhook) error,
) *lifecycle {
	return &lifecycle{
		Name: "webhook", Hold: hold.Of("webhooks", "uid", ErrNotFound), Lock: lock, Write: write,
		Row: func(w *Webhook) changes.Row {
			return changes.Row{
				Model: w, UID: w.UID, Customer: int64(w.Customer), Version: &w.Version, UpdatedAt: &w.UpdatedAt,
				Gone: w.Status == Deleted,
			}
		},
	}
}

// asking is lifecycle for changes that a second person has to approve where the settings ask for it.
func (s *Service) asking(
	write func(ctx context.Context, tx *changes.Tx, was, now *Webhook) error,
) *lifecycle {
	l := s.lifecycle(s.customers.HoldTx, write)
	l.Asks = customers.Asking[Webhook](customers.AccessSettings.DualForCustomers)
	l.Wait = func(w *Webhook) { w.Status = Pending }
	return l
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Webhook, error) {
	w := new(Webhook)
	q := tx.NewSelect().Model(w).Where("w.tenant = ?", tx.Caller.Tenant).Where("w.uid = ?", at.UID).
		Where("w.customer = ?", at.Customer).Where("w.status <> ?", Deleted)
	return changes.Lock(ctx, q, w, ErrNotFound)
}

// localTx reports whether a webhook of the bank may lead to this machine: in a sandbox, if the process allows
// it.
func (s *Service) localTx(ctx context.Context, tx *changes.Tx) (sandbox bool, err error) {
	if !s.options.Loopback {
		return false, nil
	}
	err = tx.NewRaw(`SELECT sandbox FROM tenants WHERE id = ?`, tx.Caller.Tenant).Scan(ctx, &sandbox)
	return sandbox, err
}

func (s *Service) createTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	clear := newSecret()
	write := func(ctx context.Context, tx *changes.Tx, _, w *Webhook) error {
		if err := s.replaceTx(ctx, tx, w, w.SigningSecret, signing, clear, s.now()); err != nil {
			return err
		}
		return s.replaceTx(ctx, tx, w, w.BasicPassword, password, draft.BasicPassword.Value, s.now())
	}
	l := s.asking(write)
	w, err := l.Add(ctx, tx, at, func(held *customers.Held) (*Webhook, error) {
		return s.newTx(ctx, tx, held, draft)
	})
	if err != nil {
		return Saved{}, err
	}
	return Saved{w.UID, w.Status, w.SigningSecret, clear}, nil
}

// newTx makes the row of a new webhook.
func (s *Service) newTx(
	ctx context.Context, tx *changes.Tx, held *customers.Held, draft Draft,
) (*Webhook, error) {
	local, err := s.localTx(ctx, tx)
	if err == nil {
		err = permitted(draft.Target.Value, local)
	}
	if err != nil {
		return nil, err
	}
	w := &Webhook{
		Tenant: tx.Caller.Tenant, Customer: held.UID, Status: Active, CreatedAt: tx.Now,
		Topics: []Topic{}, Statuses: []payments.Status{},
		Rails: []rails.Rail{},
	}
	if w.Reach, err = reachOf(&held.Customer, tx.Caller, draft.Reach); err != nil {
		return nil, err
	}
	draft.to(w)
	if err := w.directsTx(ctx, tx); err != nil {
		return nil, err
	}
	var there int
	err = tx.NewRaw(`SELECT nextval('webhook_uids'), nextval('webhook_secret_ids'),
		CASE WHEN ?3 THEN nextval('webhook_secret_ids') ELSE 0 END,
		(SELECT count(*) FROM webhooks WHERE tenant = ?0 AND customer = ?1 AND status <> ?2),
		(SELECT coalesce(max(seq), 0) FROM audit_seals WHERE tenant = ?0)`,
		w.Tenant, w.Customer, Deleted, w.BasicUser != "").
		Scan(ctx, &w.UID, &w.SigningSecret, &w.BasicPassword, &there, &w.SinceSeq)
	if err == nil && there >= mostOfCustomer {
		err = ErrMany
	}
	if err == nil {
		err = w.freshTx(ctx, tx)
	}
	return w, err
}

// freshTx returns ErrByBank for a webhook that leads where another one of its customer does which the bank
// has disabled, unless the bank makes it or has approved it.
func (w *Webhook) freshTx(ctx context.Context, tx *changes.Tx) error {
	if tx.Caller.Reach == access.OfBank || tx.Approved() {
		return nil
	}
	var stopped []string
	err := tx.NewRaw(`SELECT target FROM webhooks WHERE tenant = ? AND customer = ? AND uid <> ? AND status = ?
		AND disabled_by_bank`, w.Tenant, w.Customer, w.UID, Disabled).Scan(ctx, &stopped)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(stopped, func(target string) bool { return place(target) == place(w.Target) }) {
		return ErrByBank
	}
	return nil
}

// place is where a target leads, however it is written.
func place(target string) string {
	return strings.TrimRight(strings.Replace(strings.ToLower(target), ":443", "", 1), "/")
}

// settleTx carries out the decision of a second person: the webhook begins, or is removed.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle(s.customers.HoldTx, nil).Settle(ctx, tx, at,
		func(w *Webhook) (_ changes.Settlement, err error) {
			w.Status = Deleted
			if approved {
				w.Status = Active
				if w.Reason != "" { // one to disable it came while it waited
					w.Status = Disabled
				}
				w.SinceSeq, err = events.LastTx(ctx, tx.Tx, w.Tenant)
			}
			return changes.Changes, err
		})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	write := func(ctx context.Context, tx *changes.Tx, was, now *Webhook) error {
		if was.BasicPassword == now.BasicPassword {
			return nil
		}
		return s.replaceTx(ctx, tx, now, now.BasicPassword, password, draft.BasicPassword.Value, s.now())
	}
	l := s.asking(write)
	return saved(l.Modify(ctx, tx, at, func(was, now *Webhook) error {
		if err := was.directsTx(ctx, tx); err != nil {
			return err
		}
		draft.to(now)
		if err := now.directsTx(ctx, tx); err != nil {
			return err
		}
		if now.Target != was.Target {
			if was.keptByBank(tx) {
				return ErrByBank
			}
			if err := now.freshTx(ctx, tx); err != nil {
				return err
			}
		}
		if draft.Target.Given {
			local, err := s.localTx(ctx, tx)
			if err == nil {
				err = permitted(now.Target, local)
			}
			if err != nil {
				return err
			}
		}
		if now.Target != was.Target && now.BasicUser != "" && draft.BasicPassword.Value == "" {
			return fault.Field("webhook", "basicPassword", fault.Required,
				"is required with another target: who chose it need not know that of the former one")
		}
		if !draft.BasicUser.Given {
			return nil
		}
		now.BasicPassword = 0
		if now.BasicUser == "" {
			return nil
		}
		id, err := nextSecretTx(ctx, tx.Tx)
		now.BasicPassword = id
		return err
	}))
}

func (s *Service) rotateTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, by Rotation,
) (Saved, error) {
	clear := newSecret()
	write := func(ctx context.Context, tx *changes.Tx, _, now *Webhook) error {
		return s.replaceTx(ctx, tx, now, now.SigningSecret, signing, clear, s.now().Add(by.Overlap))
	}
	w, err := s.lifecycle(s.customers.HoldTx, write).Modify(ctx, tx, at, func(_, now *Webhook) (err error) {
		if err := now.directsTx(ctx, tx); err != nil {
			return err
		}
		now.SigningSecret, err = nextSecretTx(ctx, tx.Tx)
		return err
	})
	if err != nil {
		return Saved{}, err
	}
	return Saved{w.UID, w.Status, w.SigningSecret, clear}, nil
}

func (s *Service) enableTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle(s.customers.HoldTx, nil).Modify(ctx, tx, at, func(_, now *Webhook) (err error) {
		if err := now.directsTx(ctx, tx); err != nil {
			return err
		}
		if now.Status, err = enabling.Take(now.Status); err != nil {
			return err
		}
		if now.keptByBank(tx) {
			return ErrByBank
		}
		now.ByBank = false
		now.Reason, now.FailingSince, now.Failures = "", nil, 0
		now.SinceSeq, err = events.LastTx(ctx, tx.Tx, now.Tenant)
		return err
	}))
}

// keptByBank reports whether the bank has disabled the webhook, and the caller is not one of its own.
func (w *Webhook) keptByBank(tx *changes.Tx) bool {
	return w.ByBank && tx.Caller.Reach != access.OfBank && !tx.Approved()
}

// disableTx disables a webhook. It may also do so for a customer that is not active, as this only takes
// something away.
func (s *Service) disableTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle(s.customers.HoldAnyTx, nil).Modify(ctx, tx, at, func(_, now *Webhook) (err error) {
		byBank := tx.Caller.Reach == access.OfBank
		if byBank && now.Status == Disabled && !now.ByBank { // from now on nobody else enables it
			now.ByBank = true
			return nil
		}
		if now.Status, err = disabling.Take(now.Status); err != nil {
			return err
		}
		now.ByBank = byBank
		return now.stopTx(ctx, tx.Tx)
	}))
}

// stopTx notes, as a webhook is disabled that is behind, or while nobody was told yet of all that has
// happened, that it is to be told of what has happened until then. If it has not caught up when it is
// disabled the next time, it may be told of what happened in between, too.
func (w *Webhook) stopTx(ctx context.Context, tx bun.Tx) error {
	last, err := events.LastTx(ctx, tx, w.Tenant)
	if err != nil {
		return err
	}
	if w.BehindFrom == nil {
		var told []int64 // of how much all were told
		err := db.Raw(tx, `SELECT seq FROM webhook_cursors WHERE tenant = ?`, w.Tenant).Scan(ctx, &told)
		if err != nil {
			return err
		}
		if from := max(w.SinceSeq, slices.Max(append(told, 0))); from < last {
			w.BehindFrom = &from
		}
	}
	if w.BehindFrom != nil {
		w.BehindTo = &last
	}
	return nil
}

// left is why webhooks are disabled when their customer leaves its partner.
const left = "the customer has left its partner: enable it if its target may still be told"

// leaveTx disables the webhooks of a customer that leaves its partner: that partner may have said where they
// lead (rest/CONTRACT.md, a second person). One that waits for approval is disabled once it has it. The new
// partner, the customer or the bank enables those that may stay.
func (s *Service) leaveTx(ctx context.Context, tx *changes.Tx, c *customers.Customer, _ customers.UID) error {
	var hooks []*Webhook
	err := tx.NewSelect().Model(&hooks).Where("w.tenant = ?", c.Tenant).Where("w.customer = ?", c.UID).
		Where("w.status IN (?)", bun.List([]Status{Active, Pending})).
		OrderExpr("w.uid").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the webhooks of customer %s: %w", c.UID, err)
	}
	for _, w := range hooks {
		was := *w
		w.Reason, w.UpdatedAt = left, tx.Now
		if w.Status == Active { // the version of one that waits is that of its approval
			w.Status, w.Version = Disabled, w.Version+1
			if err := w.stopTx(ctx, tx.Tx); err != nil {
				return err
			}
		}
		err := db.AtCommit(ctx, tx.Tx, tx.NewUpdate().Model(w).
			Column("status", "reason", "behind_from", "behind_to", "version", "updated_at").WherePK())
		if err != nil {
			return fmt.Errorf("disable webhook %s: %w", w.UID, err)
		}
		if err := tx.Record(ctx, changes.Change{
			Action: "disableWebhook", Object: "webhook", UID: w.UID, Customer: int64(w.Customer), Version: w.Version,
			Before: &was, After: w,
		}); err != nil {
			return err
		}
	}
	return nil
}

// removeTx removes a webhook, for the same customers as disableTx.
func (s *Service) removeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	write := func(ctx context.Context, tx *changes.Tx, _, now *Webhook) error {
		_, err := tx.NewRaw(`DELETE FROM webhook_secrets WHERE tenant = ? AND webhook = ?`, now.Tenant,
			now.UID).Exec(ctx)
		if err != nil {
			return err
		}
		// what was never tried tells nobody anything
		_, err = tx.NewRaw(`DELETE FROM webhook_deliveries WHERE tenant = ? AND webhook = ?
			AND state = ? AND attempts = 0`, now.Tenant, now.UID, Waiting).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = tx.NewRaw(`UPDATE webhook_deliveries SET state = ?, done_at = ?, leased_until = NULL
			WHERE tenant = ? AND webhook = ? AND state = ?`, Parked, s.now(), now.Tenant, now.UID, Waiting).
			Exec(ctx)
		return err
	}
	return saved(s.lifecycle(s.customers.HoldAnyTx, write).
		Modify(ctx, tx, at, func(_, now *Webhook) (err error) {
			if now.keptByBank(tx) { // else it is made anew
				return ErrByBank
			}
			now.Status, err = deleting.Take(now.Status)
			return err
		}))
}

func saved(w *Webhook, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{UID: w.UID, Status: w.Status}, nil
}
