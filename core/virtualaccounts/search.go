package virtualaccounts

import (
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Search narrows a list of virtual accounts. All fields that are not empty must match.
type Search struct {
	UID                      UID
	Customer                 customers.UID
	Partner                  customers.UID // that the customer belongs to
	Master                   accounts.UID
	Number                   Number // exact
	MasterNumber             string // exact
	Name                     string // part of it, without regard to letter case
	Purpose                  string // likewise
	ExternalAccountReference string // exact
	Status                   []Status
	CreatedFrom, CreatedTo   time.Time // days at the bank, both included; midnight UTC
	UpdatedFrom, UpdatedTo   time.Time
	BalanceFrom, BalanceTo   string // decimal, in whatever currency each is; both included
}

// ParseDecimal reads the text of an amount whose currency is not known.
func ParseDecimal(field, text string) (string, error) {
	c := check.Of(object)
	c.Decimal(field, text, 15, money.FinestDigits)
	return text, c.Err()
}

// minorUnits is how many minor units make one whole unit of a virtual account's currency.
var minorUnits = func() string {
	text := "CASE"
	for digits, units := range []string{"1", "10", "100", "1000", "10000"} {
		if codes := money.WithDigits(digits); digits != 2 && len(codes) > 0 {
			text += " WHEN va.currency IN ('" + strings.Join(codes, "', '") + "') THEN " + units
		}
	}
	return text + " ELSE 100 END"
}()

// list returns the list of the virtual accounts that the caller may see and the search finds.
func (by Search) list(s *Service, caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "virtual_accounts", Alias: "va", Key: "uid", Of: []string{"va.customer = seen.uid"},
		Seen: caller.Reach.Scope("va.customer"), Where: by.where(s, caller, p),
	}
	if caller.Reach == access.OfBank {
		return l
	}
	switch {
	case by.UID != 0, by.Number != "":
		l.Named = &access.Named{}
	case by.Customer != 0:
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, caller access.Caller, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{{"uid", int64(by.UID)}, {"customer", int64(by.Customer)}, {"account", int64(by.Master)}} {
		if exact.value != 0 {
			all = append(all, "va."+exact.column+" = "+p.Add(exact.value)+"::bigint")
		}
	}
	if by.Partner != 0 {
		all = append(all, "va.customer IN (SELECT c.uid FROM customers AS c WHERE c.tenant = $1 AND c.owner = "+
			p.Add(by.Partner)+"::bigint)")
	}
	if by.Number != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(caller.Tenant), NumberColumn, string(by.Number))))
		all = append(all, "va.number_hash = ANY("+hashes+")")
	}
	if by.MasterNumber != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(caller.Tenant), accounts.NumberColumn,
			by.MasterNumber)))
		all = append(all,
			"va.account IN (SELECT a.uid FROM accounts AS a WHERE a.tenant = $1 "+
				"AND a.number_hash = ANY("+hashes+"))")
	}
	for _, part := range []struct{ column, value string }{{"name", by.Name}, {"purpose", by.Purpose}} {
		if part.value != "" {
			all = append(all, "strpos(lower(va."+part.column+"), lower("+p.Add(part.value)+"::text)) > 0")
		}
	}
	if by.ExternalAccountReference != "" {
		all = append(all, "va.external_account_reference = "+p.Add(by.ExternalAccountReference)+"::text")
	}
	if by.Status != nil {
		all = append(all, "va.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	all = append(all, between("va.created_at", caller, by.CreatedFrom, by.CreatedTo, p)...)
	all = append(all, between("va.updated_at", caller, by.UpdatedFrom, by.UpdatedTo, p)...)
	for _, bound := range []struct{ compare, value string }{{" >= ", by.BalanceFrom}, {" <= ", by.BalanceTo}} {
		if bound.value != "" {
			all = append(all, "va.balance"+bound.compare+p.Add(bound.value)+"::text::numeric * "+minorUnits)
		}
	}
	return all
}

// between returns the conditions that a time is within these days at the bank.
func between(column string, caller access.Caller, from, to time.Time, p *db.Params) (all db.Conditions) {
	start := func(day time.Time) time.Time {
		return access.StartOf(day, caller.Location())
	}
	if !from.IsZero() {
		all = append(all, column+" >= "+p.Add(start(from))+"::timestamptz")
	}
	if !to.IsZero() {
		all = append(all, column+" < "+p.Add(start(to.AddDate(0, 0, 1)))+"::timestamptz")
	}
	return all
}
