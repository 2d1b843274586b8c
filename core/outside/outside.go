// Package outside tells addresses of the public network from those that a name given by a stranger must not
// lead to: the bank's own machines and networks.
package outside

import (
	"errors"
	"net/netip"
	"syscall"
)

// insides are networks that a public name must not lead into, besides those that netip knows.
var insides = func() (all []netip.Prefix) {
	for _, network := range []string{
		"0.0.0.0/8",        // this host
		"100.64.0.0/10",    // shared addresses of providers (CGNAT)
		"192.0.0.0/24",     // protocol assignments
		"192.0.2.0/24",     // documentation, as the next two
		"198.51.100.0/24",  //
		"203.0.113.0/24",   //
		"192.88.99.0/24",   // relays of 6to4
		"198.18.0.0/15",    // benchmarks
		"168.63.129.16/32", // the platform of a large cloud, from within it
		"240.0.0.0/4",      // reserved, and the broadcast address
		"2001::/23",        // protocol assignments, Teredo among them, with an IPv4 address within
		"2001:db8::/32",    // documentation
		"2002::/16",        // 6to4: an IPv4 address is within
		"3fff::/20",        // documentation
	} {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}()

// allocated is what of IPv6 is given out for the public network. Outside it are, among others, IPv4 addresses
// in other forms (mapped, translated, NAT64) and what was a site's own.
var allocated = netip.MustParsePrefix("2000::/3")

// tunnels reports whether an IPv6 address leads to the IPv4 address within, through a tunnel of a site
// (ISATAP).
func tunnels(ip netip.Addr) bool {
	bytes := ip.As16()
	return bytes[8]&^2 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe
}

// ErrInside is returned for an address that is not on the public network.
var ErrInside = errors.New("it leads into a private network")

// Public reports whether an address is on the public network. An IPv4 address that is written as an IPv6 one
// counts as what it is.
func Public(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is6() && (!allocated.Contains(ip) || tunnels(ip)) {
		return false
	}
	for _, inside := range insides {
		if inside.Contains(ip) {
			return false
		}
	}
	return true
}

// Only is the Control of a net.Dialer that connects only to the public network. It sees the address that is
// connected to, after names were resolved, so that no second resolution can lead elsewhere.
func Only(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !Public(at.Addr()) {
		return ErrInside
	}
	return nil
}

// OrLoopback is Only, but for addresses of this machine, for those who try things out on it.
func OrLoopback(network, address string, conn syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().Unmap().IsLoopback() {
		return nil
	}
	return Only(network, address, conn)
}
