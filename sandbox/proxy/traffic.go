package proxy

import (
	"slices"
	"sync"
	"sync/atomic"

	"toolhost/sandbox/egress"
)

// maxHosts bounds how many hosts of one command are kept. A command may try names for ever.
const maxHosts = 50

// Traffic counts the bytes that a command sends to hosts and receives from them, greetings of TLS and heads of HTTP included.
type Traffic struct {
	mu     sync.Mutex
	hosts  []*use
	beyond use // of the hosts for which there was no place
	others int
}

// use is the traffic with one host and port. A nil use counts nothing.
type use struct {
	host           string
	port           int
	allowed        bool
	sent, received atomic.Int64
}

// Host is a host that a command reached, or tried to reach.
type Host struct {
	Host     string `json:"host"`
	Port     int    `json:"port,omitempty"`
	Allowed  bool   `json:"allowed"` // true also of one that did not answer
	Sent     int64  `json:"bytes_sent"`
	Received int64  `json:"bytes_received"`
}

// MoreHosts is the traffic with hosts that are not listed.
type MoreHosts struct {
	Attempts int   `json:"attempts"`
	Sent     int64 `json:"bytes_sent"`
	Received int64 `json:"bytes_received"`
}

// note notes an attempt and returns the counters for its bytes. If there is no place for a host that is allowed, a refused one gives way, so
// that a command cannot hide a host that it reaches behind names that it is refused.
func (t *Traffic) note(host string, v egress.Verdict) *use {
	if host == "" {
		return nil
	}
	allowed := v.Outcome == egress.Allowed || v.Outcome == egress.Failed
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.hosts {
		if u.host == host && u.port == v.Port {
			u.allowed = u.allowed || allowed
			return u
		}
	}
	if len(t.hosts) == maxHosts {
		t.others++
		i := slices.IndexFunc(t.hosts, func(u *use) bool { return !u.allowed })
		if i < 0 || !allowed {
			return &t.beyond
		}
		t.hosts = slices.Delete(t.hosts, i, i+1)
	}
	u := &use{host: host, port: v.Port, allowed: allowed}
	t.hosts = append(t.hosts, u)
	return u
}

// Hosts returns the hosts so far, in the order of the first attempts; more is nil if all are listed.
func (t *Traffic) Hosts() (hosts []Host, more *MoreHosts) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.hosts {
		hosts = append(hosts, Host{u.host, u.port, u.allowed, u.sent.Load(), u.received.Load()})
	}
	if t.others > 0 {
		more = &MoreHosts{t.others, t.beyond.sent.Load(), t.beyond.received.Load()}
	}
	return hosts, more
}
