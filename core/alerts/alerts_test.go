package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
)

// watched is a bank with an account that has 1,000.00, of a partner's customer.
type watched struct {
	*coretest.Bank
	t             *testing.T
	partner, own  *customers.Customer
	account       *accounts.Account
	operator      context.Context
	ledger, holds int64
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{Bank: coretest.New(t), t: t, ledger: 1_000_00}
	w.partner = w.DownstreamPartner()
	w.own = w.Customer(coretest.OwnedBy(w.partner))
	w.account = w.Account(w.own)
	w.operator = access.Operator(t.Context(), w.Tenant, w.Code, coretest.Zone())
	return w
}

// has sets what is booked and held on the account.
func (w *watched) has(ledger, held int64) {
	w.ledger, w.holds = ledger, held
	w.Exec(`UPDATE balances SET ledger = ?, held = ?, forced = true WHERE tenant = ? AND account = ?`,
		ledger, held, w.Tenant, w.account.UID)
}

func (w *watched) fire() int {
	w.t.Helper()
	n, err := w.Alerts.Fire(w.operator)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// told counts the events that tell of the account's alerts, and their entries in the record.
func (w *watched) told() (n int) {
	w.t.Helper()
	var entries int
	err := w.DB.NewRaw(`SELECT (SELECT count(*) FROM events WHERE tenant = ?0 AND kind = 'balanceAlert'
		AND object = 'account' AND uid = ?1),
		(SELECT count(*) FROM audit_entries WHERE tenant = ?0 AND action = 'fireBalanceAlert'
		AND object = 'balanceAlert')`, w.Tenant, w.account.UID.String()).Scan(w.t.Context(), &n, &entries)
	if err != nil || n != entries {
		w.t.Fatal(n, entries, err)
	}
	return n
}

func (w *watched) find(as context.Context, uid alerts.UID) *alerts.Alert {
	w.t.Helper()
	b := w.PrimaryBatch()
	found := w.Alerts.FindMany(as, b, []alerts.UID{uid}, db.Columns{})
	if err := b.Send(w.t.Context()); err != nil || found.Err != nil {
		w.t.Fatal(err, found.Err)
	}
	if len(found.Of[uid]) == 0 {
		return nil
	}
	return found.Of[uid][0]
}

func (w *watched) create(
	as context.Context, balance alerts.Balance, direction alerts.Direction, threshold string,
) (alerts.UID, error) {
	out, err := w.Alerts.Create(as, alerts.Draft{
		Account: w.account.UID, Balance: balance, Direction: direction, Threshold: threshold,
	}, changes.RequestOptions{})
	return out.Result.UID, err
}

func TestAnAlertFiresOnceForEachCrossing(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	uid, err := w.create(w.Partner(w.partner), alerts.Available, alerts.Below, "500.00")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		ledger, held int64
		told         int // so far
		armed        bool
	}{
		{1_000_00, 0, 0, true},
		{500_00, 0, 0, true},         // at the threshold it has not crossed
		{499_99, 0, 1, false},        // it has
		{100_00, 0, 1, false},        // it tells once
		{499_99, 0, 1, false},        //
		{500_00, 0, 1, true},         // back
		{1_000_00, 500_01, 2, false}, // what is held is not available
		{1_000_00, 0, 2, true},
	} {
		w.has(step.ledger, step.held)
		w.fire()
		w.fire()
		a := w.find(w.Staff(), uid)
		if told := w.told(); told != step.told || a.Armed != step.armed {
			t.Errorf("%+v: told %d times, armed %t", step, told, a.Armed)
		}
	}
	a := w.find(w.Staff(), uid)
	if a.FiredAt == nil || a.Fired().String() != "499.99" || a.Version != 1 {
		t.Errorf("%+v, fired at %s", a, a.Fired())
	}
	var entry, event string
	err = w.DB.NewRaw(`SELECT e.after::text, v.version::text || ' ' || v.customer FROM audit_entries AS e
		JOIN events AS v ON v.tenant = e.tenant AND v.entry = e.id
		WHERE e.tenant = ? AND e.action = 'fireBalanceAlert' AND e.uid = ? ORDER BY e.id DESC LIMIT 1`,
		w.Tenant, uid.String()).Scan(t.Context(), &entry, &event)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(entry), &said); err != nil || said["threshold"] != "500.00" ||
		said["firedBalance"] != "499.99" ||
		said["direction"] != "BELOW" || event != fmt.Sprintf("1 %s", w.own.UID) {
		t.Errorf("%s; %s %v", entry, event, err)
	}
}

// For a random walk of the balance, an alert fires exactly when the balance crosses the threshold in its
// direction, having been on the other side since.
func TestAlertsFireExactlyAtCrossings(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	kinds := map[alerts.UID]func(ledger, held int64) bool{}
	for _, direction := range alerts.Directions {
		for _, balance := range alerts.Balances {
			uid, err := w.create(w.Staff(), balance, direction, "1000")
			if err != nil {
				t.Fatal(err)
			}
			kinds[uid] = func(ledger, held int64) bool {
				if balance == alerts.Available {
					ledger -= held
				}
				if direction == alerts.Below {
					return ledger < 1_000_00
				}
				return ledger > 1_000_00
			}
		}
	}
	seed := rand.Uint64()
	random, want, there := rand.New(rand.NewPCG(seed, 1)), 0, map[alerts.UID]bool{}
	for step := range 150 {
		w.has(1_000_00+random.Int64N(5)-2, random.Int64N(3))
		for uid, beyond := range kinds {
			if now := beyond(w.ledger, w.holds); now != there[uid] {
				if there[uid] = now; now {
					want++
				}
			}
		}
		w.fire()
		if told := w.told(); told != want {
			t.Fatalf("seed %d, step %d: told %d times, want %d", seed, step, told, want)
		}
	}
	if want < 50 {
		t.Errorf("only %d crossings", want)
	}
}

// What is beyond the threshold when the alert is made, changed or approved is known: it is armed once the
// balance has come back.
func TestAnAlertIsNotArmedWhereTheBalanceIsBeyondAlready(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	uid, err := w.create(w.Staff(), alerts.Ledger, alerts.Above, "999.99")
	if err != nil {
		t.Fatal(err)
	}
	if w.fire() != 0 || w.find(w.Staff(), uid).Armed {
		t.Error("it is armed")
	}
	w.has(999_99, 0)
	w.fire()
	w.has(1_000_00, 0)
	w.fire()
	if w.told() != 1 {
		t.Error(w.told())
	}
	change := func(d alerts.Draft) {
		t.Helper()
		if _, err := w.Alerts.Change(w.Staff(), uid, d, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	change(alerts.Draft{Threshold: "1000"})
	if a := w.find(w.Staff(), uid); !a.Armed || a.FiredAt == nil {
		t.Errorf("with a threshold that the balance is not above: %+v", a)
	}
	change(alerts.Draft{Threshold: "999"})
	if w.fire() != 0 || w.told() != 1 {
		t.Error("a change fires it")
	}
	change(alerts.Draft{Direction: alerts.Below, Threshold: "-5"})
	w.has(-501, 0)
	if w.fire(); w.told() != 2 {
		t.Error("below a threshold below zero:", w.told())
	}
}

func TestAnAlertThatWaitsOrIsDeletedDoesNotFire(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.Exec(`UPDATE customers SET access_customer_dual_approval = true WHERE tenant = ? AND uid = ?`,
		w.Tenant, w.own.UID)
	made, err := w.Alerts.Create(w.Staff(), alerts.Draft{
		Account: w.account.UID, Balance: alerts.Available, Direction: alerts.Below, Threshold: "500",
	}, changes.RequestOptions{})
	if err != nil || made.Approval == 0 {
		t.Fatal(made, err)
	}
	uid := made.Result.UID
	w.has(400_00, 0)
	if w.fire() != 0 || w.find(w.Staff(), uid).Status != alerts.Pending {
		t.Error("it fires")
	}
	if _, err := w.Changes.Approve(w.Checker(), changes.UID(made.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if a := w.find(w.Staff(), uid); w.fire() != 0 || a.Armed || a.Status != alerts.Active {
		t.Errorf("the balance was below before it counted: %+v", a)
	}
	w.has(600_00, 0)
	w.fire()
	gone, err := w.Alerts.Delete(w.Staff(), uid, changes.RequestOptions{})
	if err != nil || gone.Approval == 0 {
		t.Fatal(gone, err)
	}
	w.has(400_00, 0)
	if w.fire(); w.told() != 1 {
		t.Error("it does not fire until it is deleted")
	}
	if _, err := w.Changes.Approve(w.Checker(), changes.UID(gone.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	w.has(600_00, 0)
	if w.fire() != 0 || w.find(w.Staff(), uid) != nil {
		t.Error("it is still there")
	}
	w.Exec(`UPDATE customers SET access_customer_dual_approval = false WHERE tenant = ? AND uid = ?`,
		w.Tenant, w.own.UID)
	if _, err := w.create(w.Staff(), alerts.Available, alerts.Below, "500"); err != nil {
		t.Error("another one like it:", err)
	}
}

func TestAnAlertOfAClosedAccountDoesNotFire(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.BalanceAlert(w.account)
	w.Exec(`UPDATE accounts SET status = 'Closed' WHERE tenant = ? AND uid = ?`, w.Tenant, w.account.UID)
	w.has(0, 0)
	if w.fire() != 0 {
		t.Error("it fires")
	}
}

// Many workers at once fire each alert once, and get through more alerts than one statement looks at.
func TestManyWorkersFireEachAlertOnce(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	const many = 1203
	w.Exec(`INSERT INTO balance_alerts (tenant, uid, account, customer, balance, direction, threshold,
		currency, status, armed,
		created_at, updated_at, version) SELECT ?0, n, ?1, ?2, 'LEDGER', 'BELOW', 100001 + n, 'USD', 'ACTIVE',
			true, now(), now(), 1
		FROM generate_series(1, ?3) AS n`, w.Tenant, w.account.UID, w.own.UID, many)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := w.Alerts.Fire(w.operator); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.fire() // what others had locked is left to the next look
	if told := w.told(); told != many {
		t.Errorf("told %d times, want %d", told, many)
	}
	if w.fire() != 0 {
		t.Error("there is more")
	}
}

func TestWhatAnAlertSaysIsChecked(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	good := alerts.Draft{Account: w.account.UID, Balance: alerts.Ledger, Direction: alerts.Above, Threshold: "5"}
	for field, edit := range map[string]func(*alerts.Draft){
		"balance":   func(d *alerts.Draft) { d.Balance = "BOOKED" },
		"direction": func(d *alerts.Draft) { d.Direction = "" },
		"threshold": func(d *alerts.Draft) { d.Threshold = "5.001" },
	} {
		draft := good
		edit(&draft)
		_, err := w.Alerts.Create(w.Staff(), draft, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != field || f.Kind != fault.Invalid {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, threshold := range []string{"1e3", "0x10", " 5", "1000000000000000", "five"} {
		draft := good
		draft.Threshold = threshold
		if _, err := w.Alerts.Create(w.Staff(), draft, changes.RequestOptions{}); err == nil {
			t.Errorf("%q is taken", threshold)
		}
	}
	elsewhere := w.Account(w.own, func(a *accounts.Account) { a.SystemOfRecord = accounts.External })
	draft := good
	draft.Account = elsewhere.UID
	if _, err := w.Alerts.Create(w.Staff(), draft,
		changes.RequestOptions{}); !errors.Is(err, alerts.ErrElsewhere) {
		t.Error("kept elsewhere:", err)
	}
	uid, err := w.create(w.Staff(), alerts.Ledger, alerts.Above, "5")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Alerts.Change(w.Staff(), uid, alerts.Draft{}, changes.RequestOptions{}); err == nil {
		t.Error("a change of nothing is taken")
	}
	if _, err := w.Alerts.Change(w.Staff(), uid, alerts.Draft{Threshold: "6"},
		changes.RequestOptions{Version: 7}); !errors.Is(err, changes.ErrStale) {
		t.Error("another version:", err)
	}
	if _, err := w.create(w.Staff(), alerts.Ledger, alerts.Above, "6"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Alerts.Change(w.Staff(), uid, alerts.Draft{Threshold: "6"},
		changes.RequestOptions{}); !errors.Is(err, alerts.ErrSame) {
		t.Error("what another one is:", err)
	}
}

// An account has ten alerts at most, however many ask at once.
func TestAnAccountHasTenAlertsAtMost(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	var asking sync.WaitGroup
	for n := range 14 {
		asking.Go(func() {
			_, err := w.create(w.Staff(), alerts.Ledger, alerts.Above, fmt.Sprint(n))
			if err != nil && !errors.Is(err, alerts.ErrMany) {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if n := len(w.list(w.Staff())); n != 10 {
		t.Errorf("%d alerts", n)
	}
}

// list reads the alerts of the account in pages of three.
func (w *watched) list(as context.Context) (all []*alerts.Alert) {
	w.t.Helper()
	for next := page.First(3); ; {
		b := w.PrimaryBatch()
		of := []accounts.UID{w.account.UID}
		found, count := w.Alerts.OfAccounts(as, b, of, db.Columns{}, next), w.Alerts.CountOfAccounts(as, b, of, 0)
		if err := b.Send(w.t.Context()); err != nil || found.Err != nil || count.Err != nil {
			w.t.Fatal(err, found.Err, count.Err)
		}
		rows := page.Cut(found.Of[w.account.UID], next)
		all = append(all, rows.Items...)
		if len(rows.Items) < 3 {
			if n := count.Of[w.account.UID]; len(n) == 1 && int(n[0].N) != len(all) {
				w.t.Errorf("%d alerts, counted %d", len(all), n[0].N)
			}
			return all
		}
		next.Cursor.UID = int64(rows.Items[len(rows.Items)-1].UID)
	}
}

// A partner's key, and the people of a customer, see and change the alerts of their own accounts alone.
func TestNobodySeesAnothersAlerts(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	rival := w.DownstreamPartner()
	sibling := w.Customer(coretest.OwnedBy(w.partner))
	uid, err := w.create(w.Partner(w.partner), alerts.Ledger, alerts.Below, "500")
	if err != nil {
		t.Fatal(err)
	}
	for name, as := range map[string]context.Context{
		"the partner": w.Partner(w.partner), "its person": w.PersonOf(w.own, w.User(w.own, nil)),
		"the bank": w.Staff(),
	} {
		if w.find(as, uid) == nil || len(w.list(as)) != 1 {
			t.Errorf("%s does not see it", name)
		}
	}
	for name, as := range map[string]context.Context{
		"another partner": w.Partner(rival), "a person of a sibling": w.PersonOf(sibling, w.User(sibling, nil)),
	} {
		if w.find(as, uid) != nil || len(w.list(as)) != 0 {
			t.Errorf("%s sees it", name)
		}
		if _, err := w.create(as, alerts.Ledger, alerts.Above, "5"); !errors.Is(err, alerts.ErrAccount) {
			t.Errorf("%s makes one: %v", name, err)
		}
		if _, err := w.Alerts.Change(as, uid, alerts.Draft{Threshold: "1"},
			changes.RequestOptions{}); !errors.Is(err, alerts.ErrNotFound) {
			t.Errorf("%s changes it: %v", name, err)
		}
		if _, err := w.Alerts.Delete(as, uid, changes.RequestOptions{}); !errors.Is(err, alerts.ErrNotFound) {
			t.Errorf("%s deletes it: %v", name, err)
		}
	}
	if _, err := w.create(w.As(access.ViewAccounts), alerts.Ledger, alerts.Above,
		"5"); !errors.Is(err, access.ErrDenied) {
		t.Error("who may only look makes one:", err)
	}
	if _, err := w.Alerts.Fire(w.Partner(w.partner)); !errors.Is(err, access.ErrDenied) {
		t.Error("a partner fires alerts:", err)
	}
}

// Alerts fire by the clock of their bank.
func TestAnAlertFiresByTheClockOfTheBank(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	uid := w.BalanceAlert(w.account).UID
	w.Clock.Advance(48 * time.Hour)
	w.has(0, 0)
	w.fire()
	if at := w.find(w.Staff(), uid).FiredAt; at == nil || at.Sub(coretest.Start) < 48*time.Hour {
		t.Error(at)
	}
}
