package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"bankgraph/core/fault"
	"bankgraph/rest"
)

// spoken is a connection for requests that net/http cannot read. net/http answers those itself, in plain
// text; spoken replaces that by the envelope of the face that was called.
type spoken struct {
	net.Conn

	mu     sync.Mutex
	began  []byte // the first bytes that the caller sent since the last answer
	midway bool   // an answer has begun: what is written now is more of it, whatever it looks like
}

// begin is how many bytes of a request are kept to find its path.
const begin = 256

// byItself follows the status line in net/http's own answers; a handler's answers have a date. Only the
// answer to an unknown Expect header looks like a handler's, and no handler here answers with its status.
const byItself = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// CloseWrite lets an answer arrive although the caller is still sending.
func (c *spoken) CloseWrite() error { return closeWrite(c.Conn) }

func (c *spoken) Read(into []byte) (int, error) {
	read, err := c.Conn.Read(into)
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := begin - len(c.began); room > 0 {
		c.began = append(c.began, into[:min(read, room)]...)
	}
	return read, err
}

func (c *spoken) Write(text []byte) (int, error) {
	c.mu.Lock()
	path := pathOf(c.began)
	c.began = c.began[:0]
	more := c.midway
	c.midway = true
	c.mu.Unlock()
	status := 0
	if !more {
		status = ownStatus(text)
	}
	if status == 0 {
		return c.Conn.Write(text)
	}
	if _, err := c.Conn.Write(unread(status, path)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// answered tells that an answer is sent whole: what is written next begins another.
func (c *spoken) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.midway = false
}

// ownStatus is the status of net/http's own answer, which begins with the text, or 0 if a handler wrote the
// answer.
func ownStatus(text []byte) int {
	const code = len("HTTP/1.1 ")
	if len(text) < code+3 || !bytes.HasPrefix(text, []byte("HTTP/1.")) {
		return 0
	}
	status, _ := strconv.Atoi(string(text[code : code+3]))
	line := bytes.Index(text, []byte("\r\n"))
	if status != http.StatusExpectationFailed && (line < 0 || !bytes.HasPrefix(text[line:], []byte(byItself))) {
		return 0
	}
	if unreadable[status] == nil {
		return http.StatusBadRequest
	}
	return status
}

// unreadable are the reasons for net/http's own answers.
var unreadable = map[int]*fault.Fault{
	http.StatusBadRequest: fault.New(fault.Invalid, "request.not_http",
		"the request is not well-formed HTTP"),
	http.StatusExpectationFailed: fault.New(fault.Invalid, "request.expectation",
		"of Expect only 100-continue is known"),
	http.StatusRequestHeaderFieldsTooLarge: fault.New(fault.Invalid, "request.header_too_large",
		"the header is too large"),
	http.StatusNotImplemented: fault.New(fault.Invalid, "request.encoding",
		"the transfer encoding is not known"),
	http.StatusHTTPVersionNotSupported: fault.New(fault.Invalid, "request.version",
		"the version of HTTP is not supported"),
}

// pathOf is the path in the first bytes of a request, as far as it can be read.
func pathOf(began []byte) string {
	line, _, _ := bytes.Cut(began, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) < 2 {
		return ""
	}
	path, _, _ := strings.Cut(words[1], "?")
	if words[0] == http.MethodConnect && !strings.HasPrefix(path, "/") {
		path = "http://" + path // as net/http reads it: what stands before the path is a host
	}
	if at, err := url.ParseRequestURI(path); err == nil {
		return at.Path
	}
	return path
}

// unread is the answer to a request that could not be read. The connection ends after it.
func unread(status int, path string) []byte {
	a := &answer{header: http.Header{}}
	why := unreadable[status]
	refusalAt(path, rest.RefuseUnread)(a, nil, why)
	var body, text bytes.Buffer
	_ = a.eachPiece(func(piece []byte) error { _, err := body.Write(piece); return err })
	said := http.Response{
		ProtoMajor: 1, ProtoMinor: 1, StatusCode: status, Header: a.header, Close: true,
		ContentLength: int64(body.Len()), Body: io.NopCloser(&body),
	}
	_ = said.Write(&text) // writes to memory
	return text.Bytes()
}
