package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
)

func usd(minor int64) money.Amount { return money.Of(minor, "USD") }

func TestABalancedJournalIsAccepted(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 11, 18, 23, 30, 0, 0, coretest.Zone())
	j, err := ledger.NewJournal(ledger.Opening, late, "moved",
		ledger.Entry{Account: 1, Amount: usd(500)}, ledger.Entry{Account: 2, Amount: usd(-300)},
		ledger.Entry{Account: 3, Amount: usd(-200)},
		ledger.Entry{Account: 1, Amount: money.Of(7, "EUR")}, ledger.Entry{Account: 2, Amount: money.Of(-7, "EUR")})
	if err != nil {
		t.Fatal(err)
	}
	if got := j.ValueDate; !got.Equal(time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("value date is %v, want the day in the bank's zone", got)
	}
}

func TestAnUnbalancedJournalIsRefused(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]ledger.Entry{
		"one side":                 {{Account: 1, Amount: usd(5)}},
		"two sides unequal":        {{Account: 1, Amount: usd(5)}, {Account: 2, Amount: usd(-4)}},
		"balanced over currencies": {{Account: 1, Amount: usd(5)}, {Account: 2, Amount: money.Of(-5, "EUR")}},
		"balanced only in 64 bits": {
			{Account: 1, Amount: usd(math.MaxInt64)},
			{Account: 2, Amount: usd(math.MaxInt64)},
			{Account: 3, Amount: usd(2)},
		},
	} {
		if _, err := ledger.NewJournal(ledger.Opening, coretest.Start, "",
			entries...); !errors.Is(err, ledger.ErrUnbalanced) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAJournalOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, entries := range [][]ledger.Entry{
		nil,
		{{Account: 1, Amount: usd(0)}},
		{{Account: 1, Amount: usd(1)}, {Account: 2, Amount: usd(-1)}, {Account: 3}},
	} {
		if _, err := ledger.NewJournal(ledger.Opening, coretest.Start, "",
			entries...); !errors.Is(err, ledger.ErrEmpty) {
			t.Errorf("%v: %v", entries, err)
		}
	}
}

func TestAPostingSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(-1e15, 1e15).Filter(func(n int64) bool { return n != 0 }), 1,
			20).Draw(t, "amounts")
		balance, sum := &ledger.Balance{Account: 7, Currency: "USD"}, int64(0)
		for i, amount := range amounts {
			sum += amount
			posting, err := balance.Post(1, usd(amount))
			if err != nil {
				t.Fatal(err)
			}
			if posting.Version != int64(i+1) || posting.BalanceAfter != sum || balance.Ledger != sum ||
				balance.Version != posting.Version {
				t.Fatalf("after %v: %+v, %+v", amounts[:i+1], posting, balance)
			}
		}
	})
}

func TestAPostingThatTheBooksCannotHoldIsRefused(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{math.MaxInt64, math.MinInt64} {
		balance := &ledger.Balance{Currency: "USD", Ledger: at}
		if _, err := balance.Post(1,
			usd(max(-1, min(1, at)))); !errors.Is(err, ledger.ErrOverflow) || balance.Ledger != at ||
			balance.Version != 0 {
			t.Errorf("at %d: %v, %+v", at, err, balance)
		}
	}
}

func TestAPostingInAnotherCurrencyIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := (&ledger.Balance{Currency: "USD"}).Post(1,
		money.Of(1, "EUR")); !errors.Is(err, ledger.ErrCurrency) {
		t.Error(err)
	}
}

func TestAnOpeningBalanceIsBookedAgainstTheHouse(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer(), coretest.Holding(250_00, 0))
	var postings []ledger.Posting
	err := bank.DB.NewSelect().Model(&postings).Where("p.tenant = ?", bank.Tenant).OrderExpr("p.amount").
		Scan(t.Context())
	if err != nil || len(postings) != 2 {
		t.Fatal(postings, err)
	}
	house, ours := postings[0], postings[1]
	if ours.Account != account.UID || ours.Amount != 250_00 || ours.BalanceAfter != 250_00 ||
		ours.Version != 1 || ours.Currency != "USD" {
		t.Errorf("the account's posting: %+v", ours)
	}
	if house.Amount != -250_00 || house.Journal != ours.Journal {
		t.Errorf("the house's posting: %+v", house)
	}
	var balance ledger.Balance
	if err := bank.DB.NewSelect().Model(&balance).Where("b.tenant = ? AND b.account = ?", bank.Tenant,
		house.Account).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if balance.House != ledger.HouseOpening || balance.Shard != ledger.ShardOf(account.UID) {
		t.Errorf("the house account: %+v", balance)
	}
	bank.Prove()
}

func TestAnAccountWithNothingInItNeedsNoJournal(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	bank.Account(bank.Customer(), coretest.Holding(0, 0))
	n, err := bank.DB.NewSelect().Model((*ledger.Journal)(nil)).Where("j.tenant = ?", bank.Tenant).
		Count(t.Context())
	if err != nil || n != 0 {
		t.Error(n, err)
	}
	bank.Prove()
}

func TestAnOpeningBelowTheOverdraftIsRefused(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return bank.Ledger.OpenTx(ctx, tx, bank.Tenant,
			ledger.Account{UID: 100_000_999, Opening: usd(-501), Overdraft: 500, On: bank.Now()})
	})
	if !errors.Is(err, ledger.ErrUncovered) {
		t.Error(err)
	}
	bank.Prove() // nothing of it is left
}

func TestAnAccountThatIsNotInTheBooksCannotBePosted(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer())
	journal, err := ledger.NewOpening(bank.Now(), account.UID, 100_009_999, usd(5))
	if err != nil {
		t.Fatal(err)
	}
	err = bank.DB.InTx(t.Context(), int64(bank.Tenant),
		func(ctx context.Context, tx bun.Tx) error {
			return bank.Ledger.PostTx(ctx, tx, bank.Tenant, journal)
		})
	if err == nil {
		t.Error("it was posted")
	}
	bank.Prove()
}

func TestManyWritersOnTheSameAccountsLeaveTheBooksRight(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	var uids []accounts.UID
	for range 4 {
		uids = append(uids, bank.Account(customer, coretest.Holding(10_000_00, 0)).UID)
	}
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			for i := range 15 {
				// Each names the accounts in another order; the locks are always taken in the same one.
				from, to := uids[(w+i)%4], uids[(w*3+i*2+1)%4]
				if from == to {
					continue
				}
				journal, err := ledger.NewJournal(ledger.Opening, bank.Now(), "moved",
					ledger.Entry{Account: from, Amount: usd(-5)}, ledger.Entry{Account: to, Amount: usd(5)})
				if err == nil {
					err = bank.DB.InTx(t.Context(), int64(bank.Tenant),
						func(ctx context.Context, tx bun.Tx) error {
							return bank.Ledger.PostTx(ctx, tx, bank.Tenant, journal)
						})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	bank.Prove()
}

// The server's clock was an hour ahead when the account was booked on, and has been set right.
func TestTheBooksHoldAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	from, to := bank.Account(customer, coretest.Holding(10_00, 0)).UID, bank.Account(customer).UID
	for _, table := range []string{"journals", "balances"} {
		if _, err := bank.Owner().ExecContext(t.Context(),
			"UPDATE "+table+" SET booked_at = booked_at + interval '1 hour' WHERE tenant = ?",
			bank.Tenant); err != nil {
			t.Fatal(err)
		}
	}
	var last time.Time
	for range 2 {
		journal, err := ledger.NewJournal(ledger.Opening, bank.Now(), "moved",
			ledger.Entry{Account: from, Amount: usd(-5)}, ledger.Entry{Account: to, Amount: usd(5)})
		if err == nil {
			err = bank.DB.InTx(t.Context(), int64(bank.Tenant),
				func(ctx context.Context, tx bun.Tx) error {
					return bank.Ledger.PostTx(ctx, tx, bank.Tenant, journal)
				})
		}
		if err != nil {
			t.Fatal(err)
		}
		if journal.BookedAt.Before(last) {
			t.Errorf("booked at %s, after a booking at %s", journal.BookedAt, last)
		}
		last = journal.BookedAt
	}
	bank.Prove()
}

func TestEachBrokenRowIsFound(t *testing.T) {
	t.Parallel()
	for _, broken := range []struct {
		name       string
		statements []string
		want       []string // the invariants that must be named; others may be too
	}{
		{"a posting without its other side", []string{
			`INSERT INTO journals (tenant, id, kind, value_date, booked_at)
				VALUES ($t, 900, 'opening', '2026-11-18', now() + '1 s')`,
			`INSERT INTO postings VALUES ($t, $a, 2, 900, 5, 'USD', 100005)`,
			`UPDATE balances SET ledger = 100005, version = 2 WHERE tenant = $t AND account = $a`,
		}, []string{"I1", "I2"}},
		{"a journal without postings", []string{
			`INSERT INTO journals (tenant, id, kind, value_date, booked_at)
				VALUES ($t, 900, 'opening', '2026-11-18', now())`,
		}, []string{"I1"}},
		{
			"a balance that moved by itself",
			[]string{`UPDATE balances SET ledger = ledger + 1 WHERE tenant = $t AND account = $a`},
			[]string{"I2", "I3"},
		},
		{
			"a balance with another version",
			[]string{`UPDATE balances SET version = 9 WHERE tenant = $t AND account = $a`},
			[]string{"I3"},
		},
		{"a posting that leaves something else", []string{
			`UPDATE postings SET balance_after = balance_after + 1 WHERE tenant = $t AND account = $a`,
		}, []string{"I3"}},
		{"a posting beyond what a number holds", []string{
			`UPDATE postings SET amount = 9223372036854775807, balance_after = 9223372036854775807
				WHERE tenant = $t AND account = $a`,
			`INSERT INTO postings SELECT tenant, account, 2, journal, amount, currency, -2 FROM postings
				WHERE tenant = $t AND account = $a`,
			`UPDATE balances SET ledger = -2, version = 2, forced = true WHERE tenant = $t AND account = $a`,
		}, []string{"I3", "I1"}},
		{
			"a balance without its postings",
			[]string{`DELETE FROM postings WHERE tenant = $t AND account = $a`},
			[]string{"I1", "I3"},
		},
		{"a gap in the numbers", []string{
			`UPDATE postings SET version = 2 WHERE tenant = $t AND account = $a`,
			`UPDATE balances SET version = 2 WHERE tenant = $t AND account = $a`,
		}, []string{"I3"}},
		{"an account that is not in the books", []string{
			`DELETE FROM postings WHERE tenant = $t`, `DELETE FROM journals WHERE tenant = $t`,
			`DELETE FROM balances WHERE tenant = $t`,
		}, []string{"I5"}},
		{
			"books that are nobody's",
			[]string{`INSERT INTO balances (tenant, account, currency) VALUES ($t, 1, 'USD')`},
			[]string{"I5"},
		},
		{"less than the overdraft allows", []string{
			`ALTER TABLE balances DROP CONSTRAINT balances_covered`,
			`UPDATE balances SET held = ledger + 1 WHERE tenant = $t AND account = $a`,
			`INSERT INTO holds (tenant, id, account, amount, currency, placed, state, placed_at)
				SELECT tenant, 900, account, held, currency, 1, 'OPEN', now() FROM balances
				WHERE tenant = $t AND account = $a`,
		}, []string{"I6"}},
		{"money that nothing holds", []string{
			`UPDATE balances SET held = 1 WHERE tenant = $t AND account = $a`,
		}, []string{"I4"}},
		{
			"a posting in another currency",
			[]string{`UPDATE postings SET currency = 'EUR' WHERE tenant = $t AND account = $a`},
			[]string{"I1", "I8"},
		},
		{
			"books in another currency than the account",
			[]string{`UPDATE accounts SET currency = 'EUR' WHERE tenant = $t AND uid = $a`},
			[]string{"I5"},
		},
		{"a booking before the one ahead of it", []string{
			`INSERT INTO journals (tenant, id, kind, value_date, booked_at)
				VALUES ($t, 900, 'opening', '2026-11-18', now() - interval '1 day')`,
			`INSERT INTO postings VALUES ($t, $a, 2, 900, 5, 'USD', 100005), ($t, $a, 3, 900, -5, 'USD', 100000)`,
			`UPDATE balances SET version = 3 WHERE tenant = $t AND account = $a`,
		}, []string{"I10"}},
	} {
		t.Run(broken.name, func(t *testing.T) {
			t.Parallel()
			bank := coretest.Alone(t)
			account := bank.Account(bank.Customer())
			bank.Prove()
			owner := bank.Owner()
			for _, statement := range broken.statements {
				statement = strings.NewReplacer("$t", fmt.Sprint(bank.Tenant), "$a", account.UID.String()).
					Replace(statement)
				if _, err := owner.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			violations, err := bank.Ledger.Prove(access.Operator(t.Context(), bank.Tenant, bank.Code, nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range broken.want {
				if !slices.ContainsFunc(violations,
					func(v ledger.Violation) bool { return v.Invariant == want && v.Tenant == bank.Tenant }) {
					t.Errorf("%s is not named in %v", want, violations)
				}
			}
			if len(broken.want) == 1 &&
				slices.ContainsFunc(violations, func(v ledger.Violation) bool { return v.Invariant != broken.want[0] }) {
				t.Errorf("more than %s is named in %v", broken.want[0], violations)
			}
		})
	}
}

// Only operators may prove the books, one bank at a time.
func TestOnlyOperatorsProveTheBooks(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t)
	account := bank.Account(bank.Customer())
	if _, err := bank.Owner().ExecContext(t.Context(),
		"UPDATE balances SET ledger = ledger + 1 WHERE account = "+account.UID.String()); err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{"staff": bank.Staff(), "nobody": bank.Nobody()} {
		if _, err := bank.Ledger.Prove(ctx); !errors.Is(err, access.ErrDenied) &&
			!errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for of, wrong := range map[access.Tenant]bool{bank.Tenant: true, bank.Tenant + 1: false} {
		if violations, err := bank.Ledger.Prove(access.Operator(t.Context(), of, "", nil)); err != nil ||
			(len(violations) > 0) != wrong {
			t.Errorf("bank %d: %v, %v", of, violations, err)
		}
	}
}
