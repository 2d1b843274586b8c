package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof" // for -profile; the children listen on loopback only
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
)

// All servers except "bankgraph serve" are this binary, started with the task in this variable.
const childVariable = "BANKGRAPH_BENCH_CHILD"

// task is what a child serves.
type task struct {
	Server string // "inside" or "hand"
	URL    string
	Keyset string
}

// child is a server in a process of its own.
type child struct {
	name    string
	address string
	command *exec.Cmd
	end     func() // tells it to stop
}

func startChild(b *bank, name string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(task{Server: name, URL: b.url, Keyset: b.keyset})
	if err != nil {
		return nil, err
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), childVariable+"="+string(text))
	command.Stderr = os.Stderr
	life, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &child{name: name, command: command, end: func() { _ = life.Close() }}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("server %q did not start", name)
	}
	c.address = strings.TrimSpace(address)
	return c, nil
}

func (c *child) stop() {
	c.end()
	_ = c.command.Wait()
}

func (c *child) cpu() (time.Duration, error) { return cpuOf(c.command.Process.Pid) }

// runChild serves until the parent ends.
func runChild(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	ctx := context.Background()
	debug.SetGCPercent(400) // as in serve; the same for both servers
	var handler http.Handler
	var err error
	switch t.Server {
	case "inside":
		handler, err = inside(t)
	case "hand":
		handler, err = byHand(ctx, t)
	default:
		err = fmt.Errorf("no server is called %q", t.Server)
	}
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", handler)
	mux.Handle("/debug/pprof/", http.DefaultServeMux)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	// The same time limits as in serve, since timers take time.
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 75 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// authenticated is the token check, the same for both servers.
func authenticated(keys *clients.Service, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		caller, err := keys.Verify(r.Context(), token)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(access.With(r.Context(), caller)))
	})
}
