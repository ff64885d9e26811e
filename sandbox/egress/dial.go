package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// mostAddresses bounds how many addresses of one name are tried.
const mostAddresses = 8

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

// sift returns the addresses that may be dialled, and the verdict that holds if there are none.
func (c *Checker) sift(addrs []netip.Addr, v Verdict) (permitted []netip.AddrPort, refusal Verdict) {
	for _, addr := range addrs {
		addr = addr.Unmap().WithZone("")
		judged := c.CheckAddr(addr, v.Port)
		if judged.Outcome != Allowed {
			if refusal.Reason == "" {
				refusal = judged
			}
			continue
		}
		if permitted = append(permitted, netip.AddrPortFrom(addr, uint16(v.Port))); len(permitted) == mostAddresses {
			break
		}
	}
	refusal.Host, refusal.Message = v.Host, "toolhost refused "+v.authority()+": "+refusal.Message
	return permitted, refusal
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
