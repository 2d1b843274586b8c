package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
)

// options are what the headers of a request say about a change: Idempotency-Key (or Idempotent-Key), with
// which a repeated request has its effect once, and If-Match with the ETag of what was read, which is refused
// where somebody else has changed it since. Without If-Match the last write wins.
func (q *reader) options() changes.RequestOptions {
	return changes.RequestOptions{IdempotencyKey: q.key(), Version: q.ifMatch()}
}

// errTwoKeys is of requests with more than one key (rest/CONTRACT.md, idempotency).
var errTwoKeys = fault.Field("request", "Idempotency-Key", fault.Malformed,
	"must be one key: where Idempotent-Key is sent too, both must be equal")

func (q *reader) key() string {
	sent := append(q.r.Header.Values("Idempotency-Key"), q.r.Header.Values("Idempotent-Key")...)
	for _, key := range sent {
		switch key {
		case "":
			name := "Idempotency-Key"
			if q.r.Header.Values(name) == nil {
				name = "Idempotent-Key"
			}
			q.fail(changes.ErrKey.On(name))
		case sent[0]:
		default:
			q.fail(errTwoKeys)
		}
	}
	if len(sent) == 0 {
		return ""
	}
	return sent[0]
}

func (q *reader) ifMatch() int32 {
	sent := q.r.Header.Values("If-Match")
	if len(sent) > 1 {
		q.fail(fault.Field("request", "If-Match", fault.Malformed, "must be given once"))
	}
	text := strings.Join(sent, "")
	if len(sent) == 0 || text == "*" {
		return 0
	}
	digits := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "W/"), `"`), `"`)
	version, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || version < 1 {
		q.fail(fault.Field("request", "If-Match", fault.Malformed, "must be the ETag of what was read"))
	}
	return int32(version)
}

// etag names the version of what is shown.
func etag(version int32) string { return `"` + strconv.Itoa(int(version)) + `"` }

// mark tells in headers what there is to know about a change beside its answer.
func mark(h http.Header, m changes.Receipt) {
	if m.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if m.Approval != 0 {
		h.Set("Approval-Request", strconv.FormatInt(m.Approval, 10))
	}
	if m.Version != 0 {
		h.Set("ETag", etag(m.Version))
	}
}

// done is the answer of a change: its status, its body and its mark. A status without a body is 204.
func done(status int, m changes.Receipt, data any) answer {
	return answer{status: status, mark: m, data: data}
}

// says is the message about a change: what was done, or that it is yet to be approved.
func says(m changes.Receipt, done string) string {
	if m.Approval != 0 {
		return fmt.Sprintf("Waits for approval %d", m.Approval)
	}
	return done
}

// versioned answers a single thing with the ETag that a change of it can name.
func versioned(version int32, view any) answer {
	return answer{data: view, mark: changes.Receipt{Version: version}}
}
