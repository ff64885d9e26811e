package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox/egress"
)

// hello reads what it is sent before it answers: a server that answers and closes early resets the connection.
func hello(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	fmt.Fprintf(w, "hello from %s%s", r.Host, r.URL)
}

func TestHTTP(t *testing.T) {
	w := newWorld(t, Limits{})
	var got *http.Request
	var body string
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		rw.Header().Set(DeniedHeader, "forged")
		rw.Header().Set("Proxy-Authenticate", "Basic")
		hello(rw, r)
	})
	ticket := w.admit("inv-1", "good.example")
	req, _ := http.NewRequest("PATCH", "http://Good.example./a%2Fb/%0d%0ax?q=1;2&%zz", strings.NewReader("payload"))
	req.Header.Set("Connection", "X-Hop")
	req.Header.Set("X-Hop", "1")
	req.Header.Set("X-Forwarded-For", "kept")
	res, err := w.client(ticket, nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || string(answer) != "hello from good.example/a%2Fb/%0d%0ax?q=1;2&%zz" {
		t.Errorf("answer %d %q", res.StatusCode, answer)
	}
	if res.Header.Get(DeniedHeader) != "" || res.Header.Get("Proxy-Authenticate") != "" {
		t.Errorf("headers that only the proxy may set came through: %v", res.Header)
	}
	if got.Method != "PATCH" || body != "payload" || got.Header.Get("X-Forwarded-For") != "kept" {
		t.Errorf("server saw %s %q %v", got.Method, body, got.Header)
	}
	for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "X-Hop"} {
		if got.Header.Get(name) != "" {
			t.Errorf("the header %s was passed on", name)
		}
	}
	events := w.seen()
	if len(events) != 1 {
		t.Fatalf("%d events, want 1: %+v", len(events), events)
	}
	e := events[0]
	if e.Outcome != egress.Allowed || e.Host != "good.example" || e.Port != 80 || e.Protocol != HTTP ||
		e.Ticket != "inv-1" || e.Rule != "good.example" || e.Time.IsZero() {
		t.Errorf("event %+v", e)
	}
}

func TestHTTPS(t *testing.T) {
	w := newWorld(t, Limits{})
	s := w.secureSite(goodAddr+":443", hello)
	w.name("example.com.", goodAddr) // the name in httptest's certificate
	ticket := w.admit("inv-1", "example.com")
	status, body, _ := fetch(t, w.client(ticket, s), "https://example.com/x")
	if status != 200 || body != "hello from example.com/x" {
		t.Errorf("%d %q", status, body)
	}
	if e := w.seen(); len(e) != 1 || e[0].Protocol != HTTPConnect || e[0].Port != 443 {
		t.Errorf("events %+v", e)
	}
}

func TestDenials(t *testing.T) {
	w := newWorld(t, Limits{})
	ticket := w.admit("inv-1", "good.example", "inside.example", "cloud.example")
	for _, c := range []struct {
		name, request    string
		status           string
		reason           egress.Reason
		suggested        string
		bodyHas          string
		resolved, dialed bool
	}{
		{"connect", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.NoGrant, "host:evil.example", "permitted by the grant host:evil.example", false, false},
		{"http", "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.NoGrant, "host:evil.example", "no grant names this host", false, false},
		{"ssh", "CONNECT good.example:22 HTTP/1.1\r\nHost: good.example:22\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.PortNotGranted, "host:good.example:22", "opens port 80 and 443 only", false, false},
		{"mail", "CONNECT good.example:25 HTTP/1.1\r\nHost: good.example:25\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.PortNotGranted, "host:good.example:25", "", false, false},
		{"IP literal", "CONNECT 93.184.216.34:443 HTTP/1.1\r\nHost: 93.184.216.34:443\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.NoGrant, "host:93.184.216.34", "", false, false},
		{"private", "CONNECT inside.example:443 HTTP/1.1\r\nHost: inside.example:443\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.AddressRefused, "host:10.0.0.7:443", "10.0.0.7 is a private address", true, false},
		{"private, http", "GET http://inside.example/ HTTP/1.1\r\nHost: inside.example\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.AddressRefused, "host:10.0.0.7:80", "10.0.0.7 is a private address", true, false},
		{"metadata", "GET http://cloud.example/latest HTTP/1.1\r\nHost: cloud.example\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.AddressRefused, "", "cloud metadata", true, false},
		{"localhost", "GET http://localhost:8080/ HTTP/1.1\r\nHost: localhost:8080\r\nAUTH\r\n\r\n",
			"403 Forbidden", egress.Loopback, "host:127.0.0.1:8080", "own loopback", false, false},
		{"numeric host", "CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: 0x7f.1:443\r\nAUTH\r\n\r\n",
			"400 Bad Request", egress.BadHost, "", "four decimal numbers", false, false},
		{"unreachable", "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\nAUTH\r\n\r\n",
			"502 Bad Gateway", egress.Unreachable, "", "could not be reached", true, true},
		{"unreachable, http", "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n",
			"502 Bad Gateway", egress.Unreachable, "", "could not be reached", true, true},
		{"no token", "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n",
			"407 Proxy Authentication Required", NoToken, "", "user name and password", false, false},
		{"unknown token", "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Basic dGg6eA==\r\n\r\n",
			"407 Proxy Authentication Required", NoToken, "", "", false, false},
		{"other scheme", "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Bearer x\r\n\r\n",
			"407 Proxy Authentication Required", NoToken, "", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.seen()
			w.forget()
			answer := w.ask(ticket, c.request)
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
			if err != nil {
				t.Fatalf("%v in %q", err, answer)
			}
			body, _ := io.ReadAll(res.Body)
			if res.Status != c.status || !strings.Contains(string(body), c.bodyHas) {
				t.Errorf("got %s, %q; want %s with %q", res.Status, body, c.status, c.bodyHas)
			}
			denied := res.Header.Get(DeniedHeader)
			if strings.HasPrefix(denied, string(c.reason)+" ") == (res.StatusCode == 502) {
				t.Errorf("header %q", denied)
			}
			e := w.awaitEvent(c.reason)
			if e.SuggestedGrant != c.suggested || (e.Ticket == "inv-1") != (c.reason != NoToken) {
				t.Errorf("event %+v", e)
			}
			if (len(w.asked) > 0) != c.resolved || (len(w.dialed) > 0) != c.dialed {
				t.Errorf("resolved %q, dialled %q", w.asked, w.dialed)
			}
		})
	}
}

// Two commands of one session do not share what they may reach.
func TestTicketsAreApart(t *testing.T) {
	w := newWorld(t, Limits{})
	w.site(goodAddr+":80", hello)
	w.site(otherAddr+":80", hello)
	one, two := w.client(w.admit("one", "good.example"), nil), w.client(w.admit("two", "other.example"), nil)
	if status, _, _ := fetch(t, one, "http://other.example/"); status != 403 {
		t.Errorf("one reaches what two may: %d", status)
	}
	if status, _, _ := fetch(t, two, "http://other.example/"); status != 200 {
		t.Errorf("two is refused: %d", status)
	}
	if status, _, _ := fetch(t, one, "http://good.example/"); status != 200 {
		t.Errorf("one is refused: %d", status)
	}
}

func echo(c net.Conn) { io.Copy(c, c) }

func TestRevocation(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":7", echo)
	ticket, other := w.admit("inv-1", "good.example:7"), w.admit("inv-2", "good.example:7")
	conn, in := w.tunnel(ticket, "good.example:7")
	stays, staysIn := w.tunnel(other, "good.example:7")
	io.WriteString(conn, "ping\n")
	if line, err := in.ReadString('\n'); line != "ping\n" {
		t.Fatal(line, err)
	}
	ticket.Close()
	ticket.Close()
	if _, err := in.ReadByte(); err == nil {
		t.Error("the tunnel of a closed ticket goes on")
	}
	if answer := w.ask(ticket, "CONNECT good.example:7 HTTP/1.1\r\nHost: good.example:7\r\nAUTH\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 407 ") {
		t.Errorf("a closed ticket is served: %q", answer)
	}
	io.WriteString(stays, "pong\n")
	if line, err := staysIn.ReadString('\n'); line != "pong\n" {
		t.Errorf("the tunnel of the other ticket: %q, %v", line, err)
	}
}

// A ticket closed while its connection is being made gets none.
func TestRevocationDuringDial(t *testing.T) {
	w := newWorld(t, Limits{})
	began := make(chan struct{})
	o := w.options()
	o.Egress.Dialer = dialFunc(func(ctx context.Context) (net.Conn, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	w.proxy.o.Egress = o.Egress
	ticket := w.admit("inv-1", "good.example")
	c := w.dial()
	fmt.Fprintf(c, "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example\r\n%s\r\n", credentialsOf(ticket.URL(w.addr)))
	<-began
	ticket.Close()
	if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if e := w.awaitEvent(egress.Canceled); e.Outcome != egress.Failed {
		t.Errorf("%+v", e)
	}
}

type dialFunc func(context.Context) (net.Conn, error)

func (f dialFunc) DialContext(ctx context.Context, _, _ string) (net.Conn, error) { return f(ctx) }

func TestHalfClose(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":7", func(c net.Conn) {
		b, _ := io.ReadAll(c) // until the client's end
		fmt.Fprintf(c, "%d bytes", len(b))
	})
	conn, in := w.tunnel(w.admit("inv-1", "good.example:7"), "good.example:7")
	conn.Write(make([]byte, 100_000))
	conn.(*net.TCPConn).CloseWrite()
	if answer, err := io.ReadAll(in); string(answer) != "100000 bytes" || err != nil {
		t.Errorf("%q, %v", answer, err)
	}
}

// The server's first words come through before the client said anything.
func TestServerSpeaksFirst(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":22", func(c net.Conn) { io.WriteString(c, "SSH-2.0-test\r\n"); io.Copy(io.Discard, c) })
	_, in := w.tunnel(w.admit("inv-1", "good.example:22"), "good.example:22")
	if line, err := in.ReadString('\n'); line != "SSH-2.0-test\r\n" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestUpgrade(t *testing.T) {
	w := newWorld(t, Limits{})
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "echo" {
			t.Errorf("headers %v", r.Header)
		}
		c, buf, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(c, buf)
	})
	ticket := w.admit("inv-1", "good.example")
	c := w.dial()
	fmt.Fprintf(c, "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: echo\r\n%s\r\n",
		credentialsOf(ticket.URL(w.addr)))
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatal(res, err)
	}
	io.WriteString(c, "GET http://other.example/ HTTP/1.1\r\n")
	if line, err := in.ReadString('\n'); line != "GET http://other.example/ HTTP/1.1\r\n" {
		t.Errorf("%q, %v", line, err)
	}
	ticket.Close()
	if _, err := in.ReadByte(); err == nil {
		t.Error("the connection of a closed ticket goes on")
	}
}

// Nothing is held back until a response is complete.
func TestStreaming(t *testing.T) {
	w := newWorld(t, Limits{})
	release := make(chan struct{})
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, "first\n")
		http.NewResponseController(rw).Flush()
		<-release
		io.WriteString(rw, "second\n")
	})
	res, err := w.client(w.admit("inv-1", "good.example"), nil).Get("http://good.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	line, _ := in.ReadString('\n')
	close(release)
	rest, err := io.ReadAll(in)
	if line != "first\n" || string(rest) != "second\n" || err != nil {
		t.Errorf("%q, %q, %v", line, rest, err)
	}
}

func TestExpectContinue(t *testing.T) {
	w := newWorld(t, Limits{})
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) { io.Copy(rw, r.Body) })
	req, _ := http.NewRequest("POST", "http://good.example/", strings.NewReader("body"))
	req.Header.Set("Expect", "100-continue")
	c := w.client(w.admit("inv-1", "good.example"), nil)
	c.Transport.(*http.Transport).ExpectContinueTimeout = time.Hour // much longer than c waits for all of it
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); string(body) != "body" {
		t.Errorf("%q", body)
	}
}

func TestNoTokenInLog(t *testing.T) {
	w := newWorld(t, Limits{})
	ticket := w.admit("inv-1", "good.example")
	for _, request := range []string{
		"GET http://TOKEN.example/ HTTP/1.1\r\nHost: TOKEN.example\r\nAUTH\r\n\r\n",
		"GET http://th:TOKEN@good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n",
		"CONNECT th:TOKEN@good.example:443 HTTP/1.1\r\nHost: TOKEN\r\nAUTH\r\n\r\n",
		"CONNECT TOKEN:443 HTTP/1.1\r\nHost: TOKEN\r\nAUTH\r\n\r\n",
		"CONNECT _TOKEN_!:443 HTTP/1.1\r\nHost: TOKEN\r\nAUTH\r\n\r\n",
	} {
		w.ask(ticket, strings.ReplaceAll(request, "TOKEN", ticket.token))
	}
	events := w.seen()
	if len(events) != 5 {
		t.Errorf("%d events", len(events))
	}
	if text := fmt.Sprintf("%+v %v %+v", events, ticket, []any{ticket}); strings.Contains(text, ticket.token) {
		t.Errorf("the token is in %s", text)
	}
}

func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	w := newWorld(t, Limits{})
	w.site(goodAddr+":80", hello)
	w.secureSite(goodAddr+":443", hello)
	ticket := w.admit("inv-1", "good.example")
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		defer cancel()
		cmd := exec.CommandContext(ctx, curl, append([]string{"-sS", "-k", "-q"}, args...)...)
		cmd.Env = Environ(ticket.URL(w.addr), nil)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"http", []string{"http://good.example/x"}, "hello from good.example/x"},
		{"https", []string{"https://good.example/x"}, "hello from good.example/x"},
		{"any authentication", []string{"--proxy-anyauth", "https://good.example/x"}, "hello from good.example/x"},
		{"two on one handle", []string{"http://good.example/1", "http://good.example/2"},
			"hello from good.example/1hello from good.example/2"},
		{"post", []string{"-d", strings.Repeat("x", 100_000), "http://good.example/x"}, "hello"},
		{"denied", []string{"http://evil.example/"}, "permitted by the grant host:evil.example"},
		{"denied https", []string{"https://evil.example/"}, "403"},
		{"domain fronting", []string{"--connect-to", "other.example:443:good.example:443", "https://other.example/x"}, "curl: ("},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out := run(c.args...); !strings.Contains(out, c.want) || strings.Contains(out, "hello") != strings.HasPrefix(c.want, "hello") {
				t.Errorf("curl says %q, want %q", out, c.want)
			}
		})
	}
	w.awaitEvent(NameMismatch)
}
