package positivepay

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Search narrows a list of rules. All fields that are not empty must match.
type Search struct {
	UID                      UID
	Customer                 customers.UID
	CustomerName             string // short name, without regard to letter case
	Account                  accounts.UID
	AccountNumber            string   // exact
	RoutingNumber            string   // of the account
	TranCode                 string   // transaction code of ACH that debits the account
	Status                   []Status // nil for any
	Type                     []Type   // likewise
	ACHCompanyID             string
	BeneficiaryName          string // part of it, without regard to letter case
	BeneficiaryBankID        string
	BeneficiaryBankName      string // part of it, without regard to letter case
	BeneficiaryAccountNumber string // exact
	Amount                   string // decimal
	AmountType               AmountType
	Frequency                Frequency
	IndividualID             string
	EffectiveDate            time.Time // midnight UTC
	ExpiryDate               time.Time
}

// ParseStatuses reads the status of a search, without regard to letter case. Pending stands for all that do
// not count yet, and Inactive for all that are not Active.
func ParseStatuses(field, text string) ([]Status, error) {
	switch one, ok := ident.Word(text, Pending, Active, Suspended, Expired, "Inactive"); {
	case !ok:
		return nil, fault.Field(object, field, fault.Malformed,
			"must be one of Pending, Active, Suspended, Expired, Inactive")
	case one == Pending:
		return []Status{PendingApproval, Pending}, nil
	case one == "Inactive":
		return []Status{PendingApproval, Pending, Suspended, Expired}, nil
	default:
		return []Status{one}, nil
	}
}

// daily returns the SQL of the bank's day, which becomes a value of the query only if a condition needs it.
type daily func(p *db.Params) string

// at returns a daily for a day that is a value of the query already.
func at(day string) daily { return func(*db.Params) string { return day } }

// added returns a daily that adds the day to the values of the query.
func added(today string) daily { return func(p *db.Params) string { return p.Add(today) + "::date" } }

// list returns the list of the rules that the caller may see and the search finds.
func (by Search) list(s *Service, caller access.Caller, day daily, p *db.Params) access.List {
	l := access.List{
		Table: "positive_pay_rules", Alias: "pp", Key: "uid", Of: []string{"pp.customer = seen.uid"},
		Seen: caller.Reach.Scope("pp.customer"),
	}
	l.Where = append(db.Conditions{shown}, by.where(s, caller.Tenant, day, p)...)
	if caller.Reach == access.OfBank {
		return l
	}
	switch {
	case by.UID != 0:
		l.Named = &access.Named{}
	case by.Customer != 0:
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, day daily, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{{"uid", int64(by.UID)}, {"customer", int64(by.Customer)}, {"account", int64(by.Account)}} {
		if exact.value != 0 {
			all = append(all, "pp."+exact.column+" = "+p.Add(exact.value)+"::bigint")
		}
	}
	for _, exact := range []struct{ column, value string }{
		{"ach_company_id", by.ACHCompanyID},
		{"beneficiary_bank_id", by.BeneficiaryBankID},
		{"amount_type", string(by.AmountType)},
		{"frequency", string(by.Frequency)},
		{"individual_id", by.IndividualID},
	} {
		if exact.value != "" {
			all = append(all, "pp."+exact.column+" = "+p.Add(exact.value)+"::text")
		}
	}
	for _, part := range []struct{ column, value string }{
		{"beneficiary_name", by.BeneficiaryName}, {"beneficiary_bank_name", by.BeneficiaryBankName},
	} {
		if part.value != "" {
			all = append(all, "strpos(lower(pp."+part.column+"), lower("+p.Add(part.value)+"::text)) > 0")
		}
	}
	for _, on := range []struct {
		column string
		day    time.Time
	}{{"effective_date", by.EffectiveDate}, {"expiry_date", by.ExpiryDate}} {
		if !on.day.IsZero() {
			all = append(all, "pp."+on.column+" = "+p.Add(on.day)+"::date")
		}
	}
	if by.Amount != "" {
		all = append(all, "pp.amount = "+p.Add(by.Amount)+"::text::numeric * 100") // of US dollars
	}
	if by.Status != nil {
		all = append(all, statusOn(day(p))+" = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	if by.Type != nil {
		all = append(all, "pp.type = ANY("+p.Add(db.Texts(by.Type))+"::text[])")
	}
	return append(all, by.ofOthers(s, tenant, p)...)
}

// ofOthers returns the conditions on the account and the customer, and on the sealed number.
func (by Search) ofOthers(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.CustomerName != "" {
		all = append(all,
			"pp.customer IN (SELECT c.uid FROM customers AS c WHERE c.tenant = $1 AND lower(c.short_name "+
				"COLLATE \"C\") = "+p.Add(ident.Fold(by.CustomerName))+"::text)")
	}
	if by.AccountNumber != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(tenant), accounts.NumberColumn,
			by.AccountNumber)))
		all = append(all,
			"pp.account IN (SELECT a.uid FROM accounts AS a WHERE a.tenant = $1 "+
				"AND a.number_hash = ANY("+hashes+"))")
	}
	if by.BeneficiaryAccountNumber != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(tenant), NumberColumn,
			by.BeneficiaryAccountNumber)))
		all = append(all, "pp.beneficiary_number_hash = ANY("+hashes+")")
	}
	account := "EXISTS (SELECT FROM accounts AS a WHERE a.tenant = $1 AND a.uid = pp.account AND "
	if by.RoutingNumber != "" {
		all = append(all, account+"a.bank_id = "+p.Add(by.RoutingNumber)+"::text)")
	}
	if by.TranCode != "" {
		var debited []string
		for _, sub := range accounts.SubTypes {
			if tranCode(ACH, sub) == by.TranCode {
				debited = append(debited, string(sub))
			}
		}
		all = append(all, "pp.type = 'ACH' AND "+account+"a.sub_type = ANY("+p.Add(debited)+"::text[]))")
	}
	return all
}

// tranCode returns the transaction code of ACH entries that debit an account; "" if there is none.
func tranCode(of Type, sub accounts.SubType) string {
	if of != ACH {
		return ""
	}
	switch sub {
	case accounts.CreditCard, accounts.Heloc, accounts.LineOfCredit: // ACH does not debit loans
		return ""
	case accounts.Savings, accounts.CD, accounts.MoneyMarket, accounts.HealthSavings:
		return "37"
	}
	return "27"
}

// Shown is a rule with what the records of its account and its customer say.
type Shown struct {
	Rule `bun:",extend"`

	CustomerName   string           `bun:"customer_name,scanonly"` // the short name
	AccountLast4   string           `bun:"account_last4,scanonly"`
	RoutingNumber  string           `bun:"routing_number,scanonly"`
	AccountType    accounts.Type    `bun:"account_type,scanonly"`
	AccountSubType accounts.SubType `bun:"account_sub_type,scanonly"`
}

// AccountNumber returns the masked number of the account.
func (r *Shown) AccountNumber() string { return seal.Value{Last4: r.AccountLast4}.Masked() }

// TranCode returns the transaction code of the ACH entries that the rule is for; "" for other networks.
func (r *Shown) TranCode() string { return tranCode(r.Type, r.AccountSubType) }

var inRecords = map[string]string{
	"customer_name": "c.short_name", "account_last4": "a.number_last4", "routing_number": "a.bank_id",
	"account_type": "a.type", "account_sub_type": "a.sub_type", "today": "$5::date",
}

// Find reads one rule, in one round trip. It returns ErrNotFound for a rule that is absent, or that the
// caller may not see.
func (s *Service) Find(ctx context.Context, uid UID) (*Shown, error) {
	if uid == 0 {
		if _, err := access.Require(ctx, access.ViewPositiveRules); err != nil {
			return nil, err
		}
		return nil, ErrNotFound
	}
	found, err := s.Page(ctx, Search{UID: uid}, page.First(1))
	if err != nil {
		return nil, err
	}
	if len(found.Items) == 0 {
		return nil, ErrNotFound
	}
	return found.Items[0], nil
}

// Page reads a page of the rules that a search finds, in order of UID, and how many it finds, in one round
// trip.
func (s *Service) Page(ctx context.Context, by Search, w page.Window) (page.Counted[*Shown], error) {
	var found page.Counted[*Shown]
	caller, today, err := s.reader(ctx)
	if err != nil {
		return found, err
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset, today}
	list := by.list(s, caller, at("$5::date"), &p)
	list.Most = "$3::bigint + $4::bigint"
	where := list.Page(list.Conditions(caller.Reach), "$3::bigint", "$4::bigint")
	text := showing.Get(queryKey{reach: caller.Reach, where: where.Key()}, func() string {
		q := db.Select[Shown](db.Columns{}, inRecords).
			Join("JOIN accounts AS a ON a.tenant = pp.tenant AND a.uid = pp.account").
			Join("JOIN customers AS c ON c.tenant = pp.tenant AND c.uid = pp.customer").
			Where("pp.tenant = $1").Where("a.tenant = $1").Where("c.tenant = $1")
		return where.On(q).OrderExpr("pp.uid").String()
	})
	b := s.db.Batch()
	rows, count := db.Queue(b, text, p...), s.CountUpTo(ctx, b, by, 0)
	if err := b.Send(ctx); err != nil {
		return found, err
	}
	n, err := count.One()
	if err != nil {
		return found, err
	}
	found.Items, found.Total = page.Cut(rows.Items, w).Items, n.N
	return found, rows.Err
}

// ParseAmount reads the amount of a search.
func ParseAmount(field, text string) (string, error) {
	c := check.Of(object)
	c.Decimal(field, text, mostDigits, 2)
	return text, c.Err()
}
