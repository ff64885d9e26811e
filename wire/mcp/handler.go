package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of the HTTP handler.
const (
	maxBody        = 16 << 20         // bytes of one request
	maxSessions    = 256              // of clients at once
	sessionTimeout = 30 * time.Minute // without a request, after which a session is ended
)

// Handler returns the streamable HTTP transport: requests of 2026-07-28 and later stand for themselves, and end with
// their connection; older clients have a session. It checks no token and no origin: its caller does.
func (s *Server) Handler() http.Handler {
	serve := func(*http.Request) *sdk.Server { return s.sdk }
	modern := sdk.NewStreamableHTTPHandler(serve, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true, DisableLocalhostProtection: s.o.HostChecked,
	})
	legacy := sdk.NewStreamableHTTPHandler(serve, &sdk.StreamableHTTPOptions{
		SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: s.o.HostChecked,
	})
	var older sessions
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e envelope
		if r.Method == http.MethodPost {
			var err error
			if e, err = s.open(w, r); err != nil {
				refuseBody(w, e.id, err)
				return
			}
			w = &answer{ResponseWriter: w, uncoded: e.uncoded(r.Header.Get(headerSession)), begun: older.note}
		}
		if e.isStateless(r) {
			modern.ServeHTTP(w, r)
			return
		}
		if e.method == methodInitialize && r.Header.Get(headerSession) == "" && !s.makeRoom(&older) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions: end one, or try again later", http.StatusServiceUnavailable)
			return
		}
		if r.Method == http.MethodDelete {
			s.cancelSession(r.Header.Get(headerSession))
		}
		defer older.serve(r)()
		legacy.ServeHTTP(w, r)
	})
}

// Headers of the transport.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
)

// isStateless reports whether a request is of 2026-07-28 or later. Its header says so; one that lacks the header and
// has such a body is for the same handler, which refuses it (MCP-21).
func (e envelope) isStateless(r *http.Request) bool {
	version := r.Header.Get(headerVersion)
	return isModern(version) || version == "" && r.Header.Get(headerSession) == "" && e.modern
}

// refuseBody answers a request whose body is not for the SDK. The id is nil where it could not be read.
func refuseBody(w http.ResponseWriter, id json.RawMessage, err error) {
	var refused *jsonrpc.Error
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &refused):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(encodeError(id, refused)) // an error: the client has gone
	case errors.As(err, &tooLarge):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, "the request could not be read", http.StatusBadRequest)
	}
}

// cancelSession ends the calls of a session that its client ends: the SDK waits for them.
func (s *Server) cancelSession(id string) {
	for _, f := range s.flights.live() {
		if id != "" && f.in(id) {
			s.o.Host.Cancel(f.id, "the client has ended its session")
		}
	}
}
