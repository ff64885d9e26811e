package proxy

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"toolhost/sandbox/egress"
)

// Requests made to be understood in two ways. None of them reaches a server, but for those that say so, and those reach
// it once, as one request.
func TestSmuggling(t *testing.T) {
	w := newWorld(t, Limits{})
	var reached atomic.Int32
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		b, _ := io.ReadAll(r.Body)
		io.WriteString(rw, r.Host+" "+r.Method+" "+r.RequestURI+" "+string(b))
	})
	w.site(goodAddr+":443", hello)
	ticket := w.admit("inv-1", "good.example", "a.wild.example")
	const good = "Host: good.example\r\nAUTH\r\n"
	for _, c := range []struct {
		name, request, status string
		reaches               bool
	}{
		{"plain", "GET http://good.example/x HTTP/1.1\r\n" + good + "\r\n", "200", true},
		{"HTTP/1.0 without host", "GET http://good.example/x HTTP/1.0\r\nAUTH\r\n\r\n", "200", true},
		{"host in other letters", "GET http://GOOD.example:80/x HTTP/1.1\r\nHost: good.Example.\r\nAUTH\r\n\r\n", "200", true},
		{"pipelined", "GET http://good.example/x HTTP/1.1\r\n" + good + "\r\nGET http://good.example/y HTTP/1.1\r\n" + good + "\r\n", "200", true},
		{"length and more", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: 3\r\n\r\nabcGET http://good.example/y HTTP/1.1\r\n" + good + "\r\n", "200", true},
		{"chunked", "POST http://good.example/x HTTP/1.1\r\n" + good + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "200", true},

		{"length and chunked", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", false},
		{"two lengths", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "400", false},
		{"same length twice", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "400", false},
		{"length list", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: 3, 3\r\n\r\nabc", "400", false},
		{"signed length", "POST http://good.example/x HTTP/1.1\r\n" + good + "Content-Length: +3\r\n\r\nabc", "400", false},
		{"odd coding", "POST http://good.example/x HTTP/1.1\r\n" + good + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "400", false},
		{"two codings", "POST http://good.example/x HTTP/1.1\r\n" + good + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "400", false},
		{"coding twice", "POST http://good.example/x HTTP/1.1\r\n" + good + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", "400", false},
		{"coding in 1.0", "POST http://good.example/x HTTP/1.0\r\n" + good + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", false},
		{"space before colon", "POST http://good.example/x HTTP/1.1\r\n" + good + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "400", false},
		{"folded", "GET http://good.example/x HTTP/1.1\r\n" + good + "X: a\r\n Host: b\r\n\r\n", "400", false},
		{"bare LF", "GET http://good.example/x HTTP/1.1\r\n" + good + "X: a\nHost: evil.example\r\n\r\n", "400", false},
		{"bare LF at the end of the line", "GET http://good.example/x HTTP/1.1\n" + good + "\r\n", "400", false},
		{"bare CR", "GET http://good.example/x HTTP/1.1\r\n" + good + "X: a\rHost: b\r\n\r\n", "400", false},
		{"NUL in a header", "GET http://good.example/x HTTP/1.1\r\n" + good + "X: a\x00b\r\n\r\n", "400", false},
		{"header without a name", "GET http://good.example/x HTTP/1.1\r\n" + good + ": x\r\n\r\n", "400", false},
		{"two hosts", "GET http://good.example/x HTTP/1.1\r\n" + good + "Host: evil.example\r\n\r\n", "400", false},
		{"no host", "GET http://good.example/x HTTP/1.1\r\nAUTH\r\n\r\n", "400", false},
		{"two credentials", "GET http://good.example/x HTTP/1.1\r\n" + good + "AUTH\r\n\r\n", "400", false},
		{"other host", "GET http://good.example/x HTTP/1.1\r\nHost: evil.example\r\nAUTH\r\n\r\n", "400", false},
		{"other permitted host", "GET http://good.example/x HTTP/1.1\r\nHost: a.wild.example\r\nAUTH\r\n\r\n", "400", false},
		{"other port", "GET http://good.example/x HTTP/1.1\r\nHost: good.example:443\r\nAUTH\r\n\r\n", "400", false},
		{"connect, other host", "CONNECT good.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nAUTH\r\n\r\n", "400", false},
		{"CRLF in the path", "GET http://good.example/x\r\nHost: evil.example HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"space in the path", "GET http://good.example/x y HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"NUL in the path", "GET http://good.example/\x00 HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"8-bit path", "GET http://good.example/\xe9 HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"userinfo", "GET http://good.example@evil.example/ HTTP/1.1\r\nHost: evil.example\r\nAUTH\r\n\r\n", "400", false},
		{"userinfo to a good host", "GET http://u:p@good.example/ HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"connect userinfo", "CONNECT good.example:443@evil.example:443 HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"connect path", "CONNECT good.example:443/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"connect URI", "CONNECT http://good.example:443 HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"connect without port", "CONNECT good.example HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"connect with a body", "CONNECT good.example:443 HTTP/1.1\r\n" + good + "Content-Length: 3\r\n\r\nabc", "400", false},
		{"backslash", "GET http://good.example\\@evil.example/ HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"percent in the host", "GET http://good%2eexample/ HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"origin form", "GET /x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"scheme-relative", "GET //good.example/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"asterisk", "OPTIONS * HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"https URI", "GET https://good.example/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"file URI", "GET file:///etc/passwd HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"no authority", "GET http:/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"opaque", "GET http:good.example HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", false},
		{"HTTP/0.9", "GET http://good.example/x\r\n\r\n", "400", false},
		{"HTTP/1.2", "GET http://good.example/x HTTP/1.2\r\n" + good + "\r\n", "400", false},
		{"two spaces", "GET  http://good.example/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"leading blank line", "\r\nGET http://good.example/x HTTP/1.1\r\n" + good + "\r\n", "400", false},
		{"SOCKS4", "\x04\x01\x00\x50\x00\x00\x00\x01x\x00good.example\x00\r\n\r\n", "400", false},
		{"SOCKS5", "\x05\x01\x02\x01\x02th\x01x\r\n\r\n", "400", false},
		{"TLS to the proxy", "\x16\x03\x01\x00\x05\x01\r\n\r\n", "400", false},
		{"head too large", "GET http://good.example/x HTTP/1.1\r\n" + good + "X: " + strings.Repeat("a", maxHead) + "\r\n\r\n", "400", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached.Store(0)
			before := len(w.dials())
			answer := w.ask(ticket, c.request)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" ") && !strings.HasPrefix(answer, "HTTP/1.0 "+c.status+" ") {
				t.Errorf("answer %.300q, want %s", answer, c.status)
			}
			if strings.Count(answer, "HTTP/1.1 ")+strings.Count(answer, "HTTP/1.0 ") != 1 {
				t.Errorf("not one answer: %q", answer)
			}
			if want := map[bool]int32{true: 1}[c.reaches]; reached.Load() != want {
				t.Errorf("the server saw %d requests, want %d", reached.Load(), want)
			}
			if !c.reaches && len(w.dials()) != before {
				t.Errorf("dialled %q", w.dials()[before:])
			}
		})
	}
}

// A server's answer cannot become two.
func TestResponseSplitting(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":80", func(c net.Conn) {
		c.Read(make([]byte, 4096))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	})
	ticket := w.admit("inv-1", "good.example")
	answer := w.ask(ticket, "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n")
	if !strings.HasSuffix(answer, "\r\n\r\nok") {
		t.Errorf("answer %q", answer)
	}
	again := w.ask(ticket, "GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nAUTH\r\n\r\n")
	if strings.Contains(again, "evil") {
		t.Errorf("the left-over became an answer: %q", again)
	}
}

// What comes back to a client never holds what the client wrote as more than a quoted text.
func TestRefusalIsOneResponse(t *testing.T) {
	for _, host := range []string{"a\r\nX-Evil: 1\r\n\r\n", "\x00\x1b[31m", strings.Repeat("é", 300)} {
		v := egress.New(nil, egress.Options{}).Check(host, 443)
		var b strings.Builder
		if err := response(v).Write(&b); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "\r\n\r\n")
		if strings.Contains(head, "\nX-Evil") || strings.ContainsAny(b.String(), "\x00\x1b") || len(b.String()) > 2000 {
			t.Errorf("response %q", b.String())
		}
	}
}
