package http

import (
	"context"
	"io"
	"net"
	nethttp "net/http"
	"slices"
	"strings"
	"time"
)

const (
	healthPath = "/healthz"
	eventsPath = "/events"
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
	if bad := s.stranger(r); bad != nil {
		return bad
	}
	if s.crossOrigin(w, r) {
		return nil
	}
	if r.URL.Path == healthPath {
		return health(w, r)
	}
	from, limit := client(r), s.o.MaxBody
	switch {
	case s.authorized(r):
		if !s.prove(r.Context()) {
			return refused(nethttp.StatusServiceUnavailable, "too_many_connections", "%d connections are open: close some, or try again", s.l.conns)
		}
	case s.secret(r.URL.Path):
		limit = maxAnswer
		_ = nethttp.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Now().Add(s.l.unknown)) // fails if the client has left
	default:
		return s.unauthorized(w, r)
	}
	r.Header.Del("Authorization")
	w.Header().Set("Server", "toolhost/"+s.o.Version)
	if !s.busy.enter(from) {
		return refused(nethttp.StatusTooManyRequests, "too_many_requests", "too many requests of this client are being answered: wait for one")
	}
	defer s.busy.leave(from)
	if r.Method == nethttp.MethodGet {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(streams, cancel)()
		r = r.WithContext(ctx)
	}
	return s.admitted(w, r, limit)
}

// maxAnswer is the size in bytes of the longest body that comes without the token.
const maxAnswer = 64 << 10

// admitted serves a request that passed all checks, with its body of at most limit bytes.
func (s *Server) admitted(w *answer, r *nethttp.Request, limit int64) *refusal {
	held, bad := s.readBody(w, r, limit)
	defer s.busy.hold(-held)
	if bad != nil {
		return bad
	}
	if r.URL.Path == eventsPath {
		return s.events(w, r)
	}
	if h := s.mounted(r.URL.Path); h != nil {
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

// client names who asks, for the count of requests at once.
func client(r *nethttp.Request) string {
	name, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return name
}
