// Package clock tells what time it is for a bank: that of the machine or, in a sandbox bank, one that its
// staff has moved on, so that cut-offs, settlements and dated payments can be seen without waiting for them.
package clock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"sandbox_clocks"},
	Reads: map[string]string{
		"tenants": "whether a bank is a sandbox: tenants come after the clock, which all changes go by",
	},
}

// Now tells what time it is for a bank.
type Now func(ctx context.Context, tenant access.Tenant) (time.Time, error)

// UpTo returns the end of the unit of time that a time is in; the time itself where one ends.
func UpTo(at time.Time, unit time.Duration) time.Time {
	if begin := at.Truncate(unit); begin.Before(at) {
		return begin.Add(unit)
	}
	return at
}

// Service keeps the clocks of all banks.
type Service struct {
	db      *db.DB
	machine func() time.Time

	mu    sync.Mutex
	shown map[access.Tenant]shown
}

// shown is how far a bank's clock is ahead of the machine's, as it was read.
type shown struct {
	ahead  time.Duration
	readAt time.Time
}

// fresh is for how long a process goes by what it has read of a clock: another one that moves it is followed
// within this time.
const fresh = time.Second

// New makes the service.
func New(d *db.DB, machine func() time.Time) *Service {
	return &Service{db: d, machine: machine, shown: map[access.Tenant]shown{}}
}

// row is the clock of a sandbox bank that has been moved.
type row struct {
	bun.BaseModel `bun:"table:sandbox_clocks,alias:sc"`

	Tenant access.Tenant `bun:"tenant,pk"`
	Ahead  int64         `bun:"ahead"`  // microseconds by which it is ahead of the machine's clock
	Target *time.Time    `bun:"target"` // to which it is moving on; nil if it is not
}

// Now tells what time it is for a bank. It is not for callers; it asks for no permission.
func (s *Service) Now(ctx context.Context, tenant access.Tenant) (time.Time, error) {
	ahead, err := s.ahead(ctx, tenant)
	return s.machine().Add(ahead), err
}

func (s *Service) ahead(ctx context.Context, tenant access.Tenant) (time.Duration, error) {
	s.mu.Lock()
	known, is := s.shown[tenant]
	s.mu.Unlock()
	if is && time.Since(known.readAt) < fresh {
		return known.ahead, nil
	}
	began := time.Now()
	// it is read once a second at most, for whoever comes next, and so counts for nobody
	found, err := s.find(db.WithMeter(ctx, &db.Meter{}), tenant)
	if err != nil {
		return 0, fmt.Errorf("read the bank's clock: %w", err)
	}
	s.show(tenant, time.Duration(found.Ahead)*time.Microsecond, began)
	return time.Duration(found.Ahead) * time.Microsecond, nil
}

// show remembers how far a clock is ahead, unless something later is known of it.
func (s *Service) show(tenant access.Tenant, ahead time.Duration, readAt time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.shown[tenant]; !readAt.Before(known.readAt) {
		s.shown[tenant] = shown{ahead, readAt}
	}
}

var finding = db.NewQuery[row](`SELECT tenant, ahead, target FROM sandbox_clocks WHERE tenant = $1`)

// find reads the clock of a bank; its zero value if it was never moved.
func (s *Service) find(ctx context.Context, tenant access.Tenant) (row, error) {
	b := s.db.PrimaryBatch()
	found := db.Queue(b, finding, tenant)
	if err := b.Send(ctx); err != nil || len(found.Items) == 0 {
		return row{}, err
	}
	return *found.Items[0], found.Err
}

// Reading is what a bank's clock shows.
type Reading struct {
	Now    time.Time  `json:"now"`
	Target *time.Time `json:"target"` // to which it is moving on; nil if it is not
	Moved  bool       `json:"moved"`  // it is ahead of the machine's clock
	Behind bool       `json:"-"`      // it is behind: Rewind has set it back
}

// Read tells what time it is for the caller's bank, and where its clock is moving to. Who sees payments sees
// it.
func (s *Service) Read(ctx context.Context) (Reading, error) {
	caller, err := access.Require(ctx, access.ViewPayments, access.MoveClock)
	if err != nil {
		return Reading{}, err
	}
	found, err := s.find(ctx, caller.Tenant)
	if err != nil {
		return Reading{}, fmt.Errorf("read the bank's clock: %w", err)
	}
	ahead := time.Duration(found.Ahead) * time.Microsecond
	return Reading{Now: s.machine().Add(ahead), Target: found.Target, Moved: ahead > 0, Behind: ahead < 0}, nil
}

// Rewind sets the clock of the caller's bank back, so that a new demo bank can live through its past. Nothing
// may have happened in the bank after that time, or before it is called.
func (s *Service) Rewind(ctx context.Context, to time.Time) error {
	return s.put(ctx, to.Sub(s.machine()).Truncate(time.Microsecond))
}

// CatchUp ends what Rewind began: the clock of the caller's bank shows the machine's time.
func (s *Service) CatchUp(ctx context.Context) error { return s.put(ctx, 0) }

func (s *Service) put(ctx context.Context, ahead time.Duration) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`INSERT INTO sandbox_clocks (tenant, ahead) SELECT id, ?1 FROM tenants
			WHERE id = ?0 AND sandbox
			ON CONFLICT (tenant) DO UPDATE SET ahead = excluded.ahead`, caller.Tenant, ahead.Microseconds()).
			Exec(ctx)
		return err
	})
	if err == nil {
		s.show(caller.Tenant, ahead, time.Now())
	}
	return err
}

// The faults of clocks.
var (
	ErrNoSandbox = fault.New(fault.State, "clock.no_sandbox", "the clock of a real bank cannot be moved")
	ErrBack      = fault.New(fault.Invalid, "clock.back",
		"must be later than the bank's clock, and than where it is moving to").On("to")
	ErrFar = fault.New(fault.Invalid, "clock.far", "must be at most a year ahead of the bank's clock").
		On("to")
)

// Farthest is how far a clock may be moved at a time: a year, whichever it is.
const Farthest = 366 * 24 * time.Hour

// mostAhead bounds how far a clock may be ahead of the machine's.
const mostAhead = 20 * 365 * 24 * time.Hour

// MoveTx lets the clock of a bank move on to a time. It does so when Lease and Set are called for it.
func (s *Service) MoveTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, to time.Time,
) (Reading, error) {
	var sandbox bool
	if err := db.Raw(tx, `SELECT sandbox FROM tenants WHERE id = ?`, tenant).Scan(ctx, &sandbox); err != nil {
		return Reading{}, err
	}
	if !sandbox {
		return Reading{}, ErrNoSandbox
	}
	if _, err := tx.NewRaw(`INSERT INTO sandbox_clocks (tenant) VALUES (?) ON CONFLICT (tenant) DO NOTHING`,
		tenant).
		Exec(ctx); err != nil {
		return Reading{}, err
	}
	var clock row
	if err := tx.NewSelect().Model(&clock).Where("sc.tenant = ?", tenant).For("UPDATE").Scan(ctx); err != nil {
		return Reading{}, err
	}
	machine := s.machine()
	now := machine.Add(time.Duration(clock.Ahead) * time.Microsecond)
	switch {
	case !to.After(now) || clock.Target != nil && to.Before(*clock.Target):
		return Reading{}, ErrBack
	case to.Sub(now) > Farthest || to.Sub(machine) > mostAhead:
		return Reading{}, ErrFar
	}
	_, err := tx.NewUpdate().Model((*row)(nil)).Set("target = ?", to).Where("sc.tenant = ?", tenant).Exec(ctx)
	return Reading{Now: now, Target: &to, Moved: clock.Ahead > 0}, err
}

// leased is for how long one worker alone moves a clock, unless it dies: longer than a tick of its work.
const leased = 15 * time.Second

// Lease returns where the clock of the caller's bank is moving to, for one worker at a time; nil if it is not
// moving, or another worker moves it.
func (s *Service) Lease(ctx context.Context) (to *time.Time, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	found, err := s.find(ctx, caller.Tenant)
	if err != nil || found.Target == nil {
		return nil, err
	}
	var targets []time.Time
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(`UPDATE sandbox_clocks
			SET leased_until = clock_timestamp() + make_interval(secs => ?)
			WHERE tenant = ? AND target IS NOT NULL AND (leased_until IS NULL OR leased_until < clock_timestamp())
			RETURNING target`, leased.Seconds(), caller.Tenant).Scan(ctx, &targets)
	})
	if err != nil || len(targets) == 0 {
		return nil, err
	}
	return &targets[0], nil
}

// Set moves the clock of the caller's bank on to a time.
// It is for the worker that has leased it.
func (s *Service) Set(ctx context.Context, to time.Time) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	ahead := (to.Sub(s.machine()) + time.Microsecond - 1).Truncate(time.Microsecond)
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE sandbox_clocks SET ahead = greatest(ahead, ?) WHERE tenant = ?`,
			ahead.Microseconds(), caller.Tenant).Exec(ctx)
		return err
	})
	if err == nil {
		s.show(caller.Tenant, ahead, time.Now())
	}
	return err
}

// Release gives the lease of the caller's clock back. One that has arrived stands no more under way.
func (s *Service) Release(ctx context.Context, arrivedAt *time.Time) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE sandbox_clocks SET leased_until = NULL,
			target = CASE WHEN target <= ? THEN NULL ELSE target END WHERE tenant = ?`, arrivedAt,
			caller.Tenant).Exec(ctx)
		return err
	})
}
