package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// Who says much over a WebSocket is heard more slowly, by messages and by their size; a pause makes good for
// some.
func TestAWebSocketIsHeardAtAPace(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		messages, bytes int
		least, most     time.Duration
	}{
		"what clients say":    {100, 500, 0, 0},
		"many messages":       {1000, 20, 16 * time.Second, 17 * time.Second},
		"a few large ones":    {6, 32 << 10, 0, 0},
		"many large messages": {100, 32 << 10, time.Minute, 63 * time.Second},
	} {
		var p pace
		now := time.Now()
		var waited time.Duration
		for range one.messages {
			wait := p.take(1, one.bytes, now)
			now, waited = now.Add(wait), waited+wait
		}
		if waited < one.least || waited > one.most {
			t.Errorf("%s wait %s", name, waited)
		}
		if wait := p.take(1, 100, now.Add(time.Minute)); wait != 0 {
			t.Errorf("%s, after a minute, wait %s", name, wait)
		}
	}
}

// What the protocol of WebSockets lets everybody send without end costs as much as messages: pings, and parts
// of a message, which may be empty.
func TestFramesThatSayNothingAreHeardAtAPace(t *testing.T) {
	t.Parallel()
	const frames = 50_000
	for name, one := range map[string]struct {
		first, frame []byte
		frames       int
	}{
		"pings": {nil, []byte{0x89, 0x80, 0, 0, 0, 0}, 500},
		"pongs": {nil, []byte{0x8a, 0x80, 0, 0, 0, 0}, frames},
		"parts": {[]byte{0x01, 0x80, 0, 0, 0, 0}, []byte{0x00, 0x80, 0, 0, 0, 0}, frames},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := net.Pipe()
				defer client.Close()
				r := httptest.NewRequest(http.MethodGet, "/graphql", nil)
				for name, value := range map[string]string{
					"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
					"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": subprotocol,
				} {
					r.Header.Set(name, value)
				}
				served := make(chan struct{})
				go func() {
					defer close(served)
					Streams{Door: opened{}}.serveSocket(&hijacked{httptest.NewRecorder(), server}, r, nil)
				}()
				go func() { _, _ = io.Copy(io.Discard, client) }()
				begun := time.Now()
				say := func(frame []byte) {
					if _, err := client.Write(frame); err != nil {
						t.Error(err)
					}
				}
				say(append([]byte{0x81, 0x80 | 26, 0, 0, 0, 0}, `{"type":"connection_init"}`...))
				say(one.first)
				for range one.frames {
					say(one.frame)
				}
				if took := time.Since(begun); took < time.Second {
					t.Errorf("%d frames took %s", one.frames, took)
				}
				_ = client.Close()
				<-served
			})
		})
	}
}

// hijacked is a response whose connection can be taken over.
type hijacked struct {
	http.ResponseWriter
	conn net.Conn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// opened is a door that lets everybody in.
type opened struct{}

func (opened) Verify(ctx context.Context, _ string) (context.Context, time.Duration, error) {
	return ctx, time.Hour, nil
}
func (opened) Work(context.Context) (func(), error)                    { return func() {}, nil }
func (opened) Open(context.Context, Kind, func(error)) (func(), error) { return func() {}, nil }
func (opened) Allows(*http.Request, string) bool                       { return true }
func (opened) Serving() context.Context                                { return context.Background() }
func (opened) Sent()                                                   {}
func (opened) Ended(string)                                            {}
