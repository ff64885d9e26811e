package server

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/cmd/toolhost/internal/approve/page"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/persist"
	"toolhost/wire/http"
	"toolhost/wire/http/rap"
	"toolhost/wire/mcp"
)

// HTTPOptions say where and for whom a session is served over HTTP.
type HTTPOptions struct {
	Addr              string
	TokenFile         string // holds the token that clients must show; "" for a new token
	CertFile, KeyFile string
	OwnCert           bool     // TLS with a new certificate
	Hosts, Origins    []string // further names of the server, and web pages that may call
	MemoryOnly        bool     // keep nothing on disk
	Results           mcp.Results
	Version           string
	Log               func(line string)

	// Listening is called with the address, and with the token if it is new.
	Listening func(Address)
}

// Address is where a session is served.
type Address struct {
	Base        string
	Token       string // empty: it is not new
	Fingerprint string // of the certificate; empty: there is no TLS
}

// ErrCallbacks says that callbacks that are owed cannot be kept on disk.
var ErrCallbacks = errors.New("callbacks that are owed cannot be kept")

// HTTP opens the address and returns the front that serves MCP, RAP and events there.
func HTTP(s *session.Session, o HTTPOptions) (Front, error) {
	token, fresh := "", o.TokenFile == ""
	var err error
	if fresh {
		token = http.NewToken()
	} else if token, err = http.ReadTokenFile(o.TokenFile); err != nil {
		return nil, fmt.Errorf("--http-token-file: %w", err)
	}
	mcpServer := newMCPServer(MCPOptions{Host: s.Host, Session: s.ID(), Version: o.Version, Results: o.Results, Met: s.Met})
	owed, release := owedDir(s.Scope.Dir, o)
	rapServer, err := rap.New(rap.Options{Host: s.Host, Base: "/", AllowCallback: s.AllowCallback, Dir: owed, Sealer: s.Store.Redactor(), Log: o.Log})
	if err != nil {
		closeAll([]func(){mcpServer.Close, release})
		return nil, fmt.Errorf("%w: %w", ErrCallbacks, err)
	}
	mounts := map[string]nethttp.Handler{"/mcp": mcpServer.Handler()}
	for _, path := range rap.Paths() {
		mounts[path] = rapServer.Handler()
	}
	browsers := newPage(s)
	mounts[page.Path] = browsers
	closers := []func(){func() { browsers.Forget() }, mcpServer.Close, rapServer.Close, release}
	server, err := http.Listen(http.Options{
		Addr: o.Addr, Token: token, CertFile: o.CertFile, KeyFile: o.KeyFile, Host: s.Host, Session: s.ID(), Version: o.Version,
		Mounts: mounts, Knows: func(path string) bool { return page.Serves(path) || rapServer.Knows(path) }, OwnCert: o.OwnCert, AllowedHosts: o.Hosts, Origins: o.Origins, Log: o.Log,
	})
	if err != nil {
		closeAll(closers)
		return nil, fmt.Errorf("--http: %w", err)
	}
	s.SetPair(pairing(server, browsers))
	s.Listen() // a person pairs a browser there
	return func(ctx context.Context, _ context.CancelCauseFunc) error {
		if !fresh {
			token = ""
		}
		o.Listening(Address{server.URL(), token, server.Fingerprint()})
		return serveHTTP(ctx, s, server, closers)
	}, nil
}

// owedDir is the directory for callbacks that outlive the server: one for each workspace, for one server at a time. A second server of
// the workspace keeps its callbacks in memory, and so does one without a log.
func owedDir(workspace string, o HTTPOptions) (dir string, release func()) {
	state, err := dirs.State()
	if o.MemoryOnly || err != nil {
		return "", func() {}
	}
	dir = dirs.Callbacks(state, workspace)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", func() {}
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", func() {}
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		o.Log("another server of this workspace keeps what it owes RAP runtimes on disk; this one keeps it in memory, and a crash loses it")
		return "", func() {}
	}
	return dir, func() { _ = lock.Close() }
}

// serveHTTP serves until ctx ends: running calls are canceled then, and their clients get the results.
func serveHTTP(ctx context.Context, s *session.Session, server *http.Server, closers []func()) error {
	over, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		s.Host.Drain(now)
		stop(context.Cause(ctx))
	}()
	err := server.Serve(over)
	limit := time.Now().Add(httpEnd)
	closed := make(chan error, 1)
	go func() { // ends with the process at the latest
		closeAll(closers)
		if ctx.Err() != nil {
			<-ended
		}
		closed <- s.Linger(s.Close(), limit)
	}()
	var logged error = persist.ErrPending
	select {
	case logged = <-closed:
	case <-time.After(httpEnd):
	}
	if logged != nil {
		return fmt.Errorf("the session log could not be closed: %w", logged)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

// httpEnd is how long the end may take when the clients have their answers: callbacks, jobs, the log.
const httpEnd = 4500 * time.Millisecond

func closeAll(closers []func()) {
	for _, end := range closers {
		end()
	}
}
