package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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
