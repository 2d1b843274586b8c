package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// RecordRefusals records what the caller of a request was refused for lack of a permission; it is called when
// the request is over. Refused reads give one entry a minute for each caller and permission, and one for
// customers outside the caller's reach, because programs repeat them. Refused changes are recorded one by
// one, within the bounds of Refuse.
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
		entry := Entry{
			Action: r.Action, Object: r.Object, UID: r.UID, Decision: Refused,
			Reason: "the caller lacks " + strings.Join(needs, " or "),
		}
		read := ""
		switch r.Action {
		case "":
			entry.Action, entry.Object, entry.UID = access.Read, "permission", needs[0]
			read = needs[0]
		case access.Read:
			entry.Reason = "it is not the caller's to see"
			read = r.Object
		}
		if read != "" && !s.refused.first(caller, read, s.now()) || !s.Refuse(caller).Record {
			continue
		}
		entries = append(entries, entry.By(caller))
	}
	return s.write(ctx, caller.Tenant, entries)
}

func (s *Service) write(ctx context.Context, tenant access.Tenant, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		for _, entry := range entries {
			if err := WriteTx(ctx, tx, entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// The bounds of refusals within a minute. The last entry of a caller, and of the bank, is the one that counts
// the rest.
const (
	mostRefused = 60  // entries of one caller, so that it cannot flood the record
	mostOfBank  = 600 // entries of one bank
	mostKept    = 600 // refusals of one caller that are kept for its idempotency keys
)

// Refusal says what is to be done about a refusal.
type Refusal struct {
	Record bool // write an entry for it; otherwise it was counted, for an entry of RecordFolded
	Keep   bool // it may be kept as the answer of the idempotency key
}

// Refuse counts a refusal of the caller, of any kind. Refusals that are not recorded one by one get one
// common entry when the minute is over (RecordFolded).
func (s *Service) Refuse(caller access.Caller) Refusal { return s.refused.refuse(caller, s.now()) }

// RecordFolded records how many refusals were only counted in minutes that are over, and, if the process is
// stopping, in the present one too. They are counted in memory, so each serving process calls this every few
// seconds. An error at one bank does not affect the others; its counts are kept for the next call.
func (s *Service) RecordFolded(ctx context.Context, stopping bool) error {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return err
	}
	var problems []error
	for tenant, folded := range s.refused.take(s.now(), stopping) {
		var entries []Entry
		for _, f := range folded {
			entries = append(entries, f.entry())
		}
		if err := s.write(ctx, tenant, entries); err != nil {
			s.refused.giveBack(folded)
			problems = append(problems, fmt.Errorf("record folded refusals of bank %d: %w", tenant, err))
		}
	}
	return errors.Join(problems...)
}

// refusedBefore counts refusals within a minute.
type refusedBefore struct {
	mu      sync.Mutex
	reads   *lru.Cache[readBefore, time.Time]
	minutes map[refusedOf]*minute
	folded  map[refusedOf]folded // of minutes that are over
}

// refusedOf is a caller; without a party, all callers of a bank together.
type refusedOf struct {
	tenant access.Tenant
	party  string
}

// readBefore is a caller and the permission that it lacked for a read.
type readBefore struct {
	refusedOf
	permission string
}

type minute struct {
	total int // all refusals
	alone int // refusals with an entry of their own
	folded
}

// folded is a number of refusals that were only counted.
type folded struct {
	caller access.Caller // without a party if there were several
	since  time.Time
	times  int
}

// mostRemembered bounds the callers that are counted one by one. The refusals of any more are counted
// together for their bank.
const mostRemembered = 10_000

func newRefusedBefore() *refusedBefore {
	reads, err := lru.New[readBefore, time.Time](mostRemembered)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &refusedBefore{reads: reads, minutes: map[refusedOf]*minute{}, folded: map[refusedOf]folded{}}
}

// first reports whether this is the caller's first refused read of its kind within a minute.
func (r *refusedBefore) first(caller access.Caller, permission string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	what := readBefore{refusedOf{caller.Tenant, caller.Party()}, permission}
	if since, known := r.reads.Get(what); known && !over(since, now) {
		return false
	}
	r.reads.Add(what, now)
	return true
}

func (r *refusedBefore) refuse(caller access.Caller, now time.Time) Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	bank := r.minute(access.Caller{Tenant: caller.Tenant}, now)
	own := bank
	if caller.Party() != "" {
		own = r.minute(caller, now)
	}
	own.total++
	switch said := (Refusal{Keep: own.total <= mostKept}); {
	case own != bank && own.alone >= mostRefused-1:
		own.times++
		return said
	case bank.alone >= mostOfBank-1:
		bank.times++
		return said
	default:
		bank.alone++
		if own != bank {
			own.alone++
		}
		said.Record = true
		return said
	}
}

// minute returns the present minute of a caller; that of its bank if too many callers are remembered.
func (r *refusedBefore) minute(caller access.Caller, now time.Time) *minute {
	of := refusedOf{caller.Tenant, caller.Party()}
	m, known := r.minutes[of]
	if known && !over(m.since, now) {
		return m
	}
	if !known && len(r.minutes) >= mostRemembered {
		r.end(now, false)
	}
	if known {
		r.fold(of, m)
	} else if of.party != "" && len(r.minutes) >= mostRemembered {
		return r.minute(access.Caller{Tenant: caller.Tenant}, now)
	}
	caller.Request = "" // there were several
	m = &minute{folded: folded{caller: caller, since: now}}
	r.minutes[of] = m
	return m
}

// end moves the counts of minutes that are over (of all minutes, if all) to where take finds them.
func (r *refusedBefore) end(now time.Time, all bool) {
	for of, m := range r.minutes {
		if all || over(m.since, now) {
			r.fold(of, m)
			delete(r.minutes, of)
		}
	}
}

func (r *refusedBefore) fold(of refusedOf, m *minute) {
	if m.times == 0 {
		return
	}
	sum, known := r.folded[of]
	if !known || m.since.Before(sum.since) {
		sum.caller, sum.since = m.caller, m.since
	}
	sum.times += m.times
	r.folded[of] = sum
}

// take removes and returns the counts that are to be recorded, by bank.
func (r *refusedBefore) take(now time.Time, all bool) map[access.Tenant][]folded {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(now, all)
	taken := map[access.Tenant][]folded{}
	for of, f := range r.folded {
		taken[of.tenant] = append(taken[of.tenant], f)
	}
	clear(r.folded)
	return taken
}

// giveBack returns counts that could not be recorded, for the next time.
func (r *refusedBefore) giveBack(all []folded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range all {
		r.fold(refusedOf{f.caller.Tenant, f.caller.Party()}, &minute{folded: f})
	}
}

// over reports whether a minute has passed, or the clock was set back.
func over(since, now time.Time) bool { return now.Before(since) || !now.Before(since.Add(time.Minute)) }

// entry makes the audit entry of counted refusals.
func (f folded) entry() Entry {
	whose := ""
	if f.caller.Party() == "" {
		whose = " of several callers"
	}
	return Entry{
		Action: "refuse", Object: "refusals", Decision: Refused,
		Reason: fmt.Sprintf("and %d further refusals%s within the minute", f.times, whose),
		After:  fmt.Appendf(nil, `{"refusals":%d,"since":%q}`, f.times, f.since.UTC().Format(time.RFC3339)),
	}.By(f.caller)
}
