// Package ledger keeps the bank's books: double-entry journals, and the balances that follow from them.
package ledger

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Kind is the reason why a journal was booked.
type Kind string

const (
	Opening Kind = "opening" // an account's balance when it was entered into these books
	Payment Kind = "payment" // the money of a payment
	Fee     Kind = "fee"     // what a payment costs
	// the network has settled a payment: its money leaves the clearing account
	Settlement Kind = "settlement"
	Return     Kind = "return" // the money of a payment comes back
)

// House is the purpose of one of the bank's own accounts in the books.
type House string

const (
	HouseOpening House = "opening" // the other side of opening balances
	HouseFees    House = "fees"    // what customers have paid for payments
	// what the bank has bought of a currency from customers who pay in another one, less what it has sold
	HousePosition House = "fx position"
)

// Clearing is the house account of payments that are on their way over a network: their money has left the
// payer and has not been settled.
func Clearing(by rails.Rail) House { return House("clearing " + by) }

// Settled is the house account of what the bank owes a network, or has there, for payments that it has
// settled.
func Settled(by rails.Rail) House { return House("settled " + by) }

// Shards is how many accounts each house account is split into, so that writers do not wait for each other.
const Shards = 8

// ShardOf returns the shard of a house account that takes the postings against this account.
func ShardOf(account accounts.UID) int16 { return int16(account % Shards) }

// Entry is one side of a journal. A positive amount raises the account's balance.
type Entry struct {
	Account accounts.UID // a customer's account or a house account
	Amount  money.Amount
}

// Journal is one booking, which is written as a whole and never changes.
type Journal struct {
	bun.BaseModel `bun:"table:journals,alias:j" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	ID     int64         `bun:"id,pk" json:"-"`
	Kind   Kind          `bun:"kind" json:"-"`
	// the day from which the money counts, as midnight UTC
	ValueDate   time.Time `bun:"value_date,type:date" json:"-"`
	BookedAt    time.Time `bun:"booked_at" json:"-"` // by the database's clock, taken under the accounts' locks
	Description string    `bun:"description" json:"-"`
	Payment     *int64    `bun:"payment" json:"-"` // the payment that it belongs to; nil if to none

	Entries []Entry `bun:"-" json:"-"`
}

// The errors of an impossible journal. They are defects of the program, not faults of a caller.
var (
	ErrEmpty      = errors.New("ledger: a journal needs entries, and none of zero")
	ErrUnbalanced = errors.New("ledger: the entries of a journal do not sum to zero")
	ErrCurrency   = errors.New("ledger: an entry has another currency than its account")
	ErrOverflow   = errors.New("ledger: a balance would pass what the books can hold")
)

// ErrUncovered is returned for a posting that would take an account's available balance below its overdraft.
var ErrUncovered = fault.New(fault.State, "account.uncovered", "the account has insufficient funds")

// NewJournal makes a journal, whose entries must sum to zero in each currency. on is any time of the value
// date, in the bank's time zone.
func NewJournal(kind Kind, on time.Time, description string, entries ...Entry) (*Journal, error) {
	sums := map[money.Currency]*big.Int{}
	for _, entry := range entries {
		if entry.Amount.Minor == 0 {
			return nil, ErrEmpty
		}
		sum := sums[entry.Amount.Currency]
		if sum == nil {
			sum = new(big.Int)
			sums[entry.Amount.Currency] = sum
		}
		sum.Add(sum, big.NewInt(entry.Amount.Minor))
	}
	if len(sums) == 0 {
		return nil, ErrEmpty
	}
	for currency, sum := range sums {
		if sum.Sign() != 0 {
			return nil, fmt.Errorf("%w: %s minor units of %s remain", ErrUnbalanced, sum, currency)
		}
	}
	return &Journal{Kind: kind, ValueDate: Day(on), Description: description, Entries: slices.Clone(entries)},
		nil
}

// NewOpening makes the journal of an account's opening balance.
func NewOpening(on time.Time, account, house accounts.UID, amount money.Amount) (*Journal, error) {
	return NewJournal(Opening, on, "Opening balance",
		Entry{Account: account, Amount: amount},
		Entry{Account: house, Amount: money.Of(-amount.Minor, amount.Currency)})
}

// Day returns the civil day of a time, in its own time zone, as midnight UTC, which is the form of date
// columns.
func Day(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Balance is an account in the books, with its balances.
type Balance struct {
	bun.BaseModel `bun:"table:balances,alias:b" json:"-"`

	Tenant    access.Tenant  `bun:"tenant,pk" json:"-"`
	Account   accounts.UID   `bun:"account,pk" json:"-"`
	House     House          `bun:"house" json:"-"` // empty on customers' accounts
	Shard     int16          `bun:"shard" json:"-"`
	Currency  money.Currency `bun:"currency" json:"-"`
	Ledger    int64          `bun:"ledger" json:"-"`    // minor units, as every amount here
	Held      int64          `bun:"held" json:"-"`      // reserved for payments; available is ledger less held
	Overdraft int64          `bun:"overdraft" json:"-"` // how far available may be below zero
	Forced    bool           `bun:"forced" json:"-"`    // a return took it below its overdraft, and it is still
	Version   int64          `bun:"version" json:"-"`   // the number of the last posting
	BookedAt  *time.Time     `bun:"booked_at" json:"-"` // of the last posting; nil if there is none
}

// Available returns what is left to spend without the overdraft: ledger less held.
func (b *Balance) Available() money.Amount { return money.Of(b.Ledger-b.Held, b.Currency) }

// covered reports whether what is available is not below the overdraft. House accounts may have any balance.
func (b *Balance) covered() bool { return b.House != "" || b.Ledger-b.Held >= -b.Overdraft }

// Posting is an entry of a journal as it was booked.
type Posting struct {
	bun.BaseModel `bun:"table:postings,alias:p" json:"-"`

	Tenant       access.Tenant  `bun:"tenant,pk" json:"-"`
	Account      accounts.UID   `bun:"account,pk" json:"-"`
	Version      int64          `bun:"version,pk" json:"-"` // 1, 2, 3 … for each account
	Journal      int64          `bun:"journal" json:"-"`
	Amount       int64          `bun:"amount" json:"-"`
	Currency     money.Currency `bun:"currency" json:"-"`
	BalanceAfter int64          `bun:"balance_after" json:"-"`
}

// Post adds an amount to the balance and returns the posting. Whether the account covers it is for Books.Book
// to decide.
func (b *Balance) Post(journal int64, amount money.Amount) (*Posting, error) {
	if amount.Currency != b.Currency {
		return nil, fmt.Errorf("%w: %s on account %s, which is in %s", ErrCurrency, amount.Currency, b.Account,
			b.Currency)
	}
	after := b.Ledger + amount.Minor
	if (after > b.Ledger) != (amount.Minor > 0) {
		return nil, fmt.Errorf("%w: account %s", ErrOverflow, b.Account)
	}
	b.Ledger, b.Version = after, b.Version+1
	return &Posting{
		Tenant: b.Tenant, Account: b.Account, Version: b.Version, Journal: journal,
		Amount: amount.Minor, Currency: b.Currency, BalanceAfter: after,
	}, nil
}
