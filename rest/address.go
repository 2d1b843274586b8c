package rest

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5/middleware"
)

// Addressed finds the address that each request comes from. If the peer is in a trusted network of proxies,
// it is the last address in X-Forwarded-For that is in none of those networks. From other peers the header is
// ignored.
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
