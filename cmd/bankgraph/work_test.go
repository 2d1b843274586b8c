package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/tenants"
)

// However many jobs a bank has, and even if all of them hang, another bank's jobs are done.
func TestABankWhoseJobsHangKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	banks := func(context.Context) ([]*tenants.Tenant, error) {
		return []*tenants.Tenant{{ID: 1, Code: "HANGS", Zone: "UTC"}, {ID: 2, Code: "WELL", Zone: "UTC"}}, nil
	}
	hang, done := make(chan struct{}), make(chan struct{}, 1)
	j := job{"test", time.Millisecond, time.Millisecond, func(ctx context.Context) (bool, error) {
		caller, err := access.Require(ctx)
		if caller.TenantCode == "HANGS" {
			<-hang
			return false, err
		}
		select {
		case done <- struct{}{}:
		default:
		}
		return false, err
	}}
	jobs := make([]job, 2*ticksAtOnce)
	for i := range jobs {
		jobs[i] = j
	}
	finish := work(t.Context(), slog.New(slog.DiscardHandler), banks, jobs)
	defer finish()
	defer close(hang)
	for range 100 {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the other bank's jobs wait")
		}
	}
}
