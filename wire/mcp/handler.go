package mcp

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

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
