package db

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Reads of a known caller go to the replica, if there is one (Options.ReadURL), with these guarantees:
//
//   - Callers see what they have written, whichever process they wrote through. Each transaction of a caller
//     leaves a mark in last_writes. Before a batch is read from the replica, the database itself is asked for
//     the marks of its caller; the replica must have the same ones, or the database answers.
//   - What others wrote is seen after at most Options.ReadLag. A replica further behind, one that does not
//     answer, and a server that is no replica of this database are not read from, until they are well again.
//     Nor is one of another timeline, or ahead of the database: it follows what a recovery has undone.
//   - Meanwhile the database answers for it, by no more than half of the connections that batches have.
type replica struct {
	pool, primary *pgxpool.Pool
	caller        func(context.Context) (tenant int64, caller string, ok bool)
	most          time.Duration // how far behind it may be
	share         chan struct{} // places on the primary for batches that the replica does not answer

	mu      sync.Mutex
	up      context.Context // ends when the replica must not be used any more; nil while it must not
	down    context.CancelFunc
	why     error     // why it must not be used
	current time.Time // the replica has everything that was committed before
	strayed time.Time // when a replica was started that was ahead of the database; zero if none was
	behind  []position

	reads, fallbacks atomic.Int64
	stop             context.CancelFunc
	stopped          chan struct{}
}

// position is the primary's position in the log at a time.
type position struct {
	at  time.Time
	lsn int64
}

// ReplicaState is the state of the replica, for the metrics.
type ReplicaState struct {
	Used      bool          // batches are read from the replica
	Why       error         // why they are not; nil if they are, or nobody has looked yet
	Behind    time.Duration // the upper bound of its lag, at the last check
	Reads     int64         // batches that it answered
	Fallbacks int64         // batches that the primary answered in its place
}

// Replica returns the state of the replica; ok is false if there is none.
func (d *DB) Replica() (state ReplicaState, ok bool) {
	r := d.replica
	if r == nil {
		return state, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return ReplicaState{r.up != nil, r.why, time.Since(r.current), r.reads.Load(), r.fallbacks.Load()}, true
}

const (
	longestProbe = time.Second
	mostBehind   = 1000            // positions that are kept to compute the replica's lag
	defaultLag   = 5 * time.Second // Options.ReadLag
)

// follow starts watching a replica, which is not used before it has proved to be one.
func follow(pool, primary *pgxpool.Pool, options Options, size int) *replica {
	ctx, stop := context.WithCancel(context.Background())
	r := &replica{
		pool: pool, primary: primary, caller: options.Caller, most: options.ReadLag,
		share: make(chan struct{}, max(1, size/2)), current: time.Now(), stop: stop, stopped: make(chan struct{}),
	}
	if r.most == 0 {
		r.most = defaultLag
	}
	if r.caller == nil {
		r.caller = func(context.Context) (int64, string, bool) { return 0, "", false }
	}
	go r.watch(ctx)
	return r
}

func (r *replica) close() {
	r.stop()
	<-r.stopped
	r.pool.Close()
}

// watch checks the replica several times within the allowed lag.
func (r *replica) watch(ctx context.Context) {
	defer close(r.stopped)
	ticker := time.NewTicker(min(r.most/5, 500*time.Millisecond))
	defer ticker.Stop()
	told := false
	for {
		err := r.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			told = false
			if r.open() {
				slog.Info("the replica is read from")
			}
		} else if r.shut(err) || !told {
			told = true
			slog.Warn("the replica is not read from: the database answers for it", "why", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look finds out up to which time the replica has all commits. Its error says why the replica must not be
// used.
func (r *replica) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestProbe)
	defer cancel()
	now := position{at: time.Now()}
	of, err := r.stands(ctx)
	if err != nil {
		return err
	}
	now.lsn = of.lsn
	var is struct {
		follows bool
		standing
		started time.Time
	}
	err = r.pool.QueryRow(ctx, `SELECT pg_is_in_recovery(),
		coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint,
		system_identifier, greatest(c.timeline_id, r.min_recovery_end_timeline), pg_postmaster_start_time()
		FROM pg_control_system(), pg_control_checkpoint() AS c, pg_control_recovery() AS r`).
		Scan(&is.follows, &is.lsn, &is.cluster, &is.timeline, &is.started)
	switch {
	case err != nil:
		return fmt.Errorf("ask the replica where it stands: %w", unsaid(err))
	case !is.follows || is.cluster != of.cluster:
		return errors.New("the address to read from is not that of a replica of the database")
	case is.timeline != of.timeline:
		return fmt.Errorf("it is of timeline %d, and the database of timeline %d", is.timeline, of.timeline)
	}
	if is.lsn > of.lsn { // the database may have gone on meanwhile
		if of, err = r.stands(ctx); err != nil {
			return err
		}
		if is.lsn > of.lsn {
			r.strayed = is.started
		}
	}
	if is.started.Equal(r.strayed) {
		return errors.New("it was ahead of the database, so it has what that lacks: build it anew")
	}
	if behind := r.replayed(now, is.lsn); behind > r.most {
		return fmt.Errorf("it is more than %s behind", r.most)
	}
	return nil
}

// standing is where a server stands: in the log, of which cluster and timeline.
type standing struct {
	lsn, cluster, timeline int64
}

// stands asks the database where it stands.
func (r *replica) stands(ctx context.Context) (is standing, err error) {
	err = r.primary.QueryRow(ctx, `SELECT (at - '0/0')::bigint, system_identifier,
		('x' || left(pg_walfile_name(at), 8))::bit(32)::bigint
		FROM pg_control_system(), pg_current_wal_flush_lsn() AS at`).Scan(&is.lsn, &is.cluster, &is.timeline)
	if err != nil {
		return is, fmt.Errorf("ask the database where it stands: %w", unsaid(err))
	}
	return is, nil
}

// unsaid explains an error of a server that keeps the number of its cluster from the service's role. Without
// it nothing tells a replica of the database from one of another.
func unsaid(err error) error {
	if sqlState(err) != "42501" {
		return err
	}
	return fmt.Errorf("the service's role needs GRANT EXECUTE ON FUNCTION pg_control_system(), "+
		"pg_control_checkpoint(), pg_control_recovery(): %w", err)
}

// replayed notes a position of the primary, and returns how far the replica lags.
func (r *replica) replayed(now position, lsn int64) (behind time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behind = append(r.behind, now)
	for len(r.behind) > 0 && r.behind[0].lsn <= lsn {
		r.current = r.behind[0].at
		r.behind = r.behind[1:]
	}
	if len(r.behind) > mostBehind {
		// the replica is too far behind to be used anyway
		r.behind = append([]position(nil), r.behind[mostBehind/2:]...)
	}
	return time.Since(r.current)
}

// open allows reads from the replica. It reports whether that is a change.
func (r *replica) open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why = nil
	if r.up != nil {
		return false
	}
	r.up, r.down = context.WithCancel(context.Background())
	return true
}

// shut stops reads from the replica, also those that wait for it. It reports whether that is a change.
func (r *replica) shut(why error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why = why
	if r.up == nil {
		return false
	}
	r.down()
	r.up, r.down = nil, nil
	return true
}

// used returns the context within which the replica may be used; nil if it may not be used now.
func (r *replica) used() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.current) > r.most {
		return nil
	}
	return r.up
}

var errStale = errors.New("the replica lacks what the caller wrote")

// send reads a batch from the replica, or else from the primary. Unknown callers are answered by the primary,
// because what they wrote is not known.
func (r *replica) send(ctx context.Context, b *Batch) error {
	tenant, caller, known := r.caller(ctx)
	if !known {
		return r.primary.SendBatch(ctx, &b.queue).Close()
	}
	if up := r.used(); up != nil {
		wrote, err := r.marks(ctx, tenant, caller)
		if err != nil {
			return err
		}
		err = r.try(ctx, up, b, wrote, tenant, caller)
		if err == nil {
			r.reads.Add(1)
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if IsUnavailable(err) && r.shut(err) {
			slog.Warn("the replica is not read from: the database answers for it", "why", err)
		}
		for _, clear := range b.clear {
			clear()
		}
	}
	return r.fallBack(ctx, b)
}

// fallBack reads from the primary, within its share for such batches.
func (r *replica) fallBack(ctx context.Context, b *Batch) error {
	r.fallbacks.Add(1)
	waiting := time.NewTimer(patience)
	defer waiting.Stop()
	select {
	case r.share <- struct{}{}:
	case <-waiting.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.share }()
	return r.primary.SendBatch(ctx, &b.queue).Close()
}

const marksOf = `SELECT connection, (extract(epoch FROM at) * 1000000)::bigint FROM last_writes
	WHERE tenant = $1 AND caller = $2`

// marks returns when the caller last wrote, by connection.
func (r *replica) marks(ctx context.Context, tenant int64, caller string) (map[int32]int64, error) {
	rows, err := r.primary.Query(ctx, marksOf, tenant, callerHash(caller))
	if err != nil {
		return nil, err
	}
	return marksIn(rows)
}

func marksIn(rows pgx.Rows) (map[int32]int64, error) {
	var marks map[int32]int64
	var connection int32
	var at int64
	_, err := pgx.ForEachRow(rows, []any{&connection, &at}, func() error {
		if marks == nil {
			marks = map[int32]int64{}
		}
		marks[connection] = at
		return nil
	})
	return marks, err
}

// try reads the batch from the replica. If the caller has written, the replica's marks are read first in the
// same round trip, so that the batch sees at least what they show.
func (r *replica) try(
	ctx, up context.Context, b *Batch, wrote map[int32]int64, tenant int64, caller string,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(up, cancel)()
	var queue pgx.Batch
	if len(wrote) > 0 {
		queue.Queue(marksOf, tenant, callerHash(caller)).Query(func(rows pgx.Rows) error {
			has, err := marksIn(rows)
			for connection, at := range wrote {
				if err == nil && has[connection] != at {
					err = errStale
				}
			}
			return err
		})
	}
	for _, q := range b.queue.QueuedQueries { // copies, as the driver changes them for its connection
		queue.QueuedQueries = append(queue.QueuedQueries,
			&pgx.QueuedQuery{SQL: q.SQL, Arguments: q.Arguments, Fn: q.Fn})
	}
	return r.pool.SendBatch(ctx, &queue).Close()
}

// callerHash returns a caller's name in last_writes, which holds no login ids.
func callerHash(caller string) []byte {
	sum := sha256.Sum256([]byte(caller))
	return sum[:16]
}

// mark returns the statements with which a caller's transaction ends: its mark and, now and then, the removal
// of the caller's oldest marks, which every replica in use has long had.
func (d *DB) mark(ctx context.Context, bank int64) []string {
	if d.replica == nil {
		return nil
	}
	tenant, caller, known := d.replica.caller(ctx)
	if !known || tenant != bank {
		return nil
	}
	const mark = `INSERT INTO last_writes (tenant, caller, connection, at)
		VALUES (%d, '\x%x', pg_backend_pid(), clock_timestamp())
		ON CONFLICT (tenant, caller, connection) DO UPDATE SET at = excluded.at`
	texts := []string{fmt.Sprintf(mark, tenant, callerHash(caller))}
	if rand.N(200) == 0 {
		const sweep = `DELETE FROM last_writes WHERE tenant = %[1]d AND caller = '\x%[2]x'
			AND connection IN (SELECT connection FROM last_writes
			WHERE tenant = %[1]d AND caller = '\x%[2]x'
			  AND at < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED)`
		texts = append(texts, fmt.Sprintf(sweep, tenant, callerHash(caller)))
	}
	return texts
}
