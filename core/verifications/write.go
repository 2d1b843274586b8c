package verifications

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
)

// Saved is the answer to a change of a verification.
type Saved struct {
	UID     UID  `json:"uid"`
	Matched bool `json:"matched,omitzero"` // of amounts
}

type operations struct {
	start   *changes.Operation[Draft, Saved]
	confirm *changes.Operation[Amounts, Saved]
	cancel  *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	const manage = access.ManageContacts
	s.start = changes.Declare(all, "startContactVerification", object, manage, s.startTx)
	s.confirm = changes.Declare(all, "confirmContactVerification", object, manage, s.confirmTx)
	s.cancel = changes.Declare(all, "cancelContactVerification", object, manage, s.cancelTx)
}

// Start begins to verify the account of a contact, from an account of its customer. A prenote moves no money
// and costs nothing. Deposits are payments of that account, for which the caller needs Initiate_Payments,
// too: they cost what payments over ACH cost, count for limits, and wait for a second person where the
// settings ask for one.
func (s *Service) Start(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.start.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err == nil && draft.Method == SmallDeposits {
		_, err = access.RequireTo(ctx, access.Attempt{Action: "startContactVerification", Object: object},
			access.InitiatePayments)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.start.Do(ctx, caller, changes.Target{}, draft, options)
}

// Confirm says what the deposits of a verification were. If the amounts are right, in whatever order, the
// account is verified. Wrong ones are an answer, and no fault: they count, and the third end the
// verification.
func (s *Service) Confirm(
	ctx context.Context, uid UID, amounts Amounts, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.confirm.Require(ctx, uid.String())
	if err == nil {
		_, err = amounts.cents()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.confirm.Do(ctx, caller, changes.Target{UID: uid.String()}, amounts, options)
}

// Cancel ends a verification whose end is not known. A prenote that is in no file yet does not go out.
// Deposits stay what they are: those that have not left can be cancelled as payments.
func (s *Service) Cancel(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.cancel.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.cancel.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

type lifecycle = changes.Lifecycle[*customers.Held, Verification]

// lifecycle is that of verifications; of is the contact of a new one.
func (s *Service) lifecycle(of contacts.UID) *lifecycle {
	return &lifecycle{
		Name: "verification",
		Hold: func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
			hold := customers.Hold(s.customers.HoldTx)
			if of == 0 {
				return hold.Of("contact_verifications", "uid", ErrNotFound)(ctx, tx, at)
			}
			contact := changes.Target{UID: of.String()}
			held, err := hold.Of("contacts", "uid", ErrContact)(ctx, tx, &contact)
			at.Customer = contact.Customer
			return held, err
		},
		Lock: func(ctx context.Context, tx *changes.Tx, _ *customers.Held,
			at changes.Target,
		) (*Verification, error) {
			v := new(Verification)
			q := tx.NewSelect().Model(v).Where("cv.tenant = ?", tx.Caller.Tenant).Where("cv.uid = ?", at.UID).
				Where("cv.customer = ?", at.Customer)
			return changes.Lock(ctx, q, v, ErrNotFound)
		},
		Row: func(v *Verification) changes.Row {
			return changes.Row{
				Model: v, UID: v.UID, Customer: int64(v.Customer), Version: &v.Version, UpdatedAt: &v.UpdatedAt,
			}
		},
		Taken: map[string]error{"contact_verifications_open": ErrOpen},
	}
}

func (s *Service) startTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Draft) (Saved, error) {
	return saved(s.lifecycle(d.Contact).Add(ctx, tx, at, func(customer *customers.Held) (*Verification, error) {
		v := &Verification{
			Tenant: tx.Caller.Tenant, Contact: d.Contact, Customer: customer.UID, Account: d.Account, Method: d.Method,
			MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID, MakerReach: tx.Caller.Reach,
			CreatedAt: tx.Now,
		}
		if err := s.admitTx(ctx, tx, v); err != nil {
			return nil, err
		}
		if d.Method == Prenote {
			return v, s.prenoteTx(ctx, tx, v)
		}
		return v, s.depositTx(ctx, tx, v)
	}))
}

// admitTx gives a new verification its number, if its contact may be verified now. The contact stays as it is
// until the transaction ends.
func (s *Service) admitTx(ctx context.Context, tx *changes.Tx, v *Verification) error {
	contact, err := contacts.HoldTx(ctx, tx.Tx, v.Tenant, v.Customer, v.Contact)
	switch {
	case errors.Is(err, contacts.ErrNotFound):
		return ErrContact
	case err != nil:
		return err
	case contact.Status != contacts.Active:
		return ErrContactState.With(string(contact.Status))
	}
	var now, full bool
	var often int
	err = tx.NewRaw(`SELECT nextval('contact_verification_uids'), coalesce(bool_or(state IN (?2)), false),
		count(*) FILTER (WHERE created_at > ?3::timestamptz),
		EXISTS (SELECT FROM contact_verifications WHERE tenant = ?0 AND customer = ?4 AND state IN (?2) OFFSET ?5)
		FROM contact_verifications
		WHERE tenant = ?0 AND contact = ?1`, v.Tenant, v.Contact, bun.List(open), tx.Now.AddDate(0, 0,
		-withinDays), v.Customer, mostOpen-1).Scan(ctx, &v.UID, &now, &often, &full)
	switch {
	case err != nil:
		return fmt.Errorf("count the verifications of contact %s: %w", v.Contact, err)
	case now:
		return ErrOpen
	case often >= mostOfContact:
		return ErrMany
	case full:
		return ErrManyOpen
	}
	return nil
}

// depositTx sends the deposits of a verification.
func (s *Service) depositTx(ctx context.Context, tx *changes.Tx, v *Verification) error {
	cents, err := random()
	if err != nil {
		return err
	}
	made, err := s.payments.DepositTx(ctx, tx.Tx, tx.Caller, payments.Deposits{
		Account: v.Account, Contact: v.Contact, Cents: cents[:], Reference: "VERIFY-" + v.UID.String(),
	}, tx.Now)
	if err != nil {
		return err
	}
	until := tx.Now.AddDate(0, 0, daysToConfirm)
	v.State, v.First, v.Second, v.ExpiresAt, v.DueAt = AwaitingAmounts, made[0], made[1], &until, &until
	return nil
}

// prenoteTx sends the prenote of a verification.
func (s *Service) prenoteTx(ctx context.Context, tx *changes.Tx, v *Verification) error {
	sent, err := s.payments.PrenoteTx(ctx, tx.Tx, tx.Caller, payments.PrenoteOf{
		Account: v.Account, Contact: v.Contact, Reference: "VERIFY-" + v.UID.String(),
	}, tx.Now)
	if err != nil {
		return err
	}
	until := answerUntil(sent.SettlesOn)
	v.State, v.Prenote, v.DueAt = Pending, sent.ID, &until
	return nil
}

// random draws the amounts of two deposits, which differ.
func random() (cents [deposits]int64, err error) {
	for cents[0] == cents[1] {
		for i := range cents {
			n, err := rand.Int(rand.Reader, big.NewInt(mostCents))
			if err != nil {
				return cents, fmt.Errorf("draw the amount of a deposit: %w", err)
			}
			cents[i] = n.Int64() + 1
		}
	}
	return cents, nil
}

func (s *Service) confirmTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, said Amounts,
) (Saved, error) {
	matched := false
	v, err := s.lifecycle(0).Modify(ctx, tx, at, func(_, v *Verification) error {
		if _, err := confirming.Take(v.State); err != nil {
			return ErrOver.With(string(v.State))
		}
		if !tx.Now.Before(*v.ExpiresAt) {
			return ErrOver.With(string(v.State))
		}
		given, err := said.cents()
		if err != nil {
			return err
		}
		sent, err := amountsTx(ctx, tx.Tx, v)
		if err != nil {
			return err
		}
		if matched = same(given, sent); matched {
			v.verify(tx.Now)
			return nil
		}
		if v.Tries++; v.Tries == mostTries {
			v.fail("", "the amounts were wrong three times")
		}
		return nil
	})
	if err != nil {
		return Saved{}, err
	}
	return Saved{v.UID, matched}, nil
}

// same compares amounts without regard to their order, and takes as long whatever they are.
func same(a, b [deposits]int64) bool {
	text := func(cents [deposits]int64) (all []byte) {
		slices.Sort(cents[:])
		for _, n := range cents {
			all = binary.BigEndian.AppendUint64(all, uint64(n)) //nolint:gosec // 1 to 99
		}
		return all
	}
	return subtle.ConstantTimeCompare(text(a), text(b)) == 1
}

// amountsTx reads the amounts of a verification's deposits. It returns ErrEarly unless both are there.
func amountsTx(ctx context.Context, tx bun.Tx, v *Verification) (cents [deposits]int64, err error) {
	var sent []struct {
		Minor int64          `bun:"amount"`
		State payments.State `bun:"state"`
	}
	err = tx.NewRaw(`SELECT amount, state FROM payments WHERE tenant = ? AND uid IN (?, ?)`, v.Tenant,
		v.First, v.Second).
		Scan(ctx, &sent)
	if err != nil || len(sent) != deposits {
		return cents, errors.Join(fmt.Errorf("read the deposits of verification %s: %d found", v.UID,
			len(sent)), err)
	}
	for i, d := range sent {
		if !d.State.Arrived() {
			return cents, ErrEarly
		}
		cents[i] = d.Minor
	}
	return cents, nil
}

func (s *Service) cancelTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle(0).Modify(ctx, tx, at, func(_, v *Verification) error {
		if _, err := cancelling.Take(v.State); err != nil {
			return ErrOver.With(string(v.State))
		}
		v.end(Cancelled)
		return withdrawTx(ctx, v)
	}))
}

// withdrawTx keeps the prenote of a verification from going out that is over.
func withdrawTx(ctx context.Context, v *Verification) error {
	if v.Prenote == 0 {
		return nil
	}
	return payments.WithdrawTx(ctx, v.Tenant, v.Prenote)
}

// LockDepositsTx locks the approvals for which deposits to a contact wait, so that SupersedeTx may end them.
func (s *Service) LockDepositsTx(ctx context.Context, tx *changes.Tx, of string) error {
	var deposits []string
	err := tx.NewRaw(`SELECT d::text FROM contact_verifications AS cv,
		unnest(ARRAY[cv.deposit_1, cv.deposit_2]) AS d
		WHERE cv.tenant = ? AND cv.contact = ? AND cv.state = ? AND d IS NOT NULL`,
		tx.Caller.Tenant, of, AwaitingAmounts).Scan(ctx, &deposits)
	if err != nil {
		return fmt.Errorf("find the deposits of contact %s: %w", of, err)
	}
	return tx.LockWaiting(ctx, "payment", deposits...)
}

// overtaken says why the deposits of a verification are cancelled that a change of the contact ends.
const overtaken = "the contact has another account since: verification %s is over"

// SupersedeTx ends what was found out about a contact's account, in the transaction that gives the contact
// another one. Deposits that have not left are cancelled: they would go to an account that nobody asks about.
func (s *Service) SupersedeTx(ctx context.Context, tx *changes.Tx, of contacts.UID) error {
	var all []*Verification
	err := tx.NewSelect().Model(&all).Where("cv.tenant = ?", tx.Caller.Tenant).Where("cv.contact = ?", of).
		Where("cv.state IN (?)", bun.List(superseding.From)).OrderExpr("cv.uid").
		For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("find the verifications of contact %s: %w", of, err)
	}
	for _, v := range all {
		was := *v
		v.end(Superseded)
		v.UpdatedAt, v.Version = tx.Now, v.Version+1
		if _, err := tx.NewUpdate().Model(v).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("end verification %s: %w", v.UID, err)
		}
		if err := withdrawTx(ctx, v); err != nil {
			return err
		}
		if was.State == AwaitingAmounts {
			why := fmt.Sprintf(overtaken, v.UID)
			if err := s.payments.StopDepositsTx(ctx, tx, []payments.UID{v.First, v.Second}, why); err != nil {
				return err
			}
		}
		if err := tx.Record(ctx, changes.Change{
			Action: "supersedeContactVerification", Object: object, UID: v.UID, Customer: int64(v.Customer),
			Version: v.Version,
			Before:  &was, After: v,
		}); err != nil {
			return err
		}
	}
	return nil
}

func saved(v *Verification, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{UID: v.UID}, nil
}
