package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"bankgraph/core/issuers"
)

const (
	longestFetch = 10 * time.Second
	largestFetch = 64 << 10
)

// newFetch makes the issuers.Fetch that reads what identity providers publish. It uses no proxy, so that it
// can check the address it connects to.
func newFetch() issuers.Fetch {
	inside, outside := fetchClient(nil), fetchClient(onlyOutside)
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

// insides are networks that a public name must not lead into, besides those that netip knows: shared
// addresses of providers, and IPv6 addresses that contain IPv4 addresses (NAT64, 6to4).
var insides = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
}

var errInside = errors.New("it leads into a private network")

// onlyOutside refuses a resolved address that is not on the public network.
func onlyOutside(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return errInside
	}
	for _, inside := range insides {
		if inside.Contains(ip) {
			return errInside
		}
	}
	return nil
}
