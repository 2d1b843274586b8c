package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Frames that ask for nothing are read no faster than a network is heard, on however many connections.
func TestFramesThatAskForNothingAreHeardSlowly(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t, t.TempDir(), 7)
	c := &serveCommand{exposure: exposure{TLSCert: cert, TLSKey: key, Connections: 40}}
	doors, address := doorsOverTLS(t, c, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}), newLog(io.Discard))
	insecure := &tls.Config{
		InsecureSkipVerify: true, NextProtos: []string{"h2"},
	} //nolint:gosec // the test's own
	frames := bytes.Repeat([]byte{0, 0, 0, 0xee, 0, 0, 0, 0, 0}, 1700) // of a kind that nobody knows
	const long = 2 * time.Second
	var sent sync.WaitGroup
	for range 3 {
		sent.Go(func() {
			conn, err := tls.Dial("tcp", address, insecure)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(long))
			_, err = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
			for err == nil {
				_, err = conn.Write(frames)
			}
		})
	}
	sent.Wait()
	h := doors.hearing
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.due) != 1 {
		t.Fatalf("%d parties were heard", len(h.due))
	}
	for _, due := range h.due { // each connection waits after what it has read last
		if ahead := time.Until(due); ahead > time.Second {
			t.Errorf("what was heard lasts for %s more", ahead)
		}
	}
}

// What is said lasts, but bodies do not count, and nobody pays for others.
func TestBodiesAreNotCountedAsHeard(t *testing.T) {
	t.Parallel()
	h, now := newHearing(), time.Now()
	loud, quiet := party{caller: "192.0.2.1"}, party{"bank", "portal"}
	const all = heardInSecond * int(heardPast/time.Second)
	if wait := h.heard(loud, all, now); wait > 0 {
		t.Errorf("what may be said at once waits %s", wait)
	}
	if wait := h.heard(loud, heardInSecond, now); wait != time.Second {
		t.Errorf("a second's more waits %s", wait)
	}
	if wait := h.heard(quiet, 1000, now); wait > 0 {
		t.Errorf("another one waits %s", wait)
	}
	for range 300 {
		h.heard(quiet, heardInSecond, now)
		if wait := h.heard(quiet, -heardInSecond, now); wait > 0 {
			t.Fatalf("after a body another one waits %s", wait)
		}
	}
	for i := range 3 * forgetAt {
		h.heard(party{caller: strings.Repeat("x", i)}, 1, now.Add(time.Duration(i)*time.Second))
	}
	if len(h.due) > forgetAt {
		t.Errorf("%d parties are remembered", len(h.due))
	}
}
