package access

import (
	"slices"

	"github.com/google/uuid"
)

// Maker is who asked for payments that are made later, as far as they are decided by that.
type Maker struct {
	Client      string    `json:"client"`
	Login       string    `json:"login,omitempty"`
	User        uuid.UUID `json:"user,omitzero"`
	Responsible uuid.UUID `json:"responsible,omitzero"`
	Entity      int64     `json:"entity"`
	Reach       Reach     `json:"reach"`
	Limits      []Limit   `json:"limits,omitempty"` // the person's own, of payments
	Limit       *Limit    `json:"limit,omitempty"`  // of one payment, as releases before kept it alone
}

// MakerOf keeps who asks.
func MakerOf(c Caller) Maker {
	m := Maker{
		Client: c.Client, Login: c.LoginID, User: c.User, Responsible: c.Responsible,
		Entity: c.Entity, Reach: c.Reach,
	}
	for _, name := range []string{PerPayment, PaidPerDay, PaidPerMonth} {
		if own := c.Limit(OfPayments, name); own != nil {
			m.Limits = append(m.Limits, *own)
		}
	}
	return m
}

// Person is who asked, or who is responsible for the API key that did; uuid.Nil if not known.
func (m Maker) Person() uuid.UUID {
	if m.User != uuid.Nil {
		return m.User
	}
	return m.Responsible
}

// Caller is the maker as a caller in whose name payments are made; worker is who makes them.
func (m Maker) Caller(worker Caller) Caller {
	c := Caller{
		Tenant: worker.Tenant, TenantCode: worker.TenantCode, Zone: worker.Zone, Client: m.Client, LoginID: m.Login,
		User: m.User, Responsible: m.Responsible, Entity: m.Entity, Reach: m.Reach,
		Permissions: []Permission{InitiatePayments},
	}
	own := slices.Clone(m.Limits)
	if m.Limit != nil {
		own = append(own, *m.Limit)
	}
	if len(own) > 0 {
		c.Limits = []ApplicationLimits{{Name: OfPayments, Limits: own}}
	}
	return c
}

// Within is Caller for a maker who has no reach of a customer any more: the worker itself asks then, within
// the customer's own reach. The maker's limits, and who answers for it, stay.
func (m Maker) Within(customer int64, worker Caller) Caller {
	c := m.Caller(worker)
	c.Client, c.LoginID, c.Entity, c.Reach = worker.Client, worker.LoginID, customer, OfCustomer
	return c
}

// The limits of what people pay and approve, as roles name them.
const (
	OfPayments   = "Payments" // the application
	PerPayment   = "Per_Transaction_Payment_Limits"
	PaidPerDay   = "Daily_Payment_Limits"
	PaidPerMonth = "Monthly_Payment_Limits"

	ApprovedPerPayment = "Per_Transaction_Payment_Approve_Limits"
)
