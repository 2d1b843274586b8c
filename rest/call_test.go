package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/db"
)

var update = flag.Bool("update", false, "write the golden files anew")

// said is an answer of the interface.
type said struct {
	status int
	header http.Header
	body   string
	cost   *db.Meter
}

// call sends a request as the caller in ctx, with a body of JSON.
func (b *bank) call(ctx context.Context, method, path, body string) said {
	b.t.Helper()
	return b.send(ctx, request(method, path, body))
}

func request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	switch {
	case strings.HasPrefix(body, "--"+boundary):
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	case body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

const boundary = "between-parts"

// form is a body with a file.
func form(name, text string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
		"\"\r\nContent-Type: text/plain\r\n\r\n" + text + "\r\n--" + boundary + "--\r\n"
}

func (b *bank) get(ctx context.Context, path string) said {
	b.t.Helper()
	return b.call(ctx, http.MethodGet, path, "")
}

func (b *bank) send(ctx context.Context, r *http.Request) said {
	b.t.Helper()
	answer := said{cost: &db.Meter{}}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r.WithContext(db.WithMeter(ctx, answer.cost)))
	answer.status, answer.header, answer.body = w.Code, w.Header(), w.Body.String()
	saw(b.t, answer.body)
	return answer
}

// golden compares an answer with testdata/name.golden.
func (s said) golden(t *testing.T, name string) {
	t.Helper()
	var pretty bytes.Buffer
	if s.body != "" {
		if err := json.Indent(&pretty, []byte(s.body), "", "  "); err != nil {
			t.Fatalf("%s: not JSON: %v\n%s", name, err, s.body)
		}
	}
	golden(t, name, fmt.Sprintf("%d %s\n%s\n", s.status, http.StatusText(s.status), pretty.String()))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// failure is the code and message of a failure, whatever its envelope.
func (s said) failure(t *testing.T) (code, message string) {
	t.Helper()
	type problem struct{ Code, Message string }
	var body struct {
		problem
		Errors []problem
	}
	if err := json.Unmarshal([]byte(s.body), &body); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, s.body)
	}
	if body.Code == "" && len(body.Errors) > 0 {
		return body.Errors[0].Code, body.Errors[0].Message
	}
	return body.Code, body.Message
}

// messageOnly reports whether a failure has no code: users and roles have none (envelope C3), series have
// (C12).
func (s said) messageOnly() bool {
	return strings.HasPrefix(s.body, `{"message":`) && !strings.Contains(s.body, `"errors":`)
}

func (s said) refused(t *testing.T, what string, status int, code, message string) {
	t.Helper()
	gotCode, gotMessage := s.failure(t)
	if s.messageOnly() {
		code = ""
	}
	if s.status != status || gotCode != code || !strings.Contains(gotMessage, message) {
		t.Errorf("%s: got %d %s %q, want %d %s %q", what, s.status, gotCode, gotMessage, status, code, message)
	}
}
