package egress

import (
	_ "embed"
	"net"
	"net/netip"
	"strings"
	"sync"
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
	special     class = "special-purpose" // no network of the world's: VPN clients and closed networks use them
	veiled      class = "translated"      // or reserved: where a packet to it ends is not known
	ownNetwork  class = "neighbouring"    // of a network of this machine
	ownAddress  class = "own"             // this machine's
)

//go:embed networks.txt
var networksTable string

// networks are the networks of the table, which is our own: one that cannot be read is a fault of this program.
var networks = sync.OnceValue(func() []prefixClass {
	var table []prefixClass
	for line := range strings.Lines(networksTable) {
		line, _, _ = strings.Cut(line, "#")
		if prefix, of, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			table = append(table, prefixClass{netip.MustParsePrefix(prefix), class(of)})
		}
	}
	return table
})

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
		return lookup(addr, public)
	}
	switch inner := carried(addr); {
	case inner != addr:
		return classOf(inner)
	case unicast6.Contains(addr):
		return lookup(addr, public)
	}
	return lookup(addr, veiled)
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

func lookup(addr netip.Addr, otherwise class) class {
	for _, row := range networks() {
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

// OwnNetworks returns the networks that this machine's interfaces are on, as they are now, each with the interface's address in
// place of the network's. A neighbour with a public
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

// ownNetworkOf returns the address of an interface and its network's length, or the address alone when the mask is so wide that it is no
// network: a tunnel that takes all traffic may be configured as /0 or /1.
func ownNetworkOf(addr netip.Addr, mask net.IPMask) netip.Prefix {
	narrowest := 8
	if addr.Is6() {
		narrowest = 32
	}
	if ones, _ := mask.Size(); ones >= narrowest && ones <= addr.BitLen() {
		return netip.PrefixFrom(addr, ones)
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}
