// Package events holds what happened in a bank, for those outside who want to hear of it. Each event is written in
// the transaction of the change that it tells of.
package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
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

// Placed is an event with where it stands in the feed.
type Placed struct {
	Event  `bun:",extend"`
	Cursor Cursor `bun:"embed:cursor_"`
}

// Cursor is a place in a bank's feed. The zero value is its beginning.
type Cursor struct {
	Tx uint64 `bun:"tx" json:"-"` // the number of a transaction
	ID int64  `bun:"id" json:"-"` // of an event of it
}

func (c Cursor) String() string { return fmt.Sprintf("%d.%d", c.Tx, c.ID) }

// ParseCursor reads what String wrote; the empty text is the beginning.
func ParseCursor(text string) (c Cursor, err error) {
	if text == "" {
		return c, nil
	}
	tx, id, _ := strings.Cut(text, ".")
	var bad [2]error
	c.Tx, bad[0] = strconv.ParseUint(tx, 10, 64)
	c.ID, bad[1] = strconv.ParseInt(id, 10, 64)
	if bad != [2]error{} || c.ID < 0 || c.String() != text {
		return Cursor{}, fault.Field("feed", "cursor", fault.Malformed, "not a place in the feed of events")
	}
	return c, nil
}
