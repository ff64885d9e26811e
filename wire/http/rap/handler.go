package rap

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"toolhost/agenttool/json"
)

// bodyTime is how long the body of a request may take to arrive.
const bodyTime = 30 * time.Second

// Paths are the paths that the handler serves, below the base. It serves paths below [SecretPath] too.
func Paths() []string {
	return []string{toolsetPath, invokePath, SecretPath, cancelPath, closePath, statusPath}
}

// Handler serves the protocol below the base.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+toolsetPath, s.serveToolset)
	mux.HandleFunc("POST "+invokePath, s.serveInvoke)
	mux.HandleFunc("POST "+SecretPath+"/{id}", s.serveChoice)
	mux.HandleFunc("POST "+cancelPath, s.serveCancel)
	mux.HandleFunc("POST "+closePath, s.serveClose)
	mux.HandleFunc("POST "+statusPath, s.serveStatus)
	if s.base.Path == "" {
		return mux
	}
	stripped := http.StripPrefix(s.base.Path, mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, s.base.Path+"/") {
			stripped.ServeHTTP(w, r)
		} else {
			mux.ServeHTTP(w, r)
		}
	})
}

// baseOf is the URL below which a request reached us.
func (s *Server) baseOf(r *http.Request) string {
	u := *s.base
	if u.Host == "" {
		u.Scheme, u.Host = "http", r.Host
		if r.TLS != nil {
			u.Scheme = "https"
		}
	}
	return u.String()
}

// write answers with the refusal. A temporary refusal says when to try again.
func write(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if e, ok := errors.AsType[*refusal](err); ok {
		status = e.status
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	http.Error(w, err.Error(), status)
}

// body reads a request's body, a JSON object of at most so many bytes. release gives its room back.
func (s *Server) body(w http.ResponseWriter, r *http.Request, most int64) (body []byte, release func(), err error) {
	if kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" ||
		params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "send application/json in UTF-8")
	}
	size := r.ContentLength
	if size > most {
		return nil, nil, refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", most)
	}
	if size < 0 {
		size = most
	}
	if !s.room.reserve(size) {
		return nil, nil, refuse(http.StatusServiceUnavailable, "too much is being read, or toolhost is shutting down: send this again")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // not every server has one
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		s.room.release(size)
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return nil, nil, refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes", most)
		}
		return nil, nil, refuse(http.StatusBadRequest, "the body ended early")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	s.room.release(size - int64(len(body)))
	return body, func() { s.room.release(int64(len(body))) }, nil
}

// serveInvoke takes a call: it is acknowledged, and then begun (RAP-02, RAP-09, RAP-10). A call that is not run since too many are is told so
// by its result, as any other error. Only a call whose result could not be kept is not accepted.
func (s *Server) serveInvoke(w http.ResponseWriter, r *http.Request) {
	tooMany := !s.invoke.take(time.Now())
	body, release, err := s.body(w, r, maxBody)
	if err != nil {
		write(w, err)
		return
	}
	in, fault, err := decode(body)
	if err == nil {
		err = s.o.reachable(in.Callback)
	}
	if err != nil {
		release()
		write(w, err)
		return
	}
	c := &call{address: in.address, server: s, base: s.baseOf(r), over: make(chan struct{}), release: release}
	fresh, busy, err := s.register(c, sha256.Sum256(body))
	if tooMany {
		busy = fmt.Sprintf("more than %.0f calls a second came", s.invoke.rate)
	}
	if err != nil || !fresh {
		release()
	}
	if err != nil {
		write(w, err)
		return
	}
	acknowledge(w)
	switch {
	case !fresh:
	case busy != "":
		c.fail("toolhost is busy, and did not run the call: " + busy + ". Wait for results, and call again")
	default:
		c.begin(in, fault)
	}
}

// acknowledge answers 200 with nothing, now.
func acknowledge(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // a writer that cannot flush sends it when the handler returns
}

// target is a notification about a thread, or a call of it.
type target struct {
	Thread string
	Call   string
}

// notification reads the body of one of the small requests.
func (s *Server) notification(w http.ResponseWriter, r *http.Request) (n target, ok bool) {
	if !s.notify.take(time.Now()) {
		write(w, refuse(http.StatusTooManyRequests, "too many requests: send this again"))
		return n, false
	}
	body, release, err := s.body(w, r, maxSmallBody)
	if err != nil {
		write(w, err)
		return n, false
	}
	defer release()
	members, err := object(body)
	if err == nil {
		n.Thread, err = text(members, "thread_id", maxID)
	}
	if err == nil && members["tool_call_id"] != nil {
		n.Call, err = text(members, "tool_call_id", maxID)
	}
	if err != nil {
		return target{}, true // ids that no call can have are unknown ones
	}
	return n, true
}

// serveCancel ends a call (RAP-21). Unknown ids are no error.
func (s *Server) serveCancel(w http.ResponseWriter, r *http.Request) {
	n, ok := s.notification(w, r)
	if !ok {
		return
	}
	acknowledge(w)
	s.mu.Lock()
	c := s.calls[keyOf(n.Thread, n.Call)]
	s.mu.Unlock()
	if c != nil {
		c.abandon("the runtime canceled the call", true)
	}
}

// serveClose ends all calls of a thread (RAP-22).
func (s *Server) serveClose(w http.ResponseWriter, r *http.Request) {
	n, ok := s.notification(w, r)
	if !ok {
		return
	}
	acknowledge(w)
	var live []*call
	s.mu.Lock()
	for _, c := range s.calls {
		if c.Group == n.Thread {
			live = append(live, c)
		}
	}
	s.mu.Unlock()
	for _, c := range live {
		c.abandon("the runtime closed the thread", true)
	}
}

// serveStatus says whether a callback is owed for a call, and nothing else.
func (s *Server) serveStatus(w http.ResponseWriter, r *http.Request) {
	n, ok := s.notification(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	c := s.calls[keyOf(n.Thread, n.Call)]
	alive := c != nil && !c.muted
	s.mu.Unlock()
	reply(w, map[string]bool{"alive": alive})
}

// reply answers with an object.
func reply(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "this cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(body, '\n'))
}

// serveChoice takes the answer to a question (RAP-17). A runtime may correct an invalid answer a few times; then the call is denied,
// so that no question stays open.
func (s *Server) serveChoice(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	q := s.questions.of(id)
	if q == nil { // before the body is read, so that guesses of paths cost little
		write(w, s.questions.refusal(id))
		return
	}
	body, release, err := s.body(w, r, maxSmallBody)
	if err != nil {
		write(w, err)
		return
	}
	defer release()
	n, wrong := q.selected(body)
	o, unseen, settles, err := s.questions.settle(id, n, wrong)
	if err != nil {
		write(w, err)
	} else {
		acknowledge(w)
	}
	if settles {
		s.questions.decide(q, o, unseen)
	}
}

// Knows reports whether the path of a request, without the base, is that of a question: it holds a secret that replaces the
// token. Knows is safe for requests without a token.
func (s *Server) Knows(path string) bool {
	id, ok := strings.CutPrefix(path, SecretPath+"/")
	return ok && (s.questions.of(id) != nil || s.questions.ended(id))
}

// serveToolset answers discovery.
func (s *Server) serveToolset(w http.ResponseWriter, r *http.Request) {
	if !s.notify.take(time.Now()) {
		write(w, refuse(http.StatusTooManyRequests, "too many requests: send this again"))
		return
	}
	tools := declare(s.o.Host.Surface().Listed())
	if len(tools) == 0 {
		write(w, refuse(http.StatusServiceUnavailable, "there is no tool that can be called"))
		return
	}
	reply(w, toolset{Name: "toolhost", Description: about, Endpoint: s.baseOf(r) + invokePath, Tools: tools})
}
