package rap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"toolhost/agenttool/visible"
)

const (
	dialTime   = 5 * time.Second
	drainTime  = 100 * time.Millisecond // for the rest of an answer, so that its connection can be used again
	maxAnswer  = 4 << 10                // bytes of an answer that are read, and thrown away
	maxHeaders = 16 << 10
)

// attempt sends a message once. why is empty if it was taken, and names no address otherwise.
func (b *outbox) attempt(m message) (why string, again bool) {
	u, err := b.o.allowed(m.to.Callback)
	if err != nil {
		return err.Error(), false
	}
	ctx, cancel := context.WithTimeout(b.run.ctx, b.pace.attempt)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(m.body))
	if err != nil {
		return "callback_url is no URL", false
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "toolhost")
	answer, err := b.client.Do(r)
	if err != nil {
		return wrong(err), !errors.Is(err, errAddress)
	}
	defer answer.Body.Close()
	defer time.AfterFunc(drainTime, cancel).Stop()
	if answer.ContentLength >= 0 && answer.ContentLength <= maxAnswer {
		_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	}
	switch status := answer.StatusCode; {
	case status >= 500:
		return fmt.Sprintf("the answer was %d", status), true
	case status >= 200 && status < 300:
		return "", false
	default: // a redirect would lead to an unchecked address
		return fmt.Sprintf("the answer was %d", status), false
	}
}

// wrong says what was in the way of a request without saying where it went: the URL is a secret.
func wrong(err error) string {
	switch {
	case errors.Is(err, errAddress):
		return "its host is at an address that callbacks do not go to"
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE):
		return "the connection broke"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its host has no address"
	}
	return "no answer that is HTTP"
}

// allowed returns where a callback URL leads, if callbacks may go there: to this machine, or over https to a host that
// settings name.
func (o *Options) allowed(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, refuse(http.StatusBadRequest, "callback_url must be an absolute http or https URL")
	}
	switch {
	case isLocal(u.Hostname()):
		return u, nil
	case o.AllowCallback == nil:
		return nil, refuse(http.StatusForbidden, "callback_url leads to %s, which is not this machine: callbacks of this server go over loopback", shownHost(u))
	case u.Scheme != "https":
		return nil, refuse(http.StatusForbidden, "callback_url leads to %s, which is not this machine: that takes https, and that http.callback_hosts in settings names it", shownHost(u))
	}
	asked := *u
	if o.AllowCallback(&asked) != nil { // its words may name the URL
		return nil, refuse(http.StatusForbidden, "callback_url leads to %s, which settings do not name: add it to http.callback_hosts in them", shownHost(u))
	}
	return u, nil
}

// shownHost is the host of a URL, and nothing else of it, to be looked at.
func shownHost(u *url.URL) string {
	name := u.Hostname()
	return visible.Text(name[:min(len(name), 255)])
}

// reachable reports why callbacks do not go to a URL. It also logs that, for the person who can allow it.
func (o *Options) reachable(raw string) error {
	_, err := o.allowed(raw)
	if err != nil {
		o.log("a call was refused: %v", err)
	}
	return err
}

// isLocal reports whether a host is this machine by its name.
func isLocal(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// errAddress is the error of a name that leads where it must not.
var errAddress = errors.New("no address for callbacks")

// newClient returns a client that checks each address after it was resolved, follows nothing and uses no proxy.
func newClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dial, MaxIdleConns: 32, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
			TLSHandshakeTimeout: dialTime, MaxResponseHeaderBytes: maxHeaders, DisableCompression: true,
		},
	}
}

// dial connects to host:port if the address that the host turned out to have is one of its kind.
func dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !fits(host, to.Addr().Unmap()) {
			return errAddress
		}
		return nil
	}}
	return d.DialContext(ctx, network, hostPort)
}

// fits reports whether a host of that name may be at ip: this machine on loopback, an address at itself, every other name
// on the open internet. A name that resolves to an inner address is an attack (DNS rebinding).
func fits(host string, ip netip.Addr) bool {
	if isLocal(host) {
		return ip.IsLoopback()
	}
	if named, err := netip.ParseAddr(host); err == nil {
		return named.Unmap() == ip && !ip.IsUnspecified() && !ip.IsMulticast()
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, inner := range innerNetworks {
		if inner.Contains(ip) {
			return false
		}
	}
	return true
}

// innerNetworks are those that [netip.Addr.IsPrivate] leaves out: of carriers, of this host, for tests and benchmarks,
// reserved, and the ones that hold an address of version 4 inside.
var innerNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("fec0::/10"),
}
