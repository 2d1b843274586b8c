package audit

import (
	"context"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// RecordRefusals writes down what the caller of a request was refused for want of a permission; whoever lets a caller
// in asks for it when the request is over. Attempts to change something are all recorded. Of reading there is one entry
// a minute for each caller and permission: programs ask again and again for what they may not see.
func (s *Service) RecordRefusals(ctx context.Context) error {
	caller, err := access.Require(ctx)
	if err != nil {
		return err
	}
	var entries []Entry
	for _, r := range access.Refusals(ctx) {
		needs := make([]string, len(r.Needs))
		for i, permission := range r.Needs {
			needs[i] = string(permission)
		}
		entry := Entry{Action: r.Action, Object: r.Object, UID: r.UID, Decision: Refused, Reason: "the caller lacks " + strings.Join(needs, " or ")}
		if r.Action == "" {
			entry.Action, entry.Object, entry.UID = "read", "permission", needs[0]
			if s.reads.again(caller, needs[0], s.now()) {
				continue
			}
		}
		entries = append(entries, entry.By(caller))
	}
	if entries == nil {
		return nil
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		for _, entry := range entries {
			if err := WriteTx(ctx, tx, entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// refusedReads remembers which refused reads stand in the record.
type refusedReads struct {
	mu    sync.Mutex
	since *lru.Cache[refusedRead, time.Time]
}

type refusedRead struct {
	tenant            access.Tenant
	party, permission string
}

const mostRefusedReads = 10_000

func newRefusedReads() *refusedReads {
	since, err := lru.New[refusedRead, time.Time](mostRefusedReads)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &refusedReads{since: since}
}

// again tells whether the read was refused within the last minute already.
func (r *refusedReads) again(caller access.Caller, permission string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	this := refusedRead{caller.Tenant, caller.Party(), permission}
	if at, known := r.since.Get(this); known && now.Before(at.Add(time.Minute)) && !now.Before(at) {
		return true
	}
	r.since.Add(this, now)
	return false
}
