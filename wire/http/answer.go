package http

import (
	"fmt"
	nethttp "net/http"

	"toolhost/agenttool/json"
)

// answer knows whether anything of it was sent.
type answer struct {
	nethttp.ResponseWriter
	begun bool
}

// Unwrap lets net/http find what the writer can do besides.
func (a *answer) Unwrap() nethttp.ResponseWriter { return a.ResponseWriter }

// WriteHeader sends the status.
func (a *answer) WriteHeader(status int) {
	a.begun = a.begun || status >= nethttp.StatusOK
	a.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// Flush sends the bytes written so far.
func (a *answer) Flush() {
	a.begun = true
	_ = nethttp.NewResponseController(a.ResponseWriter).Flush() // the next write fails as well
}

// refuse sends a refusal and closes the connection, so that the rest of the refused request is not read.
func (a *answer) refuse(bad *refusal) {
	h := a.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Connection", "close")
	if bad.status == nethttp.StatusTooManyRequests || bad.status == nethttp.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	body, err := json.Marshal(map[string]any{"error": map[string]string{"code": bad.code, "message": bad.message}})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"this answer cannot be written"}}`)
	}
	a.WriteHeader(bad.status)
	_, _ = a.Write(append(body, '\n')) // its error is of a client that has gone
}

// refusal is an answer to a request that is not served.
type refusal struct {
	status        int
	code, message string
}

func refused(status int, code, format string, args ...any) *refusal {
	return &refusal{status, code, fmt.Sprintf(format, args...)}
}
