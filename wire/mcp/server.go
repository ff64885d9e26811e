package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
)

// Options are the host and the names of a server.
type Options struct {
	Host         *host.Host
	Session      agenttool.SessionID
	Version      string // of this build
	Instructions string // for the model, told once per client; empty: none
	HostChecked  bool   // the caller of the handler checks the Host header of requests, and knows more names than those of loopback
	// CheckMessage refuses invalid messages in HTTP bodies: duplicate keys, invalid ids. It gets one JSON object. The client gets its
	// error. Nil: no further checks.
	CheckMessage func(body []byte) error
	Results      Results             // how all clients take results; zero: as each is known to
	Met          func(client string) // told of the name of a client that calls; nil: nobody
}

// Server serves MCP clients, all from one host. Its methods may be used from several goroutines.
type Server struct {
	o       Options
	sdk     *sdk.Server
	key     signingKey // of request states
	flights flights
	calls   atomic.Int64 // so far, for their ids
	stored  stored
	replays *replays

	catalog *catalog
}

// New returns a server of the host's tools. It does no IO.
func New(o Options) *Server {
	s := &Server{o: o, key: newSigningKey(), replays: newReplays()}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "toolhost", Title: "toolhost", Version: o.Version}, sdkOptions(o.Instructions))
	s.sdk.AddReceivingMiddleware(recovering, s.middleware)
	s.catalog = newCatalog(s.sdk, o.Host.Surface())
	o.Host.WatchSurface(func() { s.catalog.list(o.Host.Surface()) })
	addResources(s.sdk, o.Host)
	return s
}

// middleware takes tools/call from the SDK: the host answers and records all calls, also those of tools that the SDK does
// not list, such as aliases and unknown names. The SDK gets the result, to add its type.
func (s *Server) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok {
			if silent[method] {
				return &nothing{}, nil
			}
			if undeclared[method] {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " is not served: the server declares no such capability"}
			}
			if _, lists := req.(*sdk.ListResourcesRequest); lists {
				res, err := next(ctx, method, req)
				if list, ok := res.(*sdk.ListResourcesResult); ok && err == nil {
					list.Resources = slices.Insert(list.Resources, 0, s.stored.list()...) // an empty list stays one, and is no null
				}
				return res, err
			}
			res, err := next(ctx, method, req)
			if list, ok := req.(*sdk.ListToolsRequest); ok && err == nil {
				res = s.o.Results.clientOf(list.ClientInfo(), list.ClientCapabilities()).listed(res)
			}
			return res, notFound(req, err)
		}
		ctx, end := starting(ctx)
		defer end()
		if call.Params.RequestState != "" {
			hasBegun(ctx) // before, by another request
		}
		res, err := s.call(ctx, call)
		names := s.catalog.listed()
		if plain, ok := res.(*sdk.CallToolResult); ok && err == nil && len(names) > 0 {
			finished, err := next(context.WithValue(ctx, outcome{}, plain), method, named(call, names[0]))
			if err == nil {
				return finished, nil
			} // the tool of that name was taken off the list just now
		}
		return res, err
	}
}

// undeclared are methods that the SDK would serve although the server has no prompts, completions or log levels.
var undeclared = map[string]bool{"prompts/list": true, "prompts/get": true, "completion/complete": true, "logging/setLevel": true}

// silent are methods that get a response and have no effect: payloads do not change, so a subscription brings no notification. The
// SDK would store all subscriptions.
var silent = map[string]bool{"resources/subscribe": true, "resources/unsubscribe": true}

// nothing is a result without content.
type nothing struct{ sdk.ResultBase }

// named returns the request with the name of a tool that the SDK knows: it has the result finished, by the handler that
// all tools have in common.
func named(req *sdk.CallToolRequest, tool string) *sdk.CallToolRequest {
	params := *req.Params
	params.Name = tool
	return &sdk.CallToolRequest{Session: req.Session, Params: &params, Extra: req.Extra}
}

// closing is why calls are canceled when the server ends.
const closing = "the server is closing"

// Close cancels the calls that go on, ends the sessions and waits for both. No call is taken any more.
func (s *Server) Close() {
	s.flights.close()
	for _, f := range s.flights.live() {
		s.o.Host.Cancel(f.id, closing)
	}
	var sessions sync.WaitGroup
	for one := range s.sdk.Sessions() {
		sessions.Go(func() { _ = one.Close() }) // the client may have gone before
	}
	sessions.Wait()
}

// nextID names one call of this process for the host.
func (s *Server) nextID() string { return fmt.Sprintf("mcp-%d", s.calls.Add(1)) }

// Extend gives f the SDK's server, to add further parts: resources of the embedding program, middleware.
// Middleware that is added later sees requests first. It must be called before the server serves.
func (s *Server) Extend(f func(*sdk.Server)) { f(s.sdk) }

// Handler returns the streamable HTTP transport: requests of 2026-07-28 and later stand for themselves, and end with
// their connection; older clients have a session. It checks no token and no origin: its caller does.
func (s *Server) Handler() http.Handler {
	serve := func(*http.Request) *sdk.Server { return s.sdk }
	modern := sdk.NewStreamableHTTPHandler(serve, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true, DisableLocalhostProtection: s.o.HostChecked,
	})
	legacy := sdk.NewStreamableHTTPHandler(serve, &sdk.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: s.o.HostChecked, EventStore: s.replays,
	})
	var older sessions
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e envelope
		if r.Method == http.MethodPost {
			var err error
			if e, err = openBody(w, r, s.o.CheckMessage); err != nil {
				refuseBody(w, e, err)
				return
			}
			r.Header.Set(headerRequestID, string(e.id))
			w = &answer{ResponseWriter: w, uncoded: e.uncoded(r.Header.Get(headerSession)), begun: older.note}
			if e.batch != nil {
				w = &batchAnswer{ResponseWriter: w, ids: e.batch}
			}
		}
		if e.isStateless(r) {
			modern.ServeHTTP(w, r)
			return
		}
		if e.method == methodInitialize && r.Header.Get(headerSession) == "" && !older.makeRoom(s.sdk.Sessions(), s.flights.calling) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions: end one, or try again later", http.StatusServiceUnavailable)
			return
		}
		if r.Method == http.MethodDelete {
			s.cancelSession(r.Header.Get(headerSession))
		}
		defer older.serve(r)()
		w, r, end := s.replays.begin(w, r)
		defer end()
		legacy.ServeHTTP(w, r)
	})
}

// cancelSession ends the calls of a session that its client ends: the SDK waits for them.
func (s *Server) cancelSession(id string) {
	for _, f := range s.flights.live() {
		if id != "" && f.in(id) {
			s.o.Host.Cancel(f.id, "the client has ended its session")
		}
	}
}

// Stream returns the server's side of a new pair of pipes. No session is made before the first message.
func (s *Server) Stream(o StreamOptions) *Stream {
	st := newStream(s.sdk, o)
	st.admission = &admission{}
	return st
}
