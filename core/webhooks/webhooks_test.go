package webhooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/webhooks"
	"bankgraph/db"
)

// public returns the bank in a process that lets webhooks lead to the public network alone.
func public(b *coretest.Bank) *core.Core {
	return core.New(core.Options{DB: b.DB, Keys: b.Keys, Now: b.Now})
}

func TestAWebhookLeadsOnlyToThePublicNetwork(t *testing.T) {
	t.Parallel()
	h := build(t)
	real := public(h.Bank)
	create := func(c *core.Core, target string) error {
		_, _, err := c.Webhooks.Create(h.Staff(), h.payer.UID,
			webhooks.Draft{Name: given.Of("Ledger"), Target: given.Of(target)}, changes.RequestOptions{})
		return err
	}
	for _, good := range []string{
		"https://hooks.partner.example/bank", "https://hooks.partner.example:8443", "https://8.8.8.8/x/",
	} {
		if err := create(real, good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"http://hooks.partner.example", "https://127.0.0.1", "https://localhost",
		"https://me.localhost", "https://intranet", "https://intranet./x", "https://[::1]", "https://10.0.0.1",
		"https://169.254.169.254/latest",
		"https://[::ffff:10.0.0.1]", "https://[64:ff9b::a00:1]", "https://100.64.0.1", "https://224.0.0.1",
		"https://user:word@hooks.partner.example", "https://x.example/?a=b", "https://x.example/#top",
		"ftp://x.example", "x.example", "https://", "https:x.example", "https://x.example/a b",
		"http://127.0.0.1:8080", "http://localhost:8080",
		"https://x.example:0", "https://x.example:65536", "https://x.example:99999",
	} {
		if err := create(real, bad); !errors.Is(err, webhooks.ErrTarget) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	// where the process allows it, sandbox banks may try things out on this machine
	for target, good := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:8080/x": true, "http://[::1]:80": true,
		"http://10.0.0.1": false, "http://x.example": false, "http://169.254.169.254": false,
	} {
		if err := create(h.Core, target); (err == nil) != good {
			t.Errorf("in a sandbox %s: %v", target, err)
		}
	}
	h.Exec(`UPDATE tenants SET sandbox = false WHERE id = ?`, h.Tenant)
	if err := create(h.Core, "http://127.0.0.1:8080"); !errors.Is(err, webhooks.ErrTarget) {
		t.Errorf("of a bank that is no sandbox: %v", err)
	}
}

// A name may lead elsewhere than when the webhook was made, and a bank may cease to be a sandbox: what counts
// is where it is dialled.
func TestWhatLeadsInsideIsNotDialled(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	for target, why := range map[string]string{
		h.receiver.URL:                          "the target is no address that may be posted to",
		"https://127.0.0.1:1":                   "the target is no address that may be posted to",
		"https://localhost.localdomain.invalid": "the target cannot be reached from here",
	} {
		h.Exec(`UPDATE webhooks SET target = ? WHERE tenant = ? AND uid = ?`, target, h.Tenant, hook)
		h.transfer("1", 0)
		h.spread()
		due, err := public(h.Bank).Webhooks.Claim(h.operator, room(10, 10))
		h.must(err)
		for _, d := range due {
			h.must(public(h.Bank).Webhooks.Post(h.operator, d))
		}
		made := h.attempts(h.deliveries(hook)[0].UID)
		if len(made) != 1 || made[0].Answer != 0 || made[0].Error != why {
			t.Errorf("%s: %+v", target, made)
		}
		h.Exec(`UPDATE webhook_deliveries SET state = 'PARKED' WHERE tenant = ?`, h.Tenant)
	}
	if got := h.receiver.all(); len(got) != 0 {
		t.Errorf("posted: %v", got)
	}
}

func TestADraftIsCheckedFieldByField(t *testing.T) {
	t.Parallel()
	h := build(t)
	for field, draft := range map[string]webhooks.Draft{
		"name":          {Target: given.Of("https://x.example")},
		"target":        {Name: given.Of("Ledger")},
		"basicPassword": {Name: given.Of("L"), Target: given.Of("https://x.example"), BasicUser: given.Of("u")},
		"basicUser":     {Name: given.Of("L"), Target: given.Of("https://x.example"), BasicPassword: given.Of("p")},
		"topics":        {Name: given.Of("L"), Target: given.Of("https://x.example"), Topics: []webhooks.Topic{}},
		"reach":         {Name: given.Of("L"), Target: given.Of("https://x.example"), Reach: access.OfBank},
	} {
		_, _, err := h.Webhooks.Create(h.Staff(), h.payer.UID, draft, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Kind != fault.Invalid || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	hook, _ := h.hook(h.payer)
	if _, err := h.Webhooks.Change(h.Staff(), hook, webhooks.Draft{}, changes.RequestOptions{}); err == nil {
		t.Error("a change of nothing is accepted")
	}
	for range 19 {
		h.hook(h.payer)
	}
	_, _, err := h.Webhooks.Create(h.Staff(), h.payer.UID,
		webhooks.Draft{Name: given.Of("L"), Target: given.Of(h.receiver.URL)}, changes.RequestOptions{})
	if !errors.Is(err, webhooks.ErrMany) {
		t.Errorf("the 21st: %v", err)
	}
}

// A webhook reaches no further than who makes it.
func TestAWebhookReachesAsFarAsItsCustomerAndWhoMadeIt(t *testing.T) {
	t.Parallel()
	h := build(t)
	person := h.PersonOf(h.partner, h.User(h.partner, nil))
	for name, one := range map[string]struct {
		by    context.Context
		of    *customers.Customer
		asked access.Reach
		want  access.Reach
	}{
		"the bank's own, by staff":    {h.Staff(), h.Self, "", access.OfBank},
		"a partner's, by staff":       {h.Staff(), h.partner, "", access.OfPartner},
		"a partner's, by its program": {h.Partner(h.partner), h.partner, "", access.OfPartner},
		"a partner's own, as it asks": {
			h.Partner(h.partner), h.partner, access.OfCustomer,
			access.OfCustomer,
		},
		"a partner's, by a person who sees less": {person, h.partner, "", access.OfCustomer},
		"a customer's, by its partner":           {h.Partner(h.partner), h.payer, "", access.OfCustomer},
	} {
		done, _, err := h.Webhooks.Create(one.by, one.of.UID, webhooks.Draft{
			Name: given.Of("L"), Target: given.Of(h.receiver.URL), Reach: one.asked,
		}, changes.RequestOptions{})
		if err != nil || h.find(done.Result.UID).Reach != one.want {
			t.Errorf("%s: %v, %+v", name, err, done)
		}
	}
	_, _, err := h.Webhooks.Create(person, h.partner.UID, webhooks.Draft{
		Name: given.Of("L"), Target: given.Of(h.receiver.URL), Reach: access.OfPartner,
	}, changes.RequestOptions{})
	if !errors.Is(err, webhooks.ErrReach) {
		t.Errorf("wider than who asks: %v", err)
	}
}

func TestAPartnerSeesAndChangesOnlyItsOwnWebhooks(t *testing.T) {
	t.Parallel()
	h := build(t)
	own, _ := h.hook(h.payer)
	others, _ := h.hook(h.stranger)
	banks, _ := h.hook(h.Self)
	h.transfer("1", 0)
	h.post()
	rival := h.DownstreamPartner()
	other := h.Other()
	for name, one := range map[string]struct {
		as   context.Context
		sees []webhooks.UID
	}{
		"staff":           {h.Staff(), []webhooks.UID{own, others, banks}},
		"its partner":     {h.Partner(h.partner), []webhooks.UID{own}},
		"another partner": {h.Partner(rival), nil},
		"another bank":    {other.Staff(), nil},
	} {
		found, err := coretest.Rows(h.Bank, one.as, func(b *db.Batch) *db.Rows[webhooks.Webhook] {
			return h.Webhooks.List(one.as, b, webhooks.Search{}, db.Columns{}, first)
		})
		h.must(err)
		var uids []webhooks.UID
		for _, w := range found {
			uids = append(uids, w.UID)
		}
		if !slices.Equal(uids, one.sees) {
			t.Errorf("%s sees %v, want %v", name, uids, one.sees)
		}
		for _, uid := range []webhooks.UID{own, others, banks} {
			if slices.Contains(one.sees, uid) {
				continue
			}
			if _, err := h.Webhooks.Disable(one.as, uid,
				changes.RequestOptions{}); !errors.Is(err, webhooks.ErrNotFound) {
				t.Errorf("%s disables %s: %v", name, uid, err)
			}
			if _, _, err := h.Webhooks.RotateSecret(one.as, uid, 0,
				changes.RequestOptions{}); !errors.Is(err, webhooks.ErrNotFound) {
				t.Errorf("%s rotates the secret of %s: %v", name, uid, err)
			}
			if _, err := h.Webhooks.Test(one.as, uid,
				changes.RequestOptions{}); !errors.Is(err, webhooks.ErrNotFound) {
				t.Errorf("%s tests %s: %v", name, uid, err)
			}
		}
	}
	mine := h.deliveries(banks)[0].UID
	if _, err := h.Webhooks.Resend(h.Partner(h.partner), mine,
		changes.RequestOptions{}); !errors.Is(err, webhooks.ErrDelivery) {
		t.Errorf("a delivery of the bank's: %v", err)
	}
	_, _, err := h.Webhooks.Create(h.Partner(h.partner), h.stranger.UID,
		webhooks.Draft{Name: given.Of("L"), Target: given.Of(h.receiver.URL)}, changes.RequestOptions{})
	if !errors.Is(err, customers.ErrOutOfScope) {
		t.Errorf("of another's customer: %v", err)
	}
}

func TestNoColumnShowsASecret(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, secret := h.hook(h.payer, func(d *webhooks.Draft) {
		d.BasicUser, d.BasicPassword = given.Of("bank"), given.Of("hunter2-hunter2")
	})
	for _, table := range []string{
		"webhooks", "webhook_secrets", "audit_entries", "events", "idempotency_keys",
	} {
		var rows []string
		h.must(h.DB.NewRaw(`SELECT t::text FROM `+table+` AS t WHERE t.tenant = ?`, h.Tenant).
			Scan(t.Context(), &rows))
		if text := strings.Join(rows, "\n"); strings.Contains(text, secret) ||
			strings.Contains(text, secret[6:]) ||
			strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("%s: %s", table, text)
		}
	}
}

func TestADeliveryIsPostedAgainUnderItsID(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, secret := h.hook(h.payer)
	h.receiver.says(status(400))
	h.transfer("1", 0)
	before := h.post()[0]
	h.receiver.says(nil)
	delivery := h.deliveries(hook)[0]
	h.Clock.Advance(time.Hour)
	_, err := h.Webhooks.Resend(h.Staff(), delivery.UID, changes.RequestOptions{})
	h.must(err)
	got := h.post()
	if len(got) != 1 || got[0].Get("Webhook-Id") != before.Get("Webhook-Id") || got[0].body != before.body {
		t.Fatalf("posted again: %v, before %v", got, before)
	}
	signedBy(t, got[0], h.Now(), secret)
	if again := h.deliveries(hook)[0]; again.State != webhooks.Delivered || len(h.attempts(again.UID)) != 2 {
		t.Errorf("then %+v", again)
	}
	_, err = h.Webhooks.Disable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	if _, err := h.Webhooks.Resend(h.Staff(), delivery.UID,
		changes.RequestOptions{}); !errors.Is(err, webhooks.ErrStatus) {
		t.Errorf("of a disabled webhook: %v", err)
	}
}

// Whoever may ask for a delivery again may do so without end. Of its attempts the last ones are kept.
func TestTheLogOfADeliveryHasAnEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.post()
	delivery := h.deliveries(hook)[0].UID
	const more = 3
	for range webhooks.MostAttempts + more - 1 {
		_, err := h.Webhooks.Resend(h.Staff(), delivery, changes.RequestOptions{})
		h.must(err)
		h.post()
	}
	if d := h.deliveries(hook)[0]; d.Attempts != webhooks.MostAttempts+more {
		t.Errorf("%d attempts are counted", d.Attempts)
	}
	h.lastAttempts(delivery, more+1)
	if n := h.count("webhook_attempts"); n != webhooks.MostAttempts {
		t.Errorf("%d attempts are kept", n)
	}
}

// Deliveries of a former version of the program may have any number of attempts. They are neither read nor
// removed all at once.
func TestManyAttemptsOfADeliveryAreRemovedInPieces(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.post()
	delivery := h.deliveries(hook)[0].UID
	const many = 20_000
	_, err := h.Owner().ExecContext(t.Context(), `INSERT INTO webhook_attempts (tenant, delivery, number, at)
		SELECT ?, ?, number, now() FROM generate_series(2, ?) AS number`, h.Tenant, delivery, many)
	h.must(err)
	h.lastAttempts(delivery, many-webhooks.MostAttempts+1)
	h.Clock.Advance(time.Hour)
	for left, steps := many, 0; left > 0 || len(h.deliveries(hook)) > 0; steps++ {
		n, err := h.Webhooks.Purge(h.operator, time.Minute)
		h.must(err)
		removed := left - h.count("webhook_attempts")
		if n == 0 || removed > many/2 || steps == 10 {
			t.Fatalf("step %d removed %d of %d attempts, and says %d", steps, removed, left, n)
		}
		left -= removed
	}
}

// lastAttempts checks that the attempts of a delivery are the last ones, from the given number on.
func (h *house) lastAttempts(of webhooks.DeliveryUID, from int) {
	h.Helper()
	all := h.attempts(of)
	if len(all) != webhooks.MostAttempts {
		h.Fatalf("%d attempts are shown", len(all))
	}
	for i, a := range all {
		if int(a.Number) != from+i {
			h.Errorf("at %d stands attempt %d, want %d", i, a.Number, from+i)
		}
	}
}

// count returns how many rows of a table the bank has.
func (h *house) count(table string) (n int) {
	h.Helper()
	h.must(h.DB.NewRaw(`SELECT count(*) FROM `+table+` WHERE tenant = ?`, h.Tenant).Scan(h.Context(), &n))
	return n
}

// Who asks for events again and again keeps nobody else from theirs.
func TestReplaysTakeTurns(t *testing.T) {
	t.Parallel()
	h := build(t)
	busy, _ := h.hook(h.payer)
	other, _ := h.hook(h.payee)
	h.transfer("1", 0)
	h.spread()
	ask := func(uid webhooks.UID) {
		_, err := h.Webhooks.Replay(h.Staff(), uid, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
		h.must(err)
		_, err = h.Audit.Seal(h.operator)
		h.must(err)
	}
	ask(busy)
	ask(other)
	for range 2 {
		for h.find(busy).Replays() && h.find(other).Replays() {
			_, err := h.Webhooks.Spread(h.operator)
			h.must(err)
		}
		ask(busy)
	}
	if h.find(other).Replays() {
		t.Error("the other one still waits")
	}
}

// Who asks for the events of many webhooks keeps nobody else from theirs either.
func TestReplaysOfManyWebhooksKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	h := build(t)
	var many []webhooks.UID
	for i := range 6 {
		uid, _ := h.hook([]*customers.Customer{h.payer, h.partner}[i%2])
		many = append(many, uid)
	}
	other, _ := h.hook(h.stranger)
	h.transfer("1", 0)
	h.spread()
	for _, uid := range append(many, other) {
		_, err := h.Webhooks.Replay(h.Staff(), uid, webhooks.Replay{After: "0.0"}, changes.RequestOptions{})
		h.must(err)
	}
	for range 2 { // one of each party
		_, err := h.Webhooks.Spread(h.operator)
		h.must(err)
	}
	if h.find(other).Replays() {
		t.Error("the other one still waits")
	}
	h.spread()
	for _, uid := range many {
		if h.find(uid).Replays() {
			t.Errorf("%d still waits", uid)
		}
	}
}

// Each event may be told to many webhooks. So that others' payments need not wait until a file's are told,
// they are told in pieces.
func TestManyEventsAreToldInPieces(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.payer)
	const atATime = 100
	for range atATime + 1 {
		h.transfer("1", 0)
	}
	for {
		if n, err := h.Audit.Seal(h.operator); err != nil || n == 0 {
			h.must(err)
			break
		}
	}
	most := 0
	for told := -1; told < h.count("webhook_deliveries"); {
		told = h.count("webhook_deliveries")
		_, err := h.Webhooks.Spread(h.operator)
		h.must(err)
		most = max(most, h.count("webhook_deliveries")-told)
	}
	if all := h.count("webhook_deliveries"); all <= atATime || most > atATime {
		t.Errorf("of %d events, %d are told at once", all, most)
	}
}

// A partner may have customers without end, each with webhooks. What waits for all of them keeps nobody
// else's waiting.
func TestPartiesTakeTurnsWithTheirWebhooks(t *testing.T) {
	t.Parallel()
	h := build(t)
	const places = 8
	ask := func(uid webhooks.UID) {
		_, err := h.Webhooks.Test(h.Staff(), uid, changes.RequestOptions{})
		h.must(err)
	}
	for i := range 2 * places {
		uid, _ := h.hook([]*customers.Customer{h.payer, h.partner}[i%2])
		ask(uid)
	}
	other, _ := h.hook(h.stranger)
	ask(other)
	due, err := h.Webhooks.Claim(h.operator, room(places, places))
	h.must(err)
	of := map[webhooks.UID]bool{}
	for _, d := range due {
		of[d.Webhook] = true
	}
	if len(due) != places || !of[other] {
		t.Errorf("of %d that are posted, one of the other party: %t", len(due), of[other])
	}
}

func TestAReplayPostsEventsAgainAndThoseFromBefore(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.transfer("1", 0)
	h.spread()
	feed, err := h.Webhooks.Feed(h.Staff(), "", 10)
	h.must(err)
	hook, _ := h.hook(h.payer)
	h.transfer("2", 0)
	second := h.post()
	if len(second) != 1 {
		t.Fatalf("told: %v", second)
	}
	for name, one := range map[string]struct {
		from webhooks.Replay
		want int
	}{
		"from the beginning": {webhooks.Replay{After: "0.0"}, 2},
		"after the first":    {webhooks.Replay{After: feed.Events[0].Cursor}, 1},
		"since then":         {webhooks.Replay{Since: new(time.Now().Add(-time.Hour))}, 2},
		"since later":        {webhooks.Replay{Since: new(time.Now().Add(time.Hour))}, 0},
	} {
		_, err := h.Webhooks.Replay(h.Staff(), hook, one.from, changes.RequestOptions{})
		h.must(err)
		got := h.post()
		again := slices.ContainsFunc(got,
			func(p posted) bool { return p.Get("Webhook-Id") == second[0].Get("Webhook-Id") })
		if len(got) != one.want || again != (one.want > 0) {
			t.Errorf("%s: %v", name, got)
		}
		if h.find(hook).Replays() {
			t.Errorf("%s: it goes on", name)
		}
	}
	for _, bad := range []webhooks.Replay{
		{}, {After: "x"}, {After: "0.0", Since: new(time.Now())}, {After: "1.999999"},
	} {
		if _, err := h.Webhooks.Replay(h.Staff(), hook, bad, changes.RequestOptions{}); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	_, err = h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{After: "1.999999"}, changes.RequestOptions{})
	if !errors.Is(err, events.ErrAhead) {
		t.Errorf("after the end: %v", err)
	}
}

// A bank's record is longer than what the feed keeps: whoever reads it from its beginning, or has events
// posted again since a time, gets what is left.
func TestTheFeedBeginsWhereItWasRemovedUpTo(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.Exec(`INSERT INTO audit_seals (tenant, seq, entry, tx, hash)
		SELECT ?, n, -n, '1', decode(repeat('00', 32), 'hex') FROM generate_series(1, 6000) AS n`, h.Tenant)
	h.Exec(`INSERT INTO events_purged (tenant, seq) VALUES (?, 6000)`, h.Tenant)
	uid := h.transfer("1", 0)
	h.spread()
	hook, _ := h.hook(h.payer)
	_, err := h.Webhooks.Replay(h.Staff(), hook, webhooks.Replay{Since: new(time.Now().Add(-time.Hour))},
		changes.RequestOptions{})
	h.must(err)
	if got := h.post(); len(got) != 1 {
		t.Errorf("again are posted %v", got)
	}
	feed, err := h.Webhooks.Feed(h.Staff(), "", 10)
	h.must(err)
	if len(feed.Events) != 1 || feed.Events[0].Payment != uid {
		feed, err = h.Webhooks.Feed(h.Staff(), feed.Cursor, 10)
		t.Errorf("the feed begins with nothing, and goes on with %v, %v", feed, err)
	}
}

// Of a webhook that is deleted what was tried is parked; what nobody has tried to post leaves no rows.
func TestOfADeletedWebhookOnlyWhatWasTriedStays(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.receiver.says(status(http.StatusInternalServerError))
	tried := h.transfer("1", 0)
	h.post()
	never := h.transfer("1", 0)
	h.spread()
	_, err := h.Webhooks.Delete(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	if all := h.deliveries(hook); len(all) != 1 || all[0].Payment != tried ||
		all[0].State != webhooks.Parked {
		t.Errorf("of %s and %s there is %+v", tried, never, all)
	}
}

func TestATestTellsOfNoPayment(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, secret := h.hook(h.payer)
	done, err := h.Webhooks.Test(h.Staff(), hook, changes.RequestOptions{IdempotencyKey: "t"})
	h.must(err)
	again, err := h.Webhooks.Test(h.Staff(), hook, changes.RequestOptions{IdempotencyKey: "t"})
	if err != nil || again.Result != done.Result || !again.Replayed {
		t.Errorf("repeated: %+v, %v", again, err)
	}
	got := h.post()
	if len(got) != 1 || !strings.Contains(got[0].body, `"paymentId":0,"externalReferenceId":"TEST"`) {
		t.Fatalf("told: %v", got)
	}
	signedBy(t, got[0], h.Now(), secret)
	if d := h.deliveries(hook)[0]; d.UID != done.Result.Delivery || d.State != webhooks.Delivered ||
		d.Status() != "" {
		t.Errorf("delivery %+v", d)
	}
}

func TestTheFeedHasTheSameEventsWithoutAGap(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.payer)
	h.send("30.25", payments.Instant)
	h.exchange()
	h.transfer("1", 0)
	got := h.post()
	var bodies []string
	for cursor := ""; ; {
		page, err := h.Webhooks.Feed(h.PersonOf(h.payer, h.User(h.payer, nil)), cursor, 3)
		h.must(err)
		for _, event := range page.Events {
			if bodies = append(bodies, event.Body); event.Status == "" || event.At.IsZero() ||
				event.Cursor == "" {
				t.Errorf("event %+v", event)
			}
		}
		if cursor = page.Cursor; !page.More {
			break
		}
	}
	if len(bodies) != len(got) || len(got) != 4 {
		t.Fatalf("%d events in the feed, %d posted", len(bodies), len(got))
	}
	for _, request := range got {
		if !slices.Contains(bodies, request.body) {
			t.Errorf("the feed has %s, and lacks %s", bodies, request.body)
		}
	}
	for i, word := range []string{"READY_TO_TRANSMIT", "TRANSMITTED", "PROCESSED", "PROCESSED"} {
		if !strings.Contains(bodies[i], `"paymentStatus":"`+word+`"`) {
			t.Errorf("event %d is %s, want %s", i, bodies[i], word)
		}
	}
	for name, one := range map[string]struct {
		as   context.Context
		want int
		in   string
	}{
		"who is paid by a transfer": {h.PersonOf(h.payee, h.User(h.payee, nil)), 1, "IN"},
		"a stranger":                {h.PersonOf(h.stranger, h.User(h.stranger, nil)), 0, ""},
		"another partner":           {h.Partner(h.DownstreamPartner()), 0, ""},
		"another bank":              {h.Other().Staff(), 0, ""},
	} {
		page, err := h.Webhooks.Feed(one.as, "", 100)
		if err != nil || len(page.Events) != one.want || page.More {
			t.Errorf("%s: %+v, %v", name, page, err)
			continue
		}
		for _, event := range page.Events {
			var said struct{ PaymentIOType, Channel string }
			h.must(json.Unmarshal([]byte(event.Body), &said))
			if said.PaymentIOType != one.in || said.Channel != "" {
				t.Errorf("%s reads %s", name, event.Body)
			}
		}
	}
	for _, bad := range []int{0, 201} {
		if _, err := h.Webhooks.Feed(h.Staff(), "", bad); err == nil {
			t.Errorf("a page of %d is read", bad)
		}
	}
}

func TestTheBacklogTellsWhatWaitsAndWhatIsParked(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.payer)
	h.receiver.says(status(400))
	h.transfer("1", 0)
	h.post()
	h.transfer("2", 0)
	h.spread()
	h.Clock.Advance(time.Hour)
	if b, err := h.Webhooks.Backlog(h.operator); err != nil ||
		*b != (webhooks.Backlog{Waiting: 1, Parked: 1, Age: time.Hour}) {
		t.Errorf("backlog %+v, %v", b, err)
	}
	if n, err := h.Webhooks.Purge(h.operator, 2*time.Hour); n != 0 || err != nil {
		t.Errorf("%d were removed too early, %v", n, err)
	}
	if n, err := h.Webhooks.Purge(h.operator, time.Minute); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	if b, err := h.Webhooks.Backlog(h.operator); err != nil || b.Waiting != 1 || b.Parked != 0 {
		t.Errorf("then %+v, %v", b, err)
	}
	h.Exec("UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND uid = ?", h.Tenant, h.payer.UID)
	if b, err := h.Webhooks.Backlog(h.operator); err != nil || *b != (webhooks.Backlog{}) {
		t.Errorf("while nothing is posted to its customer %+v, %v", b, err)
	}
}

// What waits for a webhook that is disabled is kept as long as what was given up: then nobody enables it any
// more for that. Once it is enabled in time, all of it is posted.
func TestWhatWaitsForADisabledWebhookIsRemovedInTheEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	off, _ := h.hook(h.payer)
	suspended, _ := h.hook(h.payee)
	on, _ := h.hook(h.payer)
	again, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.spread()
	h.receiver.says(status(500))
	h.post() // each has an attempt now, and is tried again
	for _, uid := range []webhooks.UID{off, again} {
		_, err := h.Webhooks.Disable(h.Staff(), uid, changes.RequestOptions{})
		h.must(err)
	}
	h.Exec(`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, h.Tenant, h.payee.UID)
	h.Clock.Advance(24 * time.Hour)
	n, err := h.Webhooks.Purge(h.operator, 24*time.Hour)
	h.must(err)
	_, err = h.Webhooks.Enable(h.Staff(), again, changes.RequestOptions{})
	h.must(err)
	h.Clock.Advance(time.Hour)
	for range 3 { // one webhook at a time
		_, err := h.Webhooks.Purge(h.operator, 24*time.Hour)
		h.must(err)
	}
	if left := len(h.deliveries(off)) + len(h.deliveries(suspended)); n != 0 || left != 0 {
		t.Errorf("%d were removed too early, %d are left", n, left)
	}
	if len(h.deliveries(on)) == 0 || len(h.deliveries(again)) == 0 {
		t.Error("what waits for active webhooks is gone")
	}
	h.receiver.says(nil)
	if n := len(h.post()); n == 0 {
		t.Error("nothing is posted once it is enabled again")
	}
}

// The metrics count up to a bound, and read no more than that.
func TestABacklogIsCountedUpToABound(t *testing.T) {
	t.Parallel()
	h := build(t)
	uid, _ := h.hook(h.payer)
	_, err := h.Owner().ExecContext(t.Context(),
		`INSERT INTO webhook_deliveries (tenant, webhook, customer, state, due_at, created_at, done_at)
		SELECT ?0, ?1, ?2, CASE WHEN n % 2 = 0 THEN 'WAITING' ELSE 'PARKED' END, ?3, ?3,
		CASE WHEN n % 2 = 1 THEN ?3::timestamptz END FROM generate_series(1, ?4) AS n`,
		h.Tenant, uid, h.payer.UID, h.Clock.Now(), 2*webhooks.MostCounted+50)
	h.must(err)
	if b, err := h.Webhooks.Backlog(h.operator); err != nil ||
		*b != (webhooks.Backlog{Waiting: webhooks.MostCounted, Parked: webhooks.MostCounted}) {
		t.Errorf("backlog %+v, %v", b, err)
	}
}

// A partner may have said where the webhooks of its customers lead. Once a customer has left it, for another
// partner or for the bank, nothing is told until somebody who sees the customer now has looked.
func TestACustomerThatLeavesItsPartnerIsNotToldOnByIt(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*customers.Draft, *customers.Customer){
		"for another partner": func(d *customers.Draft, next *customers.Customer) {
			d.PartnerOrgShortName = given.Of(next.ShortName)
		},
		"for the bank": func(d *customers.Draft, _ *customers.Customer) {
			direct := customers.RelationCustomer
			d.PartnerOrgShortName, d.RelationshipType = given.Of(""), &direct
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			hook, _ := h.hook(h.payer)
			stopped, _ := h.hook(h.payer)
			_, err := h.Webhooks.Disable(h.Staff(), stopped, changes.RequestOptions{})
			h.must(err)
			others, _ := h.hook(h.payee)
			h.Exec(`UPDATE customers SET access_customer_dual_approval = true
				WHERE tenant = ? AND uid = ?`, h.Tenant, h.payer.UID)
			waits, _, err := h.Webhooks.Create(h.Someone("maker"), h.payer.UID, webhooks.Draft{
				Name: given.Of("Late"), Target: given.Of(h.receiver.URL),
			}, changes.RequestOptions{})
			h.must(err)
			h.Exec(`UPDATE customers SET access_customer_dual_approval = false
				WHERE tenant = ? AND uid = ?`, h.Tenant, h.payer.UID)
			next := h.DownstreamPartner()
			var draft customers.Draft
			edit(&draft, next)
			_, err = h.Customers.Change(h.Staff(), h.payer.UID, draft, changes.RequestOptions{})
			h.must(err)
			_, err = h.Changes.Approve(h.Checker(), changes.UID(waits.Approval), changes.RequestOptions{})
			h.must(err)
			if w := h.find(waits.Result.UID); w.Status != webhooks.Disabled || w.Reason == "" {
				t.Errorf("what waited for approval: %+v", w)
			}
			h.transfer("1", 0)
			for _, p := range h.post() {
				if n := len(h.deliveries(others)); n != 1 {
					t.Errorf("told %v, the payee %d times", p, n)
				}
			}
			w := h.find(hook)
			if w.Status != webhooks.Disabled || !strings.Contains(w.Reason, "has left its partner") ||
				w.Version != 2 {
				t.Errorf("%+v", w)
			}
			if w := h.find(stopped); w.Reason != "" || w.Version != 2 {
				t.Errorf("what a person had disabled: %+v", w)
			}
			if w := h.find(others); w.Status != webhooks.Active {
				t.Errorf("another's: %+v", w)
			}
			if name == "for another partner" {
				if _, err := h.Webhooks.Enable(h.Partner(h.partner), hook, changes.RequestOptions{}); err == nil {
					t.Error("the former partner enables it")
				}
				_, err := h.Webhooks.Enable(h.Partner(next), hook, changes.RequestOptions{})
				h.must(err)
			}
		})
	}
}

// The bank disables a webhook for a reason of its own, such as what its target does; whose webhook it is need
// not know that.
func TestWhatTheBankHasDisabledOnlyTheBankEnables(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	partner := h.Partner(h.partner)
	_, err := h.Webhooks.Disable(partner, hook, changes.RequestOptions{})
	h.must(err)
	_, err = h.Webhooks.Enable(partner, hook, changes.RequestOptions{})
	h.must(err)
	_, err = h.Webhooks.Disable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	if _, err = h.Webhooks.Enable(partner, hook, changes.RequestOptions{}); !errors.Is(err, webhooks.ErrByBank) {
		t.Errorf("enabled by its partner: %v", err)
	}
	_, err = h.Webhooks.Enable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	_, err = h.Webhooks.Disable(partner, hook, changes.RequestOptions{})
	h.must(err)
	_, err = h.Webhooks.Enable(partner, hook, changes.RequestOptions{})
	h.must(err)
	// the bank keeps disabled what somebody else has disabled first
	_, err = h.Webhooks.Disable(partner, hook, changes.RequestOptions{})
	h.must(err)
	_, err = h.Webhooks.Disable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	if _, err = h.Webhooks.Enable(partner, hook, changes.RequestOptions{}); !errors.Is(err, webhooks.ErrByBank) {
		t.Errorf("enabled by its partner, which had disabled it: %v", err)
	}
	if _, err = h.Webhooks.Disable(h.Staff(), hook,
		changes.RequestOptions{}); !errors.Is(err, webhooks.ErrStatus) {
		t.Errorf("disabled twice: %v", err)
	}
}

// Nor does anybody else lead another webhook where the bank wants none to lead.
func TestWhatTheBankHasDisabledIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	h := build(t)
	leads := func(to string) func(*webhooks.Draft) {
		return func(d *webhooks.Draft) { d.Target = given.Of(h.receiver.URL + to) }
	}
	hook, _ := h.hook(h.payer, leads("/first"))
	other, _ := h.hook(h.payer, leads("/second"))
	partner := h.Partner(h.partner)
	_, err := h.Webhooks.Disable(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	again := webhooks.Draft{Name: given.Of("Again"), Target: given.Of(h.receiver.URL + "/First/")}
	_, _, made := h.Webhooks.Create(partner, h.payer.UID, again, changes.RequestOptions{})
	_, changed := h.Webhooks.Change(partner, other, again, changes.RequestOptions{})
	_, itself := h.Webhooks.Change(partner, hook, webhooks.Draft{Target: given.Of(h.receiver.URL + "/third")},
		changes.RequestOptions{})
	_, removed := h.Webhooks.Delete(partner, hook, changes.RequestOptions{})
	for what, err := range map[string]error{
		"made": made, "changed": changed, "leads elsewhere": itself, "removed": removed,
	} {
		if !errors.Is(err, webhooks.ErrByBank) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = h.Webhooks.Delete(h.Staff(), hook, changes.RequestOptions{})
	h.must(err)
	_, _, err = h.Webhooks.Create(partner, h.payer.UID, again, changes.RequestOptions{})
	h.must(err)
}
