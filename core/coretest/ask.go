package coretest

import (
	"context"

	"bankgraph/db"
)

// Many sends one read of rows by parent and returns its answer.
func Many[K comparable, T any](
	b *Bank, ctx context.Context, queue func(*db.Batch) *db.Many[K, T],
) (map[K][]*T, error) {
	b.t.Helper()
	batch := b.Batch()
	many := queue(batch)
	if err := batch.Send(ctx); err != nil {
		return nil, err
	}
	return many.Of, many.Err
}

// Rows sends one read of rows and returns its answer.
func Rows[T any](b *Bank, ctx context.Context, queue func(*db.Batch) *db.Rows[T]) ([]*T, error) {
	b.t.Helper()
	batch := b.Batch()
	rows := queue(batch)
	if err := batch.Send(ctx); err != nil {
		return nil, err
	}
	return rows.Items, rows.Err
}
