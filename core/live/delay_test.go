package live_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/events"
)

// How long a change takes from its commit to a listener at 100 changes a second, with a sealer that runs as
// often as a worker does while somebody listens.
func BenchmarkDelayToAListener(b *testing.B) {
	bank := coretest.Alone(b)
	operator := access.Operator(context.Background(), bank.Tenant, bank.Code, nil)
	const aSecond = 100
	ctx, cancel := context.WithCancel(context.Background())
	var sealing sync.WaitGroup
	sealing.Go(func() {
		for ctx.Err() == nil {
			if _, err := bank.Audit.Seal(operator); err != nil {
				b.Error(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	l, err := bank.Live.Payments(bank.Staff(), 0, 0, "")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	committed, delays := sync.Map{}, []time.Duration{}
	var writing sync.WaitGroup
	begin, customer := time.Now(), int64(bank.Self.UID)
	writing.Go(func() {
		for n := range b.N {
			time.Sleep(time.Until(begin.Add(time.Duration(n) * time.Second / aSecond)))
			uid := fmt.Sprint(n + 1)
			err := bank.DB.InTx(context.Background(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
				return events.RecordTx(ctx, tx, audit.Entry{
					Tenant: bank.Tenant, Client: "test", Entity: 1, Action: "sendPayment", Decision: audit.Done,
					Object: "payment", UID: uid,
				}, events.Event{
					Tenant: bank.Tenant, Kind: "sendPayment", Object: "payment", UID: uid, Customer: &customer, Version: 1,
				})
			})
			committed.Store(int64(n+1), time.Now())
			if err != nil {
				b.Error(err)
			}
		}
	})
	for range b.N {
		change, err := l.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		at, _ := committed.Load(change.UID)
		delays = append(delays, time.Since(at.(time.Time)))
	}
	writing.Wait()
	cancel()
	sealing.Wait()
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds())/1000, "p99-ms")
}
