package egress

import (
	"net"
	"net/netip"
)

// class says what an address is for. Only public ones are reached without being named.
type class string

const (
	public      class = "public"
	unspecified class = "unspecified"
	loopback    class = "loopback"
	private     class = "private"
	linkLocal   class = "link-local"
	metadata    class = "cloud metadata"
	multicast   class = "multicast"
	broadcast   class = "broadcast"
	special     class = "special-purpose"
	ownNetwork  class = "this machine's own network's"
)

// special4 are the parts of IPv4 that are not public, the narrower first.
//
// IANA IPv4 Special-Purpose Address Registry (RFC 6890); cloud metadata by their makers' documents.
var special4 = []prefixClass{
	{netip.MustParsePrefix("169.254.169.254/32"), metadata}, // nearly all clouds
	{netip.MustParsePrefix("169.254.170.2/32"), metadata},   // container credentials
	{netip.MustParsePrefix("169.254.170.23/32"), metadata},  // pod credentials
	{netip.MustParsePrefix("100.100.100.200/32"), metadata},
	{netip.MustParsePrefix("192.0.0.192/32"), metadata},
	{netip.MustParsePrefix("168.63.129.16/32"), metadata}, // a public address, answered by the hypervisor
	{netip.MustParsePrefix("255.255.255.255/32"), broadcast},
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // RFC 6598, carriers' translation
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.0.0.0/24"), special},
	{netip.MustParsePrefix("192.0.2.0/24"), special},
	{netip.MustParsePrefix("192.88.99.0/24"), special},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("198.18.0.0/15"), special},
	{netip.MustParsePrefix("198.51.100.0/24"), special},
	{netip.MustParsePrefix("203.0.113.0/24"), special},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), special},
}

// special6 names the parts of IPv6 that are not public. An address outside 2000::/3 is not public whether it is named
// here or not.
//
// IANA IPv6 Special-Purpose Address Registry (RFC 6890).
var special6 = []prefixClass{
	{netip.MustParsePrefix("fd00:ec2::254/128"), metadata},
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata},
	{netip.MustParsePrefix("::/128"), unspecified},
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("fec0::/10"), private}, // site-local, withdrawn by RFC 3879
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("ff00::/8"), multicast},
	{netip.MustParsePrefix("2001::/23"), special}, // Teredo among them, whose inner address is veiled
	{netip.MustParsePrefix("2001:db8::/32"), special},
	{netip.MustParsePrefix("3fff::/20"), special},
}

type prefixClass struct {
	prefix netip.Prefix
	class  class
}

var (
	unicast6  = netip.MustParsePrefix("2000::/3")
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056: IPv4 in bytes 2 to 5
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: IPv4 in the last four bytes
)

// classOf says what addr is for. An IPv6 address that carries an IPv4 address is of the class of that one.
func classOf(addr netip.Addr) class {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return lookup(special4, addr, public)
	}
	switch inner := carried(addr); {
	case inner != addr:
		return classOf(inner)
	case unicast6.Contains(addr):
		return lookup(special6, addr, public)
	}
	return lookup(special6, addr, special)
}

// Public says whether addr belongs to the world, and so may be reached without a grant that names it.
func Public(addr netip.Addr) bool { return classOf(addr) == public }

// carried returns the IPv4 address inside an IPv6 address that is translated or tunnelled to it, else addr.
func carried(addr netip.Addr) netip.Addr {
	b := addr.As16()
	switch {
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6]))
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16]))
	}
	return addr
}

func lookup(table []prefixClass, addr netip.Addr, otherwise class) class {
	for _, row := range table {
		if row.prefix.Contains(addr) {
			return row.class
		}
	}
	return otherwise
}

// dialable says whether addr can be the address of one host. The unspecified address is none: a system takes it for
// its own loopback.
func dialable(addr netip.Addr) bool {
	switch classOf(addr) {
	case unspecified, multicast, broadcast:
		return false
	}
	return addr.IsValid()
}

// OwnNetworks returns the networks that this machine's interfaces are on, as they are now. A neighbour with a public
// address is reached past whatever guards this network, and this machine's own services often trust its address.
func OwnNetworks() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var networks []netip.Prefix
	for _, a := range addrs {
		ipnet, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if addr, ok := netip.AddrFromSlice(ipnet.IP); ok {
			networks = append(networks, ownNetworkOf(addr.Unmap(), ipnet.Mask))
		}
	}
	return networks, nil
}

// ownNetworkOf returns the network of an interface, or its address alone when the mask is so wide that it is no
// network: a tunnel that takes all traffic may be configured as /0 or /1.
func ownNetworkOf(addr netip.Addr, mask net.IPMask) netip.Prefix {
	narrowest := 8
	if addr.Is6() {
		narrowest = 32
	}
	if ones, _ := mask.Size(); ones >= narrowest && ones <= addr.BitLen() {
		return netip.PrefixFrom(addr, ones).Masked()
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}
