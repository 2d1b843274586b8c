package ledger

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Proof is what a proof of a bank's books has found. Of each bank the last one is kept.
type Proof struct {
	bun.BaseModel `bun:"table:proofs,alias:pr" json:"-"`

	Tenant     access.Tenant    `bun:"tenant,pk" json:"-"`
	StartedAt  time.Time        `bun:"started_at" json:"-"`
	FinishedAt time.Time        `bun:"finished_at" json:"-"`
	Invariants []InvariantProof `bun:"invariants,type:jsonb" json:"-"`

	Seconds float64 `bun:"seconds,scanonly" json:"-"` // since it was finished, by the database's clock
}

// InvariantProof says whether one invariant holds.
type InvariantProof struct {
	Name       string      `json:"name"`
	Says       string      `json:"says"`
	Count      int64       `json:"count"`      // of the rows that break it
	Violations []Violation `json:"violations"` // some of them
}

// Holds reports whether no row breaks it.
func (p InvariantProof) Holds() bool { return p.Count == 0 }

// ViolationCount is Count as far as 32 bits go.
func (p InvariantProof) ViolationCount() int32 { return int32(min(p.Count, math.MaxInt32)) }

// Holds reports whether all invariants hold.
func (p *Proof) Holds() bool {
	return !slices.ContainsFunc(p.Invariants, func(one InvariantProof) bool { return !one.Holds() })
}

// Age is how long ago it was finished, when it was read.
func (p *Proof) Age() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

// Milliseconds returns how long it has taken.
func (p *Proof) Milliseconds() int32 { return int32(p.FinishedAt.Sub(p.StartedAt).Milliseconds()) }

var (
	// ErrProving is returned to a caller that cannot wait for the proof that is under way.
	ErrProving = fault.New(fault.Unavailable, "proof.running",
		"the books are being proven, which takes longer than a request can wait: ask again")
	// ErrBankProves is returned to callers outside the bank.
	ErrBankProves = fault.New(fault.Denied, "proof.bank", "the bank alone proves its books")
)

const (
	longestProof = 10 * time.Minute
	// a request waits for a proof that long; it has ten seconds in all
	proofPatience = 8 * time.Second
)

// proofs are the proofs that this process carries out, one of a bank at a time.
type proofs struct {
	mu      sync.Mutex
	running map[access.Tenant]*proving
	failed  map[access.Tenant]error // of runs that nobody has asked after
}

type proving struct {
	done  chan struct{} // closed in the end
	found *Proof        // nil if another process is at it
	err   error
}

// Proof returns a proof of the caller's bank that is not older than so long: the last one, or else one that
// is carried out now. Who asks while one runs shares it. It returns ErrProving if that takes longer than a
// request can wait; the proof goes on, and is there when the caller asks again.
func (s *Service) Proof(ctx context.Context, oldest time.Duration) (*Proof, error) {
	caller, err := access.Require(ctx, access.ViewAudit)
	if err != nil {
		return nil, err
	}
	if caller.Reach != access.OfBank {
		return nil, ErrBankProves
	}
	last, err := s.lastProof(ctx, caller.Tenant)
	if err != nil || last != nil && last.Age() <= oldest {
		return last, err
	}
	run := s.proving(caller.Tenant)
	wait := time.NewTimer(proofPatience)
	defer wait.Stop()
	select {
	case <-run.done:
	case <-wait.C:
		return nil, ErrProving
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if run.err == nil && run.found == nil {
		return nil, ErrProving
	}
	return run.found, run.err
}

// ProveAgain begins a proof of the caller's bank if the last one of any process is older than so long, and
// returns that one; nil if there is none yet. It does not wait: begun reports whether it has begun one. It is
// for workers.
func (s *Service) ProveAgain(ctx context.Context, oldest time.Duration) (last *Proof, begun bool, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, false, err
	}
	s.proofs.mu.Lock()
	err = s.proofs.failed[caller.Tenant]
	delete(s.proofs.failed, caller.Tenant)
	s.proofs.mu.Unlock()
	if err != nil {
		return nil, false, err
	}
	last, err = s.lastProof(ctx, caller.Tenant)
	if err != nil || last != nil && last.Age() <= oldest {
		return last, false, err
	}
	s.proving(caller.Tenant)
	return last, true, nil
}

var lastProofs = db.NewQuery[Proof](`SELECT tenant, started_at, finished_at, invariants,
	extract(epoch FROM clock_timestamp() - finished_at)::float8 AS seconds FROM proofs WHERE tenant = $1`)

// lastProof reads the proof that is kept; nil if there is none.
func (s *Service) lastProof(ctx context.Context, tenant access.Tenant) (*Proof, error) {
	b := s.db.PrimaryBatch()
	last := db.Queue(b, lastProofs, tenant)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return last.One()
}

// proving returns the proof of a bank that this process is carrying out, or begins one. It belongs to
// nobody's request, and ends with the process.
func (s *Service) proving(tenant access.Tenant) *proving {
	s.proofs.mu.Lock()
	defer s.proofs.mu.Unlock()
	if run := s.proofs.running[tenant]; run != nil {
		return run
	}
	if s.proofs.running == nil {
		s.proofs.running, s.proofs.failed = map[access.Tenant]*proving{}, map[access.Tenant]error{}
	}
	run := &proving{done: make(chan struct{})}
	s.proofs.running[tenant] = run
	go func() {
		run.found, run.err = s.carryOutProof(context.Background(), tenant)
		s.proofs.mu.Lock()
		defer s.proofs.mu.Unlock()
		delete(s.proofs.running, tenant)
		if run.err != nil {
			s.proofs.failed[tenant] = run.err
		}
		close(run.done)
	}()
	return run
}

// carryOutProof proves the books of a bank and keeps what it has found; nil if another process is at it.
func (s *Service) carryOutProof(ctx context.Context, tenant access.Tenant) (found *Proof, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			found, err = nil, fmt.Errorf("prove the books of bank %d: panic: %v", tenant, panicked)
		}
	}()
	// one invariant at a time: requests have the other processors of the database
	err = s.db.Report(ctx, longestProof, 1, func(ctx context.Context, r *db.Report) error {
		mine, err := db.BooksProof.TryTx(ctx, r.Tx, int64(tenant))
		if err != nil || !mine {
			return err
		}
		proof := &Proof{Tenant: tenant}
		if proof.StartedAt, err = databaseTime(ctx, r.Tx); err != nil {
			return err
		}
		if proof.Invariants, err = s.prove(ctx, r, tenant); err != nil {
			return err
		}
		if proof.FinishedAt, err = databaseTime(ctx, r.Tx); err != nil {
			return err
		}
		found = proof
		return s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewInsert().Model(proof).On("CONFLICT (tenant) DO UPDATE").
				Set("started_at = excluded.started_at").
				Set("finished_at = excluded.finished_at").Set("invariants = excluded.invariants").Exec(ctx)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("prove the books of bank %d: %w", tenant, err)
	}
	return found, nil
}

// databaseTime reads the database's clock.
func databaseTime(ctx context.Context, tx bun.IDB) (at time.Time, err error) {
	err = tx.NewRaw(`SELECT clock_timestamp()`).Scan(ctx, &at)
	return at, err
}
