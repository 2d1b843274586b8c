package audit_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
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

// ordered are the entries of the seals by seq, and those of the entries in the order of commits.
func (b *bank) ordered() (sealed, committed []int64) {
	b.Helper()
	err := b.DB.NewRaw(`SELECT entry FROM audit_seals WHERE tenant = ? ORDER BY seq`, b.Tenant).Scan(context.Background(), &sealed)
	if err == nil {
		err = b.DB.NewRaw(`SELECT id FROM audit_entries WHERE tenant = ? ORDER BY tx, id`, b.Tenant).Scan(context.Background(), &committed)
	}
	if err != nil {
		b.Fatal(err)
	}
	return sealed, committed
}

// writers are twelve who write at once, in transactions that take their time and of which some are undone.
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
				if err != nil && !errors.Is(err, undone) && !db.IsUnavailable(err) { // it may have got a sealer's connection
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// Two sealers compete, and whatever they do is cut off at random: by the end of their context, and of their connection.
func TestTwelveWritersAndKilledSealersLeaveOneWholeChain(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
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
			// It may be told that its own connection, which a sealer had before, is gone.
			_, _ = owner.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO "audit_seals"%' AND state <> 'idle'`)
		}
	})
	b.writers(30)
	close(done)
	sealers.Wait()
	if sealed.Load() == 0 || cut.Load() == 0 {
		t.Errorf("%d were sealed beside the writers, %d times a sealer was cut off: the test shows nothing", sealed.Load(), cut.Load())
	}
	b.seal()
	seals, entries := b.ordered()
	if len(seals) != len(entries) || len(entries) < 300 {
		t.Fatalf("%d seals of %d entries", len(seals), len(entries))
	}
	for i := range seals {
		if seals[i] != entries[i] {
			t.Fatalf("place %d holds entry %d, want %d", i+1, seals[i], entries[i])
		}
	}
	if report := b.holds(); report.Last != int64(len(entries)) || report.Unsealed != 0 {
		t.Errorf("report = %+v", report)
	}
}

// An entry whose transaction runs keeps those after it waiting: their places are not known yet.
func TestEntriesWaitForTransactionsBeforeThem(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	caller, _ := access.Require(b.Staff())
	slow, err := b.Owner().BeginTx(context.Background(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Rollback()
	if err := audit.WriteTx(context.Background(), slow, entry(0).By(caller)); err != nil {
		t.Fatal(err)
	}
	b.write(3)
	if n, err := b.Audit.Seal(b.operator); err != nil || n != 0 {
		t.Errorf("%d were sealed before an earlier transaction had ended (%v)", n, err)
	}
	if err := slow.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := b.seal(); n != 4 {
		t.Errorf("%d of 4 were sealed", n)
	}
	b.holds()
}

func TestManyEntriesAreSealedInBatches(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	b.exec(`INSERT INTO audit_entries (tenant, client, entity, action, decision, object, uid)
		SELECT ?, 'staff', 1000000, 'addSignatory', 'done', 'signatory', n::text FROM generate_series(1, 2500) AS n`, b.Tenant)
	if n := b.seal(); n != 2500 {
		t.Errorf("sealed %d", n)
	}
	if n, err := b.Audit.Seal(b.operator); err != nil || n != 0 {
		t.Errorf("sealed %d again (%v)", n, err)
	}
	if report := b.holds(); report.First != 1 || report.Last != 2500 {
		t.Errorf("report = %+v", report)
	}
}

func TestTailsSayWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	b := of(t, coretest.Alone(t))
	tails := func() audit.Tail {
		t.Helper()
		all, err := b.Audit.Tails(b.operator)
		if err != nil || len(all) > 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		if len(all) == 0 {
			return audit.Tail{}
		}
		return all[0]
	}
	if tail := tails(); tail != (audit.Tail{}) {
		t.Errorf("a bank without entries: %+v", tail)
	}
	b.write(2)
	b.exec(`UPDATE audit_entries SET at = at - interval '7 seconds' WHERE tenant = ?`, b.Tenant)
	if tail := tails(); tail.Tenant != b.Tenant || tail.Code != b.Code || tail.Waiting < 7 || tail.Waiting > 60 || tail.Unsaid {
		t.Errorf("before sealing: %+v", tail)
	}
	b.seal()
	if tail := tails(); tail.Waiting != 0 || !tail.Unsaid {
		t.Errorf("before the first checkpoint: %+v", tail)
	}
	if err := b.sign(); err != nil {
		t.Fatal(err)
	}
	b.write(1)
	b.seal()
	if tail := tails(); tail != (audit.Tail{}) {
		t.Errorf("a checkpoint within the minute: %+v", tail)
	}
	b.exec(`UPDATE audit_checkpoints SET at = at - interval '1 minute' WHERE tenant = ?`, b.Tenant)
	if tail := tails(); !tail.Unsaid {
		t.Errorf("a minute later: %+v", tail)
	}
}

func TestSealingIsForOperators(t *testing.T) {
	t.Parallel()
	b := newBank(t)
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
