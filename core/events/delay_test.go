package events_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/events"
)

// How long an event takes from its commit to the feed at 1,000 events a second, with a sealer that runs as
// often as a busy worker does.
func BenchmarkDelayOfTheFeed(b *testing.B) {
	bank := coretest.Alone(b)
	operator := access.Operator(context.Background(), bank.Tenant, bank.Code, nil)
	const aSecond = 1000
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
	committed, delays := sync.Map{}, []time.Duration{}
	var writing sync.WaitGroup
	begin := time.Now()
	for writer := range 10 {
		writing.Go(func() {
			for n := writer; n < b.N; n += 10 {
				time.Sleep(time.Until(begin.Add(time.Duration(n) * time.Second / aSecond)))
				err := bank.DB.InTx(context.Background(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
					return record(ctx, tx,
						events.Event{Tenant: bank.Tenant, Kind: "changeObject", Object: "object", UID: "1", Version: int32(n)})
				})
				committed.Store(int32(n), time.Now())
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	cursor := events.Cursor{}
	for len(delays) < b.N {
		found, err := bank.Events.After(operator, cursor, events.Most)
		if err != nil {
			b.Fatal(err)
		}
		for _, event := range found {
			if at, known := committed.Load(event.Version); known {
				delays = append(delays, time.Since(at.(time.Time)))
			} else {
				delays = append(delays, 0) // it was read before its writer took the time
			}
			cursor = event.Cursor
		}
		time.Sleep(time.Millisecond)
	}
	writing.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "events/s")
	cancel()
	sealing.Wait()
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds())/1000, "p99-ms")
}
