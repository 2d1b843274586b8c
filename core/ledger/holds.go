package ledger

import (
	"context"
	"fmt"
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
	Expired  HoldState = "EXPIRED"  // likewise, by itself
)

// Hold is an amount of an account that is reserved, for a payment or by people of the bank. It is on the
// account still, and not available.
type Hold struct {
	bun.BaseModel `bun:"table:holds,alias:h" json:"-"`

	Tenant   access.Tenant  `bun:"tenant,pk" json:"-"`
	ID       int64          `bun:"id,pk" json:"-"`
	Account  accounts.UID   `bun:"account" json:"-"`
	Amount   int64          `bun:"amount" json:"-"` // minor units
	Currency money.Currency `bun:"currency" json:"-"`
	Payment  int64          `bun:"payment,nullzero" json:"-"` // 0 if people placed it
	Placed   int64          `bun:"placed,nullzero" json:"-"`  // what people placed; 0 for a payment's
	State    HoldState      `bun:"state" json:"-"`
	PlacedAt time.Time      `bun:"placed_at" json:"-"`
	ClosedAt *time.Time     `bun:"closed_at" json:"-"` // nil while it is open
}

// closing says what becomes of a hold.
type closing struct {
	placed bool // by people
	as     HoldState
}

// Hold reserves an amount of an account for a payment. It returns ErrUncovered if that much is not available.
func (k *Books) Hold(account accounts.UID, amount money.Amount, payment int64) error {
	return k.hold(&Hold{Account: account, Amount: amount.Minor, Currency: amount.Currency, Payment: payment})
}

// Place reserves an amount of an account for people of the bank, as Hold.
func (k *Books) Place(account accounts.UID, amount money.Amount, placed int64) error {
	return k.hold(&Hold{Account: account, Amount: amount.Minor, Currency: amount.Currency, Placed: placed})
}

func (k *Books) hold(h *Hold) error {
	if k.open(); k.balances == nil || k.taken == len(k.ids.Items) {
		return errUnsent
	}
	now := k.balances[h.Account]
	if now == nil || h.Amount <= 0 || h.Currency != now.Currency {
		return ErrCurrency
	}
	after := *now
	after.Held += h.Amount
	if after.Held < now.Held {
		return ErrOverflow
	}
	if !after.covered() {
		return ErrUncovered
	}
	*now, k.moved[h.Account] = after, true
	h.Tenant, h.ID, h.State, h.PlacedAt = k.tenant, k.ids.Items[k.taken].ID, Open, k.at
	k.holds = append(k.holds, h)
	k.taken++
	return nil
}

// Close ends the open hold of a payment: captured, if the payment now takes the money, or released. The
// amount is what was held.
func (k *Books) Close(account accounts.UID, amount money.Amount, payment int64, as HoldState) error {
	return k.close(account, amount, payment, closing{false, as})
}

// ReleaseTx ends the open holds of payments, which are locked, on the accounts that have them, at the end of
// the transaction.
func ReleaseTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, payments []int64) error {
	var open []*Hold
	err := tx.NewSelect().Model(&open).Where("h.tenant = ?", tenant).
		Where("h.payment IN (?)", bun.List(payments)).Where("h.state = ?", Open).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the holds of %d payments: %w", len(payments), err)
	}
	on := make([]accounts.UID, len(open))
	for i, h := range open {
		on[i] = h.Account
	}
	b := db.TxBatch(tx)
	books := Lock(b, tenant, on, 0)
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, h := range open {
		if err := books.Close(h.Account, money.Of(h.Amount, h.Currency), h.Payment, Released); err != nil {
			return err
		}
	}
	return books.WriteTx(ctx)
}

// Unplace ends a hold that people placed: released, or expired.
func (k *Books) Unplace(account accounts.UID, amount money.Amount, placed int64, as HoldState) error {
	return k.close(account, amount, placed, closing{true, as})
}

func (k *Books) close(account accounts.UID, amount money.Amount, of int64, how closing) error {
	if k.open(); k.balances == nil {
		return errUnsent
	}
	now := k.balances[account]
	if now == nil || amount.Currency != now.Currency || amount.Minor > now.Held {
		return ErrCurrency
	}
	now.Held -= amount.Minor
	now.Forced = !now.covered()
	k.moved[account] = true
	if k.closed == nil {
		k.closed = map[closing][]int64{}
	}
	k.closed[how] = append(k.closed[how], of)
	return nil
}

// writeHoldsTx writes new holds, and closes others.
func (k *Books) writeHoldsTx(ctx context.Context) error {
	for how, of := range k.closed {
		text := closingPayments
		if how.placed {
			text = closingPlaced
		}
		if err := db.ExecAtCommit(ctx, text, k.tenant, of, how.as, k.at); err != nil {
			return err
		}
	}
	return db.InsertAtCommit(ctx, k.holds)
}

const (
	closingPayments = `UPDATE holds SET state = $3::text, closed_at = $4::timestamptz
		WHERE tenant = $1 AND payment = ANY($2::bigint[]) AND state = 'OPEN'`
	closingPlaced = `UPDATE holds SET state = $3::text, closed_at = $4::timestamptz
		WHERE tenant = $1 AND placed = ANY($2::bigint[]) AND state = 'OPEN'`
)
