package ledger_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/db"
)

// history is a bank whose accounts were booked on, at times and with value dates of its own choice.
type history struct {
	*coretest.Bank
	of     []accounts.UID
	booked map[accounts.UID][]told
	at     time.Time
}

// told is what a test has booked.
type told struct {
	at     time.Time
	value  time.Time
	amount int64
}

// newHistory books on some accounts, some postings at one time, some value dates days before or after.
func newHistory(t *testing.T, postings int) *history {
	t.Helper()
	h := &history{Bank: coretest.New(t), booked: map[accounts.UID][]told{}}
	customer := h.Customer()
	for range 3 {
		h.of = append(h.of, h.Account(customer, coretest.Holding(0, 0)).UID)
	}
	h.Exec(`UPDATE balances SET overdraft = 1000000000 WHERE tenant = ?`, h.Tenant)
	h.at = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(7, uint64(postings)))
	for range postings {
		h.at = h.at.Add(time.Duration(random.IntN(4)) * 11 * time.Hour)
		i := random.IntN(3)
		h.book(t, h.of[i], h.of[(i+1)%3], 1+int64(random.IntN(500)), ledger.Day(h.at).
			AddDate(0, 0, random.IntN(9)-4))
	}
	return h
}

// book books an amount at h.at: what the books have written is set to that time.
func (h *history) book(t *testing.T, from, to accounts.UID, minor int64, value time.Time) {
	t.Helper()
	journal, err := ledger.NewJournal(ledger.Opening, value, "moved",
		ledger.Entry{Account: from, Amount: usd(-minor)}, ledger.Entry{Account: to, Amount: usd(minor)})
	if err == nil {
		err = h.DB.InTx(t.Context(), int64(h.Tenant),
			func(ctx context.Context, tx bun.Tx) error { return h.Ledger.PostTx(ctx, tx, h.Tenant, journal) })
	}
	if err != nil {
		t.Fatal(err)
	}
	for of, amount := range map[accounts.UID]int64{from: -minor, to: minor} {
		h.booked[of] = append(h.booked[of], told{h.at, value, amount})
	}
}

// past sets the booking times to those that the test has told.
func (h *history) past(t *testing.T) {
	t.Helper()
	owner := h.Owner()
	for of, all := range h.booked {
		for i, one := range all {
			if _, err := owner.ExecContext(t.Context(), `UPDATE journals SET booked_at = ? WHERE tenant = ? AND id =
				(SELECT journal FROM postings WHERE tenant = ? AND account = ? AND version = ?)`,
				one.at, h.Tenant, h.Tenant, of, i+1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := owner.ExecContext(t.Context(),
			`UPDATE balances SET booked_at = ? WHERE tenant = ? AND account = ?`,
			all[len(all)-1].at, h.Tenant, of); err != nil {
			t.Fatal(err)
		}
	}
	h.Prove()
}

// sum adds up what the test has booked on an account and counts.
func (h *history) sum(of accounts.UID, counts func(told) bool) (sum int64) {
	for _, one := range h.booked[of] {
		if counts(one) {
			sum += one.amount
		}
	}
	return sum
}

func (h *history) bookedBefore(t *testing.T, at time.Time) map[accounts.UID][]*ledger.PastBalance {
	t.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[accounts.UID, ledger.PastBalance] {
		return h.Ledger.BookedBefore(h.Staff(), b, h.of, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (h *history) states(t *testing.T, days ledger.Days) map[accounts.UID][]*ledger.Statement {
	t.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[accounts.UID, ledger.Statement] {
		return h.Ledger.Statements(h.Staff(), b, h.of, days, db.Columns{})
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (h *history) entries(
	t *testing.T, of []ledger.Span, newest bool, w page.Window,
) map[accounts.UID][]*ledger.BookEntry {
	t.Helper()
	found, err := coretest.Many(h.Bank, h.Staff(), func(b *db.Batch) *db.Many[accounts.UID, ledger.BookEntry] {
		return h.Ledger.EntriesOf(h.Staff(), b, of, newest, db.Columns{}, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// At any time, and for any value date, the balance is what a recount says.
func TestABalanceOfThePastIsWhatARecountSays(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 60)
	h.past(t)
	begin := time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC)
	hours := int(h.at.Sub(begin).Hours()) + 200
	rapid.Check(t, func(r *rapid.T) {
		at := begin.Add(time.Duration(rapid.IntRange(0, hours).Draw(r, "hour")) * time.Hour)
		if rapid.Bool().Draw(r, "at the time of a posting") {
			all := h.booked[h.of[0]]
			at = all[rapid.IntRange(0, len(all)-1).Draw(r, "posting")].at
		}
		day := ledger.Day(at)
		byTime := h.bookedBefore(t, at)
		byValue, err := coretest.Many(h.Bank, h.Staff(),
			func(b *db.Batch) *db.Many[accounts.UID, ledger.PastBalance] {
				return h.Ledger.ValuedBy(h.Staff(), b, h.of, day)
			})
		if err != nil {
			r.Fatal(err)
		}
		for _, of := range h.of {
			want := h.sum(of, func(one told) bool { return one.at.Before(at) })
			if got := byTime[of]; len(got) != 1 || got[0].Ledger() != usd(want) {
				r.Errorf("account %s before %s: %+v, want %d", of, at, got, want)
			}
			want = h.sum(of, func(one told) bool { return !one.value.After(day) })
			if got := byValue[of]; len(got) != 1 || got[0].Ledger() != usd(want) {
				r.Errorf("account %s by %s: %+v, want %d", of, day, got, want)
			}
		}
	})
}

// The entries of a statement sum to closing less opening, each leaves the balance that the next goes on from,
// and one statement begins where the one before has ended.
func TestTheEntriesOfAStatementAddUp(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 60)
	h.past(t)
	zone := coretest.Zone()
	rapid.Check(t, func(r *rapid.T) {
		from := time.Date(2026, 2, 25, 0, 0, 0, 0, time.UTC).
			AddDate(0, 0, rapid.IntRange(0, 60).Draw(r, "from"))
		to := from.AddDate(0, 0, rapid.IntRange(0, 40).Draw(r, "days"))
		newest := rapid.Bool().Draw(r, "newest")
		size := rapid.IntRange(1, 20).Draw(r, "size")
		stated := h.states(t, ledger.Days{From: from, To: to})
		next := h.states(t, ledger.Days{From: to.AddDate(0, 0, 1), To: to.AddDate(0, 0, 5)})
		for _, of := range h.of {
			s := stated[of][0]
			in := func(one told) bool {
				day := ledger.Day(one.at.In(zone))
				return !day.Before(from) && !day.After(to)
			}
			debits := -h.sum(of, func(one told) bool { return in(one) && one.amount < 0 })
			credits := h.sum(of, func(one told) bool { return in(one) && one.amount > 0 })
			if s.Debits() != usd(debits) || s.Credits() != usd(credits) ||
				s.Opening().Minor-debits+credits != s.Closing().Minor ||
				next[of][0].Opening() != s.Closing() ||
				!s.From.Equal(from) || !s.To.Equal(to) {
				r.Errorf("%+v: want debits %d, credits %d, then %+v", s, debits, credits, next[of][0])
			}
			var all []*ledger.BookEntry
			for w := page.First(size); ; {
				cut := page.Cut(h.entries(t, []ledger.Span{s.Span()}, newest, w)[of], w)
				all = append(all, cut.Items...)
				if !cut.Further {
					break
				}
				w.Cursor = page.Cursor{UID: cut.Items[len(cut.Items)-1].Number}
			}
			if newest {
				slices.Reverse(all)
			}
			balance := s.OpeningMinor
			for i, e := range all {
				balance += e.Minor
				one := h.booked[of][e.Number-1]
				if e.Number != s.Before+int64(i)+1 || e.AfterMinor != balance || e.Minor != one.amount ||
					!e.BookedAt.Equal(one.at) || !e.ValueDate.Equal(one.value) || !in(one) {
					r.Errorf("%+v: want %+v, balance %d", e, one, balance)
				}
			}
			if balance != s.ClosingMinor || int64(len(all)) != s.Span().Len() {
				r.Errorf("%d entries lead to %d: %+v", len(all), balance, s)
			}
		}
	})
}

// While others book, a statement and its entries are of one moment.
func TestAStatementHoldsWhileMoreIsBooked(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1)
	today := time.Now()
	days := ledger.Days{From: ledger.Day(today).AddDate(0, 0, -3), To: ledger.Day(today).AddDate(0, 0, 3)}
	var writers sync.WaitGroup
	defer writers.Wait()
	for w := range 2 {
		writers.Go(func() {
			for range 20 {
				journal, err := ledger.NewJournal(ledger.Opening, today, "moved",
					ledger.Entry{Account: h.of[w], Amount: usd(-3)},
					ledger.Entry{Account: h.of[w+1], Amount: usd(3)})
				if err == nil {
					err = h.DB.InTx(t.Context(), int64(h.Tenant),
						func(ctx context.Context, tx bun.Tx) error {
							return h.Ledger.PostTx(ctx, tx, h.Tenant, journal)
						})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		for of, stated := range h.states(t, days) {
			s := stated[0]
			all := h.entries(t, []ledger.Span{s.Span()}, false, page.First(200))[of]
			sum := s.OpeningMinor
			for _, e := range all {
				sum += e.Minor
			}
			if sum != s.ClosingMinor || int64(len(all)) != s.Span().Len() ||
				s.OpeningMinor-s.DebitsMinor+s.CreditsMinor != s.ClosingMinor {
				t.Errorf("%+v has %d entries that lead to %d", s, len(all), sum)
			}
		}
	}
}

func TestAStatementCoversSomeDaysAndNotTooMany(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1)
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	usual, today := h.states(t, ledger.Days{})[h.of[0]][0], ledger.Day(h.Now().In(coretest.Zone()))
	if !usual.To.Equal(today) || !usual.From.Equal(today.AddDate(0, 0, -30)) {
		t.Errorf("the usual statement is from %s to %s", usual.From, usual.To)
	}
	for days, problem := range map[ledger.Days]fault.Problem{
		{From: today.AddDate(0, 0, 1)}:                   fault.Min,
		{From: day("1900-01-01")}:                        fault.Max,
		{From: day("2026-03-02"), To: day("2026-03-01")}: fault.Min,
		{From: day("2024-01-01"), To: day("2024-12-31")}: "",
		{From: day("2024-01-01"), To: day("2025-01-01")}: fault.Max,
		{From: day("1900-01-01"), To: day("9999-12-31")}: fault.Max,
		{From: day("9999-12-31"), To: day("9999-12-31")}: "",
	} {
		found := h.Ledger.Statements(h.Staff(), h.Batch(), h.of, days, db.Columns{})
		f, is := fault.Of(found.Err)
		if is != (problem != "") || is && (f.Problem != problem || f.Field != "to") {
			t.Errorf("%+v: %v", days, found.Err)
		}
	}
}

// Nobody reads the books of accounts that they do not see, nor a house account's, and only the bank sees
// journals.
func TestTheBooksAreShownToWhomTheAccountsAre(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, rival := b.DownstreamPartner(), b.DownstreamPartner()
	own := b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(10_00, 0)).UID
	var house accounts.UID
	var journal ledger.JournalID
	if err := b.DB.NewRaw(`SELECT account FROM balances WHERE tenant = ? AND house <> ''`, b.Tenant).
		Scan(t.Context(), &house); err != nil {
		t.Fatal(err)
	}
	if err := b.DB.NewRaw(`SELECT id FROM journals WHERE tenant = ?`, b.Tenant).
		Scan(t.Context(), &journal); err != nil {
		t.Fatal(err)
	}
	of := []accounts.UID{own, house}
	spans := []ledger.Span{{Account: own, Last: 9}, {Account: house, Last: 9}}
	days := ledger.Days{
		From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		To:   time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
	}
	denied := errors.New("denied")
	for name, who := range map[string]struct {
		ctx      context.Context
		account  int
		journals int
		err      error
	}{
		"staff": {b.Staff(), 1, 1, nil}, "its partner": {b.Partner(partner), 1, 0, nil},
		"another": {b.Partner(rival), 0, 0, nil}, "another bank": {b.Another().Staff(), 0, 0, nil},
		"no right": {b.As(access.ViewPayments), 0, 0, denied}, "nobody": {b.Nobody(), 0, 0, denied},
	} {
		q := b.Batch()
		at := b.Ledger.BookedBefore(who.ctx, q, of, time.Now().AddDate(9, 0, 0))
		valued := b.Ledger.ValuedBy(who.ctx, q, of, time.Now().AddDate(9, 0, 0))
		stated := b.Ledger.Statements(who.ctx, q, of, days, db.Columns{})
		entries := b.Ledger.EntriesOf(who.ctx, q, spans, false, db.Columns{}, page.First(9))
		found := b.Ledger.FindJournals(who.ctx, q, []ledger.JournalID{journal}, db.Columns{})
		postings := b.Ledger.PostingsOf(who.ctx, q, []ledger.JournalID{journal})
		if err := q.Send(who.ctx); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(at.Of), len(valued.Of), len(stated.Of), len(entries.Of)} {
			if n != who.account {
				t.Errorf("%s sees the books of %d accounts", name, n)
			}
		}
		if len(found.Of) != who.journals || len(postings.Of[journal]) != 2*who.journals {
			t.Errorf("%s sees %v, %v", name, found.Of, postings.Of)
		}
		for _, err := range []error{at.Err, valued.Err, stated.Err, entries.Err, found.Err, postings.Err} {
			if (err != nil) != (who.err != nil) || err != nil && !errors.Is(err, access.ErrDenied) &&
				!errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
