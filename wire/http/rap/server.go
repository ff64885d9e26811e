package rap

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Server serves runtimes, all from one host. Its methods may be used from several goroutines.
type Server struct {
	o         Options
	base      *url.URL // with no host: requests tell it
	store     *store   // nil: in memory only
	outbox    outbox
	questions questions
	run       run
	admission
	ledger
}

// admission bounds what runtimes send.
type admission struct {
	room   room   // of bodies and inputs
	invoke bucket // how often /invoke is taken
	notify bucket // how often the other requests are
}

// ledger has the calls of all runtimes.
type ledger struct {
	mu      sync.Mutex
	closing bool
	calls   map[key]*call   // that a callback is owed for
	seen    ring            // and those before them
	known   map[string]bool // names of tools
	count   int64           // of requests to the host, for their ids
}

// run is the life of a server and of its goroutines: deliveries, and jobs that are followed.
type run struct {
	ctx context.Context // ends when nothing is delivered any more
	end context.CancelFunc
	sync.WaitGroup
}

// sleep waits, and reports whether the server still runs then.
func (r *run) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.ctx.Done():
		return false
	}
}

// pace says how long deliveries take at most. Tests shorten it.
type pace struct {
	attempt time.Duration // for one request
	first   time.Duration // until it is tried again
	most    time.Duration // between two attempts
	total   time.Duration // from when a message came about
	closing time.Duration // for the messages left when the server closes
}

func usualPace() pace {
	return pace{
		attempt: 10 * time.Second, first: 250 * time.Millisecond, most: 30 * time.Second, total: 10 * time.Minute, closing: 3 * time.Second,
	}
}

// New returns a server, and sends the callbacks that an earlier server with the same directory did not deliver. It fails if
// the base or the directory is invalid.
func New(o Options) (*Server, error) { return newServer(o, usualPace()) }

func newServer(o Options, p pace) (*Server, error) {
	if o.Host == nil {
		return nil, errors.New("rap: no host")
	}
	o.ProgressEvery = cmp.Or(o.ProgressEvery, time.Minute)
	s := &Server{
		o: o, ledger: ledger{calls: map[key]*call{}, known: map[string]bool{}},
		admission: admission{invoke: bucket{rate: 200, most: 400}, notify: bucket{rate: 1000, most: 2000}},
	}
	base, err := url.Parse(strings.TrimRight(o.Base, "/"))
	if err != nil || !directory(base) {
		return nil, fmt.Errorf("rap: base %q is neither the path nor the URL of a directory: http or https, a host, a path", o.Base)
	}
	s.base = base
	s.run.ctx, s.run.end = context.WithCancel(context.Background())
	s.outbox = outbox{o: &s.o, run: &s.run, pace: p, client: newClient(), lines: map[lineKey]*line{}, places: map[string]waiting{}}
	s.questions = questions{host: o.Host, o: &s.o, outbox: &s.outbox, open: map[string]*choice{}}
	if err := s.open(); err != nil {
		s.run.end()
		return nil, err
	}
	return s, nil
}

// directory reports whether u is a base URL for the paths of endpoints, or the path of one.
func directory(u *url.URL) bool {
	if u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || u.Path != "" && u.Path[0] != '/' {
		return false
	}
	return u.Scheme == "" && u.Host == "" || u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// Close ends the server: it refuses new calls, cancels running ones, and stops following jobs. It sends the remaining
// callbacks for a few seconds, and leaves the rest in the directory, if there is one, for the next server.
func (s *Server) Close() {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	var live []*call
	for _, c := range s.calls {
		live = append(live, c)
	}
	s.mu.Unlock()
	s.room.close()
	if again {
		s.run.Wait()
		return
	}
	for _, c := range live {
		c.abandon("toolhost is shutting down", false)
	}
	s.settle()
	s.run.end()
	s.outbox.shut()
	s.run.Wait()
	s.outbox.client.CloseIdleConnections()
	s.store.close()
}

// settle waits until nothing is owed any more, or for as long as closing may take.
func (s *Server) settle() {
	limit := time.Now().Add(s.outbox.pace.closing)
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

// register makes a call known. A call that is sent again is not fresh: it gets one callback in all. An id that was used
// for another call is refused (RAP-24, RAP-30). A fresh call is not to be run if busy says why: that is its result then.
func (s *Server) register(c *call, digest [sha256.Size]byte) (fresh bool, busy string, err error) {
	k := c.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	if again, same, earlier := s.seen.find(k, digest); again {
		if same || earlier && s.calls[k] != nil {
			return false, "", nil
		}
		return false, "", refuse(http.StatusConflict, "this id was used in this group for another call: give each call its own")
	}
	if s.closing {
		return false, "", refuse(http.StatusServiceUnavailable, "toolhost is shutting down")
	}
	if waits := s.outbox.full(c.Callback); waits != "" {
		return false, "", refuse(http.StatusServiceUnavailable, "%s: send this again when some are", waits)
	}
	busy = s.openLocked(c.address)
	switch err := s.store.put(c, ""); {
	case errors.Is(err, errStalled):
		s.o.log("a call is kept in memory alone, and a crash would lose it: %v", err)
	case err != nil:
		s.o.log("a call was refused: it could not be kept: %v", err)
		return false, "", refuse(http.StatusServiceUnavailable, "the call could not be kept: send this again")
	}
	s.seen.add(k, digest)
	s.calls[k] = c
	return true, busy, nil
}

// openLocked says which calls run if no further one is run beside them; "" if one is.
func (s *ledger) openLocked(a address) string {
	place := placeOf(a.Callback)
	all, mine, there := 0, 0, 0
	for _, c := range s.calls {
		if c.answered {
			continue
		}
		all++
		if c.Group == a.Group {
			mine++
		}
		if placeOf(c.Callback) == place {
			there++
		}
	}
	if all >= maxCalls || mine >= maxPerGroup || there >= maxPerHost {
		return fmt.Sprintf("%d calls have not ended, %d of them of this group, %d of this callback's host", all, mine, there)
	}
	return ""
}

func (s *ledger) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return fmt.Sprintf("rap-%d", s.count)
}

// open takes up what a server before this one left: its calls and jobs ended with it, and that is owed to their runtimes
// (RAP-11, RAP-16, RAP-26).
func (s *Server) open() (err error) {
	if s.o.Dir == "" {
		return nil
	}
	if s.o.Sealer == nil {
		return errors.New("rap: Dir needs a Sealer")
	}
	if s.store, err = newStore(s.o.Dir, s.o.Sealer); err != nil {
		return fmt.Errorf("rap: keep calls: %w", err)
	}
	left, err := s.store.all()
	if err != nil {
		s.store.close()
		return fmt.Errorf("rap: read the calls that were kept: %w", err)
	}
	for _, k := range left {
		c := &call{address: k.address(), server: s, over: make(chan struct{}), release: func() {}}
		s.mu.Lock()
		s.calls[c.key()] = c
		s.seen.add(c.key(), unknownDigest) // it may have run: it does not run again
		s.mu.Unlock()
		if k.Job != "" {
			c.finish(fmt.Sprintf("[job %s ended: toolhost was started again]", k.Job))
			continue
		}
		c.fail("toolhost was started again before this call had ended. It may have done a part of its work, or all: look before you call it again")
	}
	return nil
}
