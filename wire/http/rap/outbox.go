package rap

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// message is one POST to a callback URL.
type message struct {
	to     address
	body   []byte
	came   time.Time
	stale  func() bool   // reports whether it is not to be sent any more; nil: it always is
	done   func(outcome) // called when it was delivered or given up, not if the server ends before; may be nil
	called string        // its description in the log
}

// outbox sends messages, in a line for each group and callback address: the next is sent when the one before it was taken or given up.
// A callback that does not answer delays no other.
type outbox struct {
	o      *Options
	run    *run
	pace   pace
	client *http.Client

	mu     sync.Mutex
	shutup bool // nothing is taken any more
	all    waiting
	places map[string]waiting // of all, by the place that they go to
	lines  map[lineKey]*line
}

// waiting counts messages that wait to be delivered.
type waiting struct {
	messages int
	bytes    int64
}

func (w waiting) plus(messages int, bytes int64) waiting {
	return waiting{w.messages + messages, w.bytes + bytes}
}

// exceeds reports whether a bound is reached, so many times.
func (w waiting) exceeds(bound waiting, times int) bool {
	return w.messages >= times*bound.messages || w.bytes >= int64(times)*bound.bytes
}

// lineKey identifies a line.
type lineKey struct{ group, callback string }

// line are the messages of one group to one callback address. Its own goroutine sends them, while there are any.
type line struct {
	waiting []message
	failed  bool   // the last one was given up since the runtime could not be reached
	why     string // the last attempt failed; "" for none
}

// post sends m to the runtime of the call, after all earlier messages of its group.
func (b *outbox) post(c *call, m any, done func(outcome)) { b.postIf(c, m, nil, done) }

// postIf is post, unless stale says so at the moment of sending.
func (b *outbox) postIf(c *call, m any, stale func() bool, done func(outcome)) {
	body, err := agenttool.Encode(m)
	if err != nil { // every type of message can be encoded
		b.o.log("a message could not be encoded: %v", err)
		return
	}
	out := message{to: c.address, body: body, came: time.Now(), stale: stale, done: done, called: kind(m)}
	if _, ok := m.(eventMessage); ok {
		out.stale = func() bool { return c.unwanted() }
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shutup {
		return
	}
	b.countLocked(c.Callback, 1, int64(len(body)))
	at := lineKey{c.Group, c.Callback}
	l := b.lines[at]
	if l != nil {
		l.waiting = append(l.waiting, out)
		return
	}
	l = &line{waiting: []message{out}}
	b.lines[at] = l
	b.run.Go(func() { b.drain(at, l) })
}

// kind names a message in the log.
func kind(m any) string {
	switch m.(type) {
	case resultMessage:
		return "result"
	case choiceMessage:
		return "question"
	case eventMessage:
		return "event"
	}
	return "view"
}

// full says what waits if so much does that the result of a further call with that callback could not be kept; "" if it could.
func (b *outbox) full(callback string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := placeOf(callback)
	there := b.places[place]
	times := 1
	if there.messages == 0 {
		times = 2
	}
	switch {
	case there.exceeds(maxForPlace, 1):
		since, why := b.oldestLocked(place)
		text := fmt.Sprintf("%d results and other messages (%d bytes) wait to be taken at the host of this callback, the first of them for %s",
			there.messages, there.bytes, time.Since(since).Round(time.Second))
		if why != "" {
			text += ": " + why
		}
		return text
	case b.all.exceeds(maxForAll, times):
		return fmt.Sprintf("%d results and other messages (%d bytes) wait to be taken at %d hosts of callbacks", b.all.messages, b.all.bytes, len(b.places))
	}
	return ""
}

// oldestLocked returns since when messages wait for a place, and why the last attempt there failed.
func (b *outbox) oldestLocked(place string) (since time.Time, why string) {
	since = time.Now()
	for at, l := range b.lines {
		if placeOf(at.callback) != place || len(l.waiting) == 0 {
			continue
		}
		if l.waiting[0].came.Before(since) {
			since = l.waiting[0].came
		}
		if l.why != "" {
			why = l.why
		}
	}
	return since, why
}

// countLocked counts messages more for the place of a callback.
func (b *outbox) countLocked(callback string, messages int, bytes int64) {
	place := placeOf(callback)
	b.all = b.all.plus(messages, bytes)
	if there := b.places[place].plus(messages, bytes); there.messages > 0 {
		b.places[place] = there
	} else {
		delete(b.places, place)
	}
}

// waiting is how many messages of a group wait.
func (b *outbox) waiting(group string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, l := range b.lines {
		if at.group == group {
			n += len(l.waiting)
		}
	}
	return n
}

// shut takes no more messages.
func (b *outbox) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shutup = true
}

// first is the message that is next in line. Without one, the line ends.
func (b *outbox) first(at lineKey, l *line) (message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(l.waiting) == 0 {
		delete(b.lines, at)
		return message{}, false
	}
	return l.waiting[0], true
}

func (b *outbox) pop(l *line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.countLocked(l.waiting[0].to.Callback, -1, -int64(len(l.waiting[0].body)))
	l.waiting[0] = message{}
	l.waiting = l.waiting[1:]
}

// drain sends the messages of a line, one after the other.
func (b *outbox) drain(at lineKey, l *line) {
	for {
		m, there := b.first(at, l)
		if !there {
			return
		}
		outcome := b.deliver(m, l)
		if outcome == interrupted {
			return
		}
		l.failed = outcome == unreachable
		b.pop(l)
		if m.done != nil {
			m.done(outcome)
		}
	}
}

// deliver sends a message of a line until it is accepted, refused, or its time is over (RAP-20). It does not try a message whose
// time ended while the message before it could not be delivered.
func (b *outbox) deliver(m message, of *line) outcome {
	limit := m.came.Add(b.pace.total)
	for wait := b.pace.first; ; wait = min(2*wait, b.pace.most) {
		if m.stale != nil && m.stale() {
			return refused
		}
		if of.failed && time.Now().After(limit) {
			return unreachable
		}
		why, again := b.attempt(m)
		b.mu.Lock()
		of.why = why
		b.mu.Unlock()
		switch {
		case why == "":
			return taken
		case b.run.ctx.Err() != nil:
			return interrupted
		case !again:
			b.o.log("the %s of call %s could not be delivered: %s", m.called, visible.Text(m.to.ID), why)
			return refused
		}
		pause := wait/2 + rand.N(wait/2+1)
		if time.Now().Add(pause).After(limit) {
			b.o.log("the %s of call %s could not be delivered: %s, and that for %s", m.called, visible.Text(m.to.ID), why, b.pace.total)
			return unreachable
		}
		if !b.run.sleep(pause) {
			return interrupted
		}
	}
}

// eventMessage is one event of a job that went on after its call (RAP-16). It belongs to the thread of the call, and its
// end is the last one.
type eventMessage struct {
	Type        string `json:"type"` // subscription_event
	Group       string `json:"group_id"`
	Call        string `json:"tool_call_id"`
	Text        string `json:"text"`
	Associative bool   `json:"associative"`
	Final       bool   `json:"final"`
}
