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
// in asks for it when the request is over. Of reading there is one entry a minute for each caller and permission, and one
// for customers that are not the caller's: programs ask again and again for what they may not see. Attempts to change
// something are recorded one by one, up to mostRefused a minute for each caller, so that nobody floods the record.
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
		most, what := mostRefused, ""
		switch r.Action {
		case "":
			entry.Action, entry.Object, entry.UID = access.Read, "permission", needs[0]
			most, what = 1, needs[0]
		case access.Read:
			entry.Reason = "it is not the caller's to see"
			most, what = 1, r.Object
		}
		switch n := s.refused.count(caller, what, s.now()); {
		case n > most:
			continue
		case n == mostRefused:
			entry.Reason += "; further attempts within the minute are not recorded"
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

// mostRefused is how many refused changes of one caller are recorded in a minute.
const mostRefused = 60

// refusedBefore counts what was refused within a minute.
type refusedBefore struct {
	mu    sync.Mutex
	known *lru.Cache[refusedTo, minute]
}

// refusedTo is a caller, and the permission that it lacks to read something; changes are counted together, under none.
type refusedTo struct {
	tenant            access.Tenant
	party, permission string
}

type minute struct {
	since time.Time
	times int
}

const mostRemembered = 10_000

func newRefusedBefore() *refusedBefore {
	known, err := lru.New[refusedTo, minute](mostRemembered)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &refusedBefore{known: known}
}

// count is the how manieth time within a minute it is.
func (r *refusedBefore) count(caller access.Caller, permission string, now time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := refusedTo{caller.Tenant, caller.Party(), permission}
	m, _ := r.known.Get(to)
	if now.Before(m.since) || !now.Before(m.since.Add(time.Minute)) {
		m = minute{since: now}
	}
	m.times++
	r.known.Add(to, m)
	return m.times
}
