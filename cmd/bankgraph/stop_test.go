package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Writes, each with its key, go on while serve is stopped or killed. All that was acknowledged is there
// afterwards, all else can be sent again with its key, and each key has one effect. A serve that is stopped
// answers all that it took.
func TestNothingIsLostOrDoneTwiceWhenServeEndsUnderLoad(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := onDemo(t)
			p.settings = append(p.settings, "BANKGRAPH_RATE=0", "BANKGRAPH_TENANT_RATE=0")
			s := p.serve("--public-url", "http://bank.example")
			writer := &keyedWriter{
				t: t, token: s.token(sandbox, "demo-staff", "demo-staff-secret"), answers: map[string]string{},
			}
			writing := make(chan struct{})
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() { writer.write(s.url, n, writing) })
			}
			for began := time.Now(); writer.acknowledged() < 50; time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > time.Minute {
					t.Fatalf("%d writes are acknowledged; another is answered %s",
						writer.acknowledged(), writer.other)
				}
			}
			s.signal(signal)
			err := s.end()
			close(writing)
			all.Wait()
			if cut := writer.cut; signal == syscall.SIGTERM && (err != nil || len(cut) > 0) {
				t.Errorf("stopped: %v; requests that it took and did not answer: %v", err, cut)
			}
			s = p.serve("--public-url", "http://bank.example")
			writer.again(s.url)
			s.signal(syscall.SIGTERM)
			if err := s.end(); err != nil {
				t.Error(err)
			}
			p.ok("audit", "verify")
		})
	}
}

// keyedWriter adds signatories, each with an idempotency key of its own.
type keyedWriter struct {
	t     *testing.T
	token string

	mu      sync.Mutex
	answers map[string]string // acknowledged answers by key
	unsure  []string          // keys of requests without an answer or with another answer
	other   string            // the last such answer
	cut     []error           // errors of requests that were sent but not answered
}

// write sends one request after another until serve has ended.
func (k *keyedWriter) write(url string, writer int, ended <-chan struct{}) {
	caller := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer caller.CloseIdleConnections()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		default:
		}
		key := fmt.Sprintf("w%d-%d", writer, n)
		status, body, _, err := k.send(caller, url, key)
		k.mu.Lock()
		switch {
		case err == nil && status == http.StatusCreated:
			k.answers[key] = body
		default:
			k.unsure, k.other = append(k.unsure, key), fmt.Sprint(status, " ", body, " ", err)
		}
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) &&
			!strings.Contains(err.Error(), "server closed idle connection") {
			k.cut = append(k.cut, err)
		}
		k.mu.Unlock()
		if err != nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func (k *keyedWriter) acknowledged() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.answers)
}

func (k *keyedWriter) send(
	caller *http.Client, url, key string,
) (status int, body string, replayed bool, err error) {
	person := strings.ReplaceAll(key, "-", "x")
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		url+"/v1/customers/1000001/signatories", strings.NewReader(fmt.Sprintf(
			`{"fullName": "Ada Byron", "emailAddress": "%s@mail.example", "phoneNumber": "+16145550123"}`, person)))
	if err != nil {
		return 0, "", false, err
	}
	request.Header.Set("Authorization", "Bearer "+k.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	answer, err := caller.Do(request)
	if err != nil {
		return 0, "", false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), answer.Header.Get("Idempotency-Replayed") == "true", err
}

// again sends all requests again with their keys. Acknowledged ones get the same answer; the others are
// carried out now, once.
func (k *keyedWriter) again(url string) {
	for key, was := range k.answers {
		status, body, replayed, err := k.send(http.DefaultClient, url, key)
		if err != nil || status != http.StatusCreated || !replayed || body != was {
			k.t.Errorf("%s was acknowledged with %s, and is now answered %d %s (%v)", key, was, status, body, err)
		}
	}
	for _, key := range k.unsure {
		if status, body, _, err := k.send(http.DefaultClient, url, key); err != nil ||
			status != http.StatusCreated {
			k.t.Errorf("%s had no answer, and is now answered %d %s (%v)", key, status, body, err)
		}
	}
}
