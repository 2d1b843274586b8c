package audit_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/db"
)

// numbers returns the sealed entries in order of their numbers, and all entries by id.
func (b *bank) numbers() (sealed, written []int64) {
	b.Helper()
	err := b.DB.NewRaw(`SELECT entry FROM audit_seals WHERE tenant = ? ORDER BY seq`, b.Tenant).
		Scan(context.Background(), &sealed)
	if err == nil {
		err = b.DB.NewRaw(`SELECT id FROM audit_entries WHERE tenant = ? ORDER BY id`, b.Tenant).
			Scan(context.Background(), &written)
	}
	if err != nil {
		b.Fatal(err)
	}
	return sealed, written
}

// writers runs twelve concurrent writers, with slow transactions, some of which are rolled back.
func (b *bank) writers(each int) {
	caller, err := access.Require(b.Staff())
	if err != nil {
		b.Fatal(err)
	}
	undone := errors.New("undone")
	var all sync.WaitGroup
	for writer := range 12 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(writer)))
			for n := range each {
				err := b.DB.InTx(context.Background(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
					for range 1 + dice.IntN(3) {
						if err := audit.WriteTx(ctx, tx, entry(writer*1000+n).By(caller)); err != nil {
							return err
						}
						time.Sleep(time.Duration(dice.IntN(4)) * time.Millisecond)
					}
					if dice.IntN(8) == 0 {
						return undone
					}
					return nil
				})
				// it may have got a connection that a sealer's end has cut
				if err != nil && !errors.Is(err, undone) && !db.IsUnavailable(err) {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Two sealers compete, and are cut off at random, by the end of their context or of their connection.
func TestTwelveWritersAndKilledSealersLeaveOneWholeChain(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t)) // connections are cut
	done := make(chan struct{})
	var sealers sync.WaitGroup
	var cut, sealed atomic.Int64
	for range 2 {
		sealers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(b.operator, time.Duration(200<<rand.IntN(12))*time.Microsecond)
				n, err := b.Audit.Seal(ctx)
				cancel()
				sealed.Add(int64(n))
				if err != nil {
					cut.Add(1)
				}
			}
		})
	}
	owner := b.Owner()
	sealers.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			// This may fail on a cut connection, which a sealer had before.
			_, _ = owner.Exec(
				`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
					AND query LIKE 'INSERT INTO "audit_seals"%' AND state <> 'idle'`)
		}
	})
	b.writers(30)
	close(done)
	sealers.Wait()
	if sealed.Load() == 0 || cut.Load() == 0 {
		t.Errorf("%d were sealed beside the writers, %d times a sealer was cut off: the test shows nothing",
			sealed.Load(), cut.Load())
	}
	b.seal()
	seals, entries := b.numbers()
	slices.Sort(seals)
	if !slices.Equal(seals, entries) || len(entries) < 300 {
		t.Fatalf("%d seals of %d entries, or not of the same", len(seals), len(entries))
	}
	if report := b.holds(); report.Last != int64(len(entries)) || report.Unsealed != 0 {
		t.Errorf("report = %+v", report)
	}
}

// An entry whose transaction still runs does not hold up others; it gets a later number.
func TestEntriesThatCommitLateGetALaterNumber(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	caller, _ := access.Require(b.Staff())
	slow, err := b.Owner().BeginTx(context.Background(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback()
	if err := db.Act(t.Context(), slow, int64(b.Tenant)); err != nil {
		t.Fatal(err)
	}
	if err := audit.WriteTx(context.Background(), slow, entry(0).By(caller)); err != nil {
		t.Fatal(err)
	}
	b.write(3)
	if n := b.seal(); n != 3 {
		t.Errorf("%d of 3 were sealed beside a transaction that runs", n)
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := b.seal(); n != 1 {
		t.Errorf("%d of 1 were sealed", n)
	}
	if seals, entries := b.numbers(); len(seals) != 4 || seals[3] != entries[0] {
		t.Errorf("sealed %v of %v: the first one that was written should come last", seals, entries)
	}
	b.holds()
}

func TestManyEntriesAreSealedInBatches(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.insert(2500)
	if n := b.seal(); n != 2500 {
		t.Errorf("sealed %d", n)
	}
	if n := b.seal(); n != 0 {
		t.Errorf("sealed %d again", n)
	}
	if report := b.holds(); report.First != 1 || report.Last != 2500 {
		t.Errorf("report = %+v", report)
	}
}

// A program of the previous release writes entries that do not wait, and may seal one that does.
func TestEntriesThatNobodySealsAreFound(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.write(2)
	b.exec(`DELETE FROM audit_unsealed WHERE tenant = ?`, b.Tenant)
	if n := b.seal(); n != 0 {
		t.Errorf("sealed %d that do not wait", n)
	}
	b.exec(`UPDATE audit_entries SET at = at - interval '2 hours' WHERE tenant = ? AND uid = '0'`, b.Tenant)
	for _, one := range []struct {
		within time.Duration
		found  int
	}{{time.Hour, 1}, {time.Hour, 0}, {3 * time.Hour, 1}, {3 * time.Hour, 0}} {
		if found, err := b.Audit.Sweep(b.operator, one.within); err != nil || found != one.found {
			t.Errorf("within %s: found %d, want %d (%v)", one.within, found, one.found, err)
		}
	}
	if n := b.seal(); n != 2 {
		t.Errorf("sealed %d", n)
	}
	b.exec(`INSERT INTO audit_unsealed (tenant, entry) SELECT tenant, entry
		FROM audit_seals WHERE tenant = ?`, b.Tenant)
	b.write(1)
	if n := b.seal(); n != 3 {
		t.Errorf("took %d from the list", n)
	}
	if report := b.holds(); report.Last != 3 || report.Unsealed != 0 {
		t.Errorf("report = %+v", report)
	}
}

func TestTailSaysWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	tail := func() audit.Tail {
		t.Helper()
		tail, err := b.Audit.Tail(b.operator)
		if err != nil {
			t.Fatal(err)
		}
		return tail
	}
	if tail := tail(); tail != (audit.Tail{}) {
		t.Errorf("a bank without entries: %+v", tail)
	}
	b.write(2)
	b.exec(`UPDATE audit_entries SET at = at - interval '7 seconds' WHERE tenant = ?`, b.Tenant)
	if tail := tail(); tail.Unsealed != 2 || tail.Waiting < 7 || tail.Waiting > 60 || tail.Unsigned {
		t.Errorf("before sealing: %+v", tail)
	}
	b.seal()
	if tail := tail(); tail.Unsealed != 0 || tail.Waiting != 0 || !tail.Unsigned {
		t.Errorf("before the first checkpoint: %+v", tail)
	}
	if err := b.sign(); err != nil {
		t.Fatal(err)
	}
	b.write(1)
	b.seal()
	if tail := tail(); tail != (audit.Tail{}) {
		t.Errorf("a checkpoint within the minute: %+v", tail)
	}
	b.exec(`UPDATE audit_checkpoints SET at = at - interval '1 minute' WHERE tenant = ?`, b.Tenant)
	if tail := tail(); !tail.Unsigned {
		t.Errorf("a minute later: %+v", tail)
	}
	b.exec(`UPDATE audit_checkpoints SET at = at + interval '1 hour' WHERE tenant = ?`, b.Tenant)
	if tail := tail(); !tail.Unsigned {
		t.Errorf("after the clock, which was an hour ahead, was set right: %+v", tail)
	}
	other := newBank(t)
	other.write(1)
	if tail := tail(); tail.Unsealed != 0 {
		t.Errorf("another bank's entries wait here: %+v", tail)
	}
}

func TestSealingIsForOperators(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	if _, err := b.Audit.Sweep(b.Staff(), time.Hour); !errors.Is(err, access.ErrDenied) {
		t.Errorf("sweep: %v", err)
	}
	if _, err := b.Audit.Tail(b.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("tail: %v", err)
	}
	if _, err := b.Audit.Resume(b.Staff(), b.Clients.Sign, b.keep, audit.KeptPlace{},
		"why"); !errors.Is(err, access.ErrDenied) {
		t.Errorf("resume: %v", err)
	}
	if _, err := b.Audit.Seal(b.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("seal: %v", err)
	}
	if err := b.Audit.Sign(b.Staff(), b.Clients.Sign, b.keep); !errors.Is(err, access.ErrDenied) {
		t.Errorf("sign: %v", err)
	}
	if _, err := b.Audit.Chain(b.Staff(), time.Time{}, nil, nil); !errors.Is(err, access.ErrDenied) {
		t.Errorf("chain: %v", err)
	}
}
