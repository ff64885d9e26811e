package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Limits of the HTTP handler.
const (
	maxBody        = 16 << 20         // bytes of one request
	maxSessions    = 256              // of clients at once
	sessionTimeout = 30 * time.Minute // without a request, after which a session is ended
)

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
