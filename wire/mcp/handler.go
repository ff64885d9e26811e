package mcp

import (
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// refuseBody answers a request whose body is not for the SDK. The id is nil where it could not be read; a batch has those of its requests.
func refuseBody(w http.ResponseWriter, e envelope, err error) {
	var refused *jsonrpc.Error
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case errors.As(err, &refused):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		response := encodeError(e.id, refused)
		if len(e.batch) > 0 {
			response = refuseBatch(e.batch, refused)
		}
		_, _ = w.Write(response) // an error: the client has gone
	case errors.As(err, &tooLarge):
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, "the request could not be read", http.StatusBadRequest)
	}
}
