package positivepay

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/db"
)

// ExceptionSearch narrows a list of exceptions. All fields that are not empty must match. Days are both
// included.
type ExceptionSearch struct {
	Payment       int64
	Customer      customers.UID
	Account       accounts.UID
	CustomerName  string           // short name, without regard to letter case
	AccountNumber string           // exact
	Status        []DecisionStatus // nil for any
	SECCode       string
	MinAmount     string // decimal
	MaxAmount     string
	DecidedFrom   time.Time // days of the bank; midnight UTC
	DecidedTo     time.Time
	DebitFrom     time.Time
	DebitTo       time.Time
}

// where returns the conditions that narrow a query; p collects their values.
func (by ExceptionSearch) where(s *Service, caller access.Caller, p *db.Params) (all db.Conditions) {
	for _, exact := range []struct {
		column string
		value  int64
	}{{"payment", by.Payment}, {"customer", int64(by.Customer)}, {"account", int64(by.Account)}} {
		if exact.value != 0 {
			all = append(all, "ppe."+exact.column+" = "+p.Add(exact.value)+"::bigint")
		}
	}
	if by.CustomerName != "" {
		all = append(all,
			"ppe.customer IN (SELECT c.uid FROM customers AS c WHERE c.tenant = $1 AND lower(c.short_name "+
				"COLLATE \"C\") = "+p.Add(ident.Fold(by.CustomerName))+"::text)")
	}
	if by.AccountNumber != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(caller.Tenant), accounts.NumberColumn,
			by.AccountNumber)))
		all = append(all,
			"ppe.account IN (SELECT a.uid FROM accounts AS a WHERE a.tenant = $1 "+
				"AND a.number_hash = ANY("+hashes+"))")
	}
	if by.Status != nil {
		all = append(all, "ppe.status = ANY("+p.Add(db.Texts(by.Status))+"::text[])")
	}
	if by.SECCode != "" {
		all = append(all, "ppe.sec_code = upper("+p.Add(by.SECCode)+"::text)")
	}
	for _, bound := range []struct{ compare, value string }{{" >= ", by.MinAmount}, {" <= ", by.MaxAmount}} {
		if bound.value != "" {
			all = append(all, "ppe.amount"+bound.compare+p.Add(bound.value)+"::text::numeric * 100") // of US dollars
		}
	}
	begin := func(day time.Time) time.Time {
		return access.StartOf(day, caller.Location())
	}
	if !by.DecidedFrom.IsZero() {
		all = append(all, "ppe.decided_at >= "+p.Add(begin(by.DecidedFrom))+"::timestamptz")
	}
	if !by.DecidedTo.IsZero() {
		all = append(all, "ppe.decided_at < "+p.Add(begin(by.DecidedTo.AddDate(0, 0, 1)))+"::timestamptz")
	}
	if !by.DebitFrom.IsZero() {
		all = append(all, "ppe.debit_date >= "+p.Add(by.DebitFrom)+"::date")
	}
	if !by.DebitTo.IsZero() {
		all = append(all, "ppe.debit_date <= "+p.Add(by.DebitTo)+"::date")
	}
	return all
}

// list returns the list of the exceptions that the caller may see and the search finds, newest first.
func (by ExceptionSearch) list(s *Service, caller access.Caller, p *db.Params) access.List {
	l := access.List{
		Table: "positive_pay_exceptions", Alias: "ppe", Key: "uid", Of: []string{"ppe.customer = seen.uid"},
		Seen: caller.Reach.Scope("ppe.customer"), Where: by.where(s, caller, p), Newest: true,
	}
	if caller.Reach == access.OfBank {
		return l
	}
	switch {
	case by.Payment != 0:
		l.Named = &access.Named{}
	case by.Customer != 0:
		l.Named = &access.Named{Own: caller.Reach.Scope(p.Add(by.Customer) + "::bigint")}
	}
	return l
}

// inExceptions returns the SQL expressions of the columns of exceptions that may be NULL or belong to other
// tables. Callers outside the bank do not read who of the bank's own people decided.
func inExceptions(reach access.Reach) map[string]string {
	from := map[string]string{"rule": "coalesce(ppe.rule, 0)", "account_last4": "a.number_last4"}
	for _, column := range []string{"decided_client", "decided_login"} {
		from[column] = reach.OfPeople("ppe."+column, "ppe.decided_reach", "ppe.customer", "ppe.decided_at")
	}
	return from
}

var showingExceptions db.QueryCache[ShownException]

// Exceptions reads a page of the exceptions that a search finds, newest first, and how many it finds, in one
// round trip.
func (s *Service) Exceptions(
	ctx context.Context, by ExceptionSearch, w page.Window,
) (page.Counted[*ShownException], error) {
	var found page.Counted[*ShownException]
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return found, err
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(s, caller, &p)
	list.Most = "$3::bigint + $4::bigint"
	where := list.Page(list.Conditions(caller.Reach), "$3::bigint", "$4::bigint")
	text := showingExceptions.Get(queryKey{reach: caller.Reach, where: where.Key()}, func() string {
		q := db.Select[ShownException](db.Columns{}, inExceptions(caller.Reach)).
			Join("JOIN accounts AS a ON a.tenant = ppe.tenant AND a.uid = ppe.account").
			Where("ppe.tenant = $1").Where("a.tenant = $1")
		return where.On(q).OrderExpr("ppe.uid DESC").String()
	})
	b := s.db.Batch()
	rows, count := db.Queue(b, text, p...), s.CountExceptions(ctx, b, by, 0)
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

// LockTx reads and locks the exceptions of payments, and returns them by payment.
func LockTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, of []int64) (map[int64]*Exception, error) {
	var rows []*Exception
	err := tx.NewSelect().Model(&rows).Where("ppe.tenant = ?", tenant).
		Where("ppe.payment IN (?)", bun.List(of)).
		OrderExpr("ppe.uid").For("NO KEY UPDATE").Scan(ctx)
	all := map[int64]*Exception{}
	for _, e := range rows {
		all[e.Payment] = e
	}
	return all, err
}

// WriteTx writes the decisions on exceptions, which are locked, at the end of the transaction.
func WriteTx(ctx context.Context, tenant access.Tenant, decided []*Exception) error {
	for _, e := range decided {
		if err := db.ExecAtCommit(ctx, `UPDATE positive_pay_exceptions
			SET status = $3::text, decided_at = $4::timestamptz,
			decided_client = $5::text, decided_login = $6::text, decided_reach = $7::text,
			  updated_at = $8::timestamptz,
			version = $9::int WHERE tenant = $1 AND uid = $2`,
			tenant, e.UID, e.Status, e.DecidedAt, e.DecidedClient,
			e.DecidedLogin, e.DecidedReach, e.UpdatedAt, e.Version); err != nil {
			return err
		}
	}
	return nil
}

// LateExceptions reads the payments whose exceptions still wait for people after their deadline, the oldest
// first.
func (s *Service) LateExceptions(ctx context.Context, now time.Time, most int) (late []int64, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	err = s.db.NewSelect().Model((*Exception)(nil)).Column("payment").Where("ppe.tenant = ?", caller.Tenant).
		Where("ppe.status = ?", DecisionPending).Where("ppe.expires_at <= ?", now).
		OrderExpr("ppe.expires_at, ppe.uid").Limit(int64(most)).Scan(ctx, &late)
	return late, err
}

type upcomingException struct {
	At *time.Time `bun:"at"`
}

var findingNextException = db.NewQuery[upcomingException](`SELECT min(expires_at) AS at
	FROM positive_pay_exceptions
	WHERE tenant = $1 AND status = 'PENDING' AND expires_at > $2`)

// Next returns when the next exception of the caller's bank expires after a time; nil if none does.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	b := s.db.PrimaryBatch()
	found := db.Queue(b, findingNextException, caller.Tenant, after)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return found.Items[0].At, found.Err
}

// ParseExceptionAmount reads a bound of the amounts in a search for exceptions.
func ParseExceptionAmount(field, text string) (string, error) {
	c := check.Of(ExceptionObject)
	c.Decimal(field, text, mostDigits, 2)
	return text, c.Err()
}
