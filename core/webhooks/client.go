package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bankgraph/core/outside"
)

const (
	defaultLimit = 10 * time.Second
	// of a body: nobody reads it, but a short one lets the connection be used again
	largestAnswer = 64 << 10
	longestBody   = 100 * time.Millisecond // to read one
	largestHeader = 16 << 10
)

// clients post to the addresses of strangers. They connect to addresses of the public network only, which are
// checked when they are dialed, use no proxy and follow no redirect.
type clients struct {
	outside, local *http.Client
}

func newClients(limit time.Duration) clients {
	return clients{outside: newClient(limit, outside.Only), local: newClient(limit, outside.OrLoopback)}
}

func newClient(
	limit time.Duration, control func(network, address string, c syscall.RawConn) error,
) *http.Client {
	dialer := net.Dialer{Timeout: limit, Control: control}
	return &http.Client{
		Timeout:       limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			// no HTTP/2: over a kept connection a receiver could send pings without end, each to be answered
			Protocols: onlyHTTP1(), Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: limit,
			MaxResponseHeaderBytes: largestHeader, MaxIdleConns: 64, MaxIdleConnsPerHost: 2,
			IdleConnTimeout: time.Minute, DisableCompression: true,
		},
	}
}

func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// message is what is posted.
type message struct {
	target, path   string
	body           []byte
	id, signature  string
	at             time.Time
	user, password string
	local          bool // the target may be an address of this machine
}

// post posts a message, and returns the outcome. An answer is complete with its header, so a receiver whose
// body never ends takes no longer than one that answers nothing.
func (c clients) post(ctx context.Context, m *message) (o outcome) {
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	if err := permitted(m.target, m.local); err != nil {
		return outcome{why: "the target is no address that may be posted to", never: true}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.target+m.path, bytes.NewReader(m.body))
	if err != nil {
		return outcome{why: "the target is no address", never: true}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "bankgraph")
	request.Header.Set("Webhook-Id", m.id)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(m.at.Unix(), 10))
	request.Header.Set("Webhook-Signature", m.signature)
	// a receiver may have closed a connection that was kept: it can tell by Webhook-Id what it has already
	request.Header["Idempotency-Key"] = nil // not sent; net/http then posts again over a new connection
	if m.user != "" {
		request.SetBasicAuth(m.user, m.password)
	}
	client := c.outside
	if m.local {
		client = c.local
	}
	answer, err := client.Do(request)
	if err != nil {
		return outcome{why: whyNot(err)}
	}
	defer answer.Body.Close()
	if short := answer.ContentLength >= 0 && answer.ContentLength <= largestAnswer; short &&
		!switches(answer) {
		defer time.AfterFunc(longestBody, cancel).Stop()
		_, _ = io.CopyN(io.Discard, answer.Body, largestAnswer)
	}
	return outcome{
		answer: answer.StatusCode, retryAfter: retryAfter(answer.Header.Get("Retry-After"), time.Now()),
	}
}

// switches reports whether a receiver wants to speak another protocol, which it was not asked for. The body
// is then the connection itself, which no limit of the client ends: it is not read, only closed.
func switches(answer *http.Response) bool { return answer.StatusCode == http.StatusSwitchingProtocols }

// whyNot says why there was no answer, without addresses: receivers must not learn from it what is in the
// bank's network, nor which names are known there.
func whyNot(err error) string {
	var name *net.DNSError
	var timeout interface{ Timeout() bool }
	var wrong *url.Error
	switch {
	case errors.Is(err, outside.ErrInside), errors.As(err, &name):
		return "the target cannot be reached from here"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &wrong) && strings.Contains(wrong.Err.Error(), "tls:"),
		errors.As(err, &wrong) && strings.Contains(wrong.Err.Error(), "x509:"):
		return "no secure connection: the certificate or the protocol is not accepted"
	}
	return "the connection was lost"
}

// retryAfter reads the header Retry-After: seconds, or a date. It returns 0 if it cannot read it.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), longestTrying)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), longestTrying)
	}
	return 0
}
