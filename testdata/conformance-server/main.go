// The conformance server is what the MCP project's conformance suite is run against: toolhost's own front door over HTTP, on a
// host with the fixture tools that the suite's scenarios name. What the host does not offer, prompts for example, is not
// made up here: those scenarios are listed in testdata/mcp/expected-failures.yaml.
//
//	go run ./testdata/conformance-server 127.0.0.1:3000     until it is interrupted; prints the URL
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httputil"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/wire/http"
	"toolhost/wire/mcp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "conformance-server:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("name the address to listen on, such as 127.0.0.1:3000")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "conformance-server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, session, err := newHost(dir)
	if err != nil {
		return err
	}
	defer h.Close()
	s := mcp.New(mcp.Options{Host: h, Session: session, Version: "1.0.0", HostChecked: true})
	defer s.Close()
	s.Extend(addResources)
	s.Extend(addForms)
	return serve(ctx, h, session, s.Handler())
}

// newHost is a host of the fixture tools, with its records in dir.
func newHost(dir string) (*host.Host, agenttool.SessionID, error) {
	store := persist.New(persist.Options{Dir: dir})
	tools := fixtures()
	policy, err := policyOf(tools, dir)
	if err != nil {
		return nil, "", err
	}
	approvals := prompt.Approvals{Timeout: time.Minute}
	h, err := host.New(host.Options{
		Tools: tools, Store: store, Session: store.ID(), Version: "1.0.0", Policy: policy,
		Scope:     agenttool.Scope{Dir: dir, Roots: []string{dir}},
		Locate:    func(p *agenttool.Path) error { return errors.New(p.Spelling + ": the fixtures have no files") },
		Approvals: approvals,
	})
	if err != nil {
		return nil, "", err
	}
	parser := permissions.Parser{Names: host.Names(tools)}
	denied, err := parser.Parse("test_logging_tool", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceCLI})
	changeList = func() {
		h.Amend(host.Amendment{Policy: policy.With(denied), Approvals: approvals})
		h.Amend(host.Amendment{Policy: policy, Approvals: approvals})
	}
	return h, store.ID(), err
}

// policyOf lets the fixtures run unasked, but for those that are there to ask.
func policyOf(tools []agenttool.Tool, dir string) (permissions.Policy, error) {
	policy := permissions.Policy{Workspace: dir}
	parser := permissions.Parser{Names: host.Names(tools)}
	for _, tool := range tools {
		f, behavior := tool.(*fixture), agenttool.Allow
		switch {
		case f.twice:
			continue
		case f.asks:
			behavior = agenttool.Ask
		}
		rule, err := parser.Parse(f.name, behavior, agenttool.Origin{Source: agenttool.SourceCLI})
		if err != nil {
			return policy, err
		}
		policy = policy.With(rule)
	}
	return policy, nil
}

// serve serves /mcp until ctx ends, behind all checks that toolhost makes. The suite has no token to show, so that a
// forwarder shows it one; it passes on everything else as it came.
func serve(ctx context.Context, h *host.Host, session agenttool.SessionID, handler nethttp.Handler) error {
	outer, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		return err
	}
	token := http.NewToken()
	inner, err := http.Listen(http.Options{
		Token: token, Host: h, Session: session, Version: "1.0.0", Mounts: map[string]nethttp.Handler{"/mcp": handler},
		Log: func(message string) { fmt.Fprintln(os.Stderr, message) },
	})
	if err != nil {
		return errors.Join(err, outer.Close())
	}
	addr := strings.TrimPrefix(inner.URL(), "http://")
	forwarder := &nethttp.Server{Handler: forward(addr, token), ReadHeaderTimeout: 5 * time.Second}
	fmt.Printf("http://%s/mcp\n", outer.Addr())
	var both sync.WaitGroup
	both.Go(func() { _ = forwarder.Serve(outer) }) // says that it was closed
	err = inner.Serve(ctx)
	err = errors.Join(err, forwarder.Close())
	both.Wait()
	return err
}

// forward shows the token for those who have none. Requests are read to their end first: a proxy that still reads when
// the answer begins may lose the rest of it.
func forward(addr, token string) nethttp.Handler {
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", addr
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(nethttp.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
