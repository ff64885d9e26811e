package http

import (
	"bufio"
	"bytes"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"toolhost/testdata/support/conform"
)

// heads are requests of clients, of web pages and of other users of the machine. PORT is the server's.
var heads = []struct {
	name   string
	head   string
	status int
	code   string
}{
	{"a client", "POST /mount HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"localhost", "GET /mount HTTP/1.1\r\nHost: LOCALHOST:PORT\r\nAuthorization: bearer  TOKEN\r\n", 200, ""},
	{"a forwarded port", "GET /mount HTTP/1.1\r\nHost: [::1]:9\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"an allowed name", "GET /mount/below HTTP/1.1\r\nHost: dev.example:81\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"an allowed name with its port", "GET /mount HTTP/1.1\r\nHost: forward.example:8443\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"our own origin", "POST /mount HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"an allowed origin", "POST /mount HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: same-site\r\nAuthorization: Bearer TOKEN\r\n", 200, ""},
	{"typed into a browser", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nSec-Fetch-Site: none\r\n", 200, ""},

	{"rebinding", "POST /mount HTTP/1.1\r\nHost: evil.example:PORT\r\nOrigin: http://evil.example:PORT\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"rebinding to health", "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n", 403, "forbidden_host"},
	{"a name that begins like ours", "GET /mount HTTP/1.1\r\nHost: localhost.evil.example\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"an address that begins like ours", "GET /mount HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"a name that ends like ours", "GET /mount HTTP/1.1\r\nHost: evil.localhost\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"another port of an allowed name", "GET /mount HTTP/1.1\r\nHost: forward.example:80\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"every address", "GET /mount HTTP/1.1\r\nHost: 0.0.0.0:PORT\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"no host", "GET /mount HTTP/1.0\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_host"},
	{"an absolute target", "GET http://localhost/mount HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer TOKEN\r\n", 400, "bad_request"},
	{"a proxy request", "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost:22\r\nAuthorization: Bearer TOKEN\r\n", 400, "bad_request"},
	{"options of all", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n", 400, "bad_request"},

	{"a page of another site", "POST /mount HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: https://evil.example\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"a page of another local server", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: http://localhost:8000\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"a page without origin", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: null\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"an empty origin", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin:\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"two origins", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: http://localhost:PORT\r\nOrigin: https://evil.example\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"the other scheme", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: https://localhost:PORT\r\nAuthorization: Bearer TOKEN\r\n", 403, "forbidden_origin"},
	{"a picture of another site", "GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n", 403, "forbidden_origin"},
	{"a link of another local server", "GET /events HTTP/1.1\r\nHost: localhost:PORT\r\nSec-Fetch-Site: same-site\r\n", 403, "forbidden_origin"},
	{"a form of another site", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\n", 403, "forbidden_origin"},
	{"asked beforehand by another site", "OPTIONS /mount HTTP/1.1\r\nHost: localhost:PORT\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n", 403, "forbidden_origin"},

	{"no token", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"no token for events", "GET /events HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"no token for what is not there", "GET /nowhere HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"no authorization server", "GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no authorization server of a path", "GET /.well-known/oauth-authorization-server/mount HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no protected resource", "GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no protected resource of a path", "GET /.well-known/oauth-protected-resource/mount HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no OpenID provider", "GET /.well-known/openid-configuration HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no OpenID provider of a path", "GET /.well-known/openid-configuration/mount HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no OpenID provider below a path", "GET /mount/.well-known/openid-configuration HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no OpenID provider, with the token", "GET /mount/.well-known/openid-configuration HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer TOKEN\r\n", 404, "not_found"},
	{"no registration", "POST /register HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 0\r\n", 404, "not_found"},
	{"no authorization", "GET /authorize?client_id=x HTTP/1.1\r\nHost: localhost:PORT\r\n", 404, "not_found"},
	{"no tokens", "POST /token HTTP/1.1\r\nHost: localhost:PORT\r\nContent-Length: 0\r\n", 404, "not_found"},
	{"another well-known path", "GET /.well-known/oauth-authorization-serverx HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"below the tokens", "GET /token/x HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"no authorization server for strangers", "GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: evil.example\r\n", 403, "forbidden_host"},
	{"no token below health", "GET /healthz/../mount HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"no token, encoded", "GET /healthz%2f..%2fmount HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"a wrong token", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer TOKENx\r\n", 401, "unauthorized"},
	{"an empty token", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer \r\n", 401, "unauthorized"},
	{"a token without scheme", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: TOKEN\r\n", 401, "unauthorized"},
	{"another scheme", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Basic TOKEN\r\n", 401, "unauthorized"},
	{"two tokens", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer wrong-wrong-wrong\r\nAuthorization: Bearer TOKEN\r\n", 401, "unauthorized"},
	{"a token in the URL", "POST /mount?access_token=TOKEN HTTP/1.1\r\nHost: localhost:PORT\r\n", 401, "unauthorized"},
	{"a token in a cookie", "POST /mount HTTP/1.1\r\nHost: localhost:PORT\r\nCookie: token=TOKEN\r\n", 401, "unauthorized"},

	{"nothing there", "GET /mounted HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer TOKEN\r\n", 404, "not_found"},
	{"health is only read", "POST /healthz HTTP/1.1\r\nHost: localhost:PORT\r\n", 405, "method_not_allowed"},
	{"events are only read", "POST /events HTTP/1.1\r\nHost: localhost:PORT\r\nAuthorization: Bearer TOKEN\r\n", 405, "method_not_allowed"},
}

func checkOptions(o *Options, _ *limits) {
	o.AllowedHosts = []string{"Dev.example", "forward.example:8443"}
	o.Origins = []string{"http://localhost:3000"}
}

// TestHeads is DNS rebinding, cross-site requests and other users of the machine.
func TestHeads(t *testing.T) {
	conform.Held(t, "MCP-21")
	var reached atomic.Int64
	w := newWorld(t, func(o *Options, l *limits) {
		checkOptions(o, l)
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			reached.Add(1)
			if r.Header.Get("Authorization") != "" {
				t.Error("a handler sees the token")
			}
		})
	})
	_, port, _ := strings.Cut(w.s.Addr().String(), ":")
	for _, c := range heads {
		t.Run(c.name, func(t *testing.T) {
			before := reached.Load()
			r, body := w.raw(strings.ReplaceAll(c.head, "PORT", port) + "Connection: close\r\n\r\n")
			if r.StatusCode != c.status {
				t.Fatalf("status %d, want %d: %s", r.StatusCode, c.status, body)
			}
			if c.code != "" && code(t, body) != c.code {
				t.Errorf("code %q, want %q", code(t, body), c.code)
			}
			if c.status != 200 && reached.Load() != before {
				t.Error("a handler was reached")
			}
			if c.status == 401 && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer ") {
				t.Error("no challenge")
			}
			if challenge := r.Header.Get("WWW-Authenticate"); c.status == 404 && challenge != "" {
				t.Errorf("a challenge where nothing is: %s", challenge)
			}
			if strings.Contains(body, testToken) {
				t.Error("the token is in the answer")
			}
			if c.status == 403 && r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("a stranger's page may read the answer")
			}
		})
	}
	if w.logged() != "" {
		t.Errorf("requests are logged: %s", w.logged())
	}
}

func TestAllowedOriginIsAnswered(t *testing.T) {
	w := newWorld(t, checkOptions)
	r, _ := w.raw("OPTIONS /events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n\r\n")
	if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != "http://localhost:3000" || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "authorization") {
		t.Errorf("asked beforehand: %d %v", r.StatusCode, r.Header)
	}
	if r.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("pages may send cookies")
	}
	r, _ = w.raw("OPTIONS /mount HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n\r\n")
	if r.StatusCode != 401 {
		t.Errorf("options by itself: %d, want 401", r.StatusCode)
	}
}

func TestHealthSaysNothingElse(t *testing.T) {
	w := newWorld(t, nil)
	r, body := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if r.StatusCode != 200 || body != "{\"status\":\"ok\"}\n" || r.Header.Get("Server") != "" {
		t.Errorf("%d %q %v", r.StatusCode, body, r.Header)
	}
}

func TestHostname(t *testing.T) {
	for header, want := range map[string]string{
		"localhost": "localhost", "LocalHost:80": "localhost", "[::1]": "::1", "[::1]:80": "::1", "127.0.0.1:1": "127.0.0.1",
		"": "", "::1": "", "[::1": "", "[::1]x": "", "a:b": "", "a:": "", "a:-1": "", "a:99999": "", "a b": "", "u@localhost": "", "localhost/": "", "[::1%lo]": "", "a,b": "",
	} {
		if got := hostname(header); got != want {
			t.Errorf("hostname(%q) = %q, want %q", header, got, want)
		}
	}
}

// FuzzHead sends heads of any kind: a handler is reached only with the token, by a name of ours, and by no page of others.
func FuzzHead(f *testing.F) {
	for _, c := range heads {
		f.Add([]byte(strings.NewReplacer("PORT", "80", "TOKEN", testToken).Replace(c.head) + "\r\n"))
	}
	h, _ := testHost(f, true)
	reached := false
	o, l := Options{Token: testToken, Host: h, Mounts: map[string]nethttp.Handler{
		"/": nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) { reached = true }),
	}}, defaultLimits()
	checkOptions(&o, &l)
	s, err := listen(o, l)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	handler := s.handler(f.Context())
	f.Fuzz(func(t *testing.T, head []byte) {
		r, err := nethttp.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil || r.URL.Path == eventsPath {
			return
		}
		authorization, origins, name := strings.Join(r.Header["Authorization"], "\n"), r.Header["Origin"], r.Host
		reached = false
		a := httptest.NewRecorder()
		handler.ServeHTTP(a, r.WithContext(t.Context()))
		if a.Code >= 400 && a.Code != nethttp.StatusBadRequest && !strings.Contains(a.Body.String(), `{"error":{"code":"`) && !reached {
			t.Errorf("%d says nothing: %q", a.Code, a.Body)
		}
		if !reached {
			return
		}
		if scheme, token, _ := strings.Cut(authorization, " "); !strings.EqualFold(scheme, "bearer") || strings.Trim(token, " ") != testToken {
			t.Errorf("let in with %q", authorization)
		}
		if !plainlyOurs(name) {
			t.Errorf("let in as %q", name)
		}
		if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], "http://"+name) && !strings.EqualFold(origins[0], "http://localhost:3000") {
			t.Errorf("let in from %q", origins)
		}
	})
}

// plainlyOurs says what [Server.ours] should, written in another way.
func plainlyOurs(header string) bool {
	header = strings.ToLower(header)
	if header == "forward.example:8443" {
		return true
	}
	if at, err := netip.ParseAddrPort(header); err == nil {
		return at.Addr().Unmap().IsLoopback()
	}
	if i := strings.LastIndexByte(header, ':'); i >= 0 && !strings.HasSuffix(header, "]") {
		header = header[:i]
	}
	header = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	at, err := netip.ParseAddr(header)
	return header == "localhost" || header == "dev.example" || header == "127.0.0.1" || err == nil && at.Unmap().IsLoopback()
}

// FuzzAuthorize looks for a header that passes without the token.
func FuzzAuthorize(f *testing.F) {
	for _, seed := range []string{"Bearer " + testToken, "bearer   " + testToken + " ", "Bearer", "Bearer ", testToken, "Basic " + testToken, "Bearer " + testToken + ",x"} {
		f.Add(seed)
	}
	h, _ := testHost(f, true)
	s, err := Listen(Options{Token: testToken, Host: h})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Authorization"] = []string{header}
		want := len(header) > 7 && strings.EqualFold(header[:7], "bearer ") && strings.Trim(header[7:], " ") == testToken
		if got := s.gate.authorized(r); got != want {
			t.Errorf("authorized(%q) = %v", header, got)
		}
	})
}

// TestBodies is what the doors do with bodies.
func TestBodies(t *testing.T) {
	var got atomic.Int64
	w := newWorld(t, func(o *Options, l *limits) {
		o.MaxBody = 1000
		o.Mounts = mounts(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			if err != nil {
				t.Error(err)
			}
			got.Store(n)
		})
	})
	chunked := func(n int) io.Reader { // its length is not known
		return struct{ io.Reader }{strings.NewReader(strings.Repeat("x", n))}
	}
	for _, c := range []struct {
		name   string
		body   io.Reader
		status int
	}{
		{"as large as it may be", strings.NewReader(strings.Repeat("x", 1000)), 200},
		{"one byte more", strings.NewReader(strings.Repeat("x", 1001)), 413},
		{"as large as it may be, in chunks", chunked(1000), 200},
		{"one byte more, in chunks", chunked(1001), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			got.Store(-1)
			status, body := w.mustAsk("POST", "/mount", c.body)
			if status != c.status || (got.Load() == 1000) != (status == 200) {
				t.Errorf("status %d, %d bytes seen: %s", status, got.Load(), body)
			}
		})
	}
	if status, body := w.mustAsk("POST", "/mount", chunked(10)); status != 200 { // room for 1000 was held at first
		t.Errorf("a small one in chunks: %d %s", status, body)
	}
	eventually(t, "nothing is held", func() bool {
		w.s.busy.mu.Lock()
		defer w.s.busy.mu.Unlock()
		return w.held() == 0 && len(w.s.busy.by) == 0
	})
}
