package fx

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/tenants"
)

// named is a customer as a request names it.
type named struct {
	customer customers.UID
	id       string // as quotes keep it
	other    bool   // the account number is not the customer's
	field    string // of the request that names it
}

// namedTx finds the customer that a draft names.
func (s *Service) namedTx(ctx context.Context, tx *changes.Tx, d Draft, by IDType) (n named, err error) {
	tenant, field := tx.Caller.Tenant, "customerUID"
	n = named{customer: d.UID, id: d.UID.String()}
	switch by {
	case ByUID:
	case ByShortName:
		field, n.id = "customerShortName", d.ShortName
		err = tx.NewRaw(`SELECT uid FROM customers WHERE tenant = ? AND lower(short_name COLLATE "C") = ?`,
			tenant, ident.Fold(d.ShortName)).
			Scan(ctx, &n.customer)
	case ByID:
		field, n.id = "customerId", d.ID
		err = tx.NewRaw(`SELECT uid FROM customers WHERE tenant = ? AND customer_id = ?`, tenant, d.ID).
			Scan(ctx, &n.customer)
	case ByAccount:
		field = "accountNumber"
	}
	if err == nil && d.Account != "" {
		var of customers.UID
		var last4 string
		err = tx.NewRaw(`SELECT customer, number_last4 FROM accounts WHERE tenant = ? AND number_hash IN ?
			AND deleted_at IS NULL`, tenant, bun.Tuple(s.keys.Hashes(int64(tenant), accounts.NumberColumn,
			d.Account))).
			Scan(ctx, &of, &last4)
		switch {
		case by == ByAccount:
			n = named{customer: of, id: shownNumber(last4)}
		case err == nil, errors.Is(err, sql.ErrNoRows):
			n.other, err = of != n.customer, nil
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrCustomer.On(field)
	}
	n.field = field
	return n, err
}

// mostOpen is how many quotes of a customer are open at a time.
const mostOpen = 100

// fewTx returns ErrManyQuotes for a customer that has as many open quotes as there may be.
func fewTx(ctx context.Context, tx *changes.Tx, of customers.UID) error {
	var open int
	err := tx.NewRaw(`SELECT count(*) FROM (SELECT FROM fx_quotes
		WHERE tenant = ? AND customer = ? AND status = 'Open'
		AND expires_at > ? LIMIT ?) AS q`, tx.Caller.Tenant, of, tx.Now, mostOpen).Scan(ctx, &open)
	if err == nil && open >= mostOpen {
		err = ErrManyQuotes
	}
	return err
}

// bank is what a quote has to know of its bank.
type bank struct {
	Currency money.Currency
	Sandbox  bool
	Seconds  int64 // for which a quote holds
	Minutes  int64 // for which a trade can be cancelled from outside the bank
}

func bankTx(ctx context.Context, tx bun.IDB, tenant access.Tenant) (b bank, err error) {
	err = tx.NewRaw(`SELECT t.currency, t.sandbox, coalesce(s.quote_seconds, ?1) AS seconds,
		coalesce(s.cancel_minutes, ?2) AS minutes FROM tenants AS t
		LEFT JOIN tenant_settings AS s ON s.tenant = ?0 WHERE t.id = ?0`, tenant, tenants.DefaultQuoteSeconds,
		tenants.DefaultCancelMinutes).Scan(ctx, &b.Currency, &b.Sandbox, &b.Seconds, &b.Minutes)
	if err != nil {
		return b, fmt.Errorf("read the bank of a quote: %w", err)
	}
	return b, nil
}

func (s *Service) quoteTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Draft) (Quote, error) {
	w, err := d.read()
	if err != nil {
		return Quote{}, err
	}
	n, err := s.namedTx(ctx, tx, d, w.by)
	if err != nil {
		return Quote{}, err
	}
	at.Customer = int64(n.customer)
	l := s.quotes()
	l.Hold = func(ctx context.Context, tx *changes.Tx, _ *changes.Target) (*customers.Held, error) {
		held, err := s.customers.HoldTx(ctx, tx, tx.Caller, n.customer)
		held, err = inBusinessTx(ctx, tx, held, err)
		if errors.Is(err, customers.ErrNotFound) || errors.Is(err, customers.ErrOutOfScope) {
			err = ErrCustomer.On(n.field)
		}
		return held, err
	}
	q, err := l.Add(ctx, tx, at, func(held *customers.Held) (*Quote, error) {
		if n.other {
			return nil, fault.Field("quote", "accountNumber", fault.NoMatch, "must be an account of the customer")
		}
		if err := fewTx(ctx, tx, held.UID); err != nil {
			return nil, err
		}
		q := &Quote{
			Tenant: tx.Caller.Tenant, UID: QuoteUID{uuid.New()}, Customer: held.UID, IDType: w.by, CustomerID: n.id,
			Channel: cmp.Or(d.Channel, "API"), Product: w.product, Sell: w.sell, Buy: w.buy, Tenor: w.tenor,
			ValueDate: d.ValueDate, TradeDate: tradeDate(tx), Status: Open,
			Margin: held.Profile.FXMargin(), MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID,
			CreatedAt: tx.Now,
		}
		return q, s.priceTx(ctx, tx, q, w)
	})
	if err != nil {
		return Quote{}, err
	}
	return answered(q), nil
}

// farthest is the longest tenor of a trade, and no value date is after its end.
const farthest = "10Y"

// priceTx sets the value date of a new quote, its rates and its amounts.
func (s *Service) priceTx(ctx context.Context, tx *changes.Tx, q *Quote, w wanted) error {
	currencies := pair{q.Sell, q.Buy}
	spot := currencies.spot(q.TradeDate)
	if q.Tenor != "" {
		q.ValueDate = currencies.valueDate(q.TradeDate, q.Tenor)
	} else if err := q.checkDate(currencies, spot); err != nil {
		return err
	}
	field := "tenor"
	if q.Tenor == "" {
		field = "valueDate"
	}
	if q.ValueDate.After(currencies.valueDate(q.TradeDate, farthest)) {
		return fault.Field("quote", field, fault.Max, "must be at most 10 years ahead")
	}
	last := calendar.Default().SWIFTCutOff.On(q.ValueDate) // later no payment could use the trade
	if !tx.Now.Before(last) {
		return fault.Field("quote", field, fault.Min,
			"must settle on a later day: the last cut-off of "+q.ValueDate.Format(time.DateOnly)+" has passed")
	}
	if q.Tenor == "" {
		q.Tenor = currencies.tenorOf(q.TradeDate, q.ValueDate)
	}
	b, err := bankTx(ctx, tx, q.Tenant)
	if err != nil {
		return err
	}
	if q.ExpiresAt = tx.Now.Add(time.Duration(b.Seconds) * time.Second); q.ExpiresAt.After(last) {
		q.ExpiresAt = last
	}
	price, err := s.priced(ctx, b, q.Tenant, currencies, spot, q.ValueDate, tx.Now)
	if err != nil {
		return err
	}
	if err := q.take(price); err != nil {
		return err
	}
	if err := q.exchange(w.amount); err != nil {
		return err
	}
	if q.Worth, err = s.worth(ctx, b, q, spot, tx.Now); err != nil {
		return err
	}
	return s.limitsTx(ctx, tx, b, q)
}

// checkDate checks a value date that the request names.
func (q *Quote) checkDate(currencies pair, spot time.Time) error {
	wrong := func(problem fault.Problem, message string) error {
		return fault.Field("quote", "valueDate", problem, message)
	}
	switch {
	case q.ValueDate.Before(q.TradeDate):
		return wrong(fault.Min, "must be today or later")
	case !currencies.open(q.ValueDate):
		return wrong(fault.Malformed, "must be a business day of both currencies")
	case q.Product == Forward && !q.ValueDate.After(spot):
		return wrong(fault.NoMatch, "of FORWARD must be after the spot date, "+spot.Format(time.DateOnly))
	case q.Product == SpotTrade && q.ValueDate.After(spot):
		return wrong(fault.NoMatch, "of SPOT must be the spot date at the latest, "+
			spot.Format(time.DateOnly))
	}
	return nil
}

// longestAsking is how long the market has to answer.
const longestAsking = time.Second

// marketError is an error of the market, or that it does not answer.
type marketError struct{ error }

func (e marketError) Unwrap() error { return e.error }

// priced asks the market for a price. What it cannot answer is a marketError.
func (s *Service) priced(
	ctx context.Context, b bank, tenant access.Tenant, p pair, spot, value, now time.Time,
) (Price, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAsking)
	defer cancel()
	price, err := s.market.Price(ctx, Ask{
		Tenant: tenant, Sandbox: b.Sandbox, Sell: p[0], Buy: p[1], At: now, Spot: spot, Value: value,
	})
	if err != nil {
		return Price{}, marketError{fmt.Errorf("price of %s for %s: %w", p[1], p[0], err)}
	}
	return price, nil
}

const million = 1_000_000

// take sets the rates of a quote: the market's, and the one with the bank's margin. That one is rounded down,
// as what the customer buys is: over no chain of trades does a customer gain by rounding.
func (q *Quote) take(p Price) error {
	all := new(big.Rat).Add(p.Spot, p.Points)
	all.Mul(all, big.NewRat(int64(million-q.Margin), million))
	var known [3]bool
	q.SpotRate, known[0] = rounded(p.Spot, halfEven)
	q.AllInRate, known[1] = rounded(all, down)
	if known[0] && known[1] {
		q.InvertedRate, known[2] = rounded(new(big.Rat).Inv(q.AllInRate.Rat()), halfEven)
	}
	q.ForwardPoints, _ = fixed(p.Points, rateDecimals, halfEven)
	if known != [3]bool{true, true, true} || all.Sign() <= 0 {
		return ErrNoPrice
	}
	q.Reference = p.Reference
	return nil
}

// exchange sets the amounts of a quote from the one that was asked for. What the customer buys is rounded
// down, what it sells up (rest/CONTRACT.md, quotes).
func (q *Quote) exchange(asked money.Amount) error {
	rate, to, round, field := q.AllInRate.Rat(), q.Buy, down, "fundingAmount"
	if asked.Currency == q.Buy {
		rate, to, round, field = rate.Inv(rate), q.Sell, up, "transferAmount"
	}
	other, ok := converted(asked, rate, to, round)
	if !ok || asked.Minor > mostMinor {
		return fault.Field("quote", field, fault.Malformed,
			"is too small or too large to be exchanged for "+string(to))
	}
	if q.SellMinor, q.BuyMinor = asked.Minor, other.Minor; asked.Currency == q.Buy {
		q.SellMinor, q.BuyMinor = other.Minor, asked.Minor
	}
	return nil
}

// worth returns what limits count of a quote: what is sold or bought of the bank's currency, else what is
// sold at the market's rate, rounded up.
func (s *Service) worth(ctx context.Context, b bank, q *Quote, spot, now time.Time) (int64, error) {
	switch b.Currency {
	case q.Sell:
		return q.SellMinor, nil
	case q.Buy:
		return q.BuyMinor, nil
	}
	price, err := s.priced(ctx, b, q.Tenant, pair{q.Sell, b.Currency}, spot, spot, now)
	if err != nil {
		return 0, err
	}
	amount, ok := converted(q.SellAmount(), price.Spot, b.Currency, up)
	if !ok {
		return 0, ErrNoPrice
	}
	return amount.Minor, nil
}
