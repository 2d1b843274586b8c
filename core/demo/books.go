package demo

import (
	"context"
	"slices"

	"bankgraph/core/accounts"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/db"
)

// books opens the accounts of the demo bank as the ledger would, with one journal each.
type books struct {
	*bank
	house []*ledger.Balance // by currency and shard
}

func newBooks(b *bank) *books {
	s := &books{bank: b}
	for i, currency := range currencies {
		for shard := range ledger.Shards {
			s.house = append(s.house, &ledger.Balance{
				Tenant: b.tenant, Account: Account(0, i*ledger.Shards+shard), House: ledger.HouseOpening,
				Shard: int16(shard), Currency: currency,
			})
		}
	}
	return s
}

func (s *books) houseOf(account accounts.UID, in money.Currency) *ledger.Balance {
	for i, currency := range currencies {
		if currency == in {
			return s.house[i*ledger.Shards+int(ledger.ShardOf(account))]
		}
	}
	return nil
}

func journalID(n int64, k int) int64 { return n*contactsAt + int64(k) }

// open writes balances, journals and postings of accounts.
func (s *books) open(ctx context.Context, load *db.Load, all []*opened) error {
	var (
		balances []*ledger.Balance
		journals []*ledger.Journal
		postings []*ledger.Posting
	)
	for _, a := range all {
		if a.SystemOfRecord != accounts.InternalCore {
			continue
		}
		balance := &ledger.Balance{Tenant: s.tenant, Account: a.UID, Currency: a.Currency, Overdraft: a.overdraft}
		balances = append(balances, balance)
		if a.opening == 0 {
			continue
		}
		house := s.houseOf(a.UID, a.Currency)
		journal, err := ledger.NewOpening(s.start, a.UID, house.Account, money.Of(a.opening, a.Currency))
		if err != nil {
			return err
		}
		journal.Tenant, journal.ID, journal.BookedAt = s.tenant, a.journal, s.start.UTC()
		journals = append(journals, journal)
		for i, of := range []*ledger.Balance{balance, house} {
			posting, err := of.Post(journal.ID, journal.Entries[i].Amount)
			if err != nil {
				return err
			}
			postings = append(postings, posting)
		}
	}
	if err := copyEach(ctx, load, slices.Values(balances)); err != nil {
		return err
	}
	if err := copyEach(ctx, load, slices.Values(journals)); err != nil {
		return err
	}
	return copyEach(ctx, load, slices.Values(postings))
}
