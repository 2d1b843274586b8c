package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"bankgraph/core/access"
)

// foldEvery is how often the counted refusals are recorded.
const foldEvery = 5 * time.Second

// foldRefusals records, every few seconds, the refusals that were only counted (audit.Service.RecordFolded).
// They are counted in this process, so workers cannot record them. end records the last ones, after the last
// request.
func foldRefusals(ctx context.Context, log *slog.Logger, b *bank) (end func()) {
	record := func(stopping bool) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestTick)
		defer cancel()
		if err := b.Audit.RecordFolded(access.Operator(ctx, 0, "", nil), stopping); err != nil {
			log.Error("counted refusals could not be recorded", "error", err)
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
