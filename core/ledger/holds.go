package ledger

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/db"
)

// HoldState says whether a hold still counts.
type HoldState string

const (
	Open     HoldState = "OPEN"     // the amount cannot be spent
	Captured HoldState = "CAPTURED" // what it was held for has taken it
	Released HoldState = "RELEASED" // it can be spent again
)

// Hold is an amount of an account that is reserved for a payment. It is on the account still, and not available.
type Hold struct {
	bun.BaseModel `bun:"table:holds,alias:h" json:"-"`

	Tenant   access.Tenant  `bun:"tenant,pk" json:"-"`
	ID       int64          `bun:"id,pk" json:"-"`
	Account  accounts.UID   `bun:"account" json:"-"`
	Amount   int64          `bun:"amount" json:"-"` // minor units
	Currency money.Currency `bun:"currency" json:"-"`
	Payment  int64          `bun:"payment" json:"-"`
	State    HoldState      `bun:"state" json:"-"`
	PlacedAt time.Time      `bun:"placed_at" json:"-"`
	ClosedAt *time.Time     `bun:"closed_at" json:"-"` // nil while it is open
}

// Hold reserves an amount of an account for a payment. It returns ErrUncovered if that much is not available.
func (k *Books) Hold(account accounts.UID, amount money.Amount, payment int64) error {
	if k.open(); k.balances == nil || k.taken == len(k.ids.Items) {
		return errUnsent
	}
	now := k.balances[account]
	if now == nil || amount.Minor <= 0 || amount.Currency != now.Currency {
		return ErrCurrency
	}
	after := *now
	after.Held += amount.Minor
	if after.Held < now.Held {
		return ErrOverflow
	}
	if !after.covers(after.Ledger) {
		return ErrUncovered
	}
	*now, k.moved[account] = after, true
	k.holds = append(k.holds, &Hold{
		Tenant: k.tenant, ID: k.ids.Items[k.taken].ID, Account: account, Amount: amount.Minor,
		Currency: amount.Currency, Payment: payment, State: Open, PlacedAt: k.at,
	})
	k.taken++
	return nil
}

// Close ends the open hold of a payment: captured, if the payment now takes the money, or released. The amount is
// what was held.
func (k *Books) Close(account accounts.UID, amount money.Amount, payment int64, as HoldState) error {
	if k.open(); k.balances == nil {
		return errUnsent
	}
	now := k.balances[account]
	if now == nil || amount.Currency != now.Currency || amount.Minor > now.Held {
		return ErrCurrency
	}
	now.Held -= amount.Minor
	k.moved[account] = true
	if k.closed == nil {
		k.closed = map[HoldState][]int64{}
	}
	k.closed[as] = append(k.closed[as], payment)
	return nil
}

// writeHoldsTx writes new holds, and closes others.
func (k *Books) writeHoldsTx(ctx context.Context) error {
	for as, payments := range k.closed {
		if err := db.ExecAtCommit(ctx, `UPDATE holds SET state = $3::text, closed_at = $4::timestamptz
			WHERE tenant = $1 AND payment = ANY($2::bigint[]) AND state = 'OPEN'`, k.tenant, payments, as, k.at); err != nil {
			return err
		}
	}
	return db.InsertAtCommit(ctx, k.holds)
}
