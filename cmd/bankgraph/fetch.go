package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"bankgraph/core/issuers"
	"bankgraph/core/outside"
)

const (
	longestFetch = 10 * time.Second
	largestFetch = 64 << 10
)

// newFetch makes the issuers.Fetch that reads what identity providers publish. It uses no proxy, so that it
// can check the address it connects to.
func newFetch() issuers.Fetch {
	inside, outside := fetchClient(nil), fetchClient(outside.Only)
	return func(ctx context.Context, address string, mayBeInside bool) ([]byte, error) {
		client := outside
		if mayBeInside {
			client = inside
		}
		return fetch(ctx, client, address)
	}
}

func fetchClient(control func(network, address string, c syscall.RawConn) error) *http.Client {
	dialer := net.Dialer{Timeout: longestFetch, Control: control}
	return &http.Client{
		Timeout:       longestFetch,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: largestHeader,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
		},
	}
}

func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, largestFetch+1))
	if err != nil {
		return nil, err
	}
	if len(text) > largestFetch {
		return nil, fmt.Errorf("%s answers with more than %d KiB", address, largestFetch>>10)
	}
	return text, nil
}
