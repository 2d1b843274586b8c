package core_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/db"
	"bankgraph/db/cluster"
	"bankgraph/db/dbtest"
)

// followed is a bank with a replica, served by two processes.
type followed struct {
	*coretest.Bank
	beside  *core.Core // the second process
	server  *dbtest.Server
	replica *cluster.Cluster
}

const testLag = 8 * time.Second

func follow(t *testing.T) *followed {
	t.Helper()
	f := &followed{server: dbtest.OwnServer(t, dbtest.Streaming)}
	f.replica = f.server.Replica()
	options := db.Options{
		Connections: 4, ReadURL: cluster.ServiceURL(f.replica.URL()), ReadLag: testLag, Caller: access.Writer,
	}
	f.Bank = coretest.On(t, f.server.Owner, f.server.Service, options)
	officer(f.Bank)
	beside, err := db.Open(f.server.Service, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = beside.Close() })
	f.beside = core.New(core.Options{DB: beside, Keys: f.Keys, Now: f.Clock.Now})
	f.used(t, true)
	return f
}

// used waits until both processes read from the replica, or, if not wanted, neither does.
func (f *followed) used(t *testing.T, want bool) {
	t.Helper()
	for _, d := range []*db.DB{f.DB, f.beside.DB} {
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if state, _ := d.Replica(); state.Used == want {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the replica is used: want %v", want)
			}
		}
	}
}

// at runs a statement on the replica as its superuser.
func (f *followed) at(t *testing.T, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.replica.URL())
	if err == nil {
		defer conn.Close(context.Background())
		_, err = conn.Exec(t.Context(), statement)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// has waits until the replica itself has a customer.
func (f *followed) has(t *testing.T, uid customers.UID) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.replica.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	end := time.Now().Add(time.Minute)
	for has := false; !has; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what was written does not reach the replica")
		}
		if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM customers WHERE uid = $1)`, uid).
			Scan(&has); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *followed) create(t *testing.T, name string) customers.UID {
	t.Helper()
	out, err := f.Customers.Create(f.Staff(), newcomer(name), with(name))
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.UID
}

// sees reports whether a caller finds the customer in this process, by its UID and in lists.
func sees(ctx context.Context, t *testing.T, c *core.Core, uid customers.UID) bool {
	t.Helper()
	b := c.Batch()
	found := c.Customers.FindMany(ctx, b, []customers.UID{uid}, db.Columns{})
	counted := c.Customers.Count(ctx, b, customers.Search{})
	if err := errors.Join(b.Send(ctx), found.Err, counted.Err); err != nil {
		t.Fatal(err)
	}
	return len(found.Of[uid]) == 1
}

func TestCallersSeeWhatTheyWroteThoughTheReplicaIsPaused(t *testing.T) {
	t.Parallel()
	f := follow(t)
	before := f.create(t, "before")
	for end := time.Now().
		Add(30 * time.Second); !sees(f.Checker(), t, f.beside, before); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what was written does not reach the replica")
		}
	}
	f.at(t, `SELECT pg_wal_replay_pause()`)
	after := f.create(t, "after")
	for _, process := range []*core.Core{f.Core, f.beside} {
		if !sees(f.Staff(), t, process, after) {
			t.Error("no such customer, says the bank to who has just made it")
		}
	}
	if sees(f.Checker(), t, f.beside, after) {
		t.Error("the replica is not read from: this test shows nothing")
	}
	f.used(t, false) // the lag exceeds its bound
	if !sees(f.Checker(), t, f.beside, after) {
		t.Error("others wait for longer than the lag that is allowed")
	}
	f.at(t, `SELECT pg_wal_replay_resume()`)
	f.used(t, true)
	if reads := f.reads(); !sees(f.Staff(), t, f.beside, after) || !sees(f.Checker(), t, f.beside, after) ||
		f.reads() < reads+2 {
		t.Error("a replica that has caught up is not read from")
	}
}

// reads returns how many batches of the second process the replica has answered.
func (f *followed) reads() int64 {
	state, _ := f.beside.DB.Replica()
	return state.Reads
}

// A reader keeps the cursor of what it has read: an event that the replica lacks at the time would never come.
func TestTheFeedLosesNoEventWhileTheReplicaIsBehind(t *testing.T) {
	t.Parallel()
	f := follow(t)
	pay := transferFunds(f.Bank, f.Customer(), "10.00", 0)
	f.used(t, true)
	f.at(t, `SELECT pg_wal_replay_pause()`)
	if _, err := pay(f.Staff(), "key"); err != nil {
		t.Fatal(err)
	}
	sealRecord(f.Bank)
	reader := f.Checker() // has written nothing
	had, err := f.Webhooks.Feed(reader, "", 200)
	if err != nil {
		t.Fatal(err)
	}
	f.at(t, `SELECT pg_wal_replay_resume()`)
	rest, err := f.Webhooks.Feed(reader, had.Cursor, 200)
	if err != nil || len(had.Events) == 0 || len(rest.Events) != 0 {
		t.Errorf("the payment has %d events at once, and %d later (%v)", len(had.Events), len(rest.Events), err)
	}
}

func TestADeadReplicaCostsNobodyAnAnswer(t *testing.T) {
	t.Parallel()
	f := follow(t)
	made := f.create(t, "made")
	failed := make(chan error, 8)
	ctx, cancel := context.WithCancel(t.Context())
	for range cap(failed) {
		go func() { failed <- keepAsking(ctx, f, made) }()
	}
	if err := f.replica.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.used(t, false)
	if err := f.beside.DB.Ready(t.Context()); err != nil {
		t.Errorf("writes go out of the balancer: %v", err)
	}
	if f.create(t, "meanwhile"); !sees(f.Staff(), t, f.beside, made) {
		t.Error("the database does not answer for the replica")
	}
	f.replica = f.server.Replica()
	f.used(t, true)
	cancel()
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Errorf("a read failed while the replica went or came back: %v", err)
		}
	}
}

// keepAsking reads until the context ends.
func keepAsking(ctx context.Context, f *followed, uid customers.UID) error {
	for ctx.Err() == nil {
		b := f.beside.Batch()
		found := f.beside.Customers.FindMany(f.Staff(), b, []customers.UID{uid}, db.Columns{})
		if err := b.Send(f.Staff()); err != nil || len(found.Of) != 1 {
			return errors.Join(err, errors.New("not found"))
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// A promoted server, which takes writes, is no longer a replica.
func TestWhatIsNoReplicaIsNotReadFrom(t *testing.T) {
	t.Parallel()
	f := follow(t)
	f.at(t, `SELECT pg_promote()`)
	f.used(t, false)
	other := coretest.On(t, f.server.Owner, f.server.Service,
		db.Options{ReadURL: dbtest.URL(t), Caller: access.Writer})
	c := other.Customer()
	if !sees(other.Staff(), t, other.Core, c.UID) {
		t.Error("a customer is looked for elsewhere")
	}
	if state, _ := other.DB.Replica(); state.Used {
		t.Error("another database is read from")
	}
}

// A database that was recovered to a point in time keeps the number of its cluster, whether it begins a new
// timeline or not. Its former replica has what the recovery has undone.
func TestTheFormerReplicaOfARecoveredDatabaseIsNotReadFrom(t *testing.T) {
	t.Parallel()
	for why, recovers := range map[string]func(t *testing.T, of cluster.Options) *cluster.Cluster{
		"timeline": func(t *testing.T, of cluster.Options) *cluster.Cluster {
			t.Helper()
			recovered, err := cluster.Start(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := pgx.Connect(t.Context(), recovered.URL())
			if err == nil {
				defer conn.Close(t.Context())
				_, err = conn.Exec(t.Context(), `SELECT pg_promote()`)
			}
			if err != nil {
				t.Fatal(err)
			}
			return recovered
		},
		"ahead": func(t *testing.T, of cluster.Options) *cluster.Cluster {
			t.Helper()
			if err := os.Remove(filepath.Join(of.Data, "postgresql", "pgdata", "standby.signal")); err != nil {
				t.Fatal(err)
			}
			recovered, err := cluster.Start(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			return recovered
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			f := follow(t)
			of := f.server.Backup()
			// further on in the log than the backup comes by its start
			conn, err := pgx.Connect(t.Context(), f.server.Cluster.URL())
			if err == nil {
				defer conn.Close(context.Background())
				_, err = conn.Exec(t.Context(), `SELECT pg_switch_wal()`)
			}
			if err != nil {
				t.Fatal(err)
			}
			undone, checker := f.create(t, "undone"), f.Checker()
			f.has(t, undone)
			if err := f.server.Cluster.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			recovered := recovers(t, of)
			t.Cleanup(func() { _ = recovered.Stop(context.Background()) })
			d, err := db.Open(cluster.ServiceURL(recovered.URL()), db.Options{
				Connections: 4, ReadURL: cluster.ServiceURL(f.replica.URL()), ReadLag: testLag, Caller: access.Writer,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			c := core.New(core.Options{DB: d, Keys: f.Keys, Now: f.Clock.Now})
			for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
				state, _ := d.Replica()
				if state.Used || sees(checker, t, c, undone) {
					t.Fatalf("%+v: read from", state)
				}
				if state.Why != nil && strings.Contains(state.Why.Error(), why) {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%+v, want %q", state, why)
				}
			}
		})
	}
}
