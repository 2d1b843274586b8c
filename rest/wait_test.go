package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/rest"
)

// place counts how often a request gives its place up, and takes it again.
type place struct {
	left, back atomic.Int32
	full       bool             // too many wait
	aside      func(end func()) // called once it waits; may be nil
	cut        func()           // may be nil
}

func (p *place) Leave() { p.left.Add(1) }

func (p *place) StepAside(end func()) bool {
	if p.full {
		return false
	}
	p.Leave()
	if p.aside != nil {
		p.aside(end)
	}
	return true
}

func (p *place) Return(context.Context) error { p.back.Add(1); return nil }

func (p *place) Cut() {
	if p.cut != nil {
		p.cut()
	}
}

// works does the bank's own work until the test ends.
func (b *bank) works(t *testing.T) {
	t.Helper()
	operator := access.Operator(t.Context(), b.Tenant, b.Code, coretest.Zone())
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			_, _ = b.Payments.SendQueued(operator)
			_, _ = b.Payments.HandOver(operator)
			_, _ = b.Payments.Receive(operator)
			_, _ = b.Audit.Seal(operator)
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

// A caller who prefers to wait hears what the network says, and holds no place in the room meanwhile.
func TestAnAnswerWaitsForTheNetworkIfItsCallerPrefersThat(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.works(t)
	for name, one := range map[string]struct {
		prefer  []string
		amount  string
		status  string
		applied string
	}{
		"no":                    {nil, "1", "INITIATED", ""},
		"paid":                  {[]string{"wait=20"}, "1", "PROCESSED", "wait=20"},
		"refused":               {[]string{"wait=20"}, "1.02", "REJECTED", "wait=20"},
		"quoted, among others":  {[]string{"respond-async, WAIT = \"20\"; x=1"}, "1", "PROCESSED", "wait=20"},
		"in the second header":  {[]string{"return=minimal", "wait=20"}, "1", "PROCESSED", "wait=20"},
		"for longer than it is": {[]string{"wait=86400"}, "1", "PROCESSED", "wait=30"},
		"not a number":          {[]string{"wait=soon"}, "1", "INITIATED", ""},
		"below 0":               {[]string{"wait=-1"}, "1", "INITIATED", ""},
		"0":                     {[]string{"wait=0"}, "1", "INITIATED", ""},
		"something else":        {[]string{"waiting=20"}, "1", "INITIATED", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/v4/payments/credit", "/v5/payments/credit"} {
				r := request(http.MethodPost, path,
					strings.Replace(credit(b, ""), `"paymentAmount": 1,`, `"paymentAmount": `+
						one.amount+`,`, 1))
				for _, prefer := range one.prefer {
					r.Header.Add("Prefer", prefer)
				}
				mine := new(place)
				said := b.send(rest.WithPlace(b.program(), mine), r)
				if said.status != http.StatusOK || !strings.Contains(said.body, `"paymentStatus":"`+one.status+`"`) ||
					said.header.Get("Preference-Applied") != one.applied {
					t.Errorf("%s: %d %s %v", path, said.status, said.body, said.header)
				}
				want := int32(0)
				if one.applied != "" {
					want = 1
				}
				if mine.left.Load() != want || mine.back.Load() != want {
					t.Errorf("%s: its place was left %d times, and taken again %d times", path,
						mine.left.Load(), mine.back.Load())
				}
			}
		})
	}
}

// Nothing is waited for where no network is going to answer.
func TestAnAnswerDoesNotWaitInVain(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	dual := newBank(t)
	dual.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ?`, dual.Tenant)
	for name, one := range map[string]struct {
		b      *bank
		body   string
		status string
	}{
		"by ACH":         {b, entry(b, "CCD"), "INITIATED"},
		"of a later day": {b, credit(b, `, "paymentDate": "11-30-2026"`), "FUTURE_DATED"},
		"to be approved": {dual, credit(dual, ""), "PENDING_APPROVAL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(http.MethodPost, "/v4/payments/credit", one.body)
			r.Header.Set("Prefer", "wait=25")
			began := time.Now()
			said := one.b.send(one.b.program(), r)
			if took := time.Since(began); took > 20*time.Second || said.status != http.StatusOK ||
				!strings.Contains(said.body, `"paymentStatus":"`+one.status+`"`) {
				t.Errorf("after %s: %d %s", took, said.status, said.body)
			}
		})
	}
}

// Where the network says nothing, the answer comes at the end of the time, and a repeated request hears the
// rest.
func TestAnAnswerWaitsNoLongerThanItsCallerPrefers(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	body := credit(b, "")
	asks := func(seconds string) (said, time.Duration) {
		r := request(http.MethodPost, "/v4/payments/credit", body)
		r.Header.Set("Prefer", "wait="+seconds)
		r.Header.Set("Idempotency-Key", "0b1f1a53-4d1c-4d3a-9a52-8f6d5a3f1c11")
		began := time.Now()
		return b.send(b.program(), r), time.Since(began)
	}
	first, took := asks("1")
	if took < time.Second || first.status != http.StatusOK ||
		!strings.Contains(first.body, `"paymentStatus":"INITIATED"`) {
		t.Errorf("after %s: %d %s", took, first.status, first.body)
	}
	b.works(t)
	again, _ := asks("25")
	if again.header.Get("Idempotency-Replayed") != "true" ||
		again.body != strings.Replace(first.body, "INITIATED", "PROCESSED", 1) {
		t.Errorf("again: %d %s %v", again.status, again.body, again.header)
	}
}

// Where too many wait, the answer comes at once, and the wait of who has many ends for others: it says how
// the payment stands, and that it was not waited for (rest/CONTRACT.md, waiting for the network).
func TestTheSurplusOfThoseWhoWaitIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		at  *place
		key string
	}{
		"too many":  {&place{full: true}, "0b1f1a53-4d1c-4d3a-9a52-8f6d5a3f1c12"},
		"gives way": {&place{aside: func(end func()) { end() }}, "0b1f1a53-4d1c-4d3a-9a52-8f6d5a3f1c13"},
	} {
		mine := one.at
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t)
			body := credit(b, "")
			asks := func(at *place) said {
				r := request(http.MethodPost, "/v4/payments/credit", body)
				r.Header.Set("Prefer", "wait=30")
				r.Header.Set("Idempotency-Key", one.key)
				return b.send(rest.WithPlace(b.program(), at), r)
			}
			first := asks(mine)
			if first.status != http.StatusOK || !strings.Contains(first.body, `"paymentStatus":"INITIATED"`) ||
				first.header.Get("Preference-Applied") != "" {
				t.Errorf("%d %s %v", first.status, first.body, first.header)
			}
			if mine.left.Load() != mine.back.Load() {
				t.Errorf("its place was left %d times, and taken again %d times", mine.left.Load(), mine.back.Load())
			}
			b.works(t)
			asks(new(place)) // until the network has said something
			again := asks(mine)
			if again.body != strings.Replace(first.body, "INITIATED", "PROCESSED", 1) ||
				again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("again: %d %s %v", again.status, again.body, again.header)
			}
		})
	}
}

// A program that stops holds nobody up: who waits is answered at once, instead of being cut off.
func TestNobodyWaitsForANetworkOnceTheProgramStops(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	serving, stop := context.WithCancel(t.Context())
	b.handler = rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler), Serving: serving})
	r := request(http.MethodPost, "/v4/payments/credit", credit(b, ""))
	r.Header.Set("Prefer", "wait=30")
	time.AfterFunc(500*time.Millisecond, stop)
	began := time.Now()
	said := b.send(b.program(), r)
	if took := time.Since(began); took > 20*time.Second || said.status != http.StatusOK ||
		!strings.Contains(said.body, `"paymentStatus":"INITIATED"`) {
		t.Errorf("after %s: %d %s", took, said.status, said.body)
	}
}

// Only requests for payments may take longer than others.
func TestOnlyRequestsForPaymentsMayWait(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]time.Duration{
		"POST /v4/payments/credit": 7 * time.Second, "POST /payments/debitrequest": 7 * time.Second,
		"GET /v4/payments/credit": 0, "POST /v4/payments/search": 0, "POST /v3/payments/booktransfer": 0,
	} {
		method, path, _ := strings.Cut(where, " ")
		r := request(method, path, "")
		r.Header.Set("Prefer", "wait=7")
		if got := rest.Waits(r); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
}
