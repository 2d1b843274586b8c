package rest

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5/middleware"
)

// Addressed finds the address that each request comes from. If the peer is in a trusted network of proxies,
// it is the last address in X-Forwarded-For, with or without a port, that is in none of those networks. From
// other peers the header is ignored. The first header of a trusted peer that cannot be read is logged.
func Addressed(log *slog.Logger, trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return middleware.ClientIPFromRemoteAddr(next)
	}
	networks := make([]string, len(trusted))
	for i, network := range trusted {
		networks[i] = network.String()
	}
	var told sync.Once
	read := middleware.ClientIPFromXFF(networks...)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if middleware.GetClientIP(r.Context()) == "" &&
				slices.ContainsFunc(r.Header[forwarded], unreadable) {
				told.Do(func() {
					log.WarnContext(r.Context(), "a trusted proxy sends an X-Forwarded-For that cannot be read: "+
						"all its clients count as one", "proxy", Address(r))
				})
			}
			next.ServeHTTP(w, r)
		}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, line := range r.Header[forwarded] {
			r.Header[forwarded][i] = withoutPorts(line)
		}
		read.ServeHTTP(w, r)
	})
}

const forwarded = "X-Forwarded-For"

// withoutPorts returns a list of addresses without the ports that some proxies add.
func withoutPorts(line string) string {
	all := strings.Split(line, ",")
	for i, one := range all {
		one = strings.TrimSpace(one)
		if with, err := netip.ParseAddrPort(one); err == nil {
			all[i] = with.Addr().String()
		} else if bare, ok := strings.CutPrefix(one, "["); ok { // as with a port, but without one
			all[i] = strings.TrimSuffix(bare, "]")
		}
	}
	return strings.Join(all, ",")
}

// unreadable reports whether a list of addresses has something else in it.
func unreadable(line string) bool {
	for one := range strings.SplitSeq(line, ",") {
		if _, err := netip.ParseAddr(strings.TrimSpace(one)); err != nil && strings.TrimSpace(one) != "" {
			return true
		}
	}
	return false
}

// Address is the address that Addressed found, or else the peer's.
func Address(r *http.Request) string {
	if known := middleware.GetClientIP(r.Context()); known != "" {
		return known
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// Network is the address of a request as limits count it. For IPv6 it is the first 64 bits: whoever has one
// address has all that begin with them.
func Network(r *http.Request) string { return NetworkOf(Address(r)) }

// NetworkOf is Network of an address.
func NetworkOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64)
	return network.String()
}
