package page

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/host/prompt"
)

// Path is where the page is served. Its requests lie below.
const Path = "/approve"

// Host is the host of the session.
type Host interface {
	Prompts() []prompt.Prompt
	Decide(prompt.Answer) (agenttool.Decision, error)
	Attend() (detach func())
}

// Options configure a page.
type Options struct {
	Host    Host
	Session func() approve.Session
	Closed  func() string    // why no browser may answer now; empty: they may
	User    string           // whose page it is
	Now     func() time.Time // nil: time.Now
}

// Page serves the prompts of a session to browsers. It is safe for concurrent use.
type Page struct {
	o Options
	pairing

	mu     sync.Mutex
	sheets map[string]sheet // of the open prompts, by decision id
}

// New returns a page that no browser is paired with.
func New(o Options) *Page {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Page{o: o}
}

// Pair opens a pairing and returns its code. An earlier code counts no more.
func (p *Page) Pair() (code string, life time.Duration, err error) {
	if why := p.o.Closed(); why != "" {
		return "", 0, errors.New(why)
	}
	return p.begin(p.o.Now()), codeLife, nil
}

// Forget ends all pairings, and returns how many there were.
func (p *Page) Forget() int { return p.forget(nil) }

//go:embed page.html
var file string

// policy is the Content-Security-Policy of the page: its own script and style, by their digests, and requests to its own server.
var policy = strings.Join([]string{
	"default-src 'none'", "script-src " + digest("script"), "style-src " + digest("style"), "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
	"frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
}, "; ")

func digest(tag string) string {
	_, text, _ := strings.Cut(file, "<"+tag+">")
	text, _, _ = strings.Cut(text, "</"+tag+">")
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// requests are the requests of the page, by path. All but the first need a token.
var requests = map[string]func(p *Page, b *browser, r *http.Request) (any, error){
	Path + "/pair":    func(p *Page, _ *browser, r *http.Request) (any, error) { return p.pairs(r) },
	Path + "/prompts": (*Page).prompts,
	Path + "/answer":  (*Page).answer,
	Path + "/forget":  func(p *Page, b *browser, _ *http.Request) (any, error) { return p.pairing.forget(b), nil },
}

// Serves reports whether a path is one of the page. It checks its callers itself.
func Serves(path string) bool { return path == Path || requests[path] != nil }

// problem is an error for the browser.
type problem struct {
	status int
	text   string
}

func (e *problem) Error() string { return e.text }

// ServeHTTP serves the page and its requests.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	protect(h)
	if r.URL.Path == Path && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(file)) // its error is of a browser that has gone
		return
	}
	result, err := p.serve(r)
	status := http.StatusOK
	if err != nil {
		status = http.StatusConflict
		if bad, ok := errors.AsType[*problem](err); ok {
			status = bad.status
		}
		result = map[string]string{"error": err.Error()}
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, _ := json.Marshal(result) // texts and lists of texts
	_, _ = w.Write(append(text, '\n'))
}

// protect sets the headers that keep others out of the page.
func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	for name := range h { // other origins that may call the server do not read this
		if strings.HasPrefix(name, "Access-Control-") {
			h.Del(name)
		}
	}
}

// tokenHeader carries the token. Other origins cannot send it unasked.
const tokenHeader = "X-Toolhost-Page"

func (p *Page) serve(r *http.Request) (any, error) {
	do := requests[r.URL.Path]
	given := r.Header["Origin"]
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	switch {
	case do == nil:
		return nil, &problem{http.StatusNotFound, "there is no such request"}
	case r.Method != http.MethodPost:
		return nil, &problem{http.StatusMethodNotAllowed, "use POST"}
	case len(given) != 1 || !strings.EqualFold(given[0], scheme+r.Host):
		return nil, &problem{http.StatusForbidden, "only the page itself may ask this"}
	case r.Header.Get("Content-Type") != "application/json":
		return nil, &problem{http.StatusUnsupportedMediaType, "send application/json"}
	case r.URL.Path == Path+"/pair":
		return do(p, nil, r)
	}
	b := p.find(r.Header.Get(tokenHeader))
	if b == nil {
		return nil, &problem{http.StatusUnauthorized, "this browser is not paired: run toolhost approve --pair in a terminal"}
	}
	return do(p, b, r)
}

func (p *Page) pairs(r *http.Request) (any, error) {
	var in struct {
		Code string `json:"code"`
	}
	if err := json.Read(r.Body, &in); err != nil {
		return nil, &problem{http.StatusBadRequest, "the request is not JSON"}
	}
	if why := p.o.Closed(); why != "" {
		return nil, &problem{http.StatusForbidden, why}
	}
	token, err := p.pair(in.Code, p.o.Now())
	if err != nil {
		return nil, &problem{http.StatusForbidden, err.Error()}
	}
	return map[string]string{"token": token}, nil
}

// prompts lists the prompts that wait, and those that the browser named and that have ended.
func (p *Page) prompts(b *browser, r *http.Request) (any, error) {
	var in struct {
		Have []string `json:"have"` // versions
	}
	if err := json.Read(r.Body, &in); err != nil {
		return nil, &problem{http.StatusBadRequest, "the request is not JSON"}
	}
	b.attend(p.o.Host.Attend)
	all, waiting := p.current()
	b.has(all, in.Have, p.o.Now())
	s := p.o.Session()
	return map[string]any{
		"session": visible.Text(s.Short()), "workspace": visible.Text(s.Workspace), "mode": visible.Text(s.Mode), "closed": p.o.Closed(),
		"waiting": waiting, "prompts": append([]sheet{}, all...),
	}, nil
}

// has notes the prompts that the browser gets. Lines that it has are left out.
func (b *browser) has(all []sheet, have []string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	stay := map[string]served{}
	for i, sh := range all {
		had := b.served[sh.ID]
		if had.version != sh.Version {
			had = served{sh.Version, now}
		} else if slices.Contains(have, sh.Version) {
			all[i].Lines = nil
		}
		stay[sh.ID] = had
	}
	b.served = stay
}

// answer takes an answer, if it counts.
func (p *Page) answer(b *browser, r *http.Request) (any, error) {
	var in reply
	if err := json.Read(r.Body, &in); err != nil {
		return nil, &problem{http.StatusBadRequest, "the request is not JSON"}
	}
	if why := cmp.Or(p.o.Closed(), p.refuses(b, in)); why != "" {
		return nil, errors.New(why)
	}
	_, err := p.o.Host.Decide(prompt.Answer{
		DecisionID: agenttool.DecisionID(in.ID), Behavior: in.Behavior, Scope: in.Scope, Feedback: strings.TrimSpace(in.Reason), Alone: true,
		Channel: prompt.Channel{Name: "the page of toolhost approve", Scopes: scopes, By: agenttool.Answerer{
			User: p.o.User, Client: fmt.Sprintf("a paired browser (%s)", visible.Text(cut.Characters(r.UserAgent(), 80))),
		}},
	})
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), prompt.ErrRefused.Error()+": "))
	}
	return struct{}{}, nil
}
