package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/clock"
	"bankgraph/core/fault"
	"bankgraph/graph/model"
)

func init() {
	query("clock", (*operation).clock)
	subjects["clock"] = subject{codes: codes{fault.State: "CLOCK001"}}
}

// clock answers Query.clock.
func (o *operation) clock(ctx context.Context, _ graphql.CollectedField) (*clock.Reading, error) {
	reading, err := o.core.Clock.Read(ctx)
	return &reading, err
}

func (m mutations) MoveClock(ctx context.Context, in model.ClockMove) (*model.MoveClockPayload, error) {
	done, err := m.core.Sandbox.MoveClock(ctx, in.Move, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.MoveClockPayload{Clock: &done.Result, Replayed: done.Replayed}, nil
}
