package payments

import (
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// Search narrows a list of payments. All fields that are not empty must match.
type Search struct {
	UID                 UID
	Customer            customers.UID // who pays
	SenderAccount       accounts.UID
	ReceiverAccount     accounts.UID
	Account             accounts.UID // either
	SenderNumber        string       // account number, exact
	ReceiverNumber      string
	SenderName          string // part of it, without regard to letter case
	ReceiverName        string
	ExternalReferenceID string // exact
	Notes               string // part of it, without regard to letter case
	States              []State
	Currency            string
	Amount, Least, Most *int64    // minor units
	From, To            time.Time // payment dates, both included; midnight UTC
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{
		{"pay.uid", int64(by.UID)},
		{"pay.customer", int64(by.Customer)},
		{"pay.sender_account", int64(by.SenderAccount)},
		{"pay.receiver_account", int64(by.ReceiverAccount)},
	} {
		if exact.value != 0 {
			all = append(all, exact.column+" = "+p.Add(exact.value))
		}
	}
	if by.Account != 0 {
		at := p.Add(by.Account)
		all = append(all, "(pay.sender_account = "+at+" OR pay.receiver_account = "+at+")")
	}
	for _, number := range []struct{ column, clear string }{
		{"pay.sender_account", by.SenderNumber}, {"pay.receiver_account", by.ReceiverNumber},
	} {
		if number.clear != "" {
			all = append(all, number.column+" IN (SELECT uid FROM accounts WHERE tenant = $1 AND number_hash = ANY("+
				p.Add(s.keys.Hashes(int64(tenant), accounts.NumberColumn, number.clear))+"))")
		}
	}
	for _, part := range []struct{ column, value string }{
		{"pay.sender_name", by.SenderName}, {"pay.receiver_name", by.ReceiverName}, {"pay.notes", by.Notes},
	} {
		if part.value != "" {
			all = append(all, "strpos(lower("+part.column+"), lower("+p.Add(part.value)+"::text)) > 0")
		}
	}
	if by.ExternalReferenceID != "" {
		all = append(all, "pay.external_reference_id = "+p.Add(by.ExternalReferenceID))
	}
	if by.Currency != "" {
		all = append(all, "pay.currency = "+p.Add(by.Currency))
	}
	if by.States != nil {
		all = append(all, "pay.state = ANY("+p.Add(words(by.States))+"::text[])")
	}
	for _, bound := range []struct {
		compare string
		value   *int64
	}{{" = ", by.Amount}, {" >= ", by.Least}, {" <= ", by.Most}} {
		if bound.value != nil {
			all = append(all, "pay.amount"+bound.compare+p.Add(*bound.value)+"::bigint")
		}
	}
	if !by.From.IsZero() {
		all = append(all, "pay.payment_date >= "+p.Add(by.From)+"::date")
	}
	if !by.To.IsZero() {
		all = append(all, "pay.payment_date <= "+p.Add(by.To)+"::date")
	}
	return all
}

func words(states []State) []string {
	all := make([]string, len(states))
	for i, s := range states {
		all[i] = string(s)
	}
	return all
}
