package transport

import (
	"testing"
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
		"many messages":       {1000, 20, 16 * time.Second, 16 * time.Second},
		"a few large ones":    {6, 32 << 10, 0, 0},
		"many large messages": {100, 32 << 10, time.Minute, 63 * time.Second},
	} {
		var p pace
		now := time.Now()
		var waited time.Duration
		for range one.messages {
			wait := p.take(one.bytes, now)
			now, waited = now.Add(wait), waited+wait
		}
		if waited < one.least || waited > one.most {
			t.Errorf("%s wait %s", name, waited)
		}
		if wait := p.take(100, now.Add(time.Minute)); wait != 0 {
			t.Errorf("%s, after a minute, wait %s", name, wait)
		}
	}
}
