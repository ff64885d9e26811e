package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"

	"toolhost/sandbox/egress"
	"toolhost/sandbox/proxy"
)

// network is how the commands of a session reach hosts: a proxy on their loopback, which the host serves.
type network struct {
	proxy *proxy.Proxy

	mu      sync.Mutex
	running map[string]*Process // by the ticket's id
	last    int
}

func newNetwork() *network {
	n := &network{running: map[string]*Process{}}
	n.proxy = proxy.New(proxy.Options{Log: n.log, Ask: n.ask})
	return n
}

// serve serves a listener that was made inside, until that is closed.
func (n *network) serve(f *os.File) (net.Listener, error) {
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("the session's proxy: %w", err)
	}
	go func() { _ = n.proxy.Serve(l) }() // ends with the proxy, or with the listener
	return l, nil
}

// admit lets a command reach its granted hosts, and sets its proxy variables. Other attempts are reported.
func (n *network) admit(at net.Addr, profile Profile, p *Process) (env []string, leave func(), err error) {
	var grants []egress.Grant
	for i, h := range slices.Concat(profile.Hosts, profile.Public) {
		g, err := egress.ParseGrant(h)
		if err != nil {
			return nil, nil, err
		}
		if i >= len(profile.Hosts) {
			g = g.Publicly()
		}
		grants = append(grants, g)
	}
	n.mu.Lock()
	n.last++
	id := strconv.Itoa(n.last)
	n.running[id] = p
	n.mu.Unlock()
	ticket := n.proxy.Admit(id, grants)
	p.traffic = ticket.Traffic()
	leave = func() {
		ticket.Close()
		n.mu.Lock()
		delete(n.running, id)
		n.mu.Unlock()
	}
	return proxy.Environ(ticket.URL(at), grants), leave, nil
}

// log reports what the proxy refused to the command that asked.
func (n *network) log(e proxy.Event) {
	if p := n.process(e.Ticket); p != nil && e.Outcome == egress.Denied {
		p.violations.add(unreached(e.Verdict))
	}
}

// ask asks whether the command that holds a ticket may reach a host.
func (n *network) ask(ctx context.Context, ticket string, v egress.Verdict) bool {
	p := n.process(ticket)
	return p != nil && p.ask != nil && p.ask(ctx, unreached(v))
}

func (n *network) process(ticket string) *Process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running[ticket]
}

func unreached(v egress.Verdict) Violation {
	return Violation{Wall: Egress, Host: egress.JoinAuthority(v.Host, v.Port), Rule: v.Rule, Grant: v.SuggestedGrant, Detail: v.Message, Certain: true}
}
