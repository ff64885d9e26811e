package http

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	nethttp "net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
)

// Options are the address, the access checks and the handlers of a server.
type Options struct {
	Addr     string // host:port; empty: 127.0.0.1 and a port that is free
	Token    string // of every client; required, see [NewToken]
	CertFile string // PEM, with KeyFile: TLS; both empty: none, which only loopback may do
	KeyFile  string
	OwnCert  bool // TLS with a new certificate that nobody vouches for: users compare its fingerprint

	Host    *host.Host // the source of events; required
	Session agenttool.SessionID
	Version string // of this build

	// Mounts are the handlers, by path: "/mcp" serves /mcp and the paths below. They run after all checks and see the whole path.
	Mounts  map[string]nethttp.Handler
	MaxBody int64 // bytes of a request's body; 0: 16 MiB

	// Knows reports whether a path holds an unguessable secret of a handler, which replaces the token. A wrong guess is refused
	// like a request without a token, before its body is read. Nil: no path holds one.
	Knows func(path string) bool

	Log          func(string) // gets errors, escaped and without parts of requests; may be nil
	AllowedHosts []string     // further names of this server, with or without port
	Origins      []string     // origins of web pages that may call, as scheme://host[:port]; nil: none but our own
}

func defaultLimits() limits {
	return limits{
		requestTimes: requestTimes{header: 5 * time.Second, body: 30 * time.Second, unknown: 3 * time.Second, write: 30 * time.Second, idle: time.Minute},
		patience:     patience{beat: 15 * time.Second, grace: 3 * time.Second, cut: time.Second, silent: 2 * time.Second, line: 30 * time.Second},
		capacity:     capacity{conns: 4096, spare: 1024, perClient: 256, standing: 512, streams: 16, page: 100, queue: 1 << 20, bodies: 128 << 20},
	}
}

const (
	defaultMaxBody = 16 << 20
	maxHeader      = 12 << 10 // net/http lets 4 KiB more pass
)

// Server is a listener with its handlers. Its methods may be used from several goroutines.
type Server struct {
	o      Options
	l      limits
	gate   gate
	mounts routes
	log    *logger
	endpoint
	load
	ending
}

// endpoint is the address of a server.
type endpoint struct {
	tls      *tls.Config // nil: none
	listener *net.TCPListener
}

// load counts the resources that clients hold.
type load struct {
	conns   *connections
	busy    *busy
	bodies  room          // bytes
	streams chan struct{} // holds one for each stream of events
}

// ending is about the end of Serve.
type ending struct {
	mu     sync.Mutex
	closed bool
	cut    context.CancelFunc // ends Serve at once; nil: it was not called
	ended  chan struct{}      // closed when Serve has ended
}

// Listen takes the port. It refuses what would let strangers in: no token or a guessable one, an address other than
// loopback without TLS, origins that are none.
func Listen(o Options) (*Server, error) { return listen(o, defaultLimits()) }

func listen(o Options, l limits) (*Server, error) {
	if err := checkToken(o.Token); err != nil {
		return nil, err
	}
	if o.Host == nil {
		return nil, errors.New("listen: there is no host to serve")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	s := &Server{
		l: l, gate: gate{token: sha256.Sum256([]byte(o.Token)), scheme: "http"}, log: newLogger(o.Log), ending: ending{ended: make(chan struct{})},
		load: load{conns: newConnections(l), busy: newBusy(l), bodies: room{most: l.bodies, wait: l.line}, streams: make(chan struct{}, l.streams)},
	}
	o.Token = ""
	s.o = o
	var errs [4]error
	s.tls, errs[0] = serverTLS(o)
	s.mounts, errs[1] = sortMounts(o.Mounts)
	s.gate.origins, errs[2] = parseOrigins(o.Origins)
	s.gate.hosts, errs[3] = parseHosts(o.AllowedHosts)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if s.tls != nil {
		s.gate.scheme = "https"
	}
	if err := s.take(o.Addr); err != nil {
		return nil, err
	}
	return s, nil
}

// take listens on an address. It resolves the name once, so that it listens on the address that it checked.
func (s *Server) take(name string) error {
	name = cmp.Or(name, "127.0.0.1:0")
	addr, err := net.ResolveTCPAddr("tcp", name)
	if err != nil {
		return fmt.Errorf("listen: %w; give HOST:PORT, such as 127.0.0.1:8722", err)
	}
	every := addr.IP == nil || addr.IP.IsUnspecified()
	if !addr.IP.IsLoopback() && s.tls == nil {
		return fmt.Errorf("listen on %s: others can reach that address, and would read the token: give --tls-self-signed, or a certificate and its key with --tls-cert and --tls-key, or listen on 127.0.0.1", name)
	}
	if every && len(s.gate.hosts) == 0 {
		return fmt.Errorf("listen on %s: that is every address, and it would answer to the name localhost alone: say with --http-host NAME by which name others reach it", name)
	}
	if s.listener, err = net.ListenTCP("tcp", addr); err != nil {
		return unheard(name, err)
	}
	if given, _, err := net.SplitHostPort(name); err == nil && !addr.IP.IsUnspecified() && given != "" {
		s.gate.hosts = append(s.gate.hosts, strings.ToLower(given))
	}
	return nil
}

// unheard returns the error of a failed listen, with the remedy.
func unheard(name string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the message below has the address
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s: %w: is another toolhost serve running? take another port, or 0 for any that is free", name, err)
	}
	return fmt.Errorf("listen on %s: %w", name, err)
}

// maxPEM is the size in bytes of the longest file of a certificate or key.
const maxPEM = 1 << 20

func certificate(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case cert == "" || key == "":
		return nil, errors.New("TLS needs both a certificate and its key: give --tls-cert and --tls-key")
	}
	chain, err := readSmall(cert, maxPEM, regular)
	if err != nil {
		return nil, fmt.Errorf("read the certificate from %s: %w", cert, err)
	}
	secret, err := readSmall(key, maxPEM, keyOfOurs)
	if err != nil {
		return nil, fmt.Errorf("read the key from %s: %w", key, err)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("the certificate of %s and the key of %s: %w", cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// Fingerprint is the SHA-256 of the server's certificate, as browsers show it; empty: it has none.
func (s *Server) Fingerprint() string {
	if s.tls == nil {
		return ""
	}
	sum := sha256.Sum256(s.tls.Certificates[0].Certificate[0])
	return strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
}

// URL returns the address for clients, without a path: http://127.0.0.1:8722. Where all addresses are listened on, it names
// the first of Options.AllowedHosts, or localhost.
func (s *Server) URL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	name := addr.IP.String()
	if addr.IP.IsUnspecified() {
		name = "localhost"
		if len(s.o.AllowedHosts) > 0 {
			name = hostname(s.o.AllowedHosts[0])
		}
	}
	return s.gate.scheme + "://" + net.JoinHostPort(name, strconv.Itoa(addr.Port))
}

// Serve serves until ctx ends or Close is called, and then returns nil. Streams end at once then, other requests have 3 s to
// end by themselves before they are cut off; a handler that goes on even then, though its context ended, is left behind after
// one more. Serve can be called once. An error says why it could not go on.
func (s *Server) Serve(ctx context.Context) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	if err := s.begin(cut); err != nil {
		return err
	}
	defer close(s.ended)
	streams, endStreams := context.WithCancel(base)
	defer endStreams()
	server := s.server(base, streams)
	failed := make(chan error, 1)
	go func() { failed <- s.accept(server) }() // ends when the listener is closed, below
	var err error
	select {
	case <-ctx.Done():
	case <-base.Done():
	case err = <-failed:
		failed <- err
	}
	endStreams()
	s.conns.closeStrangers()
	s.end(base, server)
	cut()
	<-failed
	s.conns.closeAll() // one may have come at the last moment
	s.busy.wait(s.l.cut)
	return err
}

func (s *Server) begin(cut context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cut != nil {
		return errors.New("serve: this server has been used: listen again")
	}
	s.cut = cut
	return nil
}

// server returns the server of net/http: base ends when all that is left is cut off, streams when serving ends.
func (s *Server) server(base, streams context.Context) *nethttp.Server {
	one := new(nethttp.Protocols)
	one.SetHTTP1(true)
	return &nethttp.Server{
		Handler: s.handler(streams), Protocols: one, TLSConfig: s.tls, DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout: s.l.header, ReadTimeout: s.l.body, IdleTimeout: s.l.idle, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base }, ConnContext: withConnection,
		ErrorLog: log.New(s.log, "", 0),
	}
}

// accept returns why no connections come any more; nil: because serving ended.
func (s *Server) accept(server *nethttp.Server) error {
	l := &listener{TCPListener: s.listener, open: s.conns}
	var err error
	if s.tls != nil {
		err = server.ServeTLS(l, "", "")
	} else {
		err = server.Serve(l)
	}
	if errors.Is(err, nethttp.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve on %s: %w", s.listener.Addr(), err)
}

// end lets requests end by themselves for a while, and then cuts them off.
func (s *Server) end(base context.Context, server *nethttp.Server) {
	grace, cancel := context.WithTimeout(base, s.l.grace)
	defer cancel()
	quiet := make(chan struct{})
	go func() { // ends when all connections are closed, below
		defer close(quiet)
		_ = server.Shutdown(grace) // the code below closes the connections that it leaves
	}()
	select {
	case <-quiet:
	case <-grace.Done(): // Shutdown may be held up, by the farewell of TLS to a client that does not read
	}
	s.conns.closeAll()
	_ = server.Close()
	<-quiet
}
