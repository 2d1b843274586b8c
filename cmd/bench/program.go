package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// build builds the program of the working tree into the folder.
func build(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "bankgraph")
	command := exec.CommandContext(ctx, "go", "build", "-o", program, "bankgraph/cmd/bankgraph")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build bankgraph: %w\n%s", err, out)
	}
	return program, nil
}

// startPatience is how long a first start may take: it makes a database and fills a bank.
const startPatience = time.Minute

// serve starts "bankgraph serve" with these settings and waits until it serves. Its log goes to a file, since
// reading a pipe would take time from the measurement.
func serve(program, folder string, settings ...string) (*child, error) {
	log, err := os.CreateTemp(folder, "serve-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(program, "serve")
	command.Env = append(os.Environ(), append(settings, "BANKGRAPH_ADDR=127.0.0.1:0")...)
	command.Stderr = log
	endWithUs(command)
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &child{name: "ours", command: command, end: func() { _ = command.Process.Signal(syscall.SIGTERM) }}
	for began := time.Now(); ; {
		text, err := os.ReadFile(log.Name())
		if c.address = servingAt(text); c.address != "" {
			return c, nil
		}
		if err != nil || gone(command.Process.Pid) || time.Since(began) > startPatience {
			c.stop()
			return nil, fmt.Errorf("bankgraph serve did not start: %.2000s", text)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// gone reports whether a child process has ended. The kernel keeps it as a zombie until it is waited for.
func gone(pid int) bool {
	s, err := statusOf(pid)
	return err != nil || s.state == "Z"
}

// servingAt finds the address in the log of serve.
func servingAt(log []byte) string {
	for line := range bytes.Lines(log) {
		var said struct{ Msg, Address string }
		if json.Unmarshal(line, &said) == nil && said.Msg == "serving" {
			return said.Address
		}
	}
	return ""
}

// start is how long a start took until the first answer.
type start struct{ first, later time.Duration }

// starts measures first starts, which make a database and the demo bank of 250 customers, and later ones.
func starts(ctx context.Context, program, folder string, times int) ([]start, error) {
	var all []start
	for range min(times, 3) {
		s, err := startTwice(ctx, program, folder)
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		all = append(all, s)
	}
	return all, nil
}

func startTwice(ctx context.Context, program, folder string) (s start, err error) {
	data, err := os.MkdirTemp(folder, "start-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(data)
	if err := os.Chmod(data, 0o711); err != nil { // as in openBank
		return s, err
	}
	for _, took := range []*time.Duration{&s.first, &s.later} {
		began := time.Now()
		c, err := serve(program, folder, "BANKGRAPH_DATA="+data)
		if err != nil {
			return s, err
		}
		err = firstAnswer(ctx, c.address)
		*took = time.Since(began)
		c.stop()
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// firstAnswer does what the documentation says: it gets a token, then a customer.
func firstAnswer(ctx context.Context, address string) error {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"demo-staff"}, "client_secret": {"demo-staff-secret"},
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := post(ctx, "http://"+address+"/auth/realms/sandbox/protocol/openid-connect/token",
		"application/x-www-form-urlencoded", "", form.Encode(), &token); err != nil {
		return err
	}
	var said struct {
		Data struct {
			Customer *struct{ LegalName string }
		}
	}
	if err := post(ctx, "http://"+address+"/graphql", "application/json", token.AccessToken,
		`{"query":"{customer(by:{uid:\"1000001\"}){legalName}}"}`, &said); err != nil {
		return err
	}
	if said.Data.Customer == nil {
		return errors.New("the first answer has no customer")
	}
	return nil
}

func post(ctx context.Context, address, media, token, body string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", media)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return answerOf(http.DefaultClient, request, answer)
}

func answerOf(client *http.Client, request *http.Request, answer any) error {
	got, err := client.Do(request)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, got.Status)
	}
	return json.NewDecoder(got.Body).Decode(answer)
}
