// Package events keeps the feed of what happened in a bank, for readers outside. Each event is written in the
// transaction of its change.
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

// Event says that one object changed. Its reader reads the object again.
type Event struct {
	bun.BaseModel `bun:"table:events,alias:v" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	ID       int64         `bun:"id,pk,nullzero" json:"id"`
	At       time.Time     `bun:"at,nullzero" json:"at"`
	Kind     string        `bun:"kind" json:"kind"` // by its GraphQL name: addSignatory
	Object   string        `bun:"object" json:"object"`
	UID      string        `bun:"uid" json:"uid"`
	Customer *int64        `bun:"customer" json:"customer"`
	Version  int32         `bun:"version" json:"version"` // of the object after the change
}

// Placed is an event with its place in the feed.
type Placed struct {
	Event  `bun:",extend"`
	Seq    int64  `bun:"seq"` // the number of its change in the bank's record
	Cursor Cursor `bun:"-"`
}

// Cursor is a place in a bank's feed. The zero value is its beginning.
type Cursor struct {
	// the epoch of the record: the first is 1; another begins when the bank's database is restored or moved
	Epoch int64
	Seq   int64 // the number in the bank's record of the last change that was read
}

func (c Cursor) String() string { return fmt.Sprintf("%d.%d", c.Epoch, c.Seq) }

// ParseCursor reads what String wrote. The empty text is the beginning of the feed.
func ParseCursor(text string) (c Cursor, err error) {
	if text == "" {
		return c, nil
	}
	epoch, seq, _ := strings.Cut(text, ".")
	var bad [2]error
	c.Epoch, bad[0] = strconv.ParseInt(epoch, 10, 64)
	c.Seq, bad[1] = strconv.ParseInt(seq, 10, 64)
	if bad != [2]error{} || c.Epoch < 0 || c.Seq < 0 || c.String() != text {
		return Cursor{}, fault.Field("feed", "cursor", fault.Malformed, "not a place in the feed of events")
	}
	return c, nil
}

var (
	// ErrAhead is returned for a cursor after the end of the feed.
	ErrAhead = fault.New(fault.Conflict, "cursor.ahead",
		"the feed ends before this place: the bank's database is older than the cursor")
	// ErrPurged is returned for a cursor whose next events have been removed.
	ErrPurged = fault.New(fault.Conflict, "cursor.purged",
		"events after this place were removed, as they were older than the bank keeps them")
)
