package positivepay

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
)

// Saved is the answer to a change of a rule.
type Saved struct {
	UID UID `json:"uid"`
}

type operations struct {
	create, change            *changes.Operation[Draft, Saved]
	activate, suspend, remove *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	const manage = access.ManagePositiveRules
	s.create = changes.Declare(all, "createPositivePayRule", object, manage, s.createTx).Settle(s.settleTx).
		Partly(s.agreeTx)
	s.change = changes.Declare(all, "changePositivePayRule", object, manage, s.changeTx).Partly(s.agreeTx)
	s.activate = changes.Declare(all, "activatePositivePayRule", object, manage, s.activateTx).
		Partly(s.agreeTx)
	s.suspend = changes.Declare(all, "suspendPositivePayRule", object, manage, s.suspendTx)
	s.remove = changes.Declare(all, "deletePositivePayRule", object, manage, s.removeTx)
}

// Create makes a rule for an account. A rule for requests pays, and so asks for Initiate_Payments, too. If
// the settings of its customer ask for dual approval (customerDualApproval; of a rule for requests
// paymentDualApproval, too), the rule does not count until a second person approves.
func (s *Service) Create(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.create.Require(ctx, "")
	if err == nil {
		err = draft.check(true)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return probes.Naming(s.probes, caller, draft.AccountNumber.Value, func() (changes.Outcome[Saved], error) {
		return s.create.Do(ctx, caller, changes.Target{}, draft, options)
	})
}

// Change changes the fields that the draft gives; the type stays. It waits for a second person as Create
// does.
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

// Activate makes a suspended rule count again. It waits for a second person as Create does.
func (s *Service) Activate(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.activate, uid, options)
}

// Suspend suspends a rule at once, until it is activated.
func (s *Service) Suspend(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.suspend, uid, options)
}

// Delete deletes a rule, at once and for good. The row stays for the record, but no answer shows it.
func (s *Service) Delete(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return simple(ctx, s.remove, uid, options)
}

func simple(
	ctx context.Context, o *changes.Operation[struct{}, Saved], uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := o.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return o.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

type lifecycle = changes.Lifecycle[*customers.Held, Rule]

// lifecycle returns how rules are changed.
func (s *Service) lifecycle(hold customers.Hold) *lifecycle {
	return &lifecycle{
		Name: object, Hold: hold.Of("positive_pay_rules", "uid", ErrNotFound), Lock: lock,
		Row: func(r *Rule) changes.Row {
			return changes.Row{
				Model: r, UID: r.UID, Customer: int64(r.Customer), Version: &r.Version, UpdatedAt: &r.UpdatedAt,
				Gone: r.State == Deleted,
			}
		},
	}
}

// asking is lifecycle for changes that a second person has to approve where the settings ask for it: for the
// customer, and for payments, as requests that a rule allows are paid without anybody (payTx).
func (s *Service) asking() *lifecycle {
	l := s.lifecycle(s.customers.HoldTx)
	l.Asks = func(held *customers.Held, _, r *Rule) bool {
		return held.Asks(customers.AccessSettings.DualForCustomers) ||
			r.Type != ACH && held.Asks(customers.AccessSettings.DualForPayments)
	}
	l.Wait = func(r *Rule) { r.State = PendingApproval }
	return l
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Rule, error) {
	r := new(Rule)
	q := tx.NewSelect().Model(r).Where("pp.tenant = ?", tx.Caller.Tenant).Where("pp.uid = ?", at.UID).
		Where("pp.customer = ?", at.Customer).Where("pp.state <> ?", Deleted)
	return changes.Lock(ctx, q, r, ErrNotFound)
}

// account is what a rule needs to know of the account that it names.
type account struct {
	bun.BaseModel `bun:"table:accounts,alias:a"`

	UID      accounts.UID    `bun:"uid"`
	Customer customers.UID   `bun:"customer"`
	Currency money.Currency  `bun:"currency"`
	Status   accounts.Status `bun:"status"`
}

// accountTx reads the account that a draft names, whoever owns it.
func (s *Service) accountTx(ctx context.Context, tx *changes.Tx, d Draft) (*account, error) {
	a := new(account)
	q := tx.NewSelect().Model(a).Where("a.tenant = ?", tx.Caller.Tenant).Where("a.deleted_at IS NULL")
	if d.Account != 0 {
		q = q.Where("a.uid = ?", d.Account)
	} else {
		hashes := s.keys.Hashes(int64(tx.Caller.Tenant), accounts.NumberColumn, d.AccountNumber.Value)
		q = q.Where("a.number_hash IN ?", bun.Tuple(hashes))
	}
	if err := q.Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return nil, ErrAccount
	} else if err != nil {
		return nil, err
	}
	return a, nil
}

// roomOfCustomerTx returns ErrManyOfCustomer for a customer that has as many rules as it may have.
func roomOfCustomerTx(ctx context.Context, tx *changes.Tx, of customers.UID) error {
	var full bool
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM positive_pay_rules WHERE tenant = ? AND customer = ?
		AND state <> 'Deleted' OFFSET ?)`, tx.Caller.Tenant, of, mostOfCustomer-1).Scan(ctx, &full)
	if err == nil && full {
		err = ErrManyOfCustomer
	}
	return err
}

// roomTx returns ErrMany for an account that has as many rules as it may have.
func roomTx(ctx context.Context, tx *changes.Tx, of *account) error {
	n, err := tx.NewSelect().Model((*Rule)(nil)).Where("pp.tenant = ?", tx.Caller.Tenant).
		Where("pp.account = ?", of.UID).Where("pp.state <> ?", Deleted).Count(ctx)
	if err == nil && n >= mostOfAccount {
		err = ErrMany
	}
	return err
}

func (s *Service) createTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	l := s.asking()
	var a *account
	l.Hold = func(ctx context.Context, tx *changes.Tx, at *changes.Target) (held *customers.Held, err error) {
		if a, err = s.accountTx(ctx, tx, draft); err != nil {
			return nil, err
		}
		at.Customer = int64(a.Customer)
		held, err = s.customers.HoldTx(ctx, tx, tx.Caller, a.Customer)
		if errors.Is(err, customers.ErrOutOfScope) {
			return nil, ErrAccount
		}
		return held, err
	}
	return saved(l.Add(ctx, tx, at, func(held *customers.Held) (*Rule, error) {
		r := &Rule{
			Tenant: tx.Caller.Tenant, Customer: held.UID, Type: draft.Type, Currency: currency, SECCode: AllClasses,
			State: Active, CreatedAt: tx.Now,
		}
		if err := tx.NewRaw(`SELECT nextval('positive_pay_rule_uids')`).Scan(ctx, &r.UID); err != nil {
			return nil, err
		}
		if err := roomTx(ctx, tx, a); err != nil {
			return nil, err
		}
		if err := roomOfCustomerTx(ctx, tx, a.Customer); err != nil {
			return nil, err
		}
		if err := s.fill(tx, &held.Customer, new(Rule), r, a, draft); err != nil {
			return nil, err
		}
		if err := s.freshTx(ctx, tx, r); err != nil {
			return nil, err
		}
		return r, s.payTx(ctx, tx, l, r)
	}))
}

// settleTx carries out the decision of a second person: the rule counts from then on, or is removed.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle(s.customers.HoldTx).Settle(ctx, tx, at, func(r *Rule) (changes.Settlement, error) {
		r.State = Deleted
		if approved {
			r.State = Active
			r.approvedIn(tx)
			if err := s.freshTx(ctx, tx, r); err != nil {
				return changes.Stays, err
			}
			return changes.Changes, r.within(tx)
		}
		return changes.Changes, nil
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	l := s.asking()
	hold, of := l.Hold, new(customers.Customer)
	l.Hold = func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
		held, err := hold(ctx, tx, at)
		if err == nil {
			of = &held.Customer
		}
		return held, err
	}
	return saved(l.Modify(ctx, tx, at, func(was, r *Rule) error {
		if r.State == Suspended && !tx.Caller.Reach.AtLeast(r.SuspendedBy) { // else it is another one
			return ErrWider
		}
		var a *account
		if draft.Account != 0 || draft.AccountNumber.Given {
			var err error
			if a, err = s.accountTx(ctx, tx, draft); err != nil {
				return err
			}
			if a.Customer != r.Customer { // a rule stays with its customer
				return ErrAccount
			}
			draft.Account = a.UID // another may have its number by the time when this is approved
			if err := tx.Keep(draft); err != nil {
				return err
			}
			if a.UID != r.Account {
				if err := roomTx(ctx, tx, a); err != nil {
					return err
				}
			}
		}
		if err := s.fill(tx, of, was, r, a, draft); err != nil {
			return err
		}
		if err := s.freshTx(ctx, tx, r); err != nil {
			return err
		}
		r.approvedIn(tx)
		return s.payTx(ctx, tx, l, r)
	}))
}

// fill writes a draft into a rule of a customer, if it fits. account is nil if the account stays; was is the
// rule before, or the zero Rule for a new one.
func (s *Service) fill(
	tx *changes.Tx, of *customers.Customer, was, r *Rule, a *account, draft Draft,
) error {
	c := check.Of(object)
	adding := was.UID == 0
	if draft.Type != "" && draft.Type != r.Type {
		c.Fail("paymentRuleType", fault.Forbidden, "cannot be changed: make another rule")
	}
	if name := draft.CustomerName.Value; name != "" && !ident.Same(name, of.ShortName) {
		c.Fail("customerName", fault.NoMatch, "must be the short name of the customer whose account it is")
	}
	draft.BeneficiaryAccountNumber = was.BeneficiaryNumber.Kept(c, "beneAccountNumber",
		draft.BeneficiaryAccountNumber)
	c.AccountNumber("beneAccountNumber", draft.BeneficiaryAccountNumber.Value)
	draft.demandOf(c, r.Type, of, adding)
	draft.to(r)
	expired := draft.dates(c, was, r, today(tx))
	if err := c.Err(); err != nil {
		return err
	}
	if expired != nil {
		return expired
	}
	if a != nil {
		if a.Currency != currency || a.Status == accounts.Closed {
			return ErrAccountState
		}
		r.Account = a.UID
	}
	if draft.Amount.Value != "" {
		amount, err := money.Parse(draft.Amount.Value, currency)
		if err != nil {
			return fault.Field(object, "amount", fault.Malformed, "must have at most 2 decimals")
		}
		r.Minor = amount.Minor
	}
	s.number(r, draft)
	return nil
}

// freshTx returns ErrWider for a rule that lets through whom a suspended one of the account does, if the
// caller could not activate that one: whatever its amount and days are, it is that rule once more.
func (s *Service) freshTx(ctx context.Context, tx *changes.Tx, r *Rule) error {
	if r.State == Suspended || tx.Caller.Reach == access.OfBank {
		return nil
	}
	var suspended []*Rule
	err := tx.NewSelect().Model(&suspended).Where("pp.tenant = ?", r.Tenant).
		Where("pp.account = ?", r.Account).Where("pp.state = ?", Suspended).
		Where("pp.type = ?", r.Type).Where("pp.uid <> ?", r.UID).
		Where("pp.expiry_date IS NULL OR pp.expiry_date >= ?", today(tx)).Scan(ctx)
	if err != nil || len(suspended) == 0 {
		return err
	}
	number, err := s.keys.Open(r.BeneficiaryNumber, r.place())
	if err != nil {
		return fmt.Errorf("open the payee's number of rule %s: %w", r.UID, err)
	}
	covers := func(own, other string) bool { return own == "" || ident.Same(own, other) }
	for _, other := range suspended {
		if !tx.Caller.Reach.AtLeast(other.SuspendedBy) && covers(r.ACHCompanyID, other.ACHCompanyID) &&
			covers(r.BeneficiaryBankID, other.BeneficiaryBankID) &&
			(number == "" || s.keys.Same(other.BeneficiaryNumber, number, other.place())) {
			return ErrWider
		}
	}
	return nil
}

// payTx returns a fault if the person may not let through what a rule does. A rule for requests pays them: it
// takes the permission to, and is approved by as many people, and by the bank's own, as a payment of its
// amount would be.
func (s *Service) payTx(ctx context.Context, tx *changes.Tx, l *lifecycle, r *Rule) error {
	if err := r.within(tx); err != nil || r.Type == ACH {
		return err
	}
	if !tx.Approved() {
		if _, err := access.Require(ctx, access.InitiatePayments); err != nil {
			return err
		}
	}
	var err error
	l.Approvers, l.Decides, err = s.approvers(ctx, tx, r.Customer, r.Amount())
	return err
}

// approvedIn notes who approved the rule as this transaction leaves it: nobody, where nobody had to.
func (r *Rule) approvedIn(tx *changes.Tx) {
	r.Approvers, r.ByBank = tx.Approvers(), tx.Approved() && tx.Caller.Reach == access.OfBank
}

// agreeTx is called when the first of two people agrees: each is bound by what they may approve.
func (s *Service) agreeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	return s.lifecycle(s.customers.HoldTx).Agree(ctx, tx, at, func(r *Rule) error {
		var d Draft
		if err := tx.ReadDraft(&d); err != nil {
			return err
		}
		if d.Amount.Value != "" { // which was read when it was asked for
			amount, err := money.Parse(d.Amount.Value, r.Currency)
			if err != nil {
				return err
			}
			r.Minor = amount.Minor
		}
		return r.within(tx)
	})
}

// within returns ErrOwnLimit for a rule that lets through more than its person may decide on without it: who
// makes or changes the rule, or approves that. Somebody who approves exceptions up to an amount allows none
// above it by a rule; a rule for requests makes payments, too, and who approves it must be allowed to approve
// these.
func (r *Rule) within(tx *changes.Tx) error {
	if r.Type != ACH && tx.Approved() && !tx.Caller.May(access.ApprovePayments) {
		return access.ErrDenied.With(string(access.ApprovePayments))
	}
	bounds := []string{access.ApprovedPerPayment}
	if r.Type != ACH && !tx.Approved() {
		bounds = append(bounds, access.PerPayment)
	}
	for _, name := range bounds {
		own := tx.Caller.Limit(access.OfPayments, name)
		if own != nil && own.Currency == r.Currency && r.Minor > own.Minor {
			return ErrOwnLimit.With(own.Value().String())
		}
	}
	return nil
}

// number seals the account number of the payee, unless it is the one that the rule has.
func (s *Service) number(r *Rule, draft Draft) {
	switch number := draft.BeneficiaryAccountNumber; {
	case !number.Given:
	case number.Value == "":
		r.BeneficiaryNumber = seal.Value{}
	case !s.keys.Same(r.BeneficiaryNumber, number.Value, r.place()):
		r.BeneficiaryNumber = s.keys.Seal(number.Value, r.place())
	}
}

// today returns the bank's day on which a change is made; midnight UTC.
func today(tx *changes.Tx) time.Time {
	year, month, day := tx.Now.In(tx.Caller.Location()).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func saved(r *Rule, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{r.UID}, nil
}
