package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core"
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
	finish := work(t.Context(), slog.New(slog.DiscardHandler), banks, nobody, jobs)
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

// What is sealed becomes deliveries, and deliveries are posted, without waiting for the ticks that rest
// brings.
func TestAJobWakesTheOneThatGoesOnWithItsWork(t *testing.T) {
	t.Parallel()
	banks := func(context.Context) ([]*tenants.Tenant, error) {
		return []*tenants.Tenant{{ID: 1, Code: "ONE", Zone: "UTC"}}, nil
	}
	sealed := make(chan struct{})
	delivers, posts := make(chan struct{}, 2), make(chan struct{}, 2)
	finish := work(t.Context(), slog.New(slog.DiscardHandler), banks, nobody, []job{
		{sealJob, time.Millisecond, time.Hour, func(context.Context) (bool, error) {
			select {
			case <-sealed:
				return true, nil
			default:
				return false, nil
			}
		}},
		{deliverJob, time.Hour, time.Hour, func(context.Context) (bool, error) {
			delivers <- struct{}{}
			return len(delivers) == cap(delivers), nil
		}},
		{postJob, time.Hour, time.Hour, func(context.Context) (bool, error) {
			posts <- struct{}{}
			return false, nil
		}},
	})
	defer finish()
	ticks := func(name string, of chan struct{}, times int) {
		t.Helper()
		for range 60_000 {
			if len(of) == times {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("%s rests", name)
	}
	ticks(deliverJob, delivers, 1) // the first ticks of all come at once
	ticks(postJob, posts, 1)
	sealed <- struct{}{}
	ticks(deliverJob, delivers, 2)
	ticks(postJob, posts, 2)
}

// nobody listens to any bank.
func nobody(access.Tenant) int { return 0 }

// Who listens is told soon of what comes next. While nothing does, nobody looks for deliveries to make.
func TestListenersHurryTheSealingAlone(t *testing.T) {
	t.Parallel()
	banks := func(context.Context) ([]*tenants.Tenant, error) {
		return []*tenants.Tenant{{ID: 1, Code: "ONE", Zone: "UTC"}}, nil
	}
	var looks, delivers atomic.Int32
	looked := make(chan struct{})
	finish := work(t.Context(), slog.New(slog.DiscardHandler), banks,
		func(access.Tenant) int { return 1 }, []job{
			{sealJob, time.Hour, time.Millisecond, func(context.Context) (bool, error) {
				if looks.Add(1) == 50 {
					close(looked)
				}
				return false, nil
			}},
			{deliverJob, time.Hour, time.Hour, func(context.Context) (bool, error) {
				delivers.Add(1)
				return false, nil
			}},
		})
	select {
	case <-looked:
	case <-time.After(time.Minute):
		t.Error("the sealing rests while somebody listens")
	}
	finish()
	if n := delivers.Load(); n > 1 { // the first tick comes by itself
		t.Errorf("deliveries were looked for %d times", n)
	}
}

// What a bank does when its clock is moved, workers do while it ticks.
func TestWorkersDoAllThatTheBankDoesByItself(t *testing.T) {
	t.Parallel()
	did := map[string]bool{}
	does := func(name string) core.Work {
		return func(context.Context) (int, error) { did[name] = true; return 0, nil }
	}
	for _, j := range clockJobs(core.Clockwork{Jobs: []core.Job{
		{Name: "one", Every: time.Second, Do: []core.Work{does("first"), does("second")}},
		{Name: "two", Every: time.Second, Do: []core.Work{does("third")}},
	}}) {
		if _, err := j.tick(t.Context()); err != nil || j.every != time.Second {
			t.Error(j.name, err)
		}
	}
	if len(did) != 3 {
		t.Error(did)
	}
	known := map[string]bool{}
	for _, j := range (&bank{Core: new(core.Core)}).Clockwork().Jobs {
		if known[j.Name] || j.Every <= 0 || len(j.Do) == 0 {
			t.Errorf("%+v", j)
		}
		known[j.Name] = true
	}
	for _, name := range longJobs {
		if !known[name] {
			t.Errorf("%s is no job", name)
		}
	}
}
