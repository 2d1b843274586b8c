package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// A lane carries out the requests of an operation many at a time. Those that come while a transaction commits
// share the next one, and so its locks, its round trips and its flush to disk. A request that comes alone is
// a lane of one, and waits for nobody.
//
// Within a lane each request is decided alone, in the order in which they came: a refusal is an answer, and
// hurts none of the others.

const (
	laneMembers    = 250             // requests of one transaction
	laneBytes      = 1 << 20         // and their drafts
	laneCommitters = 2               // transactions of one bank and operation at a time
	longestLane    = 8 * time.Second // less than a request has
	entriesEach    = 3               // audit entries of one request, at most
)

// LaneTx is the transaction of one lane.
type LaneTx struct {
	bun.Tx
	Tenant access.Tenant
	Now    time.Time // the bank's clock
}

// Member is one request of a lane. The work sets its Result, or refuses it; a request that is refused must
// have written nothing.
type Member[D, R any] struct {
	Tx     *Tx
	Draft  D
	Result R

	refusal error
}

// Refuse answers the request with a fault.
func (m *Member[D, R]) Refuse(why error) { m.refusal = why }

// DeclareLane is Declare for an operation whose requests are carried out many at a time. It creates things;
// what waits for a second person is settled alone (Settle). The work carries out the requests of a lane. If
// it returns an error, each is tried alone.
func DeclareLane[D, R any](
	s *Service, name, object string, needs access.Permission,
	work func(ctx context.Context, tx *LaneTx, members []*Member[D, R]) error,
) *Operation[D, R] {
	o := Declare[D, R](s, name, object, needs, func(context.Context, *Tx, Target, D) (R, error) {
		var none R
		return none, fmt.Errorf("%s is carried out in a lane", name)
	})
	o.is.lane = &lane{
		operation: o.is, banks: map[access.Tenant]*laneQueue{},
		work: func(ctx context.Context, tx *LaneTx, seats []*seat) error {
			members := make([]*Member[D, R], len(seats))
			for i, s := range seats {
				members[i] = &Member[D, R]{Tx: s.tx, Draft: s.r.draft.(D)}
			}
			err := work(ctx, tx, members)
			for i, m := range members {
				seats[i].result, seats[i].refusal = m.Result, m.refusal
			}
			return err
		},
	}
	return o
}

// lane holds the requests of all banks that wait for their turn.
type lane struct {
	operation *operation
	work      func(ctx context.Context, tx *LaneTx, seats []*seat) error

	mu    sync.Mutex
	banks map[access.Tenant]*laneQueue
}

type laneQueue struct {
	waiting    []*seat
	committers int
}

// seat is one request in a lane.
type seat struct {
	ctx   context.Context //nolint:containedctx // whose writes the lane's are
	r     request
	reply reply
	err   error
	done  chan struct{}

	// of the present try
	tx       *Tx // nil: the key had an answer already
	result   any
	refusal  error
	recorded []events.Recorded
}

// join has a request carried out. A caller that gives up while the request waits takes it back; one that is
// being carried out is waited for.
func (l *lane) join(ctx context.Context, r request) (reply, error) {
	if err := ctx.Err(); err != nil { // whoever has gone takes no seat
		return reply{}, err
	}
	mine := &seat{ctx: ctx, r: r, done: make(chan struct{})}
	l.mu.Lock()
	queue := l.banks[r.caller.Tenant]
	if queue == nil {
		queue = &laneQueue{}
		l.banks[r.caller.Tenant] = queue
	}
	queue.waiting = append(queue.waiting, mine)
	if queue.committers < laneCommitters {
		queue.committers++
		go l.commit(r.caller.Tenant, queue)
	}
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.reply, mine.err
	case <-ctx.Done():
	}
	l.mu.Lock()
	at := slices.Index(queue.waiting, mine)
	if at >= 0 {
		queue.waiting = slices.Delete(queue.waiting, at, at+1)
	}
	l.mu.Unlock()
	if at >= 0 {
		return mine.reply, ctx.Err()
	}
	<-mine.done
	return mine.reply, mine.err
}

// commit carries out what waits for one bank until nothing does.
func (l *lane) commit(tenant access.Tenant, queue *laneQueue) {
	for {
		l.mu.Lock()
		seats := queue.next()
		if len(seats) == 0 {
			if queue.committers--; queue.committers == 0 {
				delete(l.banks, tenant)
			}
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.carryOut(tenant, seats)
		for _, s := range seats {
			close(s.done)
		}
	}
}

// next takes the requests of the next transaction.
func (q *laneQueue) next() []*seat {
	n, bytes := 0, 0
	for n < len(q.waiting) && n < laneMembers && (n == 0 || bytes+len(q.waiting[n].r.text) <= laneBytes) {
		bytes += len(q.waiting[n].r.text)
		n++
	}
	seats := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return seats
}

// carryOut answers the requests in one transaction. If that fails and it is not known to be the database's
// fault, each is carried out alone, so that a request that cannot be done hurts none of the others.
func (l *lane) carryOut(tenant access.Tenant, seats []*seat) {
	err := l.answerInOneTx(tenant, seats)
	if err == nil {
		return
	}
	passing := db.IsUnavailable(err) || db.IsTimeout(err) || db.IsLockTimeout(err) ||
		errors.Is(err, db.ErrUnknownOutcome)
	for _, s := range seats {
		s.reply, s.err = reply{}, err
		for try := 0; try < mostCopies && !passing && (try == 0 && len(seats) > 1 || copied(s.err)); try++ {
			s.err = l.answerInOneTx(tenant, []*seat{s})
		}
	}
}

// mostCopies bounds how often a request is tried that a copy of it overtakes.
const mostCopies = 3

// copied reports whether a copy of a request was quicker, in another process or in a transaction whose end
// was lost: the next try finds its answer.
func copied(err error) bool {
	constraint, _ := db.UniqueViolation(err)
	return constraint == "idempotency_keys_pkey"
}

// answerInOneTx answers requests of one bank in one transaction.
func (l *lane) answerInOneTx(tenant access.Tenant, seats []*seat) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(db.WithMeter(context.Background(), &db.Meter{}), longestLane)
	defer cancel()
	defer func() {
		for _, s := range seats {
			db.MeterFor(s.ctx, ctx)
		}
	}()
	service := l.operation.service
	now, err := service.now(ctx, tenant)
	if err != nil {
		return err
	}
	return service.db.InTx(ctx, int64(tenant), func(ctx context.Context, inner bun.Tx) error {
		tx := &LaneTx{Tx: inner, Tenant: tenant, Now: now}
		ids, err := l.admit(ctx, tx, seats)
		if err != nil {
			return err
		}
		if err := l.work(ctx, tx, working(seats)); err != nil {
			return err
		}
		return l.keep(ctx, seats, ids)
	})
}

// working returns the requests that are not answered or refused yet.
func working(seats []*seat) (all []*seat) {
	for _, s := range seats {
		if s.tx != nil && s.refusal == nil {
			all = append(all, s)
		}
	}
	return all
}

// usedKey is an idempotency key that has been used.
type usedKey struct {
	Place   int    `bun:"place"` // of the request in the lane
	Request []byte `bun:"request"`
	Outcome []byte `bun:"outcome"`
	Old     bool   `bun:"old"`
}

type activeUser struct {
	UID string `bun:"uid"`
}

var (
	// OFFSET keeps the planner from joining the whole table: each key is looked up by itself.
	lookingUpKeys = db.NewQuery[usedKey](`SELECT a.place, k.request, k.outcome::text::bytea AS outcome,
		k.created_at < clock_timestamp() - interval '7 days' AS old
		FROM unnest($2::bigint[], $3::text[], $4::text[]) AS a(place, client, key) CROSS JOIN LATERAL (
		  SELECT request, outcome, created_at FROM idempotency_keys
		  WHERE tenant = $1 AND client = a.client AND operation = $5 AND key = a.key OFFSET 0) AS k`)
	lookingUpUsers = db.NewQuery[activeUser](`SELECT uid::text AS uid FROM users
		WHERE tenant = $1 AND uid = ANY($2::text[]::uuid[]) AND status = 'Active'`)
)

// admit answers the requests whose keys have been used, and refuses those of people who are no longer active.
// It returns numbers for the audit entries of the others.
func (l *lane) admit(ctx context.Context, tx *LaneTx, seats []*seat) (ids []audit.ID, err error) {
	var places []int64
	var clients, keys, people []string
	for i, s := range seats {
		s.sit(l.operation, tx)
		db.WriteFor(ctx, s.ctx)
		if s.r.once.key != "" {
			places, clients, keys = append(places, int64(i)), append(clients, s.r.once.client),
				append(keys, s.r.once.key)
		}
		if s.r.caller.User != uuid.Nil {
			people = append(people, s.r.caller.User.String())
		}
	}
	b := db.TxBatch(tx.Tx)
	used, there := new(db.Rows[usedKey]), new(db.Rows[activeUser])
	if len(keys) > 0 {
		used = db.Queue(b, lookingUpKeys, tx.Tenant, places, clients, keys, l.operation.name)
	}
	if len(people) > 0 {
		there = db.Queue(b, lookingUpUsers, tx.Tenant, people)
	}
	taken := audit.TakeIDs(b, entriesEach*len(seats))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	for _, key := range used.Items {
		if err := seats[key.Place].replay(ctx, l.operation, tx, key); err != nil {
			return nil, err
		}
	}
	for _, s := range working(seats) {
		is := func(u *activeUser) bool { return u.UID == s.r.caller.User.String() }
		if s.r.caller.User != uuid.Nil && !slices.ContainsFunc(there.Items, is) {
			s.refusal = access.ErrDenied
		}
	}
	for _, id := range taken.Items {
		ids = append(ids, id.ID)
	}
	return ids, nil
}

// sit begins a try of the request in the transaction of a lane.
func (s *seat) sit(o *operation, tx *LaneTx) {
	s.reply, s.err, s.result, s.refusal, s.recorded = reply{}, nil, nil, nil, nil
	s.tx = &Tx{
		Tx: tx.Tx, Caller: s.r.caller, Now: tx.Now, Options: s.r.options, operation: o, at: s.r.at, draft: s.r.text,
		record: func(_ context.Context, entry audit.Entry, event events.Event) error {
			s.recorded = append(s.recorded, events.Recorded{Entry: entry, Event: &event})
			return nil
		},
	}
}

// replay answers a request with what is kept for its key, unless that has expired.
func (s *seat) replay(ctx context.Context, o *operation, tx *LaneTx, key *usedKey) (err error) {
	if key.Old {
		_, err = db.Raw(tx.Tx,
			`DELETE FROM idempotency_keys WHERE tenant = ? AND client = ? AND operation = ? AND key = ?`,
			tx.Tenant, s.r.once.client, s.r.once.operation, s.r.once.key).Exec(ctx)
		return err
	}
	s.tx = nil
	if !seal.SameSecret(key.Request, s.r.once.request) {
		s.reply.refusal = ErrKeyReused
		return nil
	}
	s.reply, err = o.replay(key.Outcome)
	return err
}

// idempotencyKey is a key with its answer, as a lane keeps it.
type idempotencyKey struct {
	bun.BaseModel `bun:"table:idempotency_keys"`

	Tenant    access.Tenant   `bun:"tenant,pk"`
	Client    string          `bun:"client,pk"`
	Operation string          `bun:"operation,pk"`
	Key       string          `bun:"key,pk"`
	Request   []byte          `bun:"request"`
	Outcome   json.RawMessage `bun:"outcome,type:json"`
}

// keep records what was done and refused, and keeps the answers for their keys. A copy of a request in
// another process may have the same key in work: the key's row, which is written last, lets only one of them
// commit.
func (l *lane) keep(ctx context.Context, seats []*seat, ids []audit.ID) error {
	var record []events.Recorded
	var keys []*idempotencyKey
	for _, s := range seats {
		if s.tx == nil {
			continue
		}
		kept, keeps := answer{Result: s.result, Receipt: s.tx.receipt}, true
		if s.reply.result, s.reply.receipt = s.result, s.tx.receipt; s.refusal != nil {
			s.reply, keeps = reply{refusal: s.refusal}, l.refuse(s)
			kept = answer{Refusal: words(s.refusal)}
		}
		record = append(record, s.recorded...)
		if o := s.r.once; keeps && o.key != "" {
			text, err := json.Marshal(kept)
			if err != nil {
				return err
			}
			keys = append(keys, &idempotencyKey{
				Tenant: o.tenant, Client: o.client, Operation: o.operation, Key: o.key, Request: o.request, Outcome: text,
			})
		}
	}
	for i := range record {
		record[i].Entry.ID = ids[i]
	}
	if err := events.RecordAllTx(ctx, record); err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b *idempotencyKey) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Key, b.Key))
	})
	return db.InsertAtCommit(ctx, keys)
}

// refuse records a refusal, as operation.refuse does, and reports whether the key keeps it.
func (l *lane) refuse(s *seat) (keeps bool) {
	f, is := fault.Of(s.refusal)
	if !is || f.Kind == fault.Internal {
		s.reply, s.err, s.recorded = reply{}, s.refusal, nil
		return false
	}
	counted := l.operation.service.audit.Refuse(s.r.caller)
	s.recorded = nil
	keeps = lasting[f.Kind] && s.r.once.key != ""
	if keeps && !counted.Keep {
		s.reply.refusal = ErrRefusals
		return false
	}
	if counted.Record {
		s.recorded = []events.Recorded{{Entry: l.operation.refusal(s.r, f.Kind, s.refusal)}}
	}
	return keeps
}
