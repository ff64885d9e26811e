package http

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// makeCertificate writes a certificate for loopback, and its key.
func makeCertificate(t testing.TB) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func TestListenRefuses(t *testing.T) {
	h, _ := testHost(t, true)
	cert, key, _ := makeCertificate(t)
	nothing := nethttp.NotFoundHandler()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		name   string
		change func(*Options)
		err    string // empty: it listens
	}{
		{"as it should be", func(*Options) {}, ""},
		{"localhost", func(o *Options) { o.Addr = "localhost:0" }, ""},
		{"no token", func(o *Options) { o.Token = "" }, "no token"},
		{"no token with TLS", func(o *Options) { o.Token, o.CertFile, o.KeyFile = "", cert, key }, "no token"},
		{"a short token", func(o *Options) { o.Token = "letmein" }, "guessed"},
		{"a token with a line", func(o *Options) { o.Token = testToken + "\r\nX: y" }, "character"},
		{"no host", func(o *Options) { o.Host = nil }, "no host"},
		{"every address", func(o *Options) { o.Addr = "0.0.0.0:0" }, "others can reach"},
		{"every address, unsaid", func(o *Options) { o.Addr = ":0" }, "others can reach"},
		{"every address of IPv6", func(o *Options) { o.Addr = "[::]:0" }, "others can reach"},
		{"another address", func(o *Options) { o.Addr = "192.0.2.1:0" }, "give --tls-self-signed"},
		{"every address with TLS", func(o *Options) { o.Addr, o.CertFile, o.KeyFile = "0.0.0.0:0", cert, key }, "--http-host NAME"},
		{"every address with TLS and a name", func(o *Options) {
			o.Addr, o.CertFile, o.KeyFile, o.AllowedHosts = "0.0.0.0:0", cert, key, []string{"tools.example"}
		}, ""},
		{"an address in use", func(o *Options) { o.Addr = taken.Addr().String() }, "address already in use: is another toolhost serve running?"},
		{"no port", func(o *Options) { o.Addr = "127.0.0.1" }, "HOST:PORT"},
		{"a certificate alone", func(o *Options) { o.CertFile = cert }, "both"},
		{"a key that is none", func(o *Options) { o.CertFile, o.KeyFile = cert, cert }, "the key of"},
		{"every origin", func(o *Options) { o.Origins = []string{"*"} }, "no origin"},
		{"no origin", func(o *Options) { o.Origins = []string{"null"} }, "no origin"},
		{"an origin with a star", func(o *Options) { o.Origins = []string{"https://*.example"} }, "no origin"},
		{"an origin with a path", func(o *Options) { o.Origins = []string{"https://a.example/"} }, "no origin"},
		{"every name", func(o *Options) { o.AllowedHosts = []string{"*"} }, "no host name"},
		{"a URL as a name", func(o *Options) { o.AllowedHosts = []string{"https://a.example"} }, "no host name"},
		{"a handler without path", func(o *Options) { o.Mounts = map[string]nethttp.Handler{"x": nothing} }, "mounted"},
		{"a handler in place of ours", func(o *Options) { o.Mounts = map[string]nethttp.Handler{"/events/": nothing} }, "mounted"},
		{"no handler", func(o *Options) { o.Mounts = map[string]nethttp.Handler{"/x": nil} }, "mounted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Token: testToken, Host: h}
			c.change(&o)
			s, err := Listen(o)
			if err == nil {
				defer s.Close()
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if err != nil && (s != nil || strings.Count(err.Error(), "listen ") > 1 && !strings.Contains(err.Error(), "or listen on 127.0.0.1") || strings.Contains(err.Error(), testToken)) {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

// TestNothingThere: who asks for a path that is none hears of those that are.
func TestNothingThere(t *testing.T) {
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = map[string]nethttp.Handler{"/mcp": nethttp.NotFoundHandler(), "/cancel": nethttp.NotFoundHandler()}
	})
	if status, got := w.mustAsk("GET", "/nope", nil); status != 404 || !strings.Contains(got, "nothing is served at /nope: there are /cancel, /events, /healthz, /mcp\"") {
		t.Errorf("%d %s", status, got)
	}
}

func TestMountsByPath(t *testing.T) {
	says := func(what string) nethttp.Handler {
		return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { fmt.Fprintf(w, "%s %s", what, r.URL.Path) })
	}
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = map[string]nethttp.Handler{"/": says("root"), "/a": says("a"), "/a/b/": says("b")}
	})
	for path, want := range map[string]string{"/": "root /", "/x": "root /x", "/a": "a /a", "/ab": "root /ab", "/a/c": "a /a/c", "/a/b": "b /a/b", "/a/b/c": "b /a/b/c"} {
		if status, got := w.mustAsk("GET", path, nil); status != 200 || got != want {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
}

func TestIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skipf("there is no IPv6 loopback here: %v", err)
	} else {
		l.Close()
	}
	w := newWorld(t, func(o *Options, _ *limits) { o.Addr = "[::1]:0" })
	if status, body := w.mustAsk("GET", "/nowhere", nil); status != 404 || !strings.HasPrefix(w.s.URL(), "http://[::1]:") {
		t.Errorf("%s: %d %s", w.s.URL(), status, body)
	}
}

func TestTLS(t *testing.T) {
	cert, key, pool := makeCertificate(t)
	w := newWorld(t, func(o *Options, _ *limits) {
		o.CertFile, o.KeyFile = cert, key
		o.Mounts = mounts(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
			if r.TLS == nil || r.ProtoMajor != 1 {
				t.Errorf("%v over %v", r.Proto, r.TLS)
			}
		})
	})
	transport := &nethttp.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	r, err := nethttp.NewRequestWithContext(t.Context(), "POST", w.s.URL()+"/mount", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Origin", w.s.URL())
	answer, err := (&nethttp.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 || !strings.HasPrefix(w.s.URL(), "https://") {
		t.Errorf("%s: %d", w.s.URL(), answer.StatusCode)
	}
	if r, _ := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); r.StatusCode != 400 {
		t.Errorf("without TLS: %d", r.StatusCode)
	}
}

func TestTwoClients(t *testing.T) {
	var together sync.WaitGroup
	together.Add(2)
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			together.Done()
			together.Wait() // neither is served before the other has come
			_, _ = io.Copy(w, r.Body)
		})
	})
	var both sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		both.Go(func() {
			r, err := w.ask("POST", "/mount", strings.NewReader(name))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			if got, _ := io.ReadAll(r.Body); string(got) != name {
				t.Errorf("%s got %q", name, got)
			}
		})
	}
	both.Wait()
}

// TestServeEnds has every kind of client that would keep it from ending.
func TestServeEnds(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var begun sync.WaitGroup
	cert, key, _ := makeCertificate(t)
	for _, secure := range []bool{false, true} {
		w := newWorld(t, func(o *Options, l *limits) {
			l.grace, l.cut = 500*time.Millisecond, 200*time.Millisecond
			if secure {
				o.CertFile, o.KeyFile = cert, key
			}
			o.Mounts = map[string]nethttp.Handler{
				"/waits":  nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) { begun.Done(); <-r.Context().Done() }),
				"/deaf":   nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) { begun.Done(); <-release }),
				"/floods": nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) { begun.Done(); _ = flood(w) }),
			}
		})
		dial := func() io.Writer {
			c := w.dial()
			if secure {
				return tls.Client(c, &tls.Config{InsecureSkipVerify: true}) // the certificate is the test's own
			}
			return c
		}
		w.dial()                                                  // says nothing
		fmt.Fprint(dial(), "GET /healthz HTTP/1.1\r\nHost: loca") // nor all
		begun.Add(3)
		for _, path := range []string{"/waits", "/deaf", "/floods", "/events"} {
			method := "POST"
			if path == "/events" {
				method = "GET"
			}
			fmt.Fprintf(dial(), "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", method, path, testToken)
		}
		fmt.Fprintf(dial(), "POST /waits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\n\r\n{", testToken)
		begun.Wait()
		eventually(t, "the stream is open", func() bool { return len(w.s.streams) == 1 })
		w.stop()
		select {
		case err := <-w.serve:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(hang):
			t.Fatal("it does not end")
		}
		if c, err := net.Dial("tcp", w.s.Addr().String()); err == nil {
			c.Close()
			t.Error("the port is still taken")
		}
		if err := w.s.Close(); err != nil {
			t.Error(err)
		}
	}
	if l := defaultLimits(); l.grace+l.cut >= 5*time.Second {
		t.Errorf("requests have %s, which is more than 5 s", l.grace+l.cut)
	}
}

// TestGrace: what can end by itself is answered, streams end at once.
func TestGrace(t *testing.T) {
	begun := make(chan struct{}, 2)
	streamEnded := make(chan struct{})
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			begun <- struct{}{}
			if r.Method == "GET" {
				<-r.Context().Done()
				close(streamEnded)
				return
			}
			<-streamEnded
			_, _ = io.WriteString(w, "answered")
		})
	})
	fmt.Fprintf(w.dial(), "GET /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
	c := w.dial()
	fmt.Fprintf(c, "POST /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
	<-begun
	<-begun
	w.stop()
	if r, body := w.answer(c); r.StatusCode != 200 || body != "answered" {
		t.Errorf("%d %q", r.StatusCode, body)
	}
	if err := <-w.serve; err != nil {
		t.Error(err)
	}
}

func TestCloseEndsServe(t *testing.T) {
	w := newWorld(t, nil)
	eventually(t, "it serves", func() bool { r, err := w.ask("GET", "/healthz", nil); return err == nil && r.Body.Close() == nil })
	if err := w.s.Serve(t.Context()); err == nil {
		t.Error("it can be served twice")
	}
	if err := w.s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-w.serve; err != nil {
		t.Error(err)
	}
	h, _ := testHost(t, true)
	s, err := Listen(Options{Token: testToken, Host: h})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // one that never served
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Serve(context.Background()); err == nil {
		t.Error("it serves after its end")
	}
}

// TestPanics: a handler's panic is answered, or ends the answer; the log has where, and nothing of the request.
func TestPanics(t *testing.T) {
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if r.URL.Path == "/mount/late" {
				_, _ = io.WriteString(w, "half an ans")
				nethttp.NewResponseController(w).Flush()
			}
			body, _ := io.ReadAll(r.Body)
			panic(testToken + string(body))
		})
	})
	status, body := w.mustAsk("POST", "/mount", strings.NewReader("callback-secret"))
	if status != 500 || code(t, body) != "internal" {
		t.Errorf("%d %s", status, body)
	}
	r, err := w.ask("POST", "/mount/late", strings.NewReader("callback-secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("the answer ends as if it were whole: %q", text)
	}
	log := w.logged()
	if !strings.Contains(log, "panicked with a string") || !strings.Contains(log, "server_test.go") {
		t.Errorf("the log does not say where: %s", log)
	}
	if strings.Contains(log, testToken) || strings.Contains(log, "callback-secret") {
		t.Error("the log has what the request held")
	}
}

func TestLogIsBounded(t *testing.T) {
	var lines atomic.Int64
	l := newLogger(func(line string) {
		lines.Add(1)
		if strings.Contains(line, "\x1b") {
			t.Errorf("not escaped: %q", line)
		}
	})
	for range 1000 {
		fmt.Fprint(l, "http: TLS handshake error \x1b[2J\n")
	}
	if n := lines.Load(); n < 1 || n > 5 {
		t.Errorf("%d lines", n)
	}
}
