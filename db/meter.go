package db

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/uptrace/bun"
)

// Meter counts what one operation costs the database. It is carried in the operation's context.
type Meter struct {
	Statements atomic.Int64
	RoundTrips atomic.Int64
	Cap        int64 // statements that the operation may spend; 0 means no cap

	allowed atomic.Int64 // beyond Cap
}

// ErrTooManyStatements is returned when an operation exceeds its cap: a defect of the program, or a GraphQL
// document whose price was underestimated.
var ErrTooManyStatements = errors.New("operation needs more SQL statements than allowed")

type meterKey struct{}

// WithMeter returns a context whose statements are counted.
func WithMeter(ctx context.Context, meter *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, meter)
}

func meterOf(ctx context.Context) *Meter {
	meter, _ := ctx.Value(meterKey{}).(*Meter)
	return meter
}

func (m *Meter) spend(statements, roundTrips int) error {
	if m == nil {
		return nil
	}
	m.RoundTrips.Add(int64(roundTrips))
	if spent := m.Statements.Add(int64(statements)); m.Cap > 0 && spent > m.Cap+m.allowed.Load() {
		return ErrTooManyStatements
	}
	return nil
}

// Allow lets an operation spend statements beyond its cap: for work on many things at once, whose number is
// bounded otherwise.
func Allow(ctx context.Context, statements int64) {
	if m := meterOf(ctx); m != nil {
		m.allowed.Add(statements)
	}
}

// MeterFor counts what another context has cost for this one, too, which shared in it. A cap is not for what
// is shared.
func MeterFor(ctx, shared context.Context) {
	if mine, its := meterOf(ctx), meterOf(shared); mine != nil && its != nil && mine.Cap == 0 {
		mine.Statements.Add(its.Statements.Load())
		mine.RoundTrips.Add(its.RoundTrips.Load())
	}
}

// meterHook counts the statements that go through Bun.
type meterHook struct{}

func (meterHook) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	_ = meterOf(ctx).spend(1, 1)
	return ctx
}
func (meterHook) AfterQuery(context.Context, *bun.QueryEvent) {}

// MeterUnder returns the context's meter, or else a new one, with a cap on its statements.
func MeterUnder(ctx context.Context, most int64) *Meter {
	meter := meterOf(ctx)
	if meter == nil {
		meter = &Meter{}
	}
	meter.Cap = most
	return meter
}
