package payments_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
)

// blocked holds the accounts of a pair while requests come, so that they wait for each other.
func (p *pair) blocked(t *testing.T, while func()) {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		err := p.DB.InTx(context.Background(), int64(p.Tenant), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw(`SELECT 1 FROM balances WHERE tenant = ? AND account = ? FOR UPDATE`,
				p.Tenant, p.from.UID).
				Exec(ctx)
			close(held)
			<-release
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	while()
	close(release)
	holder.Wait()
}

// What waits while a transaction is under way goes into the next one together: the journals of one
// transaction have one booking time.
func TestPaymentsThatWaitShareATransaction(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var payers sync.WaitGroup
	p.blocked(t, func() {
		for range 60 {
			payers.Go(func() {
				if _, err := p.transfer(p.Staff(), p.draft("1")); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond) // most of them are waiting by now
	})
	payers.Wait()
	var transactions int
	err := p.DB.NewRaw(`SELECT count(DISTINCT booked_at) FROM journals WHERE tenant = ? AND kind = 'payment'`,
		p.Tenant).
		Scan(t.Context(), &transactions)
	if err != nil || transactions > 20 {
		t.Errorf("60 payments took %d transactions (%v)", transactions, err)
	}
	p.has(t, 40_00, 160_00)
	p.Prove()
}

// Copies of each request come at once, to two processes, mixed with those of others and with refused ones.
func TestEachKeyOfALaneHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	other := core.New(core.Options{DB: p.DB, Keys: p.Keys, Now: p.Clock.Now})
	const keys, copies = 24, 12
	var mu sync.Mutex
	told := map[int][]any{}
	var payers sync.WaitGroup
	for n := range keys * copies {
		key := n % keys
		process := []*payments.Service{p.Payments, other.Payments}[n/keys%2]
		payers.Go(func() {
			amount := "1"
			if key%3 == 0 {
				amount = "5000" // more than there is
			}
			out, err := process.Transfer(p.Staff(), p.draft(amount),
				changes.RequestOptions{IdempotencyKey: fmt.Sprint("key ", key)})
			out.Replayed = false
			var said any = out
			if f, refused := fault.Of(err); refused {
				said = f.Error()
			} else if err != nil {
				t.Error(err)
			}
			mu.Lock()
			told[key] = append(told[key], said)
			mu.Unlock()
		})
	}
	payers.Wait()
	for key, all := range told {
		for _, said := range all {
			if !reflect.DeepEqual(said, all[0]) || len(all) != copies {
				t.Errorf("key %d: %v and %v", key, all[0], said)
			}
		}
	}
	p.has(t, 84_00, 116_00) // 16 of the keys could be carried out
	if _, err := p.Payments.Transfer(p.Staff(), p.draft("2"),
		changes.RequestOptions{IdempotencyKey: "key 1"}); !errors.Is(err, changes.ErrKeyReused) {
		t.Error("another request with a used key:", err)
	}
	p.Prove()
}

// Who gives up before the request was taken has changed nothing, and hurts none of the others.
func TestWhoGivesUpInALaneHurtsNobody(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var payers sync.WaitGroup
	var mu sync.Mutex
	paid := 0
	p.blocked(t, func() {
		for n := range 40 {
			payers.Go(func() {
				ctx, cancel := context.WithTimeout(p.Staff(), time.Minute)
				if n%2 == 0 {
					cancel()
				}
				defer cancel()
				_, err := p.transfer(ctx, p.draft("1"))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					paid++
				} else if !errors.Is(err, context.Canceled) || n%2 != 0 {
					t.Error(err)
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
	})
	payers.Wait()
	if paid < 20 {
		t.Errorf("%d of the 20 who waited have paid", paid)
	}
	p.has(t, 100_00-int64(paid)*1_00, 100_00+int64(paid)*1_00)
	p.Prove()
}

// Random transfers among a few accounts, with all kinds of refusals, leave each account with what a plain sum
// of what was accepted says.
func TestTheBooksAreWhatWasAccepted(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	customer := b.Customer()
	want := map[accounts.UID]int64{}
	var all []accounts.UID
	for range 4 {
		uid := b.Account(customer, coretest.Holding(50_00, 0)).UID
		all, want[uid] = append(all, uid), 50_00
	}
	var mu sync.Mutex
	var payers sync.WaitGroup
	for w := range 12 {
		dice := rand.New(rand.NewPCG(7, uint64(w)))
		payers.Go(func() {
			for range 25 {
				from, to, cents := all[dice.IntN(4)], all[dice.IntN(4)], dice.Int64N(30_00)
				_, err := b.Payments.Transfer(b.Staff(), payments.Draft{
					Sender: payments.Party{UID: from}, Receiver: payments.Party{UID: to},
					Amount: fmt.Sprintf("%d.%02d", cents/100, cents%100),
				}, changes.RequestOptions{})
				if _, refused := fault.Of(err); err != nil && !refused {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					want[from], want[to] = want[from]-cents, want[to]+cents
					mu.Unlock()
				}
			}
		})
	}
	payers.Wait()
	for uid, cents := range want {
		var ledger int64
		if err := b.DB.NewRaw(`SELECT ledger FROM balances WHERE tenant = ? AND account = ?`, b.Tenant, uid).
			Scan(t.Context(), &ledger); err != nil || ledger != cents {
			t.Errorf("account %s has %d, want %d (%v)", uid, ledger, cents, err)
		}
	}
	b.Prove()
}

// BenchmarkTransfers carries out transfers of 64 callers at a time: from many accounts, and all from one.
func BenchmarkTransfers(b *testing.B) {
	for name, spread := range map[string]int{"uniform": 2000, "hot": 1} {
		b.Run(name, func(b *testing.B) {
			bank := coretest.New(b)
			customer := bank.Customer()
			from := make([]accounts.UID, spread)
			for i := range from {
				from[i] = bank.Account(customer, coretest.Holding(1e12, 0)).UID
			}
			to := make([]accounts.UID, 200)
			for i := range to {
				to[i] = bank.Account(customer, coretest.Holding(0, 0)).UID
			}
			pay := func(dice *rand.Rand) {
				_, err := bank.Payments.Transfer(bank.Staff(), payments.Draft{
					Sender: payments.Party{UID: from[dice.IntN(spread)]}, Receiver: payments.Party{UID: to[dice.IntN(200)]},
					Amount: "0.01", ExternalReferenceID: "INV-1",
				}, changes.RequestOptions{IdempotencyKey: fmt.Sprint(dice.Uint64(), dice.Uint64())})
				if err != nil {
					b.Error(err)
				}
			}
			for range 1000 { // plans that were made on empty tables would count for a minute
				pay(rand.New(rand.NewPCG(1, rand.Uint64())))
			}
			if _, err := bank.Owner().ExecContext(b.Context(), "ANALYZE"); err != nil {
				b.Fatal(err)
			}
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for dice := rand.New(rand.NewPCG(1, rand.Uint64())); pb.Next(); {
					pay(dice)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
		})
	}
}
