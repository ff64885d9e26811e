package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"toolhost/sandbox/egress"
	"toolhost/sandbox/proxy"
)

// network is how the commands of a session reach hosts: a proxy on their loopback, which the host serves.
type network struct {
	proxy *proxy.Proxy

	mu      sync.Mutex
	running map[string]func(Violation) // by the ticket's id
	last    int
}

func newNetwork() *network {
	n := &network{running: map[string]func(Violation){}}
	n.proxy = proxy.New(proxy.Options{Log: n.log})
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
func (n *network) admit(at net.Addr, hosts []string, report func(Violation)) (env []string, leave func(), err error) {
	var grants []egress.Grant
	for _, h := range hosts {
		g, err := egress.ParseGrant(h)
		if err != nil {
			return nil, nil, err
		}
		grants = append(grants, g)
	}
	n.mu.Lock()
	n.last++
	id := strconv.Itoa(n.last)
	n.running[id] = report
	n.mu.Unlock()
	ticket := n.proxy.Admit(id, grants)
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
	n.mu.Lock()
	report := n.running[e.Ticket]
	n.mu.Unlock()
	if report == nil || e.Outcome != egress.Denied {
		return
	}
	report(Violation{Wall: Egress, Host: egress.JoinAuthority(e.Host, e.Port), Rule: e.Rule, Grant: e.SuggestedGrant, Detail: e.Message, Certain: true})
}
