package demo

import (
	"context"
	"slices"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// books opens the accounts of the demo bank and books its payments as the ledger would.
type books struct {
	*bank
	house []*ledger.Balance // of openings by currency and shard, then of fees by shard

	// of the customers that are written at a time
	balances []*ledger.Balance
	journals []*ledger.Journal
	postings []*ledger.Posting
	by       map[accounts.UID]*ledger.Balance
}

func newBooks(b *bank) *books {
	s := &books{bank: b}
	for _, house := range []struct {
		of ledger.House
		in []money.Currency
	}{{ledger.HouseOpening, currencies}, {ledger.HouseFees, currencies[:1]}} {
		for _, currency := range house.in {
			for shard := range ledger.Shards {
				s.house = append(s.house, &ledger.Balance{
					Tenant: b.tenant, Account: Account(0, len(s.house)), House: house.of, Shard: int16(shard),
					Currency: currency,
				})
			}
		}
	}
	return s
}

func (s *books) houseOf(of ledger.House, account accounts.UID, in money.Currency) *ledger.Balance {
	at := slices.IndexFunc(s.house, func(b *ledger.Balance) bool {
		return b.House == of && b.Currency == in && b.Shard == ledger.ShardOf(account)
	})
	return s.house[at]
}

// Each customer has ten journals: one for the opening of each account, and from these on its payments and
// their fees.
const (
	journalsAt     = 10
	paymentJournal = 6
	feeJournal     = 8
)

func journalID(n int64, k int) int64 { return n*journalsAt + int64(k) }

// write writes balances, journals and postings of accounts and their payments.
func (s *books) write(ctx context.Context, load *db.Load, all []*opened, paid []*payments.Payment) error {
	s.balances, s.journals, s.postings, s.by = nil, nil, nil, map[accounts.UID]*ledger.Balance{}
	for _, a := range all {
		if err := s.open(a); err != nil {
			return err
		}
	}
	for _, p := range paid {
		if err := s.settle(p); err != nil {
			return err
		}
	}
	if err := copyEach(ctx, load, slices.Values(s.balances)); err != nil {
		return err
	}
	if err := copyEach(ctx, load, slices.Values(s.journals)); err != nil {
		return err
	}
	return copyEach(ctx, load, slices.Values(s.postings))
}

// open opens an account two months before the start, so that its payments come after.
func (s *books) open(a *opened) error {
	if a.SystemOfRecord != accounts.InternalCore {
		return nil
	}
	balance := &ledger.Balance{Tenant: s.tenant, Account: a.UID, Currency: a.Currency, Overdraft: a.overdraft}
	s.balances, s.by[a.UID] = append(s.balances, balance), balance
	if a.opening == 0 {
		return nil
	}
	house, on := s.houseOf(ledger.HouseOpening, a.UID, a.Currency), s.start.AddDate(0, 0, -60)
	journal, err := ledger.NewOpening(on, a.UID, house.Account, money.Of(a.opening, a.Currency))
	if err != nil {
		return err
	}
	return s.book(journal, a.journal, on.UTC(), balance, house)
}

// settle books the money of a payment, and its fee.
func (s *books) settle(p *payments.Payment) error {
	if p.State != payments.Settled {
		return nil
	}
	n, k, uid := int64(p.Customer-Institution), int(p.UID)%paymentsAt, int64(p.UID)
	from := s.by[p.SenderAccount]
	for _, part := range []struct {
		kind  ledger.Kind
		what  string
		id    int64
		minor int64
		to    *ledger.Balance
	}{
		{ledger.Payment, "Book transfer", journalID(n, paymentJournal+k), p.Minor, s.by[p.ReceiverAccount]},
		{
			ledger.Fee, "Fee: " + p.FeeName, journalID(n, feeJournal+k), p.FeeMinor,
			s.houseOf(ledger.HouseFees, p.SenderAccount, p.Currency),
		},
	} {
		if part.minor == 0 {
			continue
		}
		journal, err := ledger.NewJournal(part.kind, p.Date, part.what,
			ledger.Entry{Account: from.Account, Amount: money.Of(-part.minor, p.Currency)},
			ledger.Entry{Account: part.to.Account, Amount: money.Of(part.minor, p.Currency)})
		if err != nil {
			return err
		}
		journal.Payment = &uid
		if err := s.book(journal, part.id, p.CreatedAt, from, part.to); err != nil {
			return err
		}
	}
	return nil
}

// book posts a journal on the accounts of its entries.
func (s *books) book(journal *ledger.Journal, id int64, at time.Time, of ...*ledger.Balance) error {
	journal.Tenant, journal.ID, journal.BookedAt = s.tenant, id, at
	s.journals = append(s.journals, journal)
	for i, balance := range of {
		posting, err := balance.Post(id, journal.Entries[i].Amount)
		if err != nil {
			return err
		}
		balance.BookedAt = &at
		s.postings = append(s.postings, posting)
	}
	return nil
}
