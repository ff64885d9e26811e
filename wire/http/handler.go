package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// handler answers every request. Requests that only read, streams among them, are cancelled when streams ends.
func (s *Server) handler(streams context.Context) nethttp.Handler {
	return nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		a := &answer{ResponseWriter: w}
		defer s.recovered(a)
		if bad := s.serve(streams, a, r); bad != nil {
			a.refuse(bad)
		}
	})
}

func (s *Server) serve(streams context.Context, w *answer, r *nethttp.Request) *refusal {
	safeHeaders(w.Header())
	if bad := s.gate.stranger(r); bad != nil {
		return bad
	}
	if s.gate.crossOrigin(w, r) {
		return nil
	}
	if r.URL.Path == healthPath {
		return health(w, r)
	}
	if s.ofAuthorization(r.URL.Path) {
		return refused(nethttp.StatusNotFound, "not_found",
			"this server has no authorization server, and registers no clients: send its token as the header Authorization: Bearer TOKEN")
	}
	of := terms{most: s.o.MaxBody, within: s.l.body}
	switch {
	case s.gate.authorized(r):
		if !s.prove(r.Context()) {
			return refused(nethttp.StatusServiceUnavailable, "too_many_connections", "%d connections are open: close some, or try again", s.l.conns)
		}
	case s.secret(r.URL.Path):
		of = terms{most: maxAnswer, within: s.l.unknown}
	default:
		return s.unauthorized(w, r)
	}
	r.Header.Del("Authorization")
	w.Header().Set("Server", "toolhost/"+s.o.Version)
	if s.conns.crowded() {
		w.Header().Set("Connection", "close")
	}
	from := client(r)
	share := s.busy.enter(from)
	defer s.busy.leave(from)
	if r.Method == nethttp.MethodGet {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(streams, cancel)()
		r = r.WithContext(ctx)
	}
	held, bad := s.readBody(w, r, of)
	defer func() { s.bodies.give(held) }()
	if bad != nil {
		return bad
	}
	return s.inTurn(w, r, share)
}

// terms are the bounds of a body.
type terms struct {
	most   int64         // bytes
	within time.Duration // from when there is room for it
}

// maxAnswer is the size in bytes of the longest body that comes without the token.
const maxAnswer = 64 << 10

// stands reports whether a request asks for a stream that has no end of its own.
func stands(r *nethttp.Request) bool {
	if r.Method == nethttp.MethodGet {
		return r.URL.Path == eventsPath || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
	}
	return r.Header.Get("Mcp-Method") == "subscriptions/listen"
}

// inTurn serves a request when it has a place: a call waits for one, a stream does not.
func (s *Server) inTurn(w *answer, r *nethttp.Request, of *share) *refusal {
	places := &of.calls
	if stands(r) {
		places = &of.streams
	}
	switch {
	case places.take(r.Context(), 1):
	case places == &of.streams:
		return refused(nethttp.StatusTooManyRequests, "too_many_streams", "%d streams of this client are open already: close one", s.l.standing)
	default:
		return refused(nethttp.StatusTooManyRequests, "too_many_requests", "too many requests of this client are being answered: this one waited %s for its turn", s.l.line)
	}
	defer places.give(1)
	if r.URL.Path == eventsPath {
		return s.events(w, r)
	}
	if h := s.mounts.at(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return nil
	}
	return refused(nethttp.StatusNotFound, "not_found", "nothing is served at %s: there are %s", shown(r.URL.Path), s.paths())
}

// paths lists what is served.
func (s *Server) paths() string {
	list := []string{eventsPath, healthPath}
	for _, m := range s.mounts {
		list = append(list, m.path)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func health(w *answer, r *nethttp.Request) *refusal {
	if r.Method != nethttp.MethodGet && r.Method != nethttp.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refused(nethttp.StatusMethodNotAllowed, "method_not_allowed", "use GET for %s", healthPath)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"status":"ok"}`+"\n") // its error is of a client that has gone
	return nil
}

func (s *Server) unauthorized(w *answer, r *nethttp.Request) *refusal {
	challenge := `Bearer realm="toolhost"`
	if len(r.Header["Authorization"]) > 0 {
		challenge += `, error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	return refused(nethttp.StatusUnauthorized, "unauthorized",
		"send the token of this server, which it printed or read from a file when it started, as the header Authorization: Bearer TOKEN; never put it into a URL")
}

// ofAuthorization reports whether OAuth clients ask at a path for an authorization server, or at one of its usual endpoints. There is none, and
// the answer must be 404, with the token or without: after a 401 they would go on, and ask their person to log in. They put the words before,
// after or between the parts of the server's own path.
func (s *Server) ofAuthorization(path string) bool {
	for _, name := range []string{"oauth-protected-resource", "oauth-authorization-server", "openid-configuration"} {
		if _, after, found := strings.Cut(path, "/.well-known/"+name); found && (after == "" || after[0] == '/') {
			return true
		}
	}
	return (path == "/register" || path == "/authorize" || path == "/token") && s.mounts.at(path) == nil
}

// client names who asks, for the count of requests at once.
func client(r *nethttp.Request) string {
	name, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return name
}

// secret reports whether the path holds a secret that stands for the token. A path that handlers may read as another holds none.
func (s *Server) secret(asked string) bool {
	return s.o.Knows != nil && path.Clean(asked) == asked && s.o.Knows(asked)
}

// recovered answers for a handler that panicked. It does not log the panic value, which may hold parts of the request.
func (s *Server) recovered(w *answer) {
	v := recover()
	switch {
	case v == nil:
		return
	case v == any(nethttp.ErrAbortHandler):
		panic(v) // net/http ends the connection, quietly
	}
	s.log.say(fmt.Sprintf("a handler of HTTP requests panicked with a %T:\n%s", v, debug.Stack()))
	if w.begun {
		panic(nethttp.ErrAbortHandler)
	}
	w.refuse(refused(nethttp.StatusInternalServerError, "internal", "answering this request failed: that is a fault of toolhost, and its log says where"))
}

// prove marks the connection of a request. A request without one, as tests make them, passes.
func (s *Server) prove(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	return !ok || s.conns.prove(c)
}

// readBody reads the whole body, so that a handler never waits for a client, and puts it back. It says how many bytes are
// held until the request ends. From then on the connection has no deadline for reading, only the handler's own.
func (s *Server) readBody(w *answer, r *nethttp.Request, of terms) (held int64, bad *refusal) {
	limit := of.most
	if r.ContentLength > limit {
		return 0, tooLarge(limit)
	}
	control := nethttp.NewResponseController(w.ResponseWriter)
	if r.ContentLength != 0 {
		held = r.ContentLength
		if held < 0 { // it does not say
			held = limit
		}
		if !s.bodies.take(r.Context(), held) {
			return 0, refused(nethttp.StatusServiceUnavailable, "too_much_at_once", "too many large requests are being answered: try again")
		}
		_ = control.SetReadDeadline(time.Now().Add(of.within)) // fails if the client has left
		body, err := io.ReadAll(nethttp.MaxBytesReader(w.ResponseWriter, r.Body, limit))
		if err != nil {
			return held, s.badBody(err)
		}
		s.bodies.give(held - int64(len(body)))
		held = int64(len(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	// A failure is of a connection that has gone, or of a writer that has none.
	_ = control.SetReadDeadline(time.Time{})
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
