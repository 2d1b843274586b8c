package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"bankgraph/core/fair"
)

// An upload may take a minute, but its key's end ends it, as it ends all else that the key's tokens open.
func TestAnUploadEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	token := s.token("portal", s.client("portal"))
	var entity int64
	err := s.bank.DB.NewRaw(`SELECT c.entity FROM clients AS c JOIN tenants AS t ON t.id = c.tenant
		WHERE t.code = ? AND c.key = 'portal'`, s.realm).Scan(t.Context(), &entity)
	if err != nil {
		t.Fatal(err)
	}
	upload := func(text string, between func()) *httptest.ResponseRecorder {
		body := io.MultiReader(
			strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n"+text),
			&happening{between}, strings.NewReader("\r\n--x--\r\n"))
		r := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/v1/payments/customers/%d/files/csv", entity), body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		return w
	}
	if w := upload("one", func() { s.now.Add(15) }); w.Code != http.StatusOK {
		t.Errorf("a slow upload: %d %s", w.Code, w.Body)
	}
	w := upload("another", func() {
		if err := s.bank.Clients.Disable(context.WithoutCancel(s.operator), "portal"); err != nil {
			t.Error(err)
		}
		s.now.Add(15)
	})
	if w.Code != http.StatusUnauthorized {
		t.Errorf("an upload of a key that was ended meanwhile: %d %s", w.Code, w.Body)
	}
}

// happening is a piece of a body before which something happens.
type happening struct{ do func() }

func (h *happening) Read([]byte) (int, error) {
	h.do()
	return 0, io.EOF
}

// A file may take a minute, but not by coming more slowly than 16 KiB a second for longer than five seconds.
func TestAnUploadThatComesTooSlowlyIsCut(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]error{16 << 10: io.EOF, 15 << 10: nil, 1: errSlowUpload} {
		room := newRoomOf(1)
		now := time.Now()
		room.bodies = fair.New(64, func() time.Time { return now })
		wire := &trickle{
			ResponseRecorder: httptest.NewRecorder(), size: size, left: 59,
			then: func() { now = now.Add(time.Second) },
		}
		end := now.Add(time.Hour)
		ctx, cancel := context.WithDeadline(t.Context(), end)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/payments/customers/1/files/csv", wire)
		p := &place{ReadCloser: wire, room: room, of: party{"A", "portal"}, ctx: ctx}
		if err := room.carry(wire, r, p); err != nil {
			t.Fatal(err)
		}
		read, err := 0, error(nil)
		for err == nil {
			var n int
			n, err = p.Read(make([]byte, 32<<10))
			read += n
		}
		if want == nil { // a little too slow for a minute is not five seconds behind
			want = io.EOF
		}
		// what is done with it has its time
		if arrived := errors.Is(want, io.EOF); arrived != wire.until.Equal(end) {
			t.Errorf("of pieces of %d bytes a second, the connection has until %v", size, wire.until)
		}
		if !errors.Is(err, want) {
			t.Errorf("of pieces of %d bytes a second came %d bytes: %v", size, read, err)
		}
	}
}

// trickle is a connection on which a piece comes each second.
type trickle struct {
	*httptest.ResponseRecorder
	size, left int
	then       func()
	until      time.Time
}

func (c *trickle) SetReadDeadline(until time.Time) error { c.until = until; return nil }

func (c *trickle) Close() error { return nil }

func (c *trickle) Read(into []byte) (int, error) {
	if !c.until.After(time.Now()) {
		return 0, os.ErrDeadlineExceeded
	}
	if c.left--; c.left < 0 {
		return 0, io.EOF
	}
	c.then()
	return min(len(into), c.size), nil
}
