package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/webhooks"
)

var first = page.First(100)

// The vector of the Standard Webhooks specification's own tests.
func TestSignaturesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	const secret, id, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
		`{"test": 2432232314}`
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	at := time.Unix(1614265330, 0)
	if got, err := webhooks.Sign([]string{secret}, id, at, []byte(body)); err != nil || got != want {
		t.Errorf("signature %s, %v", got, err)
	}
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of some length"))
	both, err := webhooks.Sign([]string{other, secret}, id, at, []byte(body))
	if parts := strings.Split(both, " "); err != nil || len(parts) != 2 || parts[1] != want ||
		parts[0] == want {
		t.Errorf("with two secrets: %s, %v", both, err)
	}
	if _, err := webhooks.Sign([]string{"whsec_!"}, id, at, nil); err == nil ||
		strings.Contains(err.Error(), "!") {
		t.Errorf("a secret that is none: %v", err)
	}
}

// signedBy fails unless a request has the signature of each of the secrets, and no other.
func signedBy(t *testing.T, got posted, at time.Time, secrets ...string) {
	t.Helper()
	want, err := webhooks.Sign(secrets, got.Get("Webhook-Id"), at, []byte(got.body))
	if err != nil || got.Get("Webhook-Signature") != want ||
		got.Get("Webhook-Timestamp") != fmt.Sprint(at.Unix()) {
		t.Errorf("signature %q at %s, want %q at %d", got.Get("Webhook-Signature"),
			got.Get("Webhook-Timestamp"), want, at.Unix())
	}
}

func statuses(t *testing.T, got []posted) (all []string) {
	t.Helper()
	for _, request := range got {
		var said struct{ PaymentStatus, PaymentIOType string }
		if err := json.Unmarshal([]byte(request.body), &said); err != nil {
			t.Fatal(err)
		}
		all = append(all, said.PaymentStatus+" "+said.PaymentIOType)
	}
	return all
}

// A payment over the sandbox's network, from the request to the receiver, which verifies what it gets.
func TestAPaymentIsToldFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, secret := h.hook(h.payer)
	uid := h.send("30.25", payments.Instant)
	h.exchange()
	got := h.post()
	if all := statuses(t, got); !slices.Equal(all, []string{
		"READY_TO_TRANSMIT OUT", "TRANSMITTED OUT",
		"PROCESSED OUT",
	}) {
		t.Fatalf("told: %v", all)
	}
	for i, request := range got {
		signedBy(t, request, h.Now(), secret)
		delivery := h.deliveries(hook)[len(got)-1-i]
		if request.path != "POST /payments" || request.Get("Content-Type") != "application/json" ||
			request.Get("Webhook-Id") != delivery.MessageID() || request.Get("Authorization") != "" ||
			delivery.Payment != uid || delivery.State != webhooks.Delivered {
			t.Errorf("request %+v of delivery %+v", request, delivery)
		}
		if made := h.attempts(delivery.UID); len(made) != 1 || made[0].Answer != 200 || made[0].Took == nil {
			t.Errorf("attempts %+v", made)
		}
	}
	if again := h.post(); len(again) != 0 {
		t.Errorf("told again: %v", again)
	}
}

func TestBothSidesOfATransferAreToldAndNobodyElse(t *testing.T) {
	t.Parallel()
	h := build(t)
	for of, want := range map[*customers.Customer][]string{
		h.payer: {"PROCESSED OUT"}, h.payee: {"PROCESSED IN"}, h.partner: {"PROCESSED OUT"},
		h.Self: {"PROCESSED OUT"}, h.stranger: nil, h.DownstreamPartner(): nil,
	} {
		hook, _ := h.hook(of)
		h.transfer("30.25", 0)
		got := h.post()
		if all := statuses(t, got); !slices.Equal(all, want) {
			t.Errorf("customer %s is told %v, want %v", of.UID, all, want)
		}
		for _, request := range got {
			if fee := strings.Contains(request.body, `"channel"`); fee == (of == h.payee) {
				t.Errorf("customer %s reads what is the payer's alone: %s", of.UID, request.body)
			}
		}
		_, err := h.Webhooks.Delete(h.Staff(), hook, changes.RequestOptions{})
		h.must(err)
	}
}

func TestAWebhookIsToldOnlyOfWhatItAsksFor(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.hook(h.payer, func(d *webhooks.Draft) { d.Statuses = []payments.Status{payments.StatusProcessed} })
	h.send("30.25", payments.Instant)
	h.transfer("1", 0)
	h.exchange()
	if all := statuses(t, h.post()); !slices.Equal(all, []string{"PROCESSED OUT", "PROCESSED OUT"}) {
		t.Errorf("of those processed: %v", all)
	}
	h = build(t)
	h.hook(h.payer, func(d *webhooks.Draft) { d.Rails = []rails.Rail{rails.Book} })
	h.transfer("1", 0)
	h.send("30.25", payments.Instant)
	if all := statuses(t, h.post()); !slices.Equal(all, []string{"PROCESSED OUT"}) {
		t.Errorf("of transfers: %v", all)
	}
}

func TestEventsFromBeforeAWebhookAreNotTold(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.transfer("1", 0)
	h.spread()
	h.hook(h.payer)
	if got := h.post(); len(got) != 0 {
		t.Errorf("told: %v", got)
	}
	h.transfer("2", 0)
	if got := h.post(); len(got) != 1 {
		t.Errorf("of what came later: %v", got)
	}
}

func TestBasicAuthenticationIsSentAsItIsSet(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer, func(d *webhooks.Draft) {
		d.BasicUser, d.BasicPassword = given.Of("bank"), given.Of("first secret")
	})
	as := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for _, step := range []struct{ user, password, want string }{
		{"", "", as("bank", "first secret")}, {
			"other", "second secret",
			as("other", "second secret"),
		}, {"-", "", ""},
	} {
		draft := webhooks.Draft{
			BasicUser:     given.Of(strings.Trim(step.user, "-")),
			BasicPassword: given.Of(step.password),
		}
		if step.user != "" {
			_, err := h.Webhooks.Change(h.Staff(), hook, draft, changes.RequestOptions{})
			h.must(err)
		}
		h.transfer("1", 0)
		if got := h.post(); len(got) != 1 || got[0].Get("Authorization") != step.want {
			t.Errorf("%+v: %v", step, got)
		}
	}
}

func TestUntilTheOverlapEndsBothSecretsSign(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, former := h.hook(h.payer)
	options := changes.RequestOptions{IdempotencyKey: "rotate"}
	_, secret, err := h.Webhooks.RotateSecret(h.Staff(), hook, time.Hour, options)
	h.must(err)
	again, same, err := h.Webhooks.RotateSecret(h.Staff(), hook, time.Hour, options)
	if err != nil || same != secret || !again.Replayed || secret == former ||
		!strings.HasPrefix(secret, "whsec_") {
		t.Fatalf("repeated: %q, %v, %v", same, again, err)
	}
	h.transfer("1", 0)
	signedBy(t, h.post()[0], h.Now(), secret, former)
	h.Clock.Advance(time.Hour)
	h.transfer("2", 0)
	signedBy(t, h.post()[0], h.Now(), secret)
	_, last, err := h.Webhooks.RotateSecret(h.Staff(), hook, 0, changes.RequestOptions{})
	h.must(err)
	h.transfer("3", 0)
	signedBy(t, h.post()[0], h.Now(), last)
	if _, gone, err := h.Webhooks.RotateSecret(h.Staff(), hook, time.Hour, options); err != nil ||
		gone != "" {
		t.Errorf("a secret that was replaced is shown: %q, %v", gone, err)
	}
}

// However often a secret is replaced, a message has two signatures at most.
func TestOfFormerSecretsOnlyTheLastStillSigns(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	rotate := func(overlap time.Duration) string {
		t.Helper()
		_, secret, err := h.Webhooks.RotateSecret(h.Staff(), hook, overlap, changes.RequestOptions{})
		h.must(err)
		return secret
	}
	rotate(168 * time.Hour)
	second, third := rotate(168*time.Hour), rotate(168*time.Hour)
	h.transfer("1", 0)
	signedBy(t, h.post()[0], h.Now(), third, second)
	last := rotate(0)
	h.transfer("2", 0)
	signedBy(t, h.post()[0], h.Now(), last)
}

// The table of retries, each with the time of the next try.
func TestAFailedDeliveryIsTriedAgainAsTheTableSays(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.receiver.says(status(http.StatusServiceUnavailable))
	h.transfer("1", 0)
	id := ""
	pauses := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}
	for range 24 {
		pauses = append(pauses, time.Hour)
	}
	for n, pause := range pauses {
		got := h.post()
		if len(got) != 1 || id != "" && got[0].Get("Webhook-Id") != id {
			t.Fatalf("try %d: %v", n+1, got)
		}
		id = got[0].Get("Webhook-Id")
		delivery := h.deliveries(hook)[0]
		if n == len(pauses)-1 {
			if delivery.State != webhooks.Parked || delivery.NextAt() != nil ||
				len(h.attempts(delivery.UID)) != len(pauses) {
				t.Fatalf("after 24 hours: %+v", delivery)
			}
			return
		}
		if next := delivery.NextAt(); next == nil || !next.Equal(h.Now().Add(pause)) {
			t.Fatalf("after try %d the next is at %v", n+1, next)
		}
		h.Clock.Advance(pause - time.Second)
		if early := h.post(); len(early) != 0 {
			t.Fatalf("tried again too early: %v", early)
		}
		h.Clock.Advance(time.Second)
	}
}

func TestWhatIsTriedAgainAndWhatIsParked(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	for code, want := range map[int]webhooks.DeliveryState{
		200: webhooks.Delivered, 204: webhooks.Delivered, 400: webhooks.Parked, 401: webhooks.Parked,
		403: webhooks.Parked,
		404: webhooks.Parked, 409: webhooks.Parked, 410: webhooks.Parked, 302: webhooks.Parked,
		408: webhooks.Waiting,
		429: webhooks.Waiting, 500: webhooks.Waiting, 502: webhooks.Waiting, 503: webhooks.Waiting,
		504: webhooks.Waiting,
	} {
		h.receiver.says(status(code))
		h.transfer("1", 0)
		h.post()
		delivery := h.deliveries(hook)[0]
		if made := h.attempts(delivery.UID); delivery.State != want || len(made) != 1 ||
			int(made[0].Answer) != code {
			t.Errorf("answered %d it is %s, attempts %+v", code, delivery.State, made)
		}
	}
}

func TestTheReceiverSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	for asked, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "1": time.Minute, "soon": time.Minute,
		"86400": 24 * time.Hour, "604800": 24 * time.Hour, // a last try, when all of them end
	} {
		h.receiver.says(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", asked)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		h.transfer("1", 0)
		h.post()
		if next := h.deliveries(hook)[0].NextAt(); next == nil || !next.Equal(h.Now().Add(want)) {
			t.Errorf("asked for %s, the next try is at %v", asked, next)
		}
	}
}

func TestALaterEventOfAPaymentWaitsForTheEarlierOneAndOtherPaymentsDoNot(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	h.receiver.says(status(http.StatusInternalServerError))
	h.send("30.25", payments.Instant)
	if all := statuses(t, h.post()); !slices.Equal(all, []string{"READY_TO_TRANSMIT OUT"}) {
		t.Fatalf("first %v", all)
	}
	h.receiver.says(nil)
	h.exchange()
	h.transfer("1", 0)
	if all := statuses(t, h.post()); !slices.Equal(all, []string{"PROCESSED OUT"}) {
		t.Fatalf("the other payment: %v", all)
	}
	h.Clock.Advance(time.Minute)
	if all := statuses(t, h.post()); !slices.Equal(all,
		[]string{"READY_TO_TRANSMIT OUT", "TRANSMITTED OUT", "PROCESSED OUT"}) {
		t.Errorf("then %v", all)
	}
	// one that is given up keeps the later ones no longer
	h.receiver.says(status(http.StatusBadRequest))
	h.send("31.25", payments.Instant)
	h.exchange()
	if got := h.post(); len(got) != 3 {
		t.Errorf("those of a payment whose first event is parked: %v", got)
	}
	if h.deliveries(hook)[0].State != webhooks.Parked {
		t.Error("the last is not parked")
	}
}

// Who may change a webhook does not have the password that it has sent to an address of their own.
func TestAPasswordGoesToNoOtherTarget(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer, func(d *webhooks.Draft) {
		d.BasicUser, d.BasicPassword = given.Of("bank"), given.Of("first secret")
	})
	draft := webhooks.Draft{Target: given.Of("https://collector.example")}
	if _, err := h.Webhooks.Change(h.Staff(), hook, draft, changes.RequestOptions{}); err == nil {
		t.Error("the password would go to another target")
	}
	draft.BasicUser, draft.BasicPassword = given.Of("bank"), given.Of("second secret")
	_, err := h.Webhooks.Change(h.Staff(), hook, draft, changes.RequestOptions{})
	h.must(err)
}

// A webhook whose secret cannot be opened, as its row is damaged, keeps no other one from being told.
func TestASecretThatDoesNotOpenStopsNoOtherWebhook(t *testing.T) {
	t.Parallel()
	h := build(t)
	damaged, _ := h.hook(h.payer)
	_, secret := h.hook(h.payer)
	h.Exec(`UPDATE webhook_secrets SET secret = set_byte(secret, length(secret) - 1,
		get_byte(secret, length(secret) - 1) # 1) WHERE tenant = ? AND webhook = ?`, h.Tenant, damaged)
	h.transfer("1", 0)
	h.spread()
	due, err := h.Webhooks.Claim(h.operator, room(100, 100))
	if err == nil || !strings.Contains(err.Error(), damaged.String()) || len(due) != 2 {
		t.Fatalf("%d deliveries are taken, %v", len(due), err)
	}
	for _, d := range due {
		h.must(h.Webhooks.Post(h.operator, d))
	}
	got := h.receiver.all()
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	signedBy(t, got[0], h.Now(), secret)
	if all := h.deliveries(damaged); len(all) != 1 || all[0].State != webhooks.Parked {
		t.Errorf("%+v", all)
	}
}

// A program whose copy of the keyset is older than that of others leaves what it cannot sign to them, and
// gives up nothing. It takes what it can sign as ever, in places that others do not take.
func TestASecretUnderAKeyThatThisProgramLacksIsLeftToOthers(t *testing.T) {
	t.Parallel()
	h := build(t)
	foreign, _ := h.hook(h.payer)
	mine, _ := h.hook(h.payer)
	other := func() {
		h.Exec(`UPDATE webhook_secrets SET secret = set_byte(secret, 1, get_byte(secret, 1) # 85)
			WHERE tenant = ? AND webhook = ?`, h.Tenant, foreign)
	}
	other()
	h.transfer("1", 0)
	h.spread()
	due, err := h.Webhooks.Claim(h.operator, room(100, 100))
	if err != nil || len(due) != 1 || due[0].Webhook != mine {
		t.Fatalf("%d deliveries are taken, %v", len(due), err)
	}
	if all := h.deliveries(foreign); len(all) != 1 || all[0].State != webhooks.Waiting ||
		all[0].Attempts != 0 {
		t.Errorf("%+v", all)
	}
	other() // as for a program that has the key
	if due, err = h.Webhooks.Claim(h.operator, room(100, 100)); err != nil || len(due) != 0 {
		t.Errorf("%d deliveries are taken at once, %v", len(due), err)
	}
	h.Clock.Advance(time.Minute)
	due, err = h.Webhooks.Claim(h.operator, room(100, 100))
	if err != nil || !slices.ContainsFunc(due, func(d *webhooks.Due) bool { return d.Webhook == foreign }) {
		t.Errorf("%d deliveries are taken, %v", len(due), err)
	}
}

// A secret that signs nothing any more may be sealed under any key.
func TestAnEndedSecretUnderALostKeyKeepsNothingBack(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	_, _, err := h.Webhooks.RotateSecret(h.Staff(), hook, time.Hour, changes.RequestOptions{})
	h.must(err)
	h.Exec(`UPDATE webhook_secrets SET secret = set_byte(secret, 1, get_byte(secret, 1) # 85), ends_at = ?
		WHERE tenant = ? AND webhook = ? AND ends_at IS NOT NULL`, h.Now(), h.Tenant, hook)
	h.transfer("1", 0)
	h.spread()
	if due, err := h.Webhooks.Claim(h.operator, room(100, 100)); err != nil || len(due) != 1 {
		t.Errorf("%d deliveries are taken, %v", len(due), err)
	}
}

// What was put off while the machine's clock was days ahead is posted soon after it is set right.
func TestAClockThatWasAheadPutsNothingOffForDays(t *testing.T) {
	t.Parallel()
	h := build(t)
	hook, _ := h.hook(h.payer)
	taken, _ := h.hook(h.payer)
	h.transfer("1", 0)
	h.spread()
	h.Exec(`UPDATE webhook_deliveries SET due_at = ?::timestamptz + interval '3 days'
		WHERE tenant = ? AND webhook = ?`, h.Now(), h.Tenant, hook)
	h.Exec(`UPDATE webhook_deliveries SET leased_until = ?::timestamptz + interval '3 days'
		WHERE tenant = ? AND webhook = ?`, h.Now(), h.Tenant, taken)
	if due, err := h.Webhooks.Claim(h.operator, room(100, 100)); err != nil || len(due) != 2 {
		t.Fatalf("%d deliveries are taken, %v", len(due), err)
	}
	h.Exec(`UPDATE webhook_deliveries SET leased_until = NULL, due_at = ?::timestamptz + interval '1 day'
		WHERE tenant = ?`, h.Now(), h.Tenant)
	if due, err := h.Webhooks.Claim(h.operator, room(100, 100)); err != nil || len(due) != 0 {
		t.Errorf("%d deliveries are taken before their time, %v", len(due), err)
	}
}

// What was made while the clock was ahead is posted as soon as it is right again. A clock that is behind
// brings nothing forward of what failed.
func TestAClockThatWasAheadPutsNothingOffForHours(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{30 * time.Minute, 2 * time.Hour, 26 * time.Hour} {
		h := build(t)
		h.hook(h.payer)
		h.Clock.Advance(ahead)
		h.transfer("1", 0)
		h.spread()
		h.Clock.Advance(-ahead)
		if got := h.post(); len(got) != 1 {
			t.Errorf("ahead by %s: posted %d times", ahead, len(got))
		}
	}
	h := build(t)
	h.hook(h.payer)
	h.receiver.says(status(http.StatusServiceUnavailable))
	h.transfer("1", 0)
	h.post()
	h.Clock.Advance(-time.Hour)
	if got := h.post(); len(got) != 0 {
		t.Errorf("posted again %d times by a clock that is behind", len(got))
	}
}

// Who repeats a request hears the secret again, as long as the customer is its own.
func TestAFormerPartnerIsNotToldTheSecretAgain(t *testing.T) {
	t.Parallel()
	h := build(t)
	partner, next := h.Partner(h.partner), h.DownstreamPartner()
	create := func() (changes.Outcome[webhooks.Saved], string) {
		done, secret, err := h.Webhooks.Create(partner, h.payer.UID, webhooks.Draft{
			Name: given.Of("Ledger"), Target: given.Of(h.receiver.URL),
		}, changes.RequestOptions{IdempotencyKey: "create"})
		h.must(err)
		return done, secret
	}
	_, secret := create()
	if done, again := create(); !done.Replayed || again != secret || secret == "" {
		t.Errorf("its own: %q, then %q", secret, again)
	}
	h.Exec(`UPDATE customers SET owner = ? WHERE tenant = ? AND uid = ?`, next.UID, h.Tenant, h.payer.UID)
	if done, again := create(); !done.Replayed || again != "" {
		t.Errorf("when it has left: %q", again)
	}
}
