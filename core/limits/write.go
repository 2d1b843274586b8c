package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Draft is a new ceiling for one limit (rest/CONTRACT.md, limit update; customer update).
type Draft = customers.Ceiling

// Saved is the answer to a change of limits.
type Saved struct {
	Customer customers.UID `json:"customer"`
}

// The faults of a change of limits.
var (
	ErrProcessingOrg = fault.New(fault.State, "customer.processing_org",
		"the limits of a processing organization are not changed")
	ErrNone = fault.New(fault.State, "limit.none_configured", "the customer has no limits configured")
)

// Change sets the ceilings of limits that a customer has, all of them or none. If the customer's settings ask
// for dual approval (customerDualApproval), the change waits for a second person.
func (s *Service) Change(
	ctx context.Context, of customers.UID, drafts []Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, of.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := checkAll(drafts); err != nil {
		return changes.Outcome[Saved]{}, s.customerFirst(ctx, of, err)
	}
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of)}, drafts, options)
}

// customerFirst returns the fault of the customer if there is one, and otherwise wrong, the fault of the
// drafts.
func (s *Service) customerFirst(ctx context.Context, of customers.UID, wrong error) error {
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, of)
	if err := b.Send(ctx); err != nil {
		return err
	}
	customer, err := scope.Check()
	if err == nil {
		err = changeable(customer)
	}
	if err != nil {
		return err
	}
	return wrong
}

// changeable returns an error if the limits of the customer may not be changed (rest/CONTRACT.md, limit
// update).
func changeable(c *customers.Customer) error {
	switch {
	case c.Status != customers.Active:
		return customers.ErrInactive.With(string(c.Status))
	case c.Type == customers.ProcessingOrg:
		return ErrProcessingOrg
	}
	return nil
}

// checkAll checks the form of the drafts.
func checkAll(drafts []Draft) error {
	c := check.Of("limit")
	if len(drafts) == 0 {
		c.Fail("body", fault.Required, "must name a limit")
	}
	seen := map[string]bool{}
	for i, d := range drafts {
		at, code := c.Item("", i), ident.Upper(d.Code)
		at.Required("entityLimitId", d.Code)
		at.AtMost("entityLimitId", d.Code, 255)
		if seen[code] {
			at.Fail("entityLimitId", fault.Forbidden, "stands in the list twice")
		}
		seen[code] = true
		at.Required("entityLimitValue", d.Value)
		at.NotNegative("entityLimitValue", d.Value)
	}
	return c.Err()
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, drafts []Draft,
) (Saved, error) {
	customer, err := s.customers.LockTx(ctx, tx, tx.Caller, customers.UID(at.Customer))
	if err == nil {
		err = changeable(&customer.Customer)
	}
	if err == nil && tx.Caller.Is(at.Customer) { // a customer's own people may not change its limits
		err = access.ErrDenied
	}
	if err != nil {
		return Saved{}, err
	}
	plan, err := s.PlanTx(ctx, tx, customer.UID, drafts, false)
	if err != nil {
		return Saved{}, err
	}
	if err := tx.CheckVersion(plan.version); err != nil {
		return Saved{}, err
	}
	proposal := changes.Proposal{
		Customer: at.Customer, UID: customer.UID, Version: plan.version, Before: plan.Before, After: plan.After,
	}
	asked := customer.Asks(customers.AccessSettings.DualForCustomers)
	return Saved{customer.UID},
		tx.ProposeOr(ctx, asked, proposal, func() error { return s.WriteTx(ctx, tx, plan) })
}

// Plan is a change of a customer's limits that is not written yet.
type Plan struct {
	Before, After *Ceilings // of the limits that the drafts name

	customer customers.UID
	version  int32 // one version for all limits of the customer
	limits   []*Limit
}

// Ceilings holds the ceilings of some limits by code, as the record shows them.
type Ceilings struct {
	Limits map[string]string `bun:"limits"`
}

// PlanTx plans a change of the limits of a customer, whose row the transaction has locked. If setUp is true,
// a limit that the customer does not have yet is set up; otherwise it is a fault. Faults name the fields
// entityLimitId, entityLimitValue and appName with the draft's index: [0].entityLimitValue.
func (s *Service) PlanTx(
	ctx context.Context, tx *changes.Tx, of customers.UID, drafts []Draft, setUp bool,
) (*Plan, error) {
	if err := checkAll(drafts); err != nil {
		return nil, err
	}
	own, currency, err := s.ownTx(ctx, tx, of)
	if err != nil {
		return nil, fmt.Errorf("read the limits of customer %s: %w", of, err)
	}
	if len(own) == 0 && !setUp {
		return nil, ErrNone
	}
	var most map[string]*Limit // the partner's own, above which it gives its customers none; nil for the bank
	if tx.Caller.Reach == access.OfPartner {
		if most, _, err = s.ownTx(ctx, tx, customers.UID(tx.Caller.Entity)); err != nil {
			return nil, fmt.Errorf("read the limits of partner %d: %w", tx.Caller.Entity, err)
		}
	}
	plan := &Plan{customer: of, Before: &Ceilings{map[string]string{}}, After: &Ceilings{map[string]string{}}}
	for _, l := range own {
		plan.version += l.Version
	}
	c := check.Of("limit")
	for i, d := range drafts {
		kind, known := Known(d.Code)
		l := own[kind.Code]
		if known && setUp && l == nil {
			l = &Limit{
				Tenant: tx.Caller.Tenant, Customer: of, Code: kind.Code, Application: kind.Application(),
				Currency: currency,
			}
		}
		at := c.Item("", i)
		if d.Application != "" && !isApplication(d.Application) {
			at.Fail("appName", fault.Unknown, "no application with limits is called so")
		}
		if setUp && !known {
			at.Fail("entityLimitId", fault.Unknown, "no limit is called so")
		}
		plan.take(at, l, most, d, tx.Now)
	}
	return plan, c.Err()
}

// ownTx reads the customer's limits by code, and the bank's currency for new ones.
func (s *Service) ownTx(
	ctx context.Context, tx *changes.Tx, of customers.UID,
) (own map[string]*Limit, bank money.Currency, err error) {
	var all []*struct {
		Limit `bun:",extend"`
		Bank  money.Currency `bun:"bank"`
	}
	err = tx.NewRaw(
		`SELECT t.currency AS bank, l.tenant, l.customer, l.code, l.application, l.ceiling, l.currency, l.version
		FROM tenants AS t LEFT JOIN limits AS l ON l.tenant = ?0 AND l.customer = ?1 WHERE t.id = ?0`,
		tx.Caller.Tenant, of).Scan(ctx, &all)
	own = map[string]*Limit{}
	for _, l := range all {
		if bank = l.Bank; l.Code != "" {
			own[l.Code] = &l.Limit
		}
	}
	return own, bank, err
}

// CeilingsTx reads the ceilings of some limits of a customer by code. Those that it does not have are absent.
func (s *Service) CeilingsTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, of customers.UID, codes ...string,
) (map[string]money.Amount, error) {
	var all []*Limit
	err := tx.NewSelect().Model(&all).Column("code", "ceiling", "currency").Where("l.tenant = ?", tenant).
		Where("l.customer = ?", of).Where("l.code IN (?)", bun.List(codes)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the limits of customer %s: %w", of, err)
	}
	found := map[string]money.Amount{}
	for _, l := range all {
		found[l.Code] = money.Of(l.Ceiling, l.Currency)
	}
	return found, nil
}

// take adds one draft to the plan; l is the limit that it names, nil if the customer does not have it, and
// own the caller's own limits by code, above which it may not raise it; nil if it may.
func (p *Plan) take(c *check.Fields, l *Limit, own map[string]*Limit, d Draft, now time.Time) {
	if l == nil {
		c.Fail("entityLimitId", fault.Unknown, "is not among the limits of the customer")
		return
	}
	if d.Application != "" && !ident.Same(d.Application, l.Application) {
		c.Fail("appName", fault.NoMatch, "the limit "+l.Code+" is one of "+l.Application)
	}
	value, err := money.Parse(d.Value, l.unit())
	if err != nil {
		c.Fail("entityLimitValue", fault.Malformed, "must be "+l.measure())
		return
	}
	raises := l.Version == 0 || value.Minor > l.Ceiling
	switch most := own[l.Code]; {
	case most != nil && value.Minor > most.Ceiling && raises:
		c.Fail("entityLimitValue", fault.Max, "must not be above the partner's own limit, "+most.Value())
		return
	case own != nil && most == nil && l.Version > 0 && raises: // the bank has set it
		c.Fail("entityLimitValue", fault.Max, "the partner has no such limit of its own: it raises none")
		return
	}
	if l.Version > 0 {
		p.Before.Limits[l.Code] = l.Value()
	}
	l.Ceiling, l.UpdatedAt = value.Minor, now
	l.Version++
	p.After.Limits[l.Code] = l.Value()
	p.limits = append(p.limits, l)
}

// measure describes the form of a ceiling, for messages.
func (l *Limit) measure() string {
	if l.Kind().Counts() {
		return "a whole number of at most 15 digits"
	}
	return fmt.Sprintf("an amount of %s with at most 15 digits and %d decimals", l.Currency, l.Currency.Digits())
}

// WriteTx writes a plan, and records it as a change of the customer's limits.
func (s *Service) WriteTx(ctx context.Context, tx *changes.Tx, p *Plan) error {
	if len(p.limits) == 0 {
		return nil
	}
	err := db.AtCommit(ctx, tx,
		tx.NewInsert().Model(&p.limits).On("CONFLICT (tenant, customer, code) DO UPDATE").
			Set("ceiling = EXCLUDED.ceiling").Set("version = EXCLUDED.version").
			Set("updated_at = EXCLUDED.updated_at"))
	if err != nil {
		return fmt.Errorf("write the limits of customer %s: %w", p.customer, err)
	}
	return tx.Record(ctx, changes.Change{
		Action: "changeLimits", Object: "limits", UID: p.customer, Customer: int64(p.customer),
		Version: p.version + int32(len(p.limits)), Before: p.Before, After: p.After,
	})
}
