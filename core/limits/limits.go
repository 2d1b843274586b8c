package limits

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"limit_usage", "limits"},
	Reads: map[string]string{
		"accounts": "the limits of a payment are those of the customer that has the account",
		"tenants":  "the bank's currency, in the statement that reads the limits",
		// so that a check stays one round trip
		"sandbox_clocks": "what day it is by the bank's clock, in the statement that reads the limits",
	},
}

// Service keeps the limits of every bank's customers.
type Service struct {
	db        *db.DB
	customers *customers.Service
	now       func() time.Time
	change    *changes.Operation[[]Draft, Saved]
}

// New makes the service.
func New(d *db.DB, c *customers.Service, all *changes.Service, now func() time.Time) *Service {
	s := &Service{db: d, customers: c, now: now}
	s.change = changes.Declare(all, "changeLimits", "limits", access.ManageCustomers, s.changeTx)
	return s
}

// checkedOf reads limits with their usage, by days of delivery. The code of a limit tells its period: the day
// itself, the week from Monday, or the month from its first day; limits per transaction have no usage.
// Credits and debits over ACH count apart, as each is held to the limit by itself; where no direction is
// asked for, what the fuller of them has used counts.
const checkedOf = `
WITH asked AS (SELECT coalesce($5::date, (($8::timestamptz + coalesce((SELECT ahead FROM sandbox_clocks WHERE
  tenant = $1), 0)
  * interval '1 microsecond') AT TIME ZONE $9::text)::date) AS day)
SELECT l.customer, l.code, l.application, l.ceiling, l.currency, CASE
    WHEN l.code LIKE '%\_PER\_DAY' THEN coalesce(u.day, 0)
    WHEN l.code LIKE '%\_PER\_WEEK' THEN coalesce(u.week, 0)
    WHEN l.code LIKE '%\_PER\_MONTH' THEN coalesce(u.month, 0)
    ELSE 0 END::bigint AS used
FROM limits AS l
LEFT JOIN (
  SELECT customer, max(day) AS day, max(week) AS week, max(month) AS month FROM (
    SELECT customer, entry_type, sum(amount) FILTER (WHERE day = (SELECT day FROM asked)) AS day,
           sum(amount) FILTER (WHERE day >= date_trunc('week', (SELECT day FROM asked))::date
           	AND day < date_trunc('week', (SELECT day FROM asked))::date + 7) AS week,
           sum(amount) FILTER (WHERE day >= date_trunc('month', (SELECT day FROM asked))::date
           	AND day < (date_trunc('month', (SELECT day FROM asked)) + interval '1 month')::date) AS month
    FROM limit_usage
    WHERE tenant = $1 AND customer = ANY($3) AND rail = $6 AND ($7 = '' OR entry_type = $7)
      AND day >= least(date_trunc('month', (SELECT day FROM asked)), date_trunc('week', (SELECT day
      	FROM asked)))::date
      AND day < greatest(date_trunc('month', (SELECT day FROM asked)) + interval '1 month',
      	date_trunc('week', (SELECT day FROM asked)) + interval '7 days')::date
    GROUP BY customer, entry_type
  ) AS way GROUP BY customer
) AS u ON u.customer = l.customer
WHERE l.tenant = $1 AND l.customer = ANY($3) AND l.code = ANY($4) AND `

var checked db.QueryCache[Limit]

// OfCustomers reads the wanted limits of each customer. Check does the same for one customer.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, asked Asked) *Answers {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err == nil {
		err = asked.valid()
	}
	if err != nil {
		return &Answers{many: db.Refuse[customers.UID, Limit](err)}
	}
	var day *time.Time // nil for today by the bank's clock, where the networks are
	if on := asked.On; !on.IsZero() {
		on = time.Date(on.Year(), on.Month(), on.Day(), 0, 0, 0, 0, time.UTC)
		day = &on
	}
	entry := ""
	if FamilyOf(asked.Rail) == ACH {
		entry = string(asked.EntryType)
	}
	text := checked.Get(caller.Reach, func() string { return checkedOf + caller.Reach.Scope("l.customer") })
	return &Answers{asked: asked, many: db.QueueMany(b, text, func(l *Limit) customers.UID { return l.Customer },
		caller.Tenant, caller.ScopeCustomer(), of, asked.codes(), day, string(FamilyOf(asked.Rail)), entry, s.now(),
		calendar.Zone().String())}
}

// valid checks what the types cannot, in the published order of the fields (rest/CONTRACT.md, which fault
// comes first).
func (a *Asked) valid() error {
	if a.Rail == "" {
		return fault.Field("limit", "paymentRail", fault.Required, "is required")
	}
	if FamilyOf(a.Rail) != ACH {
		a.EntryType, a.SECCode = "", ""
	}
	if a.SECCode != "" && a.EntryType == "" {
		return fault.Field("limit", "entryType", fault.Required, "is required with secCode")
	}
	if a.Amount == "" {
		return nil
	}
	amount, err := money.Parse(a.Amount, money.Finest) // Answers.Of checks it against the currency
	switch {
	case err != nil || amount.Minor < 0:
		return fault.Field("limit", "paymentAmount", fault.Malformed,
			"must be an amount that is not negative, with no more decimals than its currency has")
	case amount.Minor > MostAmount*10_000:
		return fault.Field("limit", "paymentAmount", fault.Max, "must not be above 10000000")
	}
	return nil
}

// Answers holds limits by customer, filled when the batch is sent.
type Answers struct {
	asked Asked
	many  *db.Many[customers.UID, Limit]
}

// Of returns one customer's limits, in the order of the codes, each tested with the planned amount.
func (a *Answers) Of(customer customers.UID) ([]*Limit, error) {
	if a.many.Err != nil {
		return nil, a.many.Err
	}
	read := a.many.Of[customer]
	// The list is never nil, which would mean that it could not be read. Its limits are copies, as two places
	// of one answer may ask for the same customer concurrently.
	found := make([]*Limit, len(read))
	for i := range read {
		l := *read[i]
		if a.asked.Amount != "" {
			amount, err := money.Parse(a.asked.Amount, l.Currency)
			if err != nil {
				return nil, fault.Field("limit", "paymentAmount", fault.Malformed,
					"has more decimals than "+string(l.Currency))
			}
			l.tested = amount.Minor
		}
		found[i] = &l
	}
	slices.SortFunc(found, func(x, y *Limit) int { return cmp.Compare(place[x.Code], place[y.Code]) })
	return found, nil
}

// Check returns the limits that apply to a planned payment of one customer; empty if none is configured. It
// changes nothing (rest/CONTRACT.md, limit check).
func (s *Service) Check(ctx context.Context, customer customers.UID, asked Asked) ([]*Limit, error) {
	if _, err := access.Require(ctx, access.ViewCustomers); err != nil {
		return nil, err
	}
	wrong := asked.valid()
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, customer)
	if wrong != nil { // an absent customer comes first
		asked = Asked{}
	}
	answers := s.OfCustomers(ctx, b, []customers.UID{customer}, asked)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, wrong
	}
	return answers.Of(customer)
}

var configured db.QueryCache[Limit]

// ConfiguredOf reads all limits of each customer, without usage: legalEntityLimits (rest/CONTRACT.md,
// customer answers).
func (s *Service) ConfiguredOf(
	ctx context.Context, b *db.Batch, of []customers.UID,
) *db.Many[customers.UID, Limit] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[customers.UID, Limit](err)
	}
	text := configured.Get(caller.Reach, func() string {
		return db.Select[Limit](db.ColumnsOf[Limit]("Customer", "Code", "Application", "Ceiling", "Currency"), nil).
			Where("l.tenant = $1").
			Where("l.customer = ANY($3)").Where(caller.Reach.Scope("l.customer")).
			OrderExpr("l.customer, l.code").
			String()
	})
	return db.QueueMany(b, text, func(l *Limit) customers.UID { return l.Customer }, caller.Tenant,
		caller.ScopeCustomer(), of)
}

// unit returns the unit of the limit's ceiling.
func (l *Limit) unit() money.Currency {
	if l.Kind().Counts() {
		return money.Things
	}
	return l.Currency
}

// Value returns the ceiling as text: a decimal amount, or a whole number for limits that count things.
func (l *Limit) Value() string { return money.Of(l.Ceiling, l.unit()).String() }
