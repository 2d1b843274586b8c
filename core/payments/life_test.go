package payments_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/holds"
	"bankgraph/core/money"
	"bankgraph/core/virtualaccounts"
)

var worlds = flag.String("worlds", "", "the worlds that TestRandomLife tries, such as 1-500")

// In worlds of their own customers, people, networks and other banks do anything in any order, some of it at
// once and again, while the clock goes on or jumps. After each step the books are proven. At the end, and
// when all that goes by the clock is over, what left and what came is compared with the books, and what is
// not over must be shown to people. A world is what its number says, but for the order of what is done at
// once.
func TestRandomLife(t *testing.T) {
	t.Parallel()
	seeds := []uint64{3, 7, 1 + rand.Uint64N(1_000_000)}
	if *worlds != "" {
		var first, last uint64
		if n, err := fmt.Sscanf(*worlds, "%d-%d", &first, &last); n != 2 {
			t.Fatalf("-worlds %s: %v", *worlds, err)
		}
		seeds = nil
		for seed := first; seed <= last; seed++ {
			seeds = append(seeds, seed)
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("world ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			defer func() {
				if t.Failed() {
					t.Logf("again: -run TestRandomLife -worlds %d-%d; it ended with\n%s", seed, seed, w.ended(40))
				}
			}()
			for w.n = range 60 {
				w.step()
				w.Prove()
				if t.Failed() {
					return
				}
			}
			w.fits()
			w.advance(w.Clock.Now().AddDate(0, 0, 40))
			w.Prove()
			w.fits()
			w.isOver()
		})
	}
}

// world is a bank in which anything may happen.
type world struct {
	*sender

	t         *testing.T
	dice      *rand.Rand
	zone      *time.Location // of the bank
	n         int            // of the step
	customers []*customers.Customer
	accounts  []*accounts.Account // in dollars
	foreign   []*accounts.Account // in other currencies
	contacts  []*contacts.Contact
	virtual   []*virtualaccounts.VirtualAccount
	asleep    bool // an account or a customer may be suspended

	mu    sync.Mutex
	holds []holds.UID
	log   []string // what was done, and answered
}

// The fees that somebody pays, by the names of the catalogue.
var feesOfWorlds = []string{"Book Transfer", "Instant", "Economy", "Express", "SPOT"}

// newWorld makes a bank in one of five places that begins at one of five times: on a usual day, before the
// clocks are changed, or before the end of a year or of February.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	b := coretest.New(t)
	b.Directory()
	w := &world{t: t, dice: rand.New(rand.NewPCG(seed, 62)), zone: coretest.Zone()}
	plain, limited := b.Customer(), b.Customer()
	dual := b.Customer(func(c *customers.Customer) {
		c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
		c.Access.FirstApproverLimit, c.Access.SecondApproverLimit = 50_00, 5_000_00
	})
	w.customers = []*customers.Customer{plain, dual, limited}
	b.Limit(limited, "INSTANT_PAYMENT_LIMIT_PER_DAY", 200_00)
	b.Limit(limited, "ACH_PAYMENT_LIMIT_PER_WEEK", 400_00)
	for _, name := range feesOfWorlds {
		b.Configured("Payments", "Outgoing Payment", name, "Gold")
	}
	b.Exec(`UPDATE fee_catalogue SET price = 37 WHERE tenant = ?`, b.Tenant)
	for _, name := range feesOfWorlds {
		b.Fee(limited, func(f *fees.Tier) { f.FeeName, f.FeeTier, f.Account = name, "Gold", nil })
	}
	opens := func(of *customers.Customer, minor int64, edits ...func(*accounts.Account)) *accounts.Account {
		edits = append([]func(*accounts.Account){coretest.Holding(minor, 0), abroad}, edits...)
		return b.Account(of, edits...)
	}
	w.accounts = []*accounts.Account{
		opens(plain, 1_000_00), opens(dual, 500_00), opens(limited, 1_000_00),
		opens(plain, 200_00, func(a *accounts.Account) { a.EnablePositivePay = true }),
		opens(limited, 50_00, func(a *accounts.Account) { a.EnableOffset, a.DefaultOffset = true, true }),
	}
	for _, a := range w.accounts {
		w.virtual = append(w.virtual, b.VirtualAccount(a))
	}
	for _, c := range w.customers {
		w.contacts = append(w.contacts, b.Contact(c), b.Contact(c))
	}
	for _, c := range []money.Currency{"JPY", "JPY", "KWD", "KWD", "EUR"} {
		w.foreign = append(w.foreign, opens(limited, 500_000, func(a *accounts.Account) { a.Currency = c }))
	}
	w.sender = &sender{b, w.accounts[0], b.Contact(plain, inGermany)}
	w.lists(t, "Ada King", "Grace Hopper")
	zones := []string{"", "America/Los_Angeles", "Pacific/Auckland", "Europe/London", "Asia/Kolkata"}
	if zone := zones[seed%5]; zone != "" {
		b.Exec(`UPDATE tenants SET zone = ? WHERE id = ?`, zone, b.Tenant)
		var err error
		if w.zone, err = time.LoadLocation(zone); err != nil {
			t.Fatal(err)
		}
	}
	begins := []string{"", "2027-03-11 15:00", "2028-02-24 22:00", "2026-12-30 17:00", "2027-11-05 00:30"}
	if begin := begins[seed/5%5]; begin != "" {
		w.Clock.Set(at(t, begin))
	}
	return w
}

// deed is something that is done: its name, and what does it, which may be called again with the same key.
type deed struct {
	name string
	do   func(changes.RequestOptions) error
}

// step does something, mostly by itself, and lets time pass.
func (w *world) step() {
	d := w.something()
	x := changes.RequestOptions{Reason: "because", IdempotencyKey: fmt.Sprint("key-", w.n)}
	switch w.dice.IntN(6) {
	case 0: // again
		first := w.does(d, x)
		if again := w.does(d, x); (first == nil) != (again == nil) {
			w.t.Errorf("%s: %v, and again: %v", d.name, first, again)
		}
	case 1: // at once with something else, and with two workers
		other, y := w.something(), x
		y.IdempotencyKey += "b"
		var all sync.WaitGroup
		all.Go(func() { _ = w.does(d, x) })
		all.Go(func() { _ = w.does(other, y) })
		all.Go(w.work)
		all.Go(w.work)
		all.Wait()
	default:
		_ = w.does(d, x)
	}
	now, some := w.Clock.Now(), func(most time.Duration) time.Duration {
		return time.Duration(w.dice.Int64N(int64(most/time.Second))) * time.Second
	}
	switch w.dice.IntN(24) {
	case 0, 1, 2, 3, 4:
		w.advance(now.Add(some(5 * time.Minute)))
	case 5, 6:
		w.advance(now.Add(some(12 * time.Hour)))
	case 7:
		w.advance(now.Add(some(5 * 24 * time.Hour)))
	case 8: // as after an outage
		w.Clock.Set(now.Add(some(20 * 24 * time.Hour)))
		w.work()
	case 9, 10:
		w.Clock.Set(now.Add(some(20 * time.Second)))
		w.work()
	case 11, 12, 13, 14, 15, 16:
		w.work()
	}
}

// does does something, and fails the test unless that is done or refused.
func (w *world) does(d deed, x changes.RequestOptions) error {
	err := d.do(x)
	w.mu.Lock()
	w.log = append(w.log, fmt.Sprint(w.Clock.Now().In(w.zone).Format("01-02 15:04:05 "), d.name, ": ", err))
	w.mu.Unlock()
	if _, refused := fault.Of(err); err != nil && !refused {
		w.t.Errorf("%s: %v", d.name, err)
	}
	return err
}

// ended returns what was done last.
func (w *world) ended(n int) string { return strings.Join(w.log[max(0, len(w.log)-n):], "\n") }

// work does what the bank does by itself.
func (w *world) work() {
	if _, err := w.Work(w.operator()); err != nil {
		w.t.Errorf("the bank's own work: %v", err)
	}
}

// advance moves the clock to a time, and does at each time between what is due.
func (w *world) advance(to time.Time) {
	for w.work(); w.Clock.Now().Before(to) && !w.t.Failed(); w.work() {
		next, err := w.Clockwork().Next(w.operator(), w.Clock.Now(), to)
		if err != nil {
			w.t.Fatal(err)
		}
		if !next.After(w.Clock.Now()) {
			next = w.Clock.Now().Add(time.Second)
		}
		w.Clock.Set(next)
	}
}

func (w *world) operator() context.Context {
	return access.Operator(w.t.Context(), w.Tenant, w.Code, w.zone)
}

// Staff, Checker and Someone are those of the bank, in its zone.
func (w *world) Staff() context.Context               { return w.zoned(w.sender.Staff()) }
func (w *world) Checker() context.Context             { return w.zoned(w.sender.Checker()) }
func (w *world) Someone(login string) context.Context { return w.zoned(w.sender.Someone(login)) }

func (w *world) zoned(ctx context.Context) context.Context {
	caller, err := access.Require(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	caller.Zone = w.zone
	return access.With(w.t.Context(), caller)
}

// today is the bank's day.
func (w *world) today() time.Time {
	y, m, d := w.Clock.Now().In(w.zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// soon is one of the next days.
func (w *world) soon(days int) time.Time { return w.today().AddDate(0, 0, w.dice.IntN(days)) }

// one reports true once in so many times.
func (w *world) one(in int) bool { return w.dice.IntN(in) == 0 }

// pick returns one of all; the zero value if there is none.
func pick[T any](w *world, all ...T) (one T) {
	if len(all) == 0 {
		return one
	}
	return all[w.dice.IntN(len(all))]
}

// asked reads rows of the bank, which is ?0.
func asked[T any](w *world, query string, values ...any) (rows []T) {
	w.t.Helper()
	if err := w.DB.InTx(w.t.Context(), int64(w.Tenant), func(ctx context.Context, tx bun.Tx) error {
		rows = nil
		return tx.NewRaw(query, append([]any{w.Tenant}, values...)...).Scan(ctx, &rows)
	}); err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// only leaves out what was done.
func only[T any](_ T, err error) error { return err }

// sum is a small amount. Its cents say what the other side does with it in a sandbox.
func (w *world) sum() string {
	return fmt.Sprint(1+w.dice.IntN(40), ".", pick(w, "00", "10", "01", "02", "11", "12", "20", "21", "22", "23",
		"24", "31", "32", "33", "34", "50", "99"))
}

// contact is somebody whom the customer of an account pays in the country.
func (w *world) contact(a *accounts.Account) contacts.UID {
	for {
		if k := pick(w, w.contacts...); k.Customer == a.Customer {
			return k.UID
		}
	}
}

// in returns an amount of minor units in a currency, as people write it.
func in(minor int64, c money.Currency) string {
	return money.Of(max(1, minor), cmp.Or(c, "USD")).String()
}
