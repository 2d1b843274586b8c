package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"bankgraph/core/access"
)

// foldEvery is how often refusals that were only counted are written down.
const foldEvery = 5 * time.Second

// foldRefusals writes down, every few seconds, how many refusals were only counted
// (audit.Service.RecordFolded): of what this very process refused, so without the workers too. end does so
// for the last time, when no request is left.
func foldRefusals(ctx context.Context, log *slog.Logger, b *bank) (end func()) {
	record := func(stopping bool) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestTick)
		defer cancel()
		if err := b.Audit.RecordFolded(access.Operator(ctx, 0, "", nil), stopping); err != nil {
			log.Error("folded refusals could not be recorded", "error", err)
		}
	}
	folding, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		for pause(folding, foldEvery) {
			record(false)
		}
	})
	return func() {
		stop()
		running.Wait()
		record(true)
	}
}
