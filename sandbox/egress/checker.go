package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Resolver finds the addresses of a name. *net.Resolver is one.
//
// It is asked with network "ip" for the name with its trailing dot, so that no search list is tried: a name that is
// permitted must not become another.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to an address in numbers. *net.Dialer is one.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Options are the surroundings of a [Checker]. The zero Options are those of this machine.
type Options struct {
	Resolver Resolver                       // nil: net.DefaultResolver
	Dialer   Dialer                         // nil: a net.Dialer
	Networks func() ([]netip.Prefix, error) // this machine's, with its addresses; asked for each connection; nil: OwnNetworks
	Timeout  time.Duration                  // for resolving and dialling together; 0: 20 s
}

func (o Options) withDefaults() Options {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Dialer == nil {
		o.Dialer = new(net.Dialer)
	}
	if o.Networks == nil {
		o.Networks = OwnNetworks
	}
	if o.Timeout <= 0 {
		o.Timeout = 20 * time.Second
	}
	return o
}

// Checker applies the grants of one command. It is safe for concurrent use.
type Checker struct {
	o Options

	mu     sync.Mutex
	grants []Grant // never changed in place
}

// New returns a Checker of grants. Without grants it denies all.
func New(grants []Grant, o Options) *Checker {
	return &Checker{grants: slices.Clone(grants), o: o.withDefaults()}
}

// Add permits more from now on.
func (c *Checker) Add(g Grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = append(slices.Clip(c.grants), g)
}

func (c *Checker) all() []Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grants
}

// Check judges host and port by grammar and grants, and asks nobody. Allowed means that [Checker.Dial] would go on to
// resolve the name.
func (c *Checker) Check(host string, port int) Verdict {
	_, v := c.check(host, port)
	return v
}

func (c *Checker) check(host string, port int) (Host, Verdict) {
	v := Verdict{Outcome: Denied, Host: quote(host), Port: port}
	if port < 1 || port > 65535 {
		return Host{}, v.because(BadHost, "there is no port %d", port)
	}
	h, err := ParseHost(host)
	if err != nil {
		return Host{}, v.because(BadHost, "toolhost refused the host %s: %v", quote(host), err)
	}
	v.Host = h.String()
	if h.loopbackName() {
		v.SuggestedGrant = grantFor(Host{addr: loopback4}, port)
		return h, v.because(Loopback, "toolhost refused %s: %s is the sandbox's own loopback and is reached without "+
			"a proxy. A port of this machine would be permitted by the grant %s, and is then asked for by that address",
			v.authority(), v.Host, v.SuggestedGrant)
	}
	return h, c.weigh(h, v)
}

var loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// weigh looks for the grant that permits h.
func (c *Checker) weigh(h Host, v Verdict) Verdict {
	var near *Grant
	for _, g := range c.all() {
		if !g.covers(h) {
			continue
		}
		if g.opens(v.Port) {
			v.Outcome, v.Rule = Allowed, g.String()
			return v.because(Granted, "%s is permitted by the grant %s", v.authority(), g)
		}
		near = &g
	}
	v.SuggestedGrant = c.suggestion(h, v.Port)
	if near != nil {
		v.Rule = near.String()
		return v.because(PortNotGranted, "toolhost refused %s: the grant %s opens port %s only.%s",
			v.authority(), near, portWords(near.ports()), v.wouldPermit())
	}
	return v.because(NoGrant, "toolhost refused %s: no grant names this host.%s", v.authority(), v.wouldPermit())
}

// suggestion returns the grant that would permit h, if it is one to suggest: nobody is led to open the door to a
// machine's credentials.
func (c *Checker) suggestion(h Host, port int) string {
	if addr, literal := h.Addr(); literal && classOf(addr) == metadata {
		return ""
	}
	return grantFor(h, port)
}

// CheckAddr judges an address without regard to the name that led to it: public addresses outside this machine's networks are
// allowed, all others only when a grant names the address and opens the port.
func (c *Checker) CheckAddr(addr netip.Addr, port int) Verdict {
	addr = addr.Unmap()
	v := Verdict{Outcome: Denied, Host: addr.String(), Port: port}
	h := Host{addr: addr}
	for _, g := range c.all() {
		if g.kind == grantHost && g.host == h && g.opens(port) {
			v.Outcome, v.Rule = Allowed, g.String()
			return v.because(Granted, "%s is named by the grant %s", addr, g)
		}
	}
	is, err := c.classOf(addr)
	if err != nil {
		return v.because(Internal, "whether %s is of this machine's own networks is not known: %v", addr, err)
	}
	if is == public {
		v.Outcome, v.Rule = Allowed, string(public)
		return v.because(Granted, "%s is a public address", addr)
	}
	v.Rule = string(is)
	v.SuggestedGrant = c.suggestion(h, port)
	if is == ownAddress {
		return v.because(AddressRefused, "%s is an address of this machine, which is reached only when it is named.%s", addr, v.wouldPermit())
	}
	return v.because(AddressRefused, "%s is a %s address, which is reached only when it is named.%s",
		addr, is, v.wouldPermit())
}

// classOf is the class of an address on this machine.
func (c *Checker) classOf(addr netip.Addr) (class, error) {
	is := classOf(addr)
	if is != public && is != private && is != special {
		return is, nil
	}
	networks, err := c.o.Networks()
	if err != nil {
		return "", err
	}
	inner := carried(addr)
	for _, n := range networks {
		switch {
		case n.Addr() == addr, n.Addr() == inner:
			return ownAddress, nil
		case is == public && (n.Contains(addr) || n.Contains(inner)):
			is = ownNetwork // and perhaps an address of this machine, too
		}
	}
	return is, nil
}

func (v Verdict) wouldPermit() string {
	if v.SuggestedGrant == "" {
		return ""
	}
	return fmt.Sprintf(" It would be permitted by the grant %s", v.SuggestedGrant)
}
