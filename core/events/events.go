// Package events holds what happened in a bank, for those outside who want to hear of it. Each event is written in
// the transaction of the change that it tells of.
package events

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// Event is one thing that happened to one object. Who hears of it reads the object anew.
type Event struct {
	bun.BaseModel `bun:"table:events,alias:v" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	ID       int64         `bun:"id,pk,nullzero" json:"id"`
	At       time.Time     `bun:"at,nullzero" json:"at"`
	Kind     string        `bun:"kind" json:"kind"` // by its GraphQL name: addSignatory
	Object   string        `bun:"object" json:"object"`
	UID      string        `bun:"uid" json:"uid"`
	Customer *int64        `bun:"customer" json:"customer"`
	Version  int32         `bun:"version" json:"version"` // of the object after it
}

// EmitTx writes an event with the change that it tells of.
func EmitTx(ctx context.Context, tx bun.IDB, event Event) error {
	if _, err := tx.NewInsert().Model(&event).Returning("NULL").Exec(ctx); err != nil {
		return fmt.Errorf("emit %s: %w", event.Kind, err)
	}
	return nil
}
