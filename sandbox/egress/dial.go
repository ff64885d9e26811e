package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"
)

// Of the addresses of one name so many are judged, and tried.
const (
	mostJudged    = 256
	mostAddresses = 8
)

// Dial checks host and port, resolves the host once, checks each address and connects to the first permitted one
// that answers. The connection is nil unless the Verdict is Allowed.
//
// It ends when ctx does, and after Options.Timeout in any case.
func (c *Checker) Dial(ctx context.Context, host string, port int) (net.Conn, Verdict) {
	h, v := c.check(host, port)
	if v.Outcome != Allowed {
		return nil, v
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	addrs, err := c.resolve(ctx, h)
	if err != nil {
		return nil, v.failed(ctx, Unresolved, err)
	}
	permitted, refusal := c.sift(addrs, v)
	if len(permitted) == 0 {
		return nil, refusal
	}
	conn, err := c.dialFirst(ctx, permitted)
	if err != nil {
		return nil, v.failed(ctx, Unreachable, err)
	}
	return conn, v
}

func (c *Checker) resolve(ctx context.Context, h Host) ([]netip.Addr, error) {
	if addr, literal := h.Addr(); literal {
		return []netip.Addr{addr}, nil
	}
	addrs, err := c.o.Resolver.LookupNetIP(ctx, "ip", h.name+".")
	if err == nil && len(addrs) == 0 {
		err = errors.New("the name has no address")
	}
	return addrs, err
}

// sift chooses the resolved addresses that may be dialled. If none may, refusal says why, about the host and port of v.
func (c *Checker) sift(addrs []netip.Addr, v Verdict) (permitted []netip.AddrPort, refusal Verdict) {
	var inner []netip.AddrPort // dialled if there is no other
	for _, addr := range addrs[:min(len(addrs), mostJudged)] {
		addr = addr.Unmap().WithZone("")
		at, judged := netip.AddrPortFrom(addr, uint16(v.Port)), c.CheckAddr(addr, v.Port)
		switch {
		case judged.Outcome == Allowed:
			permitted = append(permitted, at)
		case c.leads(v, judged):
			inner = append(inner, at)
		case refusal.Reason == "":
			refusal = judged
		}
	}
	if len(permitted) == 0 {
		permitted = inner
	}
	permitted = permitted[:min(len(permitted), mostAddresses)]
	refusal.Host, refusal.Message = v.Host, "toolhost refused "+v.authority()+": "+refusal.Message
	return permitted, refusal
}

// leads reports whether a grant names the very host whose address was refused, and the address is one of a network of the user's own, such as
// a company's registry, or a special-purpose one: VPN clients answer each name with such an address, and closed networks use them.
// Addresses of this machine, of links and of a cloud's metadata are reached only under their own names.
func (c *Checker) leads(v, refused Verdict) bool {
	is := class(refused.Rule)
	return slices.ContainsFunc(c.all(), func(g Grant) bool {
		may := is == special || !g.public && (is == private || is == ownNetwork)
		return may && g.kind == grantHost && g.host.String() == v.Host && g.opens(v.Port)
	})
}

// dialFirst tries the addresses one after the other, each with its share of the time that is left.
func (c *Checker) dialFirst(ctx context.Context, addrs []netip.AddrPort) (net.Conn, error) {
	var first error
	for i, addr := range addrs {
		conn, err := c.dialOne(ctx, addr, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (c *Checker) dialOne(ctx context.Context, addr netip.AddrPort, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return c.o.Dialer.DialContext(ctx, "tcp", addr.String())
}

func (v Verdict) failed(ctx context.Context, reason Reason, err error) Verdict {
	v.Outcome = Failed
	if errors.Is(ctx.Err(), context.Canceled) {
		return v.because(Canceled, "the command ended before %s was reached", v.authority())
	}
	return v.because(reason, "%s is permitted but could not be reached: %v", v.authority(), err)
}
