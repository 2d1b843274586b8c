package outside_test

import (
	"errors"
	"net/netip"
	"testing"

	"bankgraph/core/outside"
)

func TestOnlyPublicAddressesAreOutside(t *testing.T) {
	t.Parallel()
	for class, addresses := range map[string][]string{
		"loopback":  {"127.0.0.1", "127.255.255.254", "::1"},
		"this host": {"0.0.0.0", "0.1.2.3", "::"},
		"private": {
			"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
			"fc00::1", "fdff::1",
		},
		"link-local":             {"169.254.169.254", "fe80::1", "fe80::1%eth0"},
		"a site's own":           {"fec0::1"},
		"shared by a provider":   {"100.64.0.1", "100.127.255.255"},
		"multicast":              {"224.0.0.1", "239.255.255.255", "ff02::1"},
		"broadcast and reserved": {"255.255.255.255", "240.0.0.1"},
		"IPv4 mapped into IPv6":  {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"},
		"IPv4 compatible IPv6":   {"::7f00:1", "::10.0.0.1"},
		"NAT64":                  {"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1"},
		"6to4 and Teredo":        {"2002:7f00:1::", "2001::1", "192.88.99.1"},
		"documentation, benchmarks": {
			"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1",
			"3fff::1", "198.18.0.1",
		},
		"IPv4 translated into IPv6":  {"::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254"},
		"tunnels of a site":          {"2a00:1:2:3:0:5efe:127.0.0.1", "2a00:1:2:3:200:5efe:10.0.0.1"},
		"the platform of a cloud":    {"168.63.129.16"},
		"for protocols, and nowhere": {"192.0.0.1", "100::1", "5f00::1"},
	} {
		for _, address := range addresses {
			if ip := netip.MustParseAddr(address); outside.Public(ip) {
				t.Errorf("%s, %s, counts as public", address, class)
			}
			at := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
			if err := outside.Only("tcp", at, nil); !errors.Is(err, outside.ErrInside) {
				t.Errorf("%s, %s, is connected to: %v", at, class, err)
			}
		}
	}
	for _, address := range []string{
		"8.8.8.8", "1.1.1.1", "100.63.255.255",
		"100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1",
		"::ffff:8.8.8.8",
	} {
		if !outside.Public(netip.MustParseAddr(address)) {
			t.Errorf("%s does not count as public", address)
		}
	}
}

func TestLoopbackIsAllThatMayBeAddedToThePublicNetwork(t *testing.T) {
	t.Parallel()
	for address, refused := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "[::ffff:127.0.0.1]:80": false, "8.8.8.8:443": false,
		"10.0.0.1:80": true, "169.254.169.254:80": true, "[fe80::1]:80": true, "0.0.0.0:80": true, "nowhere": true,
	} {
		if err := outside.OrLoopback("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}
