package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/events"
	"bankgraph/core/fault"
)

// consumer reads the feed with a cursor that it stores as text, and is sometimes killed before it stores it.
type consumer struct {
	testing.TB
	bank   *coretest.Bank
	stored string
	seen   map[int64]bool
	last   map[string]int32 // by object: the version of its last event
}

// record writes an event with an audit entry of its own.
func record(ctx context.Context, tx bun.IDB, event events.Event) error {
	entry := audit.Entry{
		Tenant: event.Tenant, Client: "test", Entity: 1, Action: event.Kind, Decision: audit.Done,
		Object: event.Object, UID: event.UID,
	}
	return events.RecordTx(ctx, tx, entry, event)
}

func (c *consumer) read(dice *rand.Rand) (read int) {
	c.Helper()
	place, err := events.ParseCursor(c.stored)
	if err != nil {
		c.Fatal(err)
	}
	found, err := c.bank.Events.After(access.Operator(context.Background(), c.bank.Tenant, c.bank.Code, nil),
		place, 1+dice.IntN(20))
	if err != nil {
		c.Fatal(err)
	}
	for _, event := range found {
		if !c.seen[event.ID] && event.Version != c.last[event.UID]+1 {
			c.Errorf("object %s: version %d after %d", event.UID, event.Version, c.last[event.UID])
		}
		if !c.seen[event.ID] {
			c.last[event.UID] = event.Version
		}
		c.seen[event.ID] = true
		if dice.IntN(10) > 0 { // else it is killed before it stores the cursor
			c.stored = event.Cursor.String()
			continue
		}
		break
	}
	return len(found)
}

// Twelve writers change eight objects. Each has a transaction number before it waits for the object's row, as
// with an idempotency key.
func TestTwelveWritersNoEventMissedAndEachObjectInOrder(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t)
	const objects, writers, each = 8, 12, 40
	owner := bank.Owner()
	for _, statement := range []string{
		"CREATE TABLE objects (uid int PRIMARY KEY, version int NOT NULL)",
		fmt.Sprintf("INSERT INTO objects SELECT n, 0 FROM generate_series(1, %d) AS n", objects),
		"GRANT ALL ON objects TO PUBLIC",
	} {
		if _, err := owner.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(3, uint64(writer)))
			for range each {
				uid := 1 + dice.IntN(objects)
				err := bank.DB.InTx(context.Background(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
					if _, err := tx.ExecContext(ctx, "SELECT pg_current_xact_id()"); err != nil {
						return err
					}
					time.Sleep(time.Duration(dice.IntN(5)) * time.Millisecond)
					var version int32
					if err := tx.NewRaw("UPDATE objects SET version = version + 1 WHERE uid = ? "+
						"RETURNING version", uid).
						Scan(ctx, &version); err != nil {
						return err
					}
					time.Sleep(time.Duration(dice.IntN(3)) * time.Millisecond)
					return record(ctx, tx,
						events.Event{
							Tenant: bank.Tenant, Kind: "changeObject", Object: "object", UID: fmt.Sprint(uid), Version: version,
						})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	operator := access.Operator(context.Background(), bank.Tenant, bank.Code, nil)
	dice := rand.New(rand.NewPCG(4, 4))
	c := &consumer{TB: t, bank: bank, seen: map[int64]bool{}, last: map[string]int32{}}
	for deadline := time.Now().
		Add(60 * time.Second); len(c.seen) < writers*each && time.Now().Before(deadline) && !t.Failed(); {
		if c.read(dice) == 0 {
			if _, err := bank.Audit.Seal(operator); err != nil {
				t.Fatal(err)
			}
		}
	}
	<-done
	if len(c.seen) != writers*each {
		t.Errorf("%d of %d events were seen", len(c.seen), writers*each)
	}
}

func TestEventsOfAnotherBankAreNotInTheFeed(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	other := bank.Other()
	for _, b := range []*coretest.Bank{bank, other} {
		err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			customer := int64(b.Self.UID)
			return record(ctx, tx,
				events.Event{
					Tenant: b.Tenant, Kind: "addSignatory", Object: "signatory", UID: "7", Customer: &customer, Version: 3,
				})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	operator := access.Operator(t.Context(), bank.Tenant, bank.Code, nil)
	if found, err := bank.Events.After(operator, events.Cursor{}, 10); err != nil || len(found) != 0 {
		t.Errorf("an event without a number is in the feed: %+v, %v", found, err)
	}
	if _, err := bank.Audit.Seal(operator); err != nil {
		t.Fatal(err)
	}
	found, err := bank.Events.After(operator, events.Cursor{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Tenant != bank.Tenant || found[0].Kind != "addSignatory" ||
		found[0].UID != "7" || *found[0].Customer != int64(bank.Self.UID) || found[0].Version != 3 ||
		found[0].At.IsZero() {
		t.Fatalf("feed = %+v", found)
	}
	if rest, err := bank.Events.After(operator, found[0].Cursor, 10); err != nil || len(rest) != 0 {
		t.Errorf("after the last: %+v, %v", rest, err)
	}
	if _, err := bank.Events.After(bank.Staff(), events.Cursor{}, 10); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by staff: %v", err)
	}
	for _, limit := range []int{0, events.Most + 1} {
		if _, err := bank.Events.After(operator, events.Cursor{}, limit); !invalid(err) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func invalid(err error) bool {
	f, ok := fault.Of(err)
	return ok && f.Kind == fault.Invalid
}

func TestCursorsHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"0.0", "12.7", "9223372036854775807.9223372036854775807"} {
		if c, err := events.ParseCursor(good); err != nil || c.String() != good {
			t.Errorf("%s: %v, %v", good, c, err)
		}
	}
	if c, err := events.ParseCursor(""); err != nil || c != (events.Cursor{}) {
		t.Errorf("the beginning: %v, %v", c, err)
	}
	for _, bad := range []string{
		"1", "1.", ".1", "01.1", "1.-1", "1.1.1", "a.b", " 1.1",
		"9223372036854775808.1",
	} {
		if c, err := events.ParseCursor(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
}

// A reader of the feed keeps its cursor when the bank is restored. It gets everything that happens from then
// on, and nothing twice that both databases have.
func TestCursorsOutliveARestore(t *testing.T) {
	t.Parallel()
	lost := coretest.Alone(t)
	happen := func(bank *coretest.Bank, kind string, times int) {
		t.Helper()
		operator := access.Operator(t.Context(), bank.Tenant, bank.Code, nil)
		for range times {
			err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
				return record(ctx, tx, events.Event{Tenant: bank.Tenant, Kind: kind, Object: "object", UID: "1"})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := bank.Audit.Seal(operator); err != nil {
			t.Fatal(err)
		}
		if err := bank.Audit.Sign(operator, bank.Clients.Sign, func(audit.Line) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	read := func(bank *coretest.Bank, from events.Cursor) (kinds []string, to events.Cursor) {
		t.Helper()
		found, err := bank.Events.After(access.Operator(t.Context(), bank.Tenant, bank.Code, nil), from,
			events.Most)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range found {
			kinds, from = append(kinds, event.Kind), event.Cursor
		}
		return kinds, from
	}
	happen(lost, "before", 3)
	_, early := read(lost, events.Cursor{})
	restored := lost.Restored()
	happen(lost, "lost", 4)
	_, late := read(lost, early)
	operator := access.Operator(t.Context(), restored.Tenant, restored.Code, nil)
	if _, err := restored.Events.After(operator, late, 10); !errors.Is(err, events.ErrAhead) {
		t.Errorf("before the restore is noted: %v", err)
	}
	if _, err := restored.Audit.Resume(operator, restored.Clients.Sign, func(audit.Line) error { return nil },
		audit.KeptPlace{}, ""); err != nil {
		t.Fatal(err)
	}
	happen(restored, "after", 9) // more than were lost
	for name, cursor := range map[string]events.Cursor{"behind what was lost": late, "at the backup": early} {
		if kinds, _ := read(restored, cursor); len(kinds) != 9 || slices.Contains(kinds, "before") {
			t.Errorf("%s: %v", name, kinds)
		}
	}
	_, end := read(restored, late)
	happen(restored, "next", 1)
	if kinds, _ := read(restored, end); len(kinds) != 1 || kinds[0] != "next" {
		t.Errorf("with a cursor of the restored bank: %v", kinds)
	}
	if _, err := lost.Events.After(access.Operator(t.Context(), lost.Tenant, lost.Code, nil), end,
		10); !errors.Is(err, events.ErrAhead) {
		t.Errorf("a cursor of a later epoch: %v", err)
	}
}

func TestOldEventsAreRemovedAndTheFeedSaysSo(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	operator := access.Operator(t.Context(), bank.Tenant, bank.Code, nil)
	for range 5 {
		err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
			return record(ctx, tx, events.Event{Tenant: bank.Tenant, Kind: "changeObject", Object: "object", UID: "1"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	old := func(ids int) {
		bank.Exec(`UPDATE events SET at = at - interval '100 days'
			WHERE tenant = ? AND id IN (SELECT id FROM events WHERE tenant = ? ORDER BY id LIMIT ?)`,
			bank.Tenant, bank.Tenant, ids)
	}
	old(2)
	if n, err := bank.Events.Purge(operator, 90*24*time.Hour); err != nil || n != 0 {
		t.Errorf("%d were removed that nobody can have read (%v)", n, err)
	}
	if _, err := bank.Audit.Seal(operator); err != nil {
		t.Fatal(err)
	}
	all, err := bank.Events.After(operator, events.Cursor{}, 10)
	if err != nil || len(all) != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, want := range []int{2, 0} {
		if n, err := bank.Events.Purge(operator, 90*24*time.Hour); err != nil || n != want {
			t.Errorf("%d were removed, want %d (%v)", n, want, err)
		}
	}
	if _, err := bank.Events.After(operator, all[0].Cursor, 10); !errors.Is(err, events.ErrPurged) {
		t.Errorf("a cursor before what was removed: %v", err)
	}
	for _, cursor := range []events.Cursor{{}, all[1].Cursor} {
		if left, err := bank.Events.After(operator, cursor, 10); err != nil || len(left) != 3 {
			t.Errorf("after %s: %+v, %v", cursor, left, err)
		}
	}
	if _, err := bank.Events.Purge(bank.Staff(), time.Hour); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by staff: %v", err)
	}
}
