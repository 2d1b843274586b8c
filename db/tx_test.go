package db_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/db/dbtest/faults"
)

// single returns a database with one connection, on which faults can be injected.
func single(t *testing.T) (*db.DB, *faults.Line) {
	t.Helper()
	line := new(faults.Line)
	d, err := db.Open(dbtest.Shared(t), db.Options{Connections: 1, Connector: line.Connector})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, line
}

// adding adds a bank of this name.
func adding(name string) func(context.Context, bun.Tx) error {
	return func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`INSERT INTO tenants (code, name, zone, currency) VALUES (?, 'A bank', 'UTC', 'USD')`,
			name).Exec(ctx)
		return err
	}
}

// there reports whether the bank was added.
func there(t *testing.T, d *db.DB, name string) (is bool) {
	t.Helper()
	if err := d.NewRaw(`SELECT EXISTS (SELECT FROM tenants WHERE code = ?)`, name).Scan(context.Background(),
		&is); err != nil {
		t.Fatal(err)
	}
	return is
}

func TestOnlyALostCommitIsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	const begin, insert, commit = 1, 2, 3
	for name, c := range map[string]struct {
		at      int
		fault   faults.Fault
		unknown bool
		there   bool
		fine    bool
	}{
		"the answer to COMMIT is lost": {commit, faults.Fault{Cut: true, Ran: true}, true, true, false},
		"the server goes after COMMIT": {
			commit,
			faults.Fault{State: "57P01", Ran: true},
			true, true,
			false,
		},
		"the server goes before COMMIT":         {commit, faults.Fault{State: "57P01"}, true, false, false},
		"the connection breaks before COMMIT":   {commit, faults.Fault{Cut: true, Never: true}, true, false, false},
		"the disk is full at COMMIT":            {commit, faults.Fault{State: "53100"}, false, false, false},
		"a constraint refuses at COMMIT":        {commit, faults.Fault{State: "23503"}, false, false, false},
		"a race is lost at COMMIT":              {commit, faults.Fault{State: "40001"}, false, true, true},
		"the connection breaks at work":         {insert, faults.Fault{Cut: true}, false, false, false},
		"the connection turns out to be dead":   {begin, faults.Fault{Cut: true, Never: true}, false, true, true},
		"the server has no connections to give": {begin, faults.Fault{State: "53300"}, false, true, true},
		"a deadlock": {
			insert,
			faults.Fault{State: "40P01", Ran: true},
			false, true,
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, line := single(t)
			bank := rand.Text()
			line.Break(c.at, c.fault)
			err := d.InTx(t.Context(), 0, adding(bank))
			if errors.Is(err, db.ErrUnknownOutcome) != c.unknown || (err == nil) != c.fine || !line.Struck() {
				t.Error(err)
			}
			if there(t, d, bank) != c.there {
				t.Errorf("it is there: %v (%v)", !c.there, err)
			}
		})
	}
}

func TestAServerThatGoesWhileWorkIsDoneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	d, line := single(t)
	ran := 0
	line.Break(2, faults.Fault{Cut: true, Stays: true})
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		ran++
		return adding(rand.Text())(ctx, tx)
	})
	if ran != 1 || !db.IsUnavailable(err) {
		t.Errorf("it ran %d times: %v", ran, err)
	}
	began := len(line.Statements())
	if err := d.InTx(t.Context(), 0, adding(rand.Text())); !db.IsUnavailable(err) ||
		len(line.Statements()) != began+2 {
		t.Errorf("it begins %d times: %v", len(line.Statements())-began, err)
	}
}

func TestWhoGivesUpKnowsThatNothingWasDone(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	bank := rand.Text()
	ctx, cancel := context.WithCancel(t.Context())
	err := d.InTx(ctx, 0, func(ctx context.Context, tx bun.Tx) error {
		defer cancel()
		return adding(bank)(ctx, tx)
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, db.ErrUnknownOutcome) || there(t, d, bank) {
		t.Error(err)
	}
}

func TestAStatementThatFailedInSilenceCommitsNothing(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	bank := rand.Text()
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		if err := adding(bank)(ctx, tx); err != nil {
			return err
		}
		_, _ = tx.ExecContext(ctx, `SELECT 1/0`)
		return nil
	})
	if err == nil || errors.Is(err, db.ErrUnknownOutcome) || db.IsUnavailable(err) || there(t, d, bank) {
		t.Error(err)
	}
}

func TestALostRaceRunsAgainFiveTimes(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	ran := 0
	err := d.InTx(t.Context(), 0, func(context.Context, bun.Tx) error {
		ran++
		return &pgconn.PgError{Code: "40001"}
	})
	if ran != 6 || !db.IsRetryable(err) {
		t.Errorf("it ran %d times: %v", ran, err)
	}
}

func TestWhoGetsNoConnectionHearsItInTime(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	err := d.InTx(t.Context(), 0, func(context.Context, bun.Tx) error {
		began := time.Now()
		err := d.InTx(t.Context(), 0, adding(rand.Text())) // as another caller
		if took := time.Since(began); !errors.Is(err, db.ErrBusy) || !db.IsTimeout(err) ||
			took < 500*time.Millisecond || took > 5*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestATransactionInsideAnotherIsRefused(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	err := d.InTx(t.Context(), 0,
		func(ctx context.Context, _ bun.Tx) error { return d.InTx(ctx, 0, adding(rand.Text())) })
	if !errors.Is(err, db.ErrNested) {
		t.Error(err)
	}
}

func TestAPanicLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	bank := rand.Text()
	func() {
		defer func() { _ = recover() }()
		_ = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			if err := adding(bank)(ctx, tx); err != nil {
				t.Error(err)
			}
			panic("a defect")
		})
	}()
	if there(t, d, bank) {
		t.Error("it was committed")
	}
	// the one connection is free, and the name is too
	if err := d.InTx(t.Context(), 0, adding(bank)); err != nil {
		t.Error(err)
	}
}

func TestWhatIsLeftToTheEndGoesTogetherAndInOrder(t *testing.T) {
	t.Parallel()
	d, line := single(t)
	name := rand.Text()
	meter := new(db.Meter)
	err := d.InTx(db.WithMeter(t.Context(), meter), 0, func(ctx context.Context, tx bun.Tx) error {
		for i, one := range []string{"first; '?'", "second?"} {
			insert := tx.NewRaw(`INSERT INTO tenants (code, name, zone, currency)
				VALUES (?, ?, 'UTC', 'USD')`, name+strconv.Itoa(i), one)
			if err := db.AtCommit(ctx, tx, insert); err != nil {
				return err
			}
		}
		return adding(name)(ctx, tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := d.NewRaw(`SELECT name FROM tenants WHERE starts_with(code, ?) ORDER BY id`, name).Scan(t.Context(),
		&names); err != nil || !slices.Equal(names, []string{"A bank", "first; '?'", "second?"}) {
		t.Errorf("%q %v", names, err)
	}
	// BEGIN, the insert, both deferred statements with COMMIT, and the read
	if sent := line.Statements(); len(sent) != 4 || !faults.Commits(sent[2]) {
		t.Errorf("%q", sent)
	}
	if meter.Statements.Load() != 5 || meter.RoundTrips.Load() != 4 {
		t.Errorf("%d statements, %d round trips", meter.Statements.Load(), meter.RoundTrips.Load())
	}
}

// Statements deferred by a run that is rolled back are not sent with the next one, and one that fails at the
// end rolls everything back.
func TestWhatIsLeftToTheEndBelongsToItsRun(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	name, runs := rand.Text(), 0
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		runs++
		if err := db.AtCommit(ctx, tx,
			tx.NewRaw(`INSERT INTO tenants (code, name, zone, currency) VALUES (?, 'A bank', 'UTC', 'USD')`,
				name)); err != nil {
			return err
		}
		if runs == 1 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	})
	if err != nil || !there(t, d, name) || runs != 2 { // twice would be one too many
		t.Errorf("after %d runs: %v", runs, err)
	}
	lost := rand.Text()
	err = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		return errors.Join(adding(lost)(ctx, tx), db.AtCommit(ctx, tx, tx.NewRaw(`SELECT 1 / 0`)))
	})
	if err == nil || there(t, d, lost) {
		t.Errorf("what fails at the end: %v", err)
	}
}

// later leaves the adding of a bank to the end.
func later(ctx context.Context, tx bun.Tx, name string) error {
	return db.AtCommit(ctx, tx, tx.NewRaw(
		`INSERT INTO tenants (code, name, zone, currency) VALUES (?, 'A bank', 'UTC', 'USD')`, name))
}

func TestWhatIsSentAheadCommitsWithTheRestAndInOrder(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	name := rand.Text()
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		for i := range 3 {
			if err := later(ctx, tx, name+strconv.Itoa(i)); err != nil {
				return err
			}
			if err := db.SendAhead(ctx, tx); err != nil {
				return err
			}
		}
		if there(t, open(t, dbtest.Shared(t)), name+"0") {
			t.Error("it is seen before COMMIT")
		}
		return later(ctx, tx, name+"3")
	})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	if err := d.NewRaw(`SELECT right(code, 1) FROM tenants WHERE starts_with(code, ?) ORDER BY id`, name).
		Scan(t.Context(), &codes); err != nil || !slices.Equal(codes, []string{"0", "1", "2", "3"}) {
		t.Errorf("%q %v", codes, err)
	}
}

func TestWhatFailsAheadFailsTheTransaction(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(context.Context, bun.Tx) error{
		"and nothing follows":     func(context.Context, bun.Tx) error { return nil },
		"and a statement follows": adding(rand.Text()),
		"and the end follows": func(ctx context.Context, tx bun.Tx) error {
			return later(ctx, tx,
				rand.Text())
		},
		"and more is sent ahead":      db.SendAhead,
		"and the caller gives up":     func(context.Context, bun.Tx) error { return errors.New("given up") },
		"and the caller has a defect": func(context.Context, bun.Tx) error { panic("a defect") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := single(t)
			lost := rand.Text()
			var err error
			func() {
				defer func() {
					if panicked := recover(); panicked != nil {
						err = &pgconn.PgError{Code: "22012"}
					}
				}()
				err = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
					return errors.Join(later(ctx, tx, lost), db.AtCommit(ctx, tx, tx.NewRaw(`SELECT 1 / 0`)),
						db.SendAhead(ctx, tx), after(ctx, tx))
				})
			}()
			var refused *pgconn.PgError
			if !errors.As(err, &refused) || refused.Code != "22012" || there(t, d, lost) {
				t.Errorf("it ends with %v", err)
			}
			if err := d.InTx(t.Context(), 0, adding(lost)); err != nil { // the one connection is free
				t.Error(err)
			}
		})
	}
}

// What is sent ahead after a failure is refused for that alone, which is not why the transaction failed.
func TestWhatIsSentAheadAfterAFailureHidesNothing(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`SELECT 1 / 0`).Exec(ctx)
		return errors.Join(err, later(ctx, tx, rand.Text()), db.SendAhead(ctx, tx))
	})
	if refused, is := errors.AsType[*pgconn.PgError](err); !is || refused.Code != "22012" {
		t.Errorf("it ends with %v", err)
	}
}

func TestALostRaceAheadRunsAgain(t *testing.T) {
	t.Parallel()
	d, line := single(t)
	name, runs := rand.Text(), 0
	line.Break(2, faults.Fault{State: "40001"})
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		runs++
		return errors.Join(later(ctx, tx, name), db.SendAhead(ctx, tx))
	})
	if err != nil || runs != 2 || !there(t, d, name) {
		t.Errorf("after %d runs: %v", runs, err)
	}
}
