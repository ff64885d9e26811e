package rap

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolhost/host"
)

// Options says what is served.
type Options struct {
	Host *host.Host // required

	// Base is the URL below which the handler is reached, such as http://127.0.0.1:8080/rap, or its path alone: /rap. Requests
	// tell the rest then, by their Host header, which whoever mounts the handler has checked. The path is taken off requests
	// that have it.
	Base string

	// AllowCallback reports why a callback must not be sent to a host that is not this machine. It is asked before each
	// sending, for https only. Nil: callbacks go over loopback only.
	AllowCallback func(u *url.URL) error

	// Dir is where calls are kept that a callback is owed for, in files of mode 0600 of this session alone: callbacks
	// are sent for them also after a crash. Empty: in memory only.
	Dir string

	ProgressEvery time.Duration // between the events of a job that goes on; 0: a minute, negative: only its end is told
	Log           func(string)  // told of callbacks that were given up, in one line without control characters; nil: nobody
}

// Server serves runtimes, all from one host. Its methods may be used from several goroutines.
type Server struct {
	o      Options
	base   *url.URL // with no host: requests tell it
	pace   pace
	client *http.Client
	store  *store // nil: in memory only
	outbox outbox
	invoke bucket // how often /invoke is taken
	notify bucket // how often the other requests are

	life    context.Context // ends when nothing is delivered any more
	end     context.CancelFunc
	workers sync.WaitGroup // deliveries, and jobs that are followed

	mu      sync.Mutex
	closing bool
	calls   map[key]*call // that a callback is owed for
	seen    ring          // and those before them
	choices map[string]*choice
	known   map[string]bool // names of tools
	reading int64           // bytes of bodies and inputs that are held
	count   int64           // of requests to the host, for their ids
}

// pace says how long deliveries take at most. Tests shorten it.
type pace struct {
	attempt time.Duration // for one request
	first   time.Duration // until it is tried again
	most    time.Duration // between two attempts
	total   time.Duration // from when a message came about
	closing time.Duration // for what is left when the server closes
}

func usualPace() pace {
	return pace{
		attempt: 10 * time.Second, first: 250 * time.Millisecond, most: 30 * time.Second, total: 10 * time.Minute, closing: 3 * time.Second,
	}
}

// New returns a server, and sends what is owed for calls that a server before it did not answer. The error says what is
// wrong with the base or the directory.
func New(o Options) (*Server, error) { return newServer(o, usualPace()) }

func newServer(o Options, p pace) (*Server, error) {
	if o.Host == nil {
		return nil, errors.New("rap: no host")
	}
	if o.ProgressEvery == 0 {
		o.ProgressEvery = time.Minute
	}
	s := &Server{
		o: o, pace: p, client: newClient(), calls: map[key]*call{}, choices: map[string]*choice{}, known: map[string]bool{},
		invoke: bucket{rate: 200, most: 400}, notify: bucket{rate: 1000, most: 2000},
	}
	base, err := url.Parse(strings.TrimRight(o.Base, "/"))
	if err != nil || !directory(base) {
		return nil, fmt.Errorf("rap: base %q is neither the path nor the URL of a directory: http or https, a host, a path", o.Base)
	}
	s.base = base
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// directory reports whether u is a URL to which the path of an endpoint can be added, or the path of one.
func directory(u *url.URL) bool {
	if u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || u.Path != "" && u.Path[0] != '/' {
		return false
	}
	return u.Scheme == "" && u.Host == "" || u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// Close ends the server: no call is taken any more, those that run are canceled, and jobs are followed no longer. What
// is owed is sent within a few seconds, and is kept for the next server after that if there is a directory for it.
func (s *Server) Close() {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	var live []*call
	for _, c := range s.calls {
		live = append(live, c)
	}
	s.mu.Unlock()
	if again {
		s.workers.Wait()
		return
	}
	for _, c := range live {
		s.abandon(c, "toolhost is shutting down", false)
	}
	s.settle()
	s.end()
	s.outbox.shut()
	s.workers.Wait()
	s.client.CloseIdleConnections()
	s.store.close()
}

// settle waits until nothing is owed any more, or for as long as closing may take.
func (s *Server) settle() {
	limit := time.Now().Add(s.pace.closing)
	for time.Now().Before(limit) {
		s.mu.Lock()
		owed := len(s.calls)
		s.mu.Unlock()
		if owed == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// log tells of something in one line.
func (s *Server) log(format string, args ...any) {
	if s.o.Log != nil {
		s.o.Log(fmt.Sprintf(format, args...))
	}
}
