package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/sandbox/egress"
)

// hostile is a network in which every name leads to a public and to private addresses, and nothing answers. It notes
// what breaks the law.
type hostile struct {
	mu     sync.Mutex
	broken []string
}

func (h *hostile) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host != "good.example." && !strings.HasSuffix(host, ".wild.example.") {
		h.note("resolved " + host)
	}
	return []netip.Addr{
		netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("10.0.0.7"),
		netip.MustParseAddr(goodAddr),
	}, nil
}

func (h *hostile) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	if address != goodAddr+":80" && address != goodAddr+":443" && address != "10.0.0.7:22" {
		h.note("dialled " + address)
	}
	return nil, errors.New("connection refused")
}

func (h *hostile) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = append(h.broken, text)
}

// FuzzConversation: whatever a command sends, nothing is resolved or dialled that its grants do not permit, no panic,
// and the conversation ends. TOKEN and AUTH in the input stand for the command's credentials.
func FuzzConversation(f *testing.F) {
	for _, s := range []string{
		"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n",
		"GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n",
		"CONNECT a.wild.example:443 HTTP/1.1\r\nHost: a.wild.example\r\nAUTH\r\n\r\n\x16\x03\x01",
		"CONNECT 10.0.0.7:22 HTTP/1.0\r\nAUTH\r\n\r\n",
		"CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:80\r\nAUTH\r\n\r\n",
		"POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"\x05\x01\x02\x01\x02th\x1aTOKEN\x05\x01\x00\x03\x0cgood.example\x01\xbb",
		"\x05\x01\x02\x01\x02th\x1aTOKEN\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
		"\x05\x01\x02\x01\x02th\x1aTOKEN\x05\x01\x00\x03\x10good.example\x00.ex\x01\xbb",
	} {
		f.Add(s)
	}
	h := &hostile{}
	p := New(Options{
		Egress: egress.Options{Resolver: h, Dialer: h, Networks: func() ([]netip.Prefix, error) { return nil, nil }},
		Limits: Limits{Handshake: 200 * time.Millisecond},
	})
	f.Cleanup(func() { p.Close() })
	ticket := p.Admit("fuzz", parseGrants(f, "good.example", "*.wild.example", "10.0.0.7:22"))
	auth := strings.TrimSuffix(credentialsOf(ticket.URL(newHandoff().Addr())), "\r\n")
	f.Fuzz(func(t *testing.T, input string) {
		input = strings.ReplaceAll(strings.ReplaceAll(input, "TOKEN", ticket.token), "AUTH", auth)
		near, far := net.Pipe()
		go func() {
			io.WriteString(near, input)
			time.Sleep(time.Millisecond)
			near.Close()
		}()
		go io.Copy(io.Discard, near)
		o, _ := own(far, &p.life)
		ended := make(chan struct{})
		o.life.add(func() { close(ended) })
		p.serve(newConn(o, time.Second))
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatalf("the conversation does not end")
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.broken) > 0 {
			t.Fatalf("%q led to: %q", input, h.broken)
		}
	})
}

// FuzzHead: what is understood has one line for each header and no byte that could end a line for another reader.
func FuzzHead(f *testing.F) {
	for _, s := range []string{
		"GET http://good.example/ HTTP/1.1\r\nHost: good.example", "CONNECT a:1 HTTP/1.0", "CONNECT /a:1 HTTP/1.0", "GET /\r\nHost: x HTTP/1.1",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\n Host: b", "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\nX: y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\r\n\r\n") {
			return
		}
		h, err := parseHead([]byte(text + "\r\n\r\n"))
		if err != nil {
			if h != (head{}) && h.method == "" {
				t.Fatalf("failed and returned %+v", h)
			}
			return
		}
		if rest := strings.ReplaceAll(text, "\r\n", ""); strings.ContainsAny(rest, "\r\n\x00") {
			t.Fatalf("understood %q", text)
		}
		if n := strings.Count(strings.ToLower(text), "\r\nhost:"); n > 1 || n == 0 && h.minor == '1' {
			t.Fatalf("%d hosts in %q", n, text)
		}
		host, port, err := h.destination()
		if err != nil {
			return
		}
		if _, err := egress.ParseHost(host); port < 1 || port > 65535 || strings.Contains(host, "@") || err == nil && strings.Contains(host, "/") {
			t.Fatalf("%q goes to %q, %d", text, host, port)
		}
	})
}
