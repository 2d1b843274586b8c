package fees

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
)

// Draft is what a request says about a fee tier (rest/CONTRACT.md, fee tiers). A change changes only the
// fields that are given.
type Draft struct {
	Application   given.Text `json:"application,omitzero"`
	AccountNumber given.Text `json:"accountNumber,omitzero"` // empty: all accounts of the customer
	FeeTier       given.Text `json:"feeTier,omitzero"`
	FeeName       given.Text `json:"feeName,omitzero"`
	Product       given.Text `json:"product,omitzero"`

	Account accounts.UID `json:"account,omitzero"` // that had the number when it was asked for; 0 in a request
}

// Saved is the answer to a change of a fee tier.
type Saved struct {
	ID       ID            `json:"id"`
	Customer customers.UID `json:"customer"`
}

var (
	// ErrNotFound is returned for a fee tier that does not exist, or that belongs to another customer.
	ErrNotFound = fault.New(fault.NotFound, "feeTier.not_found", "no such fee tier of this customer")
	// ErrTaken is returned when the customer has a tier of the fee for the same account.
	ErrTaken = fault.New(fault.Conflict, "feeTier.taken",
		"the customer has a tier of this fee for the account already").On("feeTier")
	// ErrMany is returned for a customer that has as many tiers as it may have.
	ErrMany = fault.New(fault.State, "feeTier.many",
		fmt.Sprintf("the customer has %d fee tiers, as many as it may have", mostOfCustomer)).On("feeTier")
)

// mostOfCustomer is how many tiers a customer may have: all of them are read with it.
const mostOfCustomer = 500

// ParseID reads a fee tier's number from decimal digits.
func ParseID(field, text string) (ID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil || n == 0 {
		return 0, fault.Field("feeTier", field, fault.Number, "must be the digits of a fee tier's id")
	}
	return ID(n), nil
}

func (d *Draft) check(adding bool) error {
	c := check.Of("feeTier")
	if !adding && *d == (Draft{}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	for _, text := range []struct {
		field string
		value given.Text
	}{{"application", d.Application}, {"feeTier", d.FeeTier}, {"feeName", d.FeeName}, {"product", d.Product}} {
		c.Given(text.field, text.value, adding)
		c.AtMost(text.field, text.value.Value, 255)
	}
	if adding || !seal.LooksMasked(d.AccountNumber.Value) { // fillTx checks a masked number
		c.AccountNumber("accountNumber", d.AccountNumber.Value)
	}
	return c.Err()
}

// Add adds a tier of a configured fee to a customer. If fee tiers need a second person (feeTierForApproval),
// the tier is Pending until that person approves. What somebody outside the bank would make cheaper waits for
// the bank.
func (s *Service) Add(
	ctx context.Context, to customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.add.Require(ctx, "")
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, to, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.naming(ctx, s.add, caller, changes.Target{Customer: int64(to)}, draft, options)
}

// Change changes the fields in the draft. If the customer is 0, the tier's own counts. It waits for a second
// person as Add does.
func (s *Service) Change(
	ctx context.Context, of customers.UID, id ID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, id.String())
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(false))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	at := changes.Target{Customer: int64(of), UID: id.String()}
	return s.naming(ctx, s.change, caller, at, draft, options)
}

// naming carries out a change that may name an account by its number.
func (s *Service) naming(
	ctx context.Context, o *changes.Operation[Draft, Saved], caller access.Caller, at changes.Target,
	draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return probes.Naming(s.probes, caller, draft.AccountNumber.Value, func() (changes.Outcome[Saved], error) {
		return o.Do(ctx, caller, at, draft, options)
	})
}

// lifecycle adds and changes tiers, those of one customer one after the other, so that what becomes cheaper
// is certain.
func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, Tier] {
	return &changes.Lifecycle[*customers.Held, Tier]{
		Name: "fee tier",
		Hold: customers.Hold(s.customers.LockTx).Of("fee_tiers", "id", ErrNotFound),
		Lock: lock,
		Row: func(t *Tier) changes.Row {
			return changes.Row{
				Model: t, UID: t.ID, Customer: int64(t.Customer), Version: &t.Version, UpdatedAt: &t.UpdatedAt,
			}
		},
		Asks:  customers.Asking[Tier](customers.AccessSettings.DualForFees),
		Wait:  func(t *Tier) { t.Status = Pending },
		Taken: map[string]error{"fee_tiers_fee": ErrTaken},
	}
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Tier, error) {
	t := new(Tier)
	q := tx.NewSelect().Model(t).Where("f.tenant = ?", tx.Caller.Tenant).Where("f.id = ?", at.UID).
		Where("f.customer = ?", at.Customer).Where("f.status <> ?", Refused)
	return changes.Lock(ctx, q, t, ErrNotFound)
}

func (s *Service) addTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	l := s.lifecycle()
	return saved(l.Add(ctx, tx, at, func(customer *customers.Held) (*Tier, error) {
		t := &Tier{Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active}
		var there int
		err := tx.NewRaw(`SELECT nextval('fee_tier_ids'),
			(SELECT count(*) FROM fee_tiers WHERE tenant = ? AND customer = ? AND status <> 'Refused')`,
			t.Tenant, t.Customer).Scan(ctx, &t.ID, &there)
		if err != nil {
			return nil, err
		}
		if l.Reserved, err = s.fillTx(ctx, tx, nil, t, draft); err != nil {
			return nil, err
		}
		if there >= mostOfCustomer {
			return nil, ErrMany
		}
		return t, nil
	}))
}

// settleTx activates a tier that was Pending, or marks it as refused.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	l := s.lifecycle()
	return l.Settle(ctx, tx, at, func(t *Tier) (_ changes.Settlement, err error) {
		t.Status = Refused
		if !approved {
			return changes.Changes, nil
		}
		t.Status = Active
		l.Reserved, err = cheaperTx(ctx, tx, nil, t) // others may have come since it was asked for
		return changes.Changes, err
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	l := s.lifecycle()
	return saved(l.Modify(ctx, tx, at, func(was, t *Tier) (err error) {
		l.Reserved, err = s.fillTx(ctx, tx, was, t, draft)
		return err
	}))
}

func saved(t *Tier, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{t.ID, t.Customer}, nil
}

// fillTx writes the draft into a tier, if the catalogue has the fee and the customer the account; was is the
// tier before, or nil. It reports whether somebody outside the bank would make something cheaper by that.
func (s *Service) fillTx(
	ctx context.Context, tx *changes.Tx, was, t *Tier, draft Draft,
) (cheaper bool, err error) {
	if tx.Caller.Is(int64(t.Customer)) { // a customer's own people may not choose its fees
		return false, access.ErrDenied
	}
	draft.Application.To(&t.Application)
	draft.Product.To(&t.Product)
	draft.FeeName.To(&t.FeeName)
	draft.FeeTier.To(&t.FeeTier)
	all, err := catalogue(ctx, tx, t.Tenant)
	if err != nil {
		return false, err
	}
	fees := all
	c := check.Of("feeTier")
	narrow(c, "application", &t.Application, &fees, func(f *Fee) string { return f.Application })
	narrow(c, "product", &t.Product, &fees, func(f *Fee) string { return f.Product })
	narrow(c, "feeName", &t.FeeName, &fees, func(f *Fee) string { return f.FeeName })
	narrow(c, "feeTier", &t.FeeTier, &fees, func(f *Fee) string { return f.FeeTier })
	if seal.LooksMasked(draft.AccountNumber.Value) {
		stored, err := s.accounts.ShownTx(ctx, tx, t.Tenant, t.Account)
		if err != nil {
			return false, err
		}
		draft.AccountNumber = stored.Kept(c, "accountNumber", draft.AccountNumber)
	}
	if draft.AccountNumber.Given {
		t.Account = nil
	}
	if draft.AccountNumber.Value != "" {
		uid, err := s.accounts.NumberedTx(ctx, tx, t.Tenant, t.Customer, draft.AccountNumber.Value)
		switch {
		case errors.Is(err, accounts.ErrNotFound):
			c.Fail("accountNumber", fault.Unknown, "is no account of the customer, or waits for approval")
		case err != nil:
			return false, err
		case tx.Approved() && uid != draft.Account: // another account has the number by now
			return false, changes.ErrStale
		}
		t.Account, draft.Account = &uid, uid
		if err := tx.Keep(draft); err != nil {
			return false, err
		}
	}
	if err := c.Err(); err != nil {
		return false, err
	}
	return cheaperTx(ctx, tx, was, t)
}

// narrow keeps the fees whose field is this word, and spells the word as the catalogue does. The first field
// that leaves no fee is at fault.
func narrow(c *check.Fields, field string, word *string, fees *[]*Fee, of func(*Fee) string) {
	if c.Err() != nil {
		return
	}
	var left []*Fee
	for _, f := range *fees {
		if ident.Same(of(f), *word) {
			left = append(left, f)
		}
	}
	if len(left) == 0 {
		c.Fail(field, fault.Unknown, "is not configured")
		return
	}
	*word, *fees = of(left[0]), left
}
