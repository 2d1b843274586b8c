package main

import (
	"context"
	"log/slog"
	"time"

	"bankgraph/core/access"
)

// foldRefusals writes down, every few seconds, how many refusals were only counted (audit.Service.RecordFolded): of
// what this very process refused, so without the workers too. end does so for the last time, when no request is left.
func foldRefusals(ctx context.Context, log *slog.Logger, b *bank) (end func()) {
	record := func(ctx context.Context, stopping bool) error {
		return b.Audit.RecordFolded(access.Operator(ctx, 0, "", nil), stopping)
	}
	last := job{name: "record the last refusals", tick: func(ctx context.Context) error { return record(ctx, true) }}
	finish := work(context.WithoutCancel(ctx), log, []job{{"record folded refusals", 5 * time.Second, func(ctx context.Context) error {
		return record(ctx, false)
	}}})
	return func() { finish(); last.once(context.WithoutCancel(ctx), log) }
}
