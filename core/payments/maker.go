package payments

import (
	"github.com/google/uuid"

	"bankgraph/core/access"
)

// Maker is who asked for payments that are made later, as far as they are decided by that.
type Maker struct {
	Client      string        `json:"client"`
	Login       string        `json:"login,omitempty"`
	User        uuid.UUID     `json:"user,omitzero"`
	Responsible uuid.UUID     `json:"responsible,omitzero"`
	Entity      int64         `json:"entity"`
	Reach       access.Reach  `json:"reach"`
	Limit       *access.Limit `json:"limit,omitempty"` // of one payment, the person's own
}

// MakerOf keeps who asks.
func MakerOf(c access.Caller) Maker {
	return Maker{c.Client, c.LoginID, c.User, c.Responsible, c.Entity, c.Reach, c.Limit("Payments", perPayment)}
}

// Caller is the maker as a caller in whose name payments are made; worker is who makes them.
func (m Maker) Caller(worker access.Caller) access.Caller {
	c := access.Caller{
		Tenant: worker.Tenant, TenantCode: worker.TenantCode, Zone: worker.Zone, Client: m.Client, LoginID: m.Login,
		User: m.User, Responsible: m.Responsible, Entity: m.Entity, Reach: m.Reach,
		Permissions: []access.Permission{access.InitiatePayments},
	}
	if m.Limit != nil {
		c.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{*m.Limit}}}
	}
	return c
}

const perPayment = "Per_Transaction_Payment_Limits"
