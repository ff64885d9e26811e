package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/wire/http"
	"toolhost/wire/http/rap"
)

// httpFlags say where and for whom a session is served over HTTP.
type httpFlags struct {
	addr, tokenFile, cert, key string
	hosts, origins             []string
	memoryOnly                 bool // nothing is kept on disk
	cmd                        *cobra.Command
}

func (h *httpFlags) addFlags(cmd *cobra.Command) {
	h.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&h.addr, "http", "", "serve MCP and RAP over HTTP at this `address` instead of stdin and stdout, such as 127.0.0.1:0")
	f.StringVar(&h.tokenFile, "http-token-file", "", "`file` with the token that clients must show, readable by you alone (default: a new token, which is printed)")
	f.StringVar(&h.cert, "tls-cert", "", "`file` with the certificate, in PEM; required where the address is not of this machine alone")
	f.StringVar(&h.key, "tls-key", "", "`file` with the key of --tls-cert")
	f.StringArrayVar(&h.hosts, "http-host", nil, "further `name` by which clients reach this server; may be repeated")
	f.StringArrayVar(&h.origins, "http-origin", nil, "`origin` of web pages that may call, such as https://agents.example.com; may be repeated")
}

// check reports flags that mean nothing without --http.
func (h *httpFlags) check() error {
	for _, name := range []string{"http", "http-token-file", "tls-cert", "tls-key"} {
		if f := h.cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	if h.addr != "" {
		return nil
	}
	if h.tokenFile+h.cert+h.key != "" || len(h.hosts)+len(h.origins) > 0 {
		return errors.New("--http-token-file, --http-host, --http-origin, --tls-cert and --tls-key belong to --http ADDR")
	}
	return nil
}

// files are those that give whoever reads them what a client needs: no call reads them.
func (h *httpFlags) files() (secret []string) {
	for _, name := range []string{h.tokenFile, h.key} {
		if abs, err := filepath.Abs(name); name != "" && err == nil {
			secret = append(secret, dirs.Target(abs))
		}
	}
	return secret
}

// front opens the address and returns how the session is served there.
func (h *httpFlags) front(s *session) (front, error) {
	token, fresh := "", h.tokenFile == ""
	var err error
	if fresh {
		token = http.NewToken()
	} else if token, err = http.ReadTokenFile(h.tokenFile); err != nil {
		return nil, fmt.Errorf("--http-token-file: %w", err)
	}
	mcpServer := newMCPServer(s)
	owed, release := owedDir(s, h.memoryOnly)
	rapServer, err := rap.New(rap.Options{Host: s.host, Base: "/", AllowCallback: s.mayCallBack, Dir: owed, Log: logLine})
	if err != nil {
		closeAll([]func(){mcpServer.Close, release})
		return nil, exitf(exitFailed, "callbacks that are owed cannot be kept: %v", err)
	}
	mounts := map[string]nethttp.Handler{"/mcp": mcpServer.Handler()}
	for _, path := range rap.Paths() {
		mounts[path] = rapServer.Handler()
	}
	closers := []func(){mcpServer.Close, rapServer.Close, release}
	server, err := http.Listen(http.Options{
		Addr: h.addr, Token: token, CertFile: h.cert, KeyFile: h.key, Host: s.host, Session: s.store.ID(), Version: version(),
		Mounts: mounts, Knows: rapServer.Knows, AllowedHosts: h.hosts, Origins: h.origins, Log: logLine,
	})
	if err != nil {
		closeAll(closers)
		return nil, fmt.Errorf("--http: %w", err)
	}
	return func(ctx context.Context, _ context.CancelCauseFunc) error {
		if !fresh {
			token = ""
		}
		printAddress(server.URL(), token)
		return serveHTTP(ctx, s, server, closers)
	}, nil
}

func logLine(line string) { fmt.Fprintln(os.Stderr, "toolhost: "+line) }

func closeAll(closers []func()) {
	for _, end := range closers {
		end()
	}
}

// owedDir is where callbacks that a server owes outlive it: one directory for each workspace, for one server at a time. Another
// one that runs beside it keeps what it owes in memory, and so does one without a log.
func owedDir(s *session, memoryOnly bool) (dir string, release func()) {
	state, err := dirs.State()
	if memoryOnly || err != nil {
		return "", func() {}
	}
	sum := sha256.Sum256([]byte(s.scope.Dir))
	dir = filepath.Join(state, "rap", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", func() {}
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", func() {}
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		logLine("another server of this workspace keeps what it owes RAP runtimes on disk; this one keeps it in memory, and a crash loses it")
		return "", func() {}
	}
	return dir, func() { _ = lock.Close() }
}

// serveHTTP serves until ctx ends: running calls are canceled then, and their clients told.
func serveHTTP(ctx context.Context, s *session, server *http.Server, closers []func()) error {
	over, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		s.host.Drain(now)
		stop(context.Cause(ctx))
	}()
	err := server.Serve(over)
	closeAll(closers)
	if ctx.Err() != nil {
		<-ended
		err = nil
	}
	if logged := s.close(); logged != nil {
		return exitf(exitFailed, "the session log could not be closed: %v", logged)
	}
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	return nil
}

// printAddress says where the server is: to a program in one line of JSON, to a person in words. The token is said once.
func printAddress(base, token string) {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		said := map[string]string{"url": base, "mcp": base + "/mcp", "rap": base + "/.well-known/rap-toolset", "events": base + "/events"}
		if token != "" {
			said["token"] = token
		}
		line, err := agenttool.Encode(said)
		if err == nil { // strings alone: it cannot fail
			fmt.Printf("%s\n", line)
		}
		return
	}
	fmt.Printf("MCP     %s/mcp\nRAP     %s\nevents  %s/events\n", base, base, base)
	if token != "" {
		fmt.Printf("token   %s\n        clients send it as Authorization: Bearer; it is not shown again\n", token)
	}
}

// mayCallBack reports why the result of a call may not be sent to an address: it is this machine's, or one that the
// person's settings name.
func (s *session) mayCallBack(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	allowed := s.live.callbackHosts()
	if slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) }) {
		return nil
	}
	return fmt.Errorf("results are not sent to %q: add it to http.callback_hosts in your settings", host)
}
