package access

import "github.com/google/uuid"

// Maker is who asked for payments that are made later, as far as they are decided by that.
type Maker struct {
	Client      string    `json:"client"`
	Login       string    `json:"login,omitempty"`
	User        uuid.UUID `json:"user,omitzero"`
	Responsible uuid.UUID `json:"responsible,omitzero"`
	Entity      int64     `json:"entity"`
	Reach       Reach     `json:"reach"`
	Limit       *Limit    `json:"limit,omitempty"` // of one payment, the person's own
}

// MakerOf keeps who asks.
func MakerOf(c Caller) Maker {
	return Maker{c.Client, c.LoginID, c.User, c.Responsible, c.Entity, c.Reach, c.PaymentLimit()}
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
	if m.Limit != nil {
		c.Limits = []ApplicationLimits{{Name: paymentsApplication, Limits: []Limit{*m.Limit}}}
	}
	return c
}

// PaymentLimit returns the most that the person may pay in one payment; nil if nothing bounds it.
func (c Caller) PaymentLimit() *Limit { return c.Limit(paymentsApplication, perPayment) }

const (
	paymentsApplication = "Payments"
	perPayment          = "Per_Transaction_Payment_Limits"
)
