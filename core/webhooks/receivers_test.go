package webhooks_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/webhooks"
)

// hurried is the bank in a process that waits for answers only a short time.
func hurried(b *coretest.Bank, limit time.Duration) *core.Core {
	return core.New(core.Options{
		DB: b.DB, Keys: b.Keys, Now: b.Now, Webhooks: webhooks.Options{Loopback: true, Limit: limit},
	})
}

func TestAReceiverThatMisbehavesCostsNoMoreThanItsTime(t *testing.T) {
	t.Parallel()
	h := build(t)
	elsewhere := newReceiver(t)
	hook, _ := h.hook(h.payer)
	inHurry := hurried(h.Bank, 300*time.Millisecond)
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	for name, one := range map[string]struct {
		answers func(http.ResponseWriter, *http.Request)
		want    webhooks.DeliveryState
		why     string
	}{
		"it hangs": {
			func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, webhooks.Waiting,
			"no answer in time",
		},
		"it answers without end": {endless, webhooks.Delivered, ""},
		"it closes the connection": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, webhooks.Waiting,
			"the connection was lost",
		},
		"it sends headers without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 100<<10))
		}, webhooks.Waiting, "the connection was lost"},
		// the connection is then no answer's body any more, which the client's limit would end
		"it speaks another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			taken, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer taken.Close()
			_, _ = io.WriteString(taken,
				"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = io.Copy(io.Discard, taken)
		}, webhooks.Parked, ""},
		"it leads to this machine": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/payments", http.StatusTemporaryRedirect)
		}, webhooks.Parked, ""},
	} {
		h.receiver.says(one.answers)
		h.transfer("1", 0)
		h.spread()
		due, err := inHurry.Webhooks.Claim(h.operator, room(10, 10))
		if err != nil || len(due) != 1 {
			t.Fatalf("%s: %d due, %v", name, len(due), err)
		}
		began := time.Now()
		h.must(inHurry.Webhooks.Post(h.operator, due[0]))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %s", name, took)
		}
		delivery := h.deliveries(hook)[0]
		made := h.attempts(delivery.UID)
		if delivery.State != one.want || len(made) != 1 || made[0].Error != one.why {
			t.Errorf("%s: %s, %+v", name, delivery.State, made[0])
		}
	}
	if got := elsewhere.all(); len(got) != 0 {
		t.Errorf("it was led elsewhere: %v", got)
	}
}

func TestWhatAWorkerLeftIsPostedByAnotherUnderTheSameID(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.spread()
	killed, err := h.Webhooks.Claim(h.operator, room(10, 10))
	if err != nil || len(killed) != 1 {
		t.Fatalf("%v, %v", killed, err)
	}
	if got := h.post(); len(got) != 0 {
		t.Fatalf("two workers have it: %v", got)
	}
	h.Clock.Advance(time.Minute)
	got := h.post()
	if len(got) != 1 || got[0].Get("Webhook-Id") != killed[0].MessageID() {
		t.Fatalf("posted %v", got)
	}
	delivery := h.deliveries(hook)[0]
	made := h.attempts(delivery.UID)
	if len(made) != 2 || made[0].Took != nil || made[1].Answer != 200 {
		t.Errorf("attempts %+v", made)
	}
	// the first one was only slow: it posts too, at least once, and changes nothing of the outcome
	h.receiver.says(status(http.StatusBadRequest))
	h.must(h.Webhooks.Post(h.operator, killed[0]))
	if late := h.deliveries(hook)[0]; late.State != webhooks.Delivered || len(h.attempts(delivery.UID)) != 2 {
		t.Errorf("afterwards %+v", late)
	}
}

func TestAnyNumberOfWorkersTakeEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, of := range []*customers.Customer{h.payer, h.payee, h.partner, h.Self} {
		h.hook(of)
	}
	for range 3 {
		h.transfer("1", 0)
	}
	h.spread()
	type claimed struct {
		due []*webhooks.Due
		err error
	}
	all := make(chan claimed)
	for range 6 {
		go func() {
			due, err := h.Webhooks.Claim(h.operator, room(100, 100))
			all <- claimed{due, err}
		}()
	}
	seen := map[webhooks.DeliveryUID]bool{}
	for range 6 {
		c := <-all
		h.must(c.err)
		for _, d := range c.due {
			if seen[d.UID] {
				t.Errorf("delivery %s was taken twice", d.UID)
			}
			seen[d.UID] = true
		}
	}
	if len(seen) == 0 || len(seen) > 12 {
		t.Errorf("%d were taken", len(seen))
	}
}

// However many webhooks have something that waits for later, a claim looks at so many: what is due of those
// behind is claimed by the next.
func TestWebhooksBehindManyThatWaitHaveTheirTurn(t *testing.T) {
	t.Parallel()
	h := build(t)
	first, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.spread()
	later := h.Now().Add(12 * time.Hour)
	h.Exec(`UPDATE webhook_deliveries SET due_at = ? WHERE tenant = ?`, later, h.Tenant)
	for _, table := range []string{
		"webhooks SELECT (jsonb_populate_record(o, jsonb_build_object('uid', o.uid - n))",
		"webhook_deliveries SELECT (jsonb_populate_record(o, jsonb_build_object('uid', o.uid - n, " +
			"'webhook', o.webhook - n))",
	} {
		h.Exec("INSERT INTO "+table+").* FROM "+strings.Fields(table)[0]+
			" AS o, generate_series(1, ?) AS n WHERE o.tenant = ?",
			webhooks.LookedAtATime-1, h.Tenant)
	}
	h.Exec(`UPDATE webhook_deliveries SET due_at = ? WHERE tenant = ? AND webhook = ?`, h.Now(), h.Tenant, first)
	other, _ := h.hook(h.payee)
	h.transfer("1", 0)
	h.spread()
	h.Exec(`UPDATE webhook_deliveries SET due_at = ? WHERE tenant = ? AND webhook < ?`, later, h.Tenant, first)
	for _, want := range []webhooks.UID{first, other} {
		due, err := h.Webhooks.Claim(h.operator, room(1, 1))
		if err != nil || len(due) != 1 || due[0].Delivery.Webhook != want {
			t.Errorf("%v, %v, want one of webhook %s", due, err, want)
		}
	}
}

func TestOneWebhookTakesNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	h := build(t)
	many, _ := h.hook(h.payer)
	for range 9 {
		h.transfer("1", 0)
	}
	few, _ := h.hook(h.payee)
	h.transfer("1", 0)
	h.spread()
	taken := map[webhooks.UID]int{}
	for range 3 {
		due, err := h.Webhooks.Claim(h.operator, room(100, 100))
		h.must(err)
		for _, d := range due {
			taken[d.Webhook]++
		}
	}
	if taken[many] != 4 || taken[few] == 0 {
		t.Errorf("taken: %v", taken)
	}
	h.Exec(`UPDATE webhooks SET failing_since = ? WHERE tenant = ? AND uid = ?`, h.Now(), h.Tenant, many)
	h.Clock.Advance(time.Hour)
	if due, err := h.Webhooks.Claim(h.operator, room(100, 0)); err != nil ||
		slices.ContainsFunc(due, (*webhooks.Due).Failing) {
		t.Errorf("without room for those that fail: %v, %v", due, err)
	}
	due, err := h.Webhooks.Claim(h.operator, room(100, 100))
	if n := len(due); err != nil || n != 1 || !due[0].Failing() {
		t.Errorf("of one that fails %d are taken at once, %v", n, err)
	}
}

// A partner whose webhooks answer slowly, however many it and its customers have, leaves room for others.
func TestOnePartyTakesNoMoreThanItsShare(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"slow ones": false, "those that fail": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			other, _ := h.hook(h.payee)
			slow, _ := h.hook(h.payer)
			h.Exec(`INSERT INTO webhooks (tenant, uid, customer, reach, name, target, signing_secret, status,
					since_seq, created_at, updated_at, version)
				SELECT tenant, uid + n, CASE WHEN n < 100 THEN customer ELSE ? END, reach, name, target, signing_secret,
				status, since_seq, created_at, updated_at, 1
				FROM webhooks CROSS JOIN generate_series(1, 200) AS n
				WHERE tenant = ? AND uid = ?`, h.partner.UID, h.Tenant, slow)
			h.Exec(`UPDATE webhooks SET claimed_at = ? WHERE tenant = ? AND uid = ?`, h.Now(), h.Tenant, other)
			h.Exec(`INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at, created_at)
				SELECT tenant, uid, customer, 'WAITING', ?, ? FROM webhooks WHERE tenant = ?`, h.Now(), h.Now(), h.Tenant)
			share := 16
			if fails {
				h.Exec(`UPDATE webhooks SET failing_since = now() WHERE tenant = ?`, h.Tenant)
				share /= 2
			}
			room, taken := webhooks.Room{All: 32, Failing: 32, Each: 16, Taken: map[customers.UID]int{}},
				map[webhooks.UID]int{}
			for range 4 {
				due, err := h.Webhooks.Claim(h.operator, room)
				h.must(err)
				for _, d := range due {
					taken[d.Webhook]++
					room.Taken[d.Party()]++
				}
				room.All -= len(due)
			}
			if taken[other] != 1 || room.Taken[h.partner.UID] != share || room.Taken[h.payee.UID] != 1 {
				t.Errorf("taken: %v", room.Taken)
			}
		})
	}
}

// Two parties that take all they may leave a place for a third: each has half of what the others leave.
func TestTwoPartiesLeaveRoomForAThird(t *testing.T) {
	t.Parallel()
	h := build(t)
	of := []*customers.Customer{h.Customer(), h.Customer(), h.Customer()}
	hooks := make([]webhooks.UID, len(of))
	for i, c := range of {
		hooks[i], _ = h.hook(c)
	}
	many := func(of webhooks.UID, n int) {
		h.Exec(`INSERT INTO webhooks (tenant, uid, customer, reach, name, target, signing_secret, status, since_seq,
				created_at, updated_at, version)
			SELECT tenant, uid * 1000 + n, customer, reach, name, target, signing_secret, status, since_seq,
			  created_at, updated_at, 1
			FROM webhooks CROSS JOIN generate_series(1, ?) AS n WHERE tenant = ? AND uid = ?`, n, h.Tenant, of)
	}
	waits := `INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at, created_at)
		SELECT tenant, uid, customer, 'WAITING', ?, ? FROM webhooks WHERE tenant = ? AND customer = ?`
	room := webhooks.Room{All: 32, Failing: 32, Each: 16, Taken: map[customers.UID]int{}}
	claim := func() {
		for range 4 {
			due, err := h.Webhooks.Claim(h.operator, room)
			h.must(err)
			for _, d := range due {
				room.Taken[d.Party()]++
			}
			room.All -= len(due)
		}
	}
	for i := range 2 {
		many(hooks[i], 50)
		h.Exec(waits, h.Now(), h.Now(), h.Tenant, of[i].UID)
	}
	claim()
	if first, second := room.Taken[of[0].UID], room.Taken[of[1].UID]; first+second != 24 ||
		max(first, second) != 16 {
		t.Errorf("two parties take %v", room.Taken)
	}
	h.Exec(waits, h.Now(), h.Now(), h.Tenant, of[2].UID)
	claim()
	if room.Taken[of[2].UID] != 1 {
		t.Errorf("the third has no place: %v", room.Taken)
	}
}

func TestAWebhookThatFailsForLongIsDisabled(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.receiver.says(status(http.StatusBadRequest))
	for day := range 7 {
		for range 3 {
			h.transfer("1", 0)
		}
		h.post()
		w := h.find(hook)
		if disabled := day == 6; (w.Status == webhooks.Disabled) != disabled || (w.Reason != "") != disabled {
			t.Errorf("on day %d: %s, %q after %d failures", day, w.Status, w.Reason, w.Failures)
		}
		h.Clock.Advance(24 * time.Hour)
	}
	h.transfer("1", 0)
	h.receiver.says(nil)
	if got := h.post(); len(got) != 0 {
		t.Errorf("disabled, it is told %v", got)
	}
	_, err := h.Webhooks.Enable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	h.transfer("1", 0)
	got := h.post() // that one too which waited when it was disabled
	if w := h.find(hook); len(got) != 2 || w.Status != webhooks.Active || w.Reason != "" ||
		w.FailingSince != nil {
		t.Errorf("enabled again: %+v, told %v", w, got)
	}
	if _, err := h.Webhooks.Enable(h.Staff(), hook,
		changes.RequestOptions{}); !errors.Is(err, webhooks.ErrStatus) {
		t.Errorf("enabled twice: %v", err)
	}
}

func TestWhileACustomerIsSuspendedNothingIsPosted(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.payer)
	h.transfer("1", 0)
	set := func(to customers.Status) {
		h.Exec(`UPDATE customers SET status = ? WHERE tenant = ? AND uid = ?`, to, h.Tenant, h.partner.UID)
	}
	set(customers.Suspended)
	if got := h.post(); len(got) != 0 {
		t.Errorf("its partner is suspended: %v", got)
	}
	set(customers.Active)
	if got := h.post(); len(got) != 1 {
		t.Errorf("it is active again: %v", got)
	}
}

// Webhooks of which nothing can be posted now, however many, keep none of the others from theirs.
func TestWebhooksThatCannotBePostedToKeepNoneOfTheOthersWaiting(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]string{
		"they fail, and there is no room for more of those": `UPDATE webhooks SET failing_since = now()
			WHERE tenant = ?0 AND uid > ?1`,
		"enough of each is in work": `INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at,
			leased_until, created_at)
			SELECT tenant, webhook, customer, state, due_at, due_at + interval '1 hour', created_at
			FROM webhook_deliveries CROSS JOIN generate_series(1, 4) WHERE tenant = ?0 AND webhook > ?1`,
		"what is due waits for what is not": `WITH d AS (UPDATE webhook_deliveries SET number = 2, payment = (
				SELECT min(uid) FROM payments WHERE tenant = ?0) WHERE tenant = ?0 AND webhook > ?1 RETURNING *)
			INSERT INTO webhook_deliveries (tenant, webhook, customer, payment, number, state, due_at, created_at)
			SELECT tenant, webhook, customer, payment, 1, state, due_at + interval '1 hour', created_at FROM d`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			well, _ := h.hook(h.payee)
			h.transfer("1", 0)
			h.spread()
			h.Exec(`UPDATE webhooks SET claimed_at = now() WHERE tenant = ?`, h.Tenant)
			h.Exec(`INSERT INTO webhooks (tenant, uid, customer, reach, name, target, signing_secret, status,
					since_seq, created_at, updated_at, version)
				SELECT tenant, uid + n, customer, reach, name, target, signing_secret, status, since_seq, created_at,
				  updated_at, 1
				FROM webhooks CROSS JOIN generate_series(1, 200) AS n WHERE tenant = ? AND uid = ?`, h.Tenant, well)
			h.Exec(`INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at, created_at)
				SELECT tenant, uid, customer, 'WAITING', ?, ? FROM webhooks WHERE tenant = ? AND uid > ?`,
				h.Now(), h.Now(), h.Tenant, well)
			h.Exec(what, h.Tenant, well)
			due, err := h.Webhooks.Claim(h.operator, room(32, 0))
			if err != nil || len(due) != 1 || due[0].Webhook != well {
				t.Errorf("%d are taken, %v", len(due), err)
			}
		})
	}
}

// Receivers close connections that they have kept when they like, also while an event is on its way to them.
func TestAClosedConnectionDelaysNoEvent(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	var seen sync.Map
	h.receiver.says(func(_ http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.RemoteAddr, true); again {
			panic(http.ErrAbortHandler)
		}
	})
	for range 3 {
		h.transfer("1", 0)
		h.spread()
		h.post()
		delivery := h.deliveries(hook)[0]
		if made := h.attempts(delivery.UID); delivery.State != webhooks.Delivered || len(made) != 1 {
			t.Errorf("%s, %+v", delivery.State, made)
		}
	}
}
