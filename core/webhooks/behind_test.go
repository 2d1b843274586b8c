package webhooks_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/webhooks"
)

// crowd makes as much wait for a webhook as lets it fall behind; clear removes that.
func (h *house) crowd(hook webhooks.UID) {
	h.Exec(`INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at, created_at)
		SELECT tenant, uid, customer, 'WAITING', ?, ? FROM webhooks CROSS JOIN generate_series(1, ?)
		WHERE tenant = ? AND uid = ?`, h.Now().Add(time.Hour), h.Now(), webhooks.MostWaiting, h.Tenant, hook)
}

func (h *house) clear(hook webhooks.UID) {
	h.Exec(`DELETE FROM webhook_deliveries WHERE tenant = ? AND webhook = ? AND payment IS NULL`, h.Tenant, hook)
}

// told returns the payments that a webhook is told of, in the order of its deliveries.
func (h *house) told(of webhooks.UID) (uids []payments.UID) {
	h.Helper()
	for _, d := range h.deliveries(of) {
		if d.Payment != 0 {
			uids = append(uids, d.Payment)
		}
	}
	slices.Reverse(uids)
	return uids
}

// later spreads again and again, each time when webhooks that are behind are looked at again.
func (h *house) later() {
	h.Helper()
	for range 4 {
		h.Clock.Advance(6 * time.Second)
		h.spread()
	}
}

// A webhook that nobody answers gets no row for each event, and costs no time of those who tell others. What
// it has missed it is told when there is room again, once and in order.
func TestAWebhookThatFallsBehindIsToldLater(t *testing.T) {
	t.Parallel()
	h := build(t)
	behind, _ := h.hook(h.payer)
	other, _ := h.hook(h.payee)
	h.crowd(behind)
	var all []payments.UID
	for range 4 {
		all = append(all, h.transfer("1", 0))
		h.spread()
	}
	if got := h.told(other); !slices.Equal(got, all) {
		t.Errorf("the others are told of %v, not %v", got, all)
	}
	if got := h.told(behind); !slices.Equal(got, all[:1]) {
		t.Errorf("%v wait beside what waits", got)
	}
	h.clear(behind)
	h.spread()
	if got := h.told(behind); !slices.Equal(got, all[:1]) {
		t.Errorf("it is looked at again at once: %v", got)
	}
	h.Clock.Advance(6 * time.Second)
	h.spread()
	if got := h.told(behind); !slices.Equal(got, all) {
		t.Errorf("once there is room it is told of %v, not %v", got, all)
	}
	all = append(all, h.transfer("1", 0))
	h.spread()
	if got := h.told(behind); !slices.Equal(got, all) {
		t.Errorf("afterwards it is told of %v, not %v", got, all)
	}
	if w := h.find(behind); w.BehindFrom != nil {
		t.Errorf("it is behind from %d on", *w.BehindFrom)
	}
}

// turn enables a webhook, or disables it.
func (h *house) turn(hook webhooks.UID, on bool) {
	h.Helper()
	do := h.Webhooks.Disable
	if on {
		do = h.Webhooks.Enable
	}
	_, err := do(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
}

// What has happened while a webhook was active is told, also if it was disabled before it had caught up; what
// happens while it is disabled is not.
func TestWhatHappenedBeforeAWebhookWasDisabledIsTold(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*house, webhooks.UID){
		"by somebody": func(h *house, hook webhooks.UID) { h.turn(hook, false) },
		"as it fails": func(h *house, hook webhooks.UID) {
			h.receiver.says(status(500))
			h.Exec(`UPDATE webhooks SET failing_since = ?, failures = 100 WHERE tenant = ? AND uid = ?`,
				h.Now().AddDate(0, 0, -6), h.Tenant, hook)
			h.post()
			h.receiver.says(nil)
		},
		"as its customer leaves its partner": func(h *house, _ webhooks.UID) {
			_, err := h.Customers.Change(h.Staff(), h.payer.UID,
				customers.Draft{PartnerOrgShortName: given.Of(h.DownstreamPartner().ShortName)}, changes.RequestOptions{})
			h.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			hook, _ := h.hook(h.payer)
			h.hook(h.payee) // by which the bank goes on telling
			h.crowd(hook)
			var all []payments.UID
			for range 3 {
				all = append(all, h.transfer("1", 0))
				h.spread()
			}
			off(h, hook)
			if is := h.find(hook); is.Status != webhooks.Disabled || is.BehindFrom == nil {
				t.Fatalf("%s, behind from %v", is.Status, is.BehindFrom)
			}
			h.transfer("1", 0)
			h.spread()
			h.turn(hook, true)
			all = append(all, h.transfer("1", 0))
			h.spread()
			h.clear(hook)
			h.later()
			if got := h.told(hook); !slices.Equal(got, all) {
				t.Errorf("it is told of %v, not %v", got, all)
			}
			if is := h.find(hook); is.BehindFrom != nil || is.BehindTo != nil {
				t.Errorf("it is behind from %v to %v", is.BehindFrom, is.BehindTo)
			}
		})
	}
}

// A replay of a webhook that is behind begins with what was told before, and what comes then is told in its
// order.
func TestAReplayOfAWebhookThatIsBehindKeepsTheOrderOfAPayment(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.crowd(hook)
	h.transfer("1", 0)
	h.post() // it falls behind
	h.send("2", payments.Instant)
	h.post()
	h.Clock.Advance(time.Minute)
	time.Sleep(100 * time.Millisecond)
	since := time.Now() // events have the time of the database
	h.exchange()
	h.post()
	if h.find(hook).BehindFrom == nil {
		t.Fatal("it is not behind")
	}
	_, err := h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{Since: &since}, changes.RequestOptions{})
	h.must(err)
	told := h.post()
	h.clear(hook)
	for range 3 {
		h.Clock.Advance(6 * time.Second)
		told = append(told, h.post()...)
	}
	var words []string
	for _, p := range told {
		var is struct {
			PaymentStatus string `json:"paymentStatus"`
		}
		h.must(json.Unmarshal([]byte(p.body), &is))
		words = append(words, is.PaymentStatus)
	}
	if want := []string{"READY_TO_TRANSMIT", "TRANSMITTED", "PROCESSED"}; !slices.Equal(words, want) {
		t.Errorf("it is told %v, not %v", words, want)
	}
	if h.find(hook).Replays() {
		t.Error("the replay goes on")
	}
}

// A replay also posts what happened while the webhook was disabled, although it is behind: once, in its
// order.
func TestAReplayOfAWebhookThatIsBehindTellsWhatHappenedWhileItWasDisabled(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.hook(h.payee) // by which the bank goes on telling
	h.crowd(hook)
	var all []payments.UID
	pay := func() {
		all = append(all, h.transfer("1", 0))
		h.spread()
	}
	pay()
	pay()
	h.turn(hook, false)
	pay()
	h.turn(hook, true)
	pay()
	_, err := h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
	h.must(err)
	pay()
	h.clear(hook)
	h.later()
	if got := h.told(hook); !slices.Equal(got, all) {
		t.Errorf("it is told of %v, not %v", got, all)
	}
	if is := h.find(hook); is.Replays() || is.BehindFrom != nil {
		t.Errorf("the replay is at %d of %d, behind from %v", is.ReplayFrom, is.ReplayTo, is.BehindFrom)
	}
}

// A replay, too, waits until there is room again, and keeps nobody else's waiting.
func TestAReplayWaitsWhileEnoughOfTheWebhookDoes(t *testing.T) {
	t.Parallel()
	h := build(t)
	all := []payments.UID{h.transfer("1", 0), h.transfer("1", 0)}
	h.spread()
	crowded, _ := h.hook(h.payer)
	other, _ := h.hook(h.payer)
	h.crowd(crowded)
	for _, hook := range []webhooks.UID{crowded, other} {
		_, err := h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
		h.must(err)
	}
	h.later()
	if got := h.told(crowded); len(got) != 0 || !h.find(crowded).Replays() {
		t.Errorf("%v wait beside what waits", got)
	}
	if got := h.told(other); !slices.Equal(got, all) {
		t.Errorf("the other one is told of %v, not %v", got, all)
	}
	h.clear(crowded)
	h.later()
	if got := h.told(crowded); !slices.Equal(got, all) || h.find(crowded).Replays() {
		t.Errorf("once there is room it is told of %v, not %v", got, all)
	}
}

// What a receiver refuses, as that of a partner may for one of its customers, keeps the rest from it only
// once it is much: each delivery of it waits for its next try, and payments do not wait for each other.
func TestWhatAReceiverRefusesDoesNotPutItBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times  int
		behind bool
	}{"some": {1, false}, "very much": {5, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			hook, _ := h.hook(h.payer)
			for range c.times {
				h.crowd(hook)
			}
			h.Exec(`UPDATE webhook_deliveries SET tries = 1, attempts = 1 WHERE tenant = ?`, h.Tenant)
			all := []payments.UID{h.transfer("1", 0)}
			h.spread()
			if is := h.find(hook); (is.BehindFrom != nil) != c.behind {
				t.Errorf("behind from %v", is.BehindFrom)
			}
			all = append(all, h.transfer("1", 0))
			h.later()
			if got := h.told(hook); c.behind == slices.Equal(got, all) {
				t.Errorf("told of %v of %v", got, all)
			}
		})
	}
}

// What nobody was told of yet is no part of a replay: it comes in its order.
func TestAReplayGoesNoFurtherThanWhatWasTold(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.stranger)
	hook, _ := h.hook(h.payer)
	for range 101 { // more than are told at a time
		h.transfer("1", 0)
	}
	h.send("2", payments.Instant)
	h.seal()
	var at int64
	h.must(h.DB.NewRaw(`SELECT max(seq) FROM audit_seals WHERE tenant = ?`, h.Tenant).Scan(t.Context(), &at))
	h.exchange()
	h.seal()
	_, err := h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{After: fmt.Sprintf("1.%d", at)},
		changes.RequestOptions{})
	h.must(err)
	var words []string
	for range 5 {
		_, err := h.Webhooks.Spread(h.operator)
		h.must(err)
		for {
			due, err := h.Webhooks.Claim(h.operator, room(100, 100))
			h.must(err)
			if len(due) == 0 {
				break
			}
			for _, d := range due {
				h.must(h.Webhooks.Post(h.operator, d))
			}
		}
		h.Clock.Advance(time.Second)
	}
	for _, p := range h.receiver.all() {
		var is struct {
			Status string `json:"paymentStatus"`
			Type   string `json:"paymentType"`
		}
		h.must(json.Unmarshal([]byte(p.body), &is))
		if is.Type == "REALTIME_FEDNOW" {
			words = append(words, is.Status)
		}
	}
	if len(words) < 3 || words[0] != "READY_TO_TRANSMIT" {
		t.Errorf("a payment's events are told as %v", words)
	}
}

func TestWhatNobodyWasToldOfWhenAWebhookWasDisabledIsToldLater(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.hook(h.payee)
	before := h.transfer("1", 0)
	h.seal()
	h.turn(hook, false)
	h.turn(hook, true)
	after := h.transfer("1", 0)
	h.spread()
	h.later()
	if got := h.told(hook); !slices.Equal(got, []payments.UID{before, after}) {
		t.Errorf("told of %v, want %d, which was before it was disabled, and %d", got, before, after)
	}
}

// fill adds events that are told to nobody to the record, more than are read at a time.
func (h *house) fill() {
	h.seal()
	h.Exec(`WITH seals AS (INSERT INTO audit_seals (tenant, seq, entry, hash)
		SELECT tenant, last + n, nextval('audit_ids'), sha256('') FROM generate_series(1, 510) AS n,
		  (SELECT tenant, max(seq) AS last FROM audit_seals WHERE tenant = ? GROUP BY tenant) AS s
		RETURNING tenant, entry)
		INSERT INTO events (tenant, kind, object, uid, entry)
		SELECT tenant, 'sendPayment', 'payment', '0', entry FROM seals`,
		h.Tenant)
}

// However much has happened that nobody was told of.
func TestWhatWasFarAheadWhenAWebhookWasDisabledIsToldLater(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.hook(h.payee)
	all := []payments.UID{h.transfer("1", 0)}
	h.fill()
	all = append(all, h.transfer("1", 0))
	h.seal()
	h.turn(hook, false)
	h.turn(hook, true)
	for range 6 {
		_, err := h.Webhooks.Spread(h.operator)
		h.must(err)
		h.Clock.Advance(6 * time.Second)
	}
	if got := h.told(hook); !slices.Equal(got, all) {
		t.Errorf("told of %v, want %v", got, all)
	}
	if is := h.find(hook); is.BehindFrom != nil || is.BehindTo != nil {
		t.Errorf("it is behind from %v to %v", is.BehindFrom, is.BehindTo)
	}
}

func TestASecondReplayEndsNotTheFirst(t *testing.T) {
	t.Parallel()
	h := build(t)
	all := []payments.UID{h.transfer("1", 0), h.transfer("1", 0)}
	h.spread()
	hook, _ := h.hook(h.payer)
	now := time.Now()
	for _, from := range []webhooks.Replay{{After: "0.0"}, {Since: &now}} {
		_, err := h.Webhooks.Replay(h.Staff(), hook, from, changes.RequestOptions{})
		h.must(err)
	}
	h.later()
	if got := h.told(hook); !slices.Equal(got, all) {
		t.Errorf("told of %v, want %v", got, all)
	}
}

// However many webhooks are behind, they catch up as fast as one: those that meet read the feed together, and
// each is told only of what it was not.
func TestWebhooksThatAreBehindCatchUpTogether(t *testing.T) {
	t.Parallel()
	h := build(t)
	first, _ := h.hook(h.payer)
	second, _ := h.hook(h.payee)
	third, _ := h.hook(h.payer)
	full, _ := h.hook(h.payee)
	var all []payments.UID
	for i := range 5 {
		switch i {
		case 0:
			h.crowd(first)
		case 2:
			h.crowd(second)
			h.crowd(third)
			h.crowd(full)
		}
		all = append(all, h.transfer("1", 0))
		h.spread()
	}
	for _, hook := range []webhooks.UID{first, second, third} {
		h.clear(hook)
	}
	// as retention does: what was told once is not told again
	h.Exec(`DELETE FROM webhook_deliveries WHERE tenant = ? AND webhook = ? AND payment = ?`,
		h.Tenant, third, all[1])
	h.Clock.Advance(6 * time.Second)
	_, err := h.Webhooks.Spread(h.operator)
	h.must(err)
	for hook, want := range map[webhooks.UID][]payments.UID{
		first: all, second: all, third: slices.Delete(slices.Clone(all), 1, 2),
	} {
		if got := h.told(hook); !slices.Equal(got, want) {
			t.Errorf("one is told of %v, not %v", got, want)
		}
		if w := h.find(hook); w.BehindFrom != nil {
			t.Errorf("one is behind from %d on", *w.BehindFrom)
		}
	}
	if h.find(full).BehindFrom == nil {
		t.Error("the full one is told, too")
	}
	h.clear(full)
	h.later()
	if got := h.told(full); !slices.Equal(got, all) {
		t.Errorf("the full one is told of %v, not %v", got, all)
	}
}

// Each of two replays at once posts what it was asked for, whichever way it says from where.
func TestTwoReplaysTellNoMoreThanEachWasAskedFor(t *testing.T) {
	t.Parallel()
	h := build(t)
	var all []payments.UID
	var places []webhooks.Replay
	pay := func() {
		time.Sleep(20 * time.Millisecond)
		since := time.Now() // events have the time of the database
		time.Sleep(20 * time.Millisecond)
		all = append(all, h.transfer("1", 0))
		h.spread()
		places = append(places, webhooks.Replay{Since: &since})
	}
	h.hook(h.payee) // by which the bank goes on telling
	for range 3 {
		pay()
	}
	var at int64
	h.must(h.DB.NewRaw(`SELECT max(seq) FROM audit_seals WHERE tenant = ?`, h.Tenant).Scan(t.Context(), &at))
	pay()
	after, since, ahead := webhooks.Replay{After: fmt.Sprintf("1.%d", at)}, places[2], time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		asked []webhooks.Replay
		want  []payments.UID
	}{
		"a time, and a later place":      {[]webhooks.Replay{since, after}, all[2:]},
		"a place, and an earlier time":   {[]webhooks.Replay{after, since}, all[2:]},
		"a time of nothing, and a place": {[]webhooks.Replay{{Since: &ahead}, after}, all[3:]},
		"a place, and a time of nothing": {[]webhooks.Replay{after, {Since: &ahead}}, all[3:]},
		"two times":                      {[]webhooks.Replay{{Since: &ahead}, since}, all[2:]},
		"two places":                     {[]webhooks.Replay{after, {After: "0.0"}}, all},
	} {
		hook, _ := h.hook(h.payer)
		for _, from := range c.asked {
			_, err := h.Webhooks.Replay(h.Staff(), hook, from, changes.RequestOptions{})
			h.must(err)
		}
		h.later()
		if got := h.told(hook); !slices.Equal(got, c.want) {
			t.Errorf("%s: told of %v, want %v", name, got, c.want)
		}
	}
}
