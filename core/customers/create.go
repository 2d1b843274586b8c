package customers

import (
	"context"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
)

// taken maps the unique constraints of customers to their faults.
var taken = map[string]error{
	"customers_short_name": fault.New(fault.Conflict, "customer.short_name_taken",
		"another customer has this short name").On("shortName"),
	"customers_customer_id": fault.New(fault.Conflict, "customer.customer_id_taken",
		"another customer has this customer id").On("customerId"),
	"customers_lei": fault.New(fault.Conflict, "customer.lei_taken",
		"another customer has this legal entity identifier").On("lei"),
}

// ErrNoPartner is returned when the caller is neither the bank nor a partner, and so cannot have customers.
var ErrNoPartner = fault.New(fault.Denied, "customer.no_partner",
	"the caller's legal entity is no Downstream Partner")

// Saved is the answer to a change of a customer.
type Saved struct {
	UID                 UID    `json:"uid"`
	ExternalReferenceID string `json:"externalReferenceId"`
	ShortName           string `json:"shortName"`
	Status              Status `json:"status"` // New or Pending (rest/CONTRACT.md, customer answers)
}

type operations struct {
	create, change    *changes.Operation[Draft, Saved]
	suspend, activate *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.create = changes.Declare(all, "createCustomer", "customer", access.ManageCustomers, s.createTx).
		Settle(s.settleTx)
	s.change = changes.Declare(all, "changeCustomer", "customer", access.ManageCustomers, s.changeTx)
	s.suspend = changes.Declare(all, "suspendCustomer", "customer", access.ManageCustomers, s.suspendTx)
	s.activate = changes.Declare(all, "activateCustomer", "customer", access.ManageCustomers, s.activateTx)
}

// Create creates a customer; a partner's caller creates customers of that partner. If the bank's settings ask
// for dual approval (customerDualApproval), the customer is Pending until a second person approves; otherwise
// it is Active at once.
func (s *Service) Create(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.create.Require(ctx, "")
	if err == nil {
		err = draft.check(caller, true, false)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.create.Do(ctx, caller, changes.Target{}, draft, options)
}

// lifecycle creates and changes customers. To relax dual approval needs approval itself; otherwise one person
// could switch it off first and then act alone. So does what binds all of the bank or speaks for it.
func (s *Service) lifecycle(hold Hold) *changes.Lifecycle[*Held, Customer] {
	return &changes.Lifecycle[*Held, Customer]{
		Name: "customer",
		Hold: func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*Held, error) {
			return hold(ctx, tx, tx.Caller, UID(at.Customer))
		},
		Lock: func(_ context.Context, _ *changes.Tx, held *Held, _ changes.Target) (*Customer, error) {
			c := held.Customer
			return &c, nil
		},
		Row: func(c *Customer) changes.Row {
			return changes.Row{
				Model: c, UID: c.UID, Customer: int64(c.UID), Version: &c.Version, UpdatedAt: &c.UpdatedAt,
			}
		},
		Asks: func(held *Held, was, c *Customer) bool {
			return held.Asks(AccessSettings.DualForCustomers) || c.Access.laxer(was.Access) || c.bindsAll(was)
		},
		Wait:  func(c *Customer) { c.Status = Pending },
		Taken: taken,
	}
}

// bindsAll reports whether the bank's own record says something else of what counts for every customer, or
// what the bank is known by to other banks.
func (c *Customer) bindsAll(was *Customer) bool {
	return was.RelationshipType == RelationSelf && (c.Access != was.Access || c.SWIFTCode != was.SWIFTCode ||
		c.LegalName != was.LegalName || c.ACHCompanyID != was.ACHCompanyID)
}

func (s *Service) createTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	if tx.Caller.Reach == access.OfCustomer {
		return Saved{}, ErrNoPartner
	}
	by := names{
		draft.PartnerOrgShortName.Value, draft.ParentEntityShortName.Value, draft.RelationshipManager.Value,
		draft.OriginatingOfficer.Value,
	}
	r, err := s.relatedTx(ctx, tx, by, true)
	if err != nil {
		return Saved{}, err
	}
	l := s.lifecycle(nobody)
	l.Asks = nil // there are no settings of its own yet
	// Write runs once it is known whether the customer waits
	l.Write = func(ctx context.Context, tx *changes.Tx, _, c *Customer) error {
		plan, err := s.limits(ctx, tx, c, draft.Limits, true)
		if err != nil {
			return err
		}
		return plan.writeTx(ctx, tx)
	}
	c, err := l.Add(ctx, tx, at, func(*Held) (*Customer, error) {
		c := &Customer{
			Tenant: tx.Caller.Tenant, UID: r.Next, ShortName: draft.ShortName.Value, Status: Active,
			ProcessingOrgShortName: r.Bank, RelationshipManager: r.Manager, OriginatingOfficer: r.Officer,
			SECCodes: []string{}, CreatedAt: tx.Now,
		}
		if err := s.fillTx(ctx, tx, &draft, r, by, c); err != nil {
			return nil, err
		}
		taken, err := CompanyTakenTx(ctx, tx, "", c.ACHCompanyID)
		// the bank's settings ask, its prices, or a number of another
		l.Reserved = r.Dual || taken || tx.Caller.Reach != access.OfBank && c.Profile.FXMargin() < standardMargin
		return c, err
	})
	if err != nil {
		return Saved{}, err
	}
	return saved(c, tx.Waits()), countTx(ctx, tx, c.Owner, c.UID, 1) // last: others wait for the counter
}

// nobody is the Hold of a creation: it holds nothing, as there is no customer yet.
func nobody(context.Context, bun.IDB, access.Caller, UID) (*Held, error) { return nil, nil }

// fillTx writes the draft of a new customer into its row.
func (s *Service) fillTx(
	ctx context.Context, tx *changes.Tx, draft *Draft, r *related, by names, c *Customer,
) (err error) {
	draft.to(c)
	c.TaxID = s.keys.Seal(draft.TaxID.Value, taxIDPlace(c))
	if err := r.found(by); err != nil {
		return err
	}
	r.to(c)
	switch {
	case tx.Caller.Reach == access.OfBank:
	case r.Partner == 0:
		return ErrNoPartner
	case !InBusiness(r.PartnerIs):
		return ErrInactive.With(string(r.PartnerIs))
	}
	switch {
	case draft.RelationshipType != nil:
		c.RelationshipType = *draft.RelationshipType
	case r.Partner != 0:
		c.RelationshipType = RelationThirdParty
	default:
		c.RelationshipType = RelationCustomer
	}
	if err := r.own(c); err != nil {
		return err
	}
	if err := draft.addressesTo(c); err != nil {
		return err
	}
	c.AdditionalAttributes, err = s.AttributesTx(ctx, tx, c.Tenant, ForCustomers, "additionalAttributes",
		nil, draft.AdditionalAttributes)
	return err
}

// settleTx activates a Pending customer that was approved. One that was refused keeps its row, and so its
// short name, for the record.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle(s.lockAnyTx).Settle(ctx, tx, at, func(c *Customer) (changes.Settlement, error) {
		c.Status = Suspended
		if approved {
			c.Status = Active
		}
		return changes.Changes, nil
	})
}

func taxIDPlace(c *Customer) seal.Place {
	return seal.Place{Tenant: int64(c.Tenant), Column: TaxIDColumn, Row: int64(c.UID)}
}

// saved answers New for a change that was made and Pending for one that waits, whatever the customer's own
// status.
func saved(c *Customer, waits bool) Saved {
	answer := Saved{
		UID: c.UID, ExternalReferenceID: c.ExternalReferenceID, ShortName: c.ShortName, Status: StatusNew,
	}
	if waits {
		answer.Status = Pending
	}
	return answer
}

// arranged says which fields the draft gives that a customer's own people may not change, nor a partner of
// itself: who it is, and what the bank or the partner has arranged with it.
func (d *Draft) arranged() map[string]bool {
	return map[string]bool{
		"customerType": d.Type != nil, "relationshipType": d.RelationshipType != nil,
		"partnerOrgShortName":   d.PartnerOrgShortName.Given,
		"parentEntityShortName": d.ParentEntityShortName.Given, "relationshipManager": d.RelationshipManager.Given,
		"originatingOfficer": d.OriginatingOfficer.Given, "costCenter": d.CostCenter.Given,
		"customerId":   d.CustomerID.Given,
		"achCompanyID": d.ACHCompanyID.Given, "secCodes": d.SECCodes != nil,
		"additionalProfileDetails": d.Profile != (ProfileDraft{}),
		"legalName":                d.LegalName.Given, "taxId": d.TaxID.Given, "lei": d.LEI.Given,
		"note":   d.Note.Given,
		"limits": d.Limits != nil, "additionalAttributes": d.AdditionalAttributes != nil,
	}
}

// checkCaller refuses what only the bank may set. Whether the customer is within a partner's reach is checked
// later.
func (d *Draft) checkCaller(c *check.Fields, caller access.Caller, making, own bool) {
	if arranged := d.arranged(); own {
		for _, field := range slices.Sorted(maps.Keys(arranged)) {
			if arranged[field] {
				c.Fail(field, fault.Forbidden, "is for the bank to change")
			}
		}
	}
	if d.RelationshipType != nil && *d.RelationshipType == RelationSelf && making {
		c.Fail("relationshipType", fault.Forbidden, "only the bank itself is Self")
	}
	if making && d.RelationshipType != nil && *d.RelationshipType == RelationThirdParty &&
		caller.Reach == access.OfBank {
		c.Required("partnerOrgShortName", d.PartnerOrgShortName.Value)
	}
	if making && caller.Reach != access.OfBank && d.Type != nil &&
		(*d.Type == DownstreamPartner || *d.Type == ProcessingOrg) {
		c.Fail("customerType", fault.Forbidden, "a partner's customer cannot be a "+string(*d.Type))
	}
}
