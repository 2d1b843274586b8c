package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What customers and other banks write into names and notes arrives as they wrote it, wherever the answer is
// cut into pieces. A request on the same connection that nobody can read has the envelope of its face,
// whether it comes after the answer or together with the request before.
func TestABodyIsNotTakenForARefusal(t *testing.T) {
	t.Parallel()
	texts := []string{
		"HTTP/1.1 417", "HTTP/1.0 417 Expectation Failed", "HTTP/1.1 400 Bad Request" + byItself +
			"400 Bad Request",
	}
	piece := func(text string) string { return strings.Repeat(text, 20_000/len(text)) }
	const pieces = 4 // each larger than the buffers of net/http, which sends it as it is
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 16}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			of, _ := strconv.Atoi(r.URL.Query().Get("text"))
			w.Header().Set("Content-Length", strconv.Itoa(pieces*len(piece(texts[of]))))
			for range pieces {
				_, _ = io.WriteString(w, piece(texts[of]))
				_ = http.NewResponseController(w).Flush()
			}
		}))
	const unreadable = "GET /graphql HTTP/1.1\r\nno header\r\n\r\n"
	for of, text := range texts {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, together %t", of, together), func(t *testing.T) {
				t.Parallel()
				conn := connect(t, address, false)
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				from := bufio.NewReader(conn)
				read := func() (status int, media, body string) {
					t.Helper()
					answer, err := http.ReadResponse(from, nil)
					if err != nil {
						t.Fatal(err)
					}
					defer answer.Body.Close()
					said, err := io.ReadAll(answer.Body)
					if err != nil {
						t.Fatal(err)
					}
					return answer.StatusCode, answer.Header.Get("Content-Type"), string(said)
				}
				asked := fmt.Sprintf("GET /graphql?text=%d HTTP/1.1\r\nHost: bank\r\n\r\n", of)
				if together {
					asked += unreadable
				}
				_, _ = io.WriteString(conn, asked)
				if status, _, body := read(); status != http.StatusOK ||
					body != strings.Repeat(piece(text), pieces) {
					t.Errorf("%d with %d bytes, of which some are others", status, len(body))
				}
				if !together {
					_, _ = io.WriteString(conn, unreadable)
				}
				if status, media, body := read(); status != http.StatusBadRequest ||
					!strings.Contains(media, "json") {
					t.Errorf("what cannot be read: %d as %q: %s", status, media, body)
				}
			})
		}
	}
}
