package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/sandbox/egress"
)

// hang is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const hang = time.Minute

// world is an internet of names and public addresses whose servers are loopback listeners of the test.
type world struct {
	t     testing.TB
	proxy *Proxy
	addr  net.Addr

	mu      sync.Mutex
	names   map[string][]string // by rooted name
	servers map[string]string   // by address and port as dialled
	asked   []string
	dialed  []string
	events  []Event

	held func(ctx context.Context, ticket string, v egress.Verdict) bool // nil: no user is there
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, host)
	var addrs []netip.Addr
	for _, a := range w.names[host] {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	if addrs == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

func (w *world) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	server := w.servers[address]
	w.mu.Unlock()
	if server == "" {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	return new(net.Dialer).DialContext(ctx, network, server)
}

func (w *world) log(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// seen returns the events so far and forgets them.
func (w *world) seen() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return events
}

// awaitEvent returns the first event with the reason, once it is there.
func (w *world) awaitEvent(reason egress.Reason) Event {
	w.t.Helper()
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		w.mu.Lock()
		i := slices.IndexFunc(w.events, func(e Event) bool { return e.Reason == reason })
		if i >= 0 {
			defer w.mu.Unlock()
			return w.events[i]
		}
		w.mu.Unlock()
	}
	w.t.Fatalf("no event %s among %+v", reason, w.seen())
	return Event{}
}

func (w *world) dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialed)
}

func (w *world) options() Options {
	return Options{
		Egress: egress.Options{
			Resolver: w, Dialer: w, Networks: func() ([]netip.Prefix, error) { return nil, nil }, Timeout: hang,
		},
		Log: w.log,
	}
}

const (
	goodAddr  = "93.184.216.34"
	otherAddr = "93.184.216.35"
)

// newWorld starts a proxy on loopback in a world where good.example and *.wild.example are at goodAddr, other.example
// at otherAddr, inside.example at a private address and cloud.example at that of the metadata.
func newWorld(t testing.TB, l Limits) *world {
	t.Helper()
	w := &world{
		t: t,
		names: map[string][]string{
			"good.example.": {goodAddr}, "a.wild.example.": {goodAddr}, "other.example.": {otherAddr},
			"inside.example.": {"10.0.0.7"}, "cloud.example.": {"169.254.169.254", "fd00:ec2::254"},
		},
		servers: map[string]string{},
	}
	o := w.options()
	o.Limits, o.Ask = l, w.mayAsk
	w.proxy = New(o)
	t.Cleanup(func() { w.proxy.Close() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = listener.Addr()
	go w.proxy.Serve(listener)
	return w
}

func (w *world) mayAsk(ctx context.Context, ticket string, v egress.Verdict) bool {
	return w.held != nil && w.held(ctx, ticket, v)
}

func (w *world) name(name string, addrs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[name] = addrs
}

// forget forgets what was asked and dialled.
func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.dialed = nil, nil
}

// site puts an HTTP server at address and port and returns it.
func (w *world) site(at string, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handler)
	w.t.Cleanup(s.Close)
	w.route(at, s.Listener.Addr())
	return s
}

// secureSite puts an HTTPS server there.
func (w *world) secureSite(at string, handler http.HandlerFunc) *httptest.Server {
	s := httptest.NewTLSServer(handler)
	w.t.Cleanup(s.Close)
	w.route(at, s.Listener.Addr())
	return s
}

// raw puts a server of bytes there.
func (w *world) raw(at string, serve func(net.Conn)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.Close() })
	w.route(at, l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
}

func (w *world) route(at string, to net.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[at] = to.String()
}

func (w *world) admit(id string, grants ...string) *Ticket {
	w.t.Helper()
	parsed := parseGrants(w.t, grants...)
	for i, g := range parsed {
		parsed[i] = g.Publicly()
	}
	return w.proxy.Admit(id, parsed)
}

func parseGrants(t testing.TB, texts ...string) []egress.Grant {
	t.Helper()
	var grants []egress.Grant
	for _, text := range texts {
		g, err := egress.ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	return grants
}

// client returns an HTTP client of a command with ticket.
func (w *world) client(ticket *Ticket, trusted *httptest.Server) *http.Client {
	u, err := url.Parse(ticket.URL(w.addr))
	if err != nil {
		w.t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(u)}
	if trusted != nil {
		transport.TLSClientConfig = trusted.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: hang}
}

// dial connects to the proxy as a command does.
func (w *world) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr.String())
	if err != nil {
		w.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(hang))
	w.t.Cleanup(func() { c.Close() })
	return c
}

// ask sends bytes to the proxy and returns all that comes back. AUTH stands for the ticket's header.
func (w *world) ask(ticket *Ticket, request string) string {
	w.t.Helper()
	c := w.dial()
	request = strings.ReplaceAll(request, "AUTH", strings.TrimSuffix(credentialsOf(ticket.URL(w.addr)), "\r\n"))
	if _, err := io.WriteString(c, request); err != nil {
		w.t.Fatal(err)
	}
	answer, _ := io.ReadAll(c)
	return string(answer)
}

// tunnel opens a CONNECT tunnel.
func (w *world) tunnel(ticket *Ticket, to string) (net.Conn, *bufio.Reader) {
	w.t.Helper()
	c := w.dial()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", to, to, credentialsOf(ticket.URL(w.addr)))
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"})
	if err != nil || res.StatusCode != 200 {
		w.t.Fatalf("CONNECT %s: %v, %v", to, res, err)
	}
	return c, in
}

func fetch(t testing.TB, c *http.Client, url string) (int, string, http.Header) {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}
