package payments_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// deadlocks counts the statements that PostgreSQL ended because of one.
type deadlocks struct {
	pgx.QueryTracer
	pgx.BatchTracer

	seen atomic.Int64
}

func (d *deadlocks) TraceQueryEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	d.count(data.Err)
}

func (d *deadlocks) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	d.count(data.Err)
}

func (d *deadlocks) count(err error) {
	var of *pgconn.PgError
	if errors.As(err, &of) && of.Code == "40P01" {
		d.seen.Add(1)
	}
}

// beside does both at the same time, one of them as often as it takes for the other to end, and fails the
// test if they ever waited for each other.
func (d *deadlocks) beside(t *testing.T, forever, once func() error) {
	t.Helper()
	var all sync.WaitGroup
	var ended atomic.Bool
	for range 2 {
		all.Go(func() {
			for !ended.Load() {
				if err := forever(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	if err := once(); err != nil {
		t.Error(err)
	}
	ended.Store(true)
	all.Wait()
	if n := d.seen.Load(); n > 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// Whoever works on the same accounts at the same time locks them in the same order, whatever they do.
func TestWritersOfTheSameAccountsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	dual := func(c *customers.Customer) { c.Access.PaymentDualApproval = true }
	bank := func(t *testing.T) (*coretest.Bank, *deadlocks) {
		t.Helper()
		watch := dbtest.Watch(t)
		d := &deadlocks{QueryTracer: watch, BatchTracer: watch.(pgx.BatchTracer)}
		url := dbtest.Shared(t)
		return coretest.On(t, dbtest.Owner(url), dbtest.Unhurried(url), db.Options{Connections: 8, Tracer: d}), d
	}
	// approving returns what approves all that waits, several people at a time.
	approving := func(b *coretest.Bank, waiting []changes.UID) func() error {
		return func() error {
			var failed error
			var first sync.Once
			var all sync.WaitGroup
			next := make(chan changes.UID, len(waiting))
			for _, uid := range waiting {
				next <- uid
			}
			close(next)
			for range 2 {
				all.Go(func() {
					for uid := range next {
						if _, err := b.Changes.Approve(b.Checker(), uid, changes.RequestOptions{}); err != nil {
							first.Do(func() { failed = err })
						}
					}
				})
			}
			all.Wait()
			return failed
		}
	}
	t.Run("who approves transfers to an older account", func(t *testing.T) {
		t.Parallel()
		b, d := bank(t)
		of := b.Customer(dual)
		older, newer := b.Account(of, coretest.Holding(1_000_00, 0)), b.Account(of, coretest.Holding(1_000_00, 0))
		var waiting []changes.UID
		ask := func() (changes.UID, error) {
			out, err := b.Payments.Transfer(b.Staff(), payments.Draft{
				Sender: payments.Party{UID: newer.UID}, Receiver: payments.Party{UID: older.UID}, Amount: "0.01",
			}, changes.RequestOptions{})
			return changes.UID(out.Approval), err
		}
		for range 30 {
			uid, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, uid)
		}
		d.beside(t, func() error { _, err := ask(); return err }, approving(b, waiting))
		b.Prove()
	})
	t.Run("who approves credits on a later day", func(t *testing.T) {
		t.Parallel()
		b, d := bank(t)
		s := newSenderOf(b, dual)
		s.Exec(`INSERT INTO limits (tenant, customer, code, application, ceiling, currency, version)
			VALUES (?, ?, 'INSTANT_PAYMENT_LIMIT_PER_DAY', 'Payments', 100000000, 'USD', 1)`, s.Tenant, s.from.Customer)
		var waiting []changes.UID
		for range 30 {
			out, err := s.Payments.Send(s.Staff(), s.order("0.05"), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, changes.UID(out.Approval))
		}
		s.Clock.Set(s.Clock.Now().AddDate(0, 0, 1))
		d.beside(t, func() error {
			_, err := s.Payments.Send(s.Staff(), s.order("0.05"), changes.RequestOptions{})
			return err
		}, approving(b, waiting))
		b.Prove()
	})
	t.Run("who changes a rule that allows what comes in", func(t *testing.T) {
		t.Parallel()
		b, d := bank(t)
		s := newSenderOf(b)
		s.Exec(`UPDATE accounts SET enable_positive_pay = true WHERE tenant = ?`, s.Tenant)
		s.requestRule(positivepay.Instant, func(r *positivepay.Rule) {
			r.Frequency, r.AmountType = positivepay.OnGoing, positivepay.Maximum
		})
		var rule positivepay.UID
		err := s.DB.NewRaw(`SELECT uid FROM positive_pay_rules WHERE tenant = ?`, s.Tenant).Scan(t.Context(), &rule)
		if err != nil {
			t.Fatal(err)
		}
		amounts := make(chan string, 1)
		amounts <- "30.00"
		d.beside(t, func() error {
			amount := <-amounts
			defer func() { amounts <- map[string]string{"30.00": "40.00", "40.00": "30.00"}[amount] }()
			_, err := s.PositivePay.Change(s.Staff(), rule, positivepay.Draft{Amount: given.Of(amount)},
				changes.RequestOptions{})
			return err
		}, func() error {
			operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
			for range 40 {
				if _, err := s.Sandbox.PlayRequest(s.Staff(), sandbox.Request{
					Account: s.from.UID, Amount: "25.00", Rail: string(rails.FedNow), CreditorName: "Harbor Chandlery",
					CreditorNumber: "5550007777", CreditorBank: theirs, Reference: "INV-77", Notes: "Ropes",
				}, changes.RequestOptions{}); err != nil {
					return err
				}
				if _, err := s.Payments.Receive(operator); err != nil {
					return err
				}
			}
			return nil
		})
		b.Prove()
	})
}
