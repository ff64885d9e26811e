package http

import (
	"bytes"
	"errors"
	"io"
	nethttp "net/http"
	"os"
	"time"
)

// readBody reads the whole body, so that a handler never waits for a client, and puts it back. It says how many bytes are
// held until the request ends. From then on the connection has no deadline for reading, only the handler's own.
func (s *Server) readBody(w *answer, r *nethttp.Request, limit int64) (held int64, bad *refusal) {
	if r.ContentLength > limit {
		return 0, tooLarge(limit)
	}
	if r.ContentLength != 0 {
		held = r.ContentLength
		if held < 0 { // it does not say
			held = limit
		}
		if !s.busy.hold(held) {
			return 0, refused(nethttp.StatusServiceUnavailable, "too_much_at_once", "too many large requests are being answered: try again")
		}
		body, err := io.ReadAll(nethttp.MaxBytesReader(w.ResponseWriter, r.Body, limit))
		if err != nil {
			return held, s.badBody(err)
		}
		s.busy.hold(int64(len(body)) - held)
		held = int64(len(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	// A failure is of a connection that has gone, or of a writer that has none.
	_ = nethttp.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Time{})
	return held, nil
}

func (s *Server) badBody(err error) *refusal {
	var large *nethttp.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refused(nethttp.StatusRequestTimeout, "body_timeout", "the body did not come within %s: send it faster", s.l.body)
	}
	return refused(nethttp.StatusBadRequest, "bad_request", "the body could not be read: send it whole, as its headers say")
}

func tooLarge(limit int64) *refusal {
	return refused(nethttp.StatusRequestEntityTooLarge, "body_too_large", "the body is larger than %d bytes: send less", limit)
}
