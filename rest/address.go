package rest

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5/middleware"
)

// Addressed learns where each request comes from. Behind proxies that are trusted, by their networks, it is
// the last address in X-Forwarded-For that is not one of theirs; from everybody else that header says
// nothing.
func Addressed(trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return middleware.ClientIPFromRemoteAddr(next)
	}
	networks := make([]string, len(trusted))
	for i, network := range trusted {
		networks[i] = network.String()
	}
	return middleware.ClientIPFromXFF(networks...)(next)
}

// Address is where a request comes from; the peer where nothing else is known.
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

// Network is the address of a request as limits count it: of IPv6 the first 64 bits, since whoever has one
// address has all of those.
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
