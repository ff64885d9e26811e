package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the messages that are kept for clients whose connection breaks.
const (
	maxReplay  = 8 << 20 // bytes of all streams, and one message more
	maxOver    = 1024    // that have ended
	replayTime = 5 * time.Minute
)

// headerLastEvent is how a client says after which event a stream is to go on.
const headerLastEvent = "Last-Event-Id"

// replays keep the messages of the streams of older clients, so that one whose connection broke gets the rest of a stream.
// They are the event store of the SDK.
type replays struct {
	mu   sync.Mutex
	all  map[backlogKey]*backlog
	size int
}

// backlogKey names a stream. The one of the messages that belong to no request has no name in its session.
type backlogKey struct{ session, stream string }

// backlog has the messages of a stream.
type backlog struct {
	first    int // the index of the oldest one that is kept
	messages [][]byte
	size     int
	used     time.Time
	by       *delivery // the request that gets them; nil: none does
	over     bool      // a request got all of them
}

// delivery is a request whose answer is a stream.
type delivery struct {
	cancel context.CancelFunc
	gone   chan struct{} // closed when it has ended
}

type deliveryKey struct{}

func newReplays() *replays { return &replays{all: map[backlogKey]*backlog{}} }

// begin notes that a request may get a stream, until end is called. It takes the stream that it wants to go on with from
// the request that has it: the client does not listen to that one any more, although its connection may look alive.
func (p *replays) begin(w http.ResponseWriter, r *http.Request) (_ http.ResponseWriter, _ *http.Request, end func()) {
	ctx, cancel := context.WithCancel(r.Context())
	s := &delivery{cancel, make(chan struct{})}
	r = r.WithContext(context.WithValue(ctx, deliveryKey{}, s))
	if r.Method == http.MethodGet {
		session := r.Header.Get(headerSession)
		if last := r.Header.Get(headerLastEvent); last != "" {
			stream, _, _ := strings.Cut(last, "_")
			p.takeOver(backlogKey{session, stream}, s)
		} else if i, ok := p.prime(session); ok {
			id := "_" + strconv.Itoa(i)
			r.Header.Set(headerLastEvent, id) // from now on
			if r.Header.Get(headerVersion) >= firstPrimed {
				w = &primer{ResponseWriter: w, event: "event: prime\nid: " + id + "\ndata: \n\n"}
			}
		}
	}
	return w, r, func() {
		p.end(s, ctx.Err() == nil)
		cancel()
	}
}

// takeOver gives a stream to s when its present request has ended.
func (p *replays) takeOver(k backlogKey, s *delivery) {
	p.mu.Lock()
	kept := p.all[k]
	var before *delivery
	if kept != nil {
		before, kept.by = kept.by, s
	}
	p.mu.Unlock()
	if before != nil {
		before.cancel()
		<-before.gone
	}
}

// end notes that a request has ended. whole says that nothing cut it off.
func (p *replays) end(s *delivery, whole bool) {
	close(s.gone)
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, kept := range p.all {
		if kept.by == s {
			kept.by = nil
			kept.over = whole && k.stream != ""
		}
	}
}

// prime returns the index of the newest message of the stream that belongs to no request. An empty one stands for none.
func (p *replays) prime(session string) (newest int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.all[backlogKey{session, ""}]
	if kept == nil {
		return 0, false
	}
	if kept.first+len(kept.messages) == 0 {
		kept.messages = append(kept.messages, nil)
	}
	return kept.first + len(kept.messages) - 1, true
}

// Open implements the SDK's EventStore.
func (p *replays) Open(ctx context.Context, session, stream string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := &backlog{used: time.Now()}
	if s, ok := ctx.Value(deliveryKey{}).(*delivery); ok && stream != "" {
		kept.by = s
	}
	p.all[backlogKey{session, stream}] = kept
	return nil
}

// Append implements the SDK's EventStore.
func (p *replays) Append(_ context.Context, session, stream string, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.all[backlogKey{session, stream}]
	if kept == nil {
		return errors.New("this stream is not kept any more")
	}
	p.shrinkLocked()
	kept.messages = append(kept.messages, message)
	kept.size += len(message)
	kept.used = time.Now()
	p.size += len(message)
	return nil
}

// After implements the SDK's EventStore.
func (p *replays) After(_ context.Context, session, stream string, last int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		found, err := p.after(backlogKey{session, stream}, last)
		if err != nil {
			yield(nil, err)
		}
		for _, message := range found {
			if !yield(message, nil) {
				return
			}
		}
	}
}

func (p *replays) after(k backlogKey, last int) ([][]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.all[k]
	switch {
	case kept == nil || last+1 < kept.first:
		return nil, errors.New("the messages after that event are not kept any more")
	case last >= kept.first+len(kept.messages):
		return nil, fmt.Errorf("event %d was not sent", last)
	}
	return slices.Clone(kept.messages[last+1-kept.first:]), nil
}

// SessionClosed implements the SDK's EventStore.
func (p *replays) SessionClosed(_ context.Context, session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.all {
		if k.session == session {
			p.dropLocked(k)
		}
	}
	return nil
}

func (p *replays) dropLocked(k backlogKey) {
	p.size -= p.all[k].size
	delete(p.all, k)
}

// shrinkLocked makes room for one message. Streams that a client got whole go first, the oldest of them before the others.
func (p *replays) shrinkLocked() {
	for len(p.all) > 0 {
		ended := 0
		var oldest backlogKey
		var found *backlog
		for k, kept := range p.all {
			if kept.over {
				ended++
			}
			if found == nil || kept.goesBefore(found) {
				oldest, found = k, kept
			}
		}
		switch {
		case ended > maxOver || found.over && (p.size > maxReplay || time.Since(found.used) > replayTime):
			p.dropLocked(oldest)
		case p.size <= maxReplay:
			return
		default:
			p.forgetLocked(found)
		}
	}
}

// goesBefore says which of two streams is given up first.
func (s *backlog) goesBefore(other *backlog) bool {
	switch {
	case s.over != other.over:
		return s.over
	case (s.size == 0) != (other.size == 0):
		return other.size == 0
	case (s.by == nil) != (other.by == nil):
		return s.by == nil
	}
	return s.used.Before(other.used)
}

// forgetLocked drops the messages of a stream that goes on.
func (p *replays) forgetLocked(kept *backlog) {
	p.size -= kept.size
	kept.first += len(kept.messages)
	kept.messages, kept.size = nil, 0
}

// firstPrimed is the first revision whose streams begin with an event that has an id and no data.
const firstPrimed = "2025-11-25"

// primer writes an event behind the first bytes of a stream.
type primer struct {
	http.ResponseWriter
	event string
}

// Unwrap is for [http.ResponseController].
func (p *primer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Write implements [http.ResponseWriter].
func (p *primer) Write(b []byte) (int, error) {
	n, err := p.ResponseWriter.Write(b)
	if err == nil && p.event != "" && p.Header().Get("Content-Type") == "text/event-stream" {
		_, err = p.ResponseWriter.Write([]byte(p.event))
		p.event = ""
	}
	return n, err
}
