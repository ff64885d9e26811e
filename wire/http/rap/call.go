package rap

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/host"
)

// call is one invocation until nothing is owed for it any more.
type call struct {
	address
	base    string        // where the answers to its questions go
	over    chan struct{} // closed when its job is followed no longer
	release func()        // gives the room of its input back; once

	// Server.mu guards these.
	host     string              // the id of the host's request; empty: it was not begun
	job      string              // that goes on after it; empty: none
	ended    *agenttool.Progress // how its job ended; nil: not yet
	canceled string              // why nobody waits for it any more; empty: somebody does
	muted    bool                // nothing more is told of its job
	closed   bool                // over is closed
	choices  []string            // ids of its questions
}

// unknownDigest is that of calls of a server before this one: nobody knows what they were.
var unknownDigest [sha256.Size]byte

// register makes a call known. It is not fresh if it was sent again: what is owed for it is owed once. An id that was
// used for something else is refused (RAP-24, RAP-30).
func (s *Server) register(c *call, digest [sha256.Size]byte) (fresh bool, err error) {
	k := c.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, again := s.seen.digests[k]; again {
		if before == digest || before == unknownDigest && s.calls[k] != nil {
			return false, nil
		}
		return false, refuse(http.StatusConflict, "this id was used in this group for another call: give each call its own")
	}
	if err := s.roomLocked(c.address); err != nil {
		return false, err
	}
	if err := s.store.put(c, ""); err != nil {
		s.log("a call was refused: it could not be kept: %v", err)
		return false, refuse(http.StatusServiceUnavailable, "the call could not be kept: send this again")
	}
	s.seen.add(k, digest)
	s.calls[k] = c
	return true, nil
}

// roomLocked reports why one further call is not taken now.
func (s *Server) roomLocked(a address) error {
	if s.closing {
		return refuse(http.StatusServiceUnavailable, "toolhost is shutting down")
	}
	place := placeOf(a.Callback)
	mine, there := 0, 0
	for _, c := range s.calls {
		if c.Group == a.Group {
			mine++
		}
		if placeOf(c.Callback) == place {
			there++
		}
	}
	if all, waiting := s.outbox.bytes(place); all > maxWaiting || waiting > maxPerPlace {
		return refuse(http.StatusServiceUnavailable, "%d bytes of results wait to be taken, %d of them by this callback's host: send this again when some are", all, waiting)
	}
	if len(s.calls) >= maxCalls || mine >= maxPerGroup || there >= maxPerHost {
		return refuse(http.StatusServiceUnavailable, "%d calls are not answered yet, %d of them of this group, %d of this callback's host: send this again when some are", len(s.calls), mine, there)
	}
	return nil
}

// placeOf is the scheme, host and port of a callback URL, which are no secret.
func placeOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// begin gives a call to the host. Whatever is in the way of that is its result (RAP-10, RAP-11).
func (s *Server) begin(c *call, in invocation, fault error) {
	c.release = sync.OnceFunc(c.release)
	if fault != nil {
		s.fail(c, "this is no valid invocation: "+fault.Error())
		return
	}
	if text := s.unknown(in.Operation); text != "" {
		s.fail(c, text)
		return
	}
	id := s.nextID()
	s.mu.Lock()
	c.host = id
	gone := c.canceled
	s.mu.Unlock()
	if gone != "" {
		s.fail(c, "the call was canceled before it began: "+gone)
		return
	}
	err := s.o.Host.Invoke(s.request(c, in, id), func(done host.Completion) { s.completed(c, done) })
	switch {
	case errors.Is(err, host.ErrBusy):
		s.fail(c, "toolhost is busy: "+err.Error())
	case err != nil:
		s.fail(c, err.Error())
	}
	if err == nil {
		s.cancelLate(c)
	}
}

// cancelLate cancels a call that was abandoned while it was given to the host.
func (s *Server) cancelLate(c *call) {
	s.mu.Lock()
	reason := c.canceled
	s.mu.Unlock()
	if reason != "" {
		s.o.Host.Cancel(c.host, reason)
	}
}

func (s *Server) request(c *call, in invocation, id string) host.Request {
	actor := "rap"
	if in.User != "" {
		actor += ":" + visible.Text(in.User)
	}
	return host.Request{
		ID: id, Tool: in.Operation, Input: in.Arguments, Timeout: callTime, Actor: actor,
		Caller: host.Caller{
			CallID: c.ID, Refs: append([]string{c.Group}, in.Ancestors...),
			Asked:    func(p host.Prompt, over <-chan struct{}) { s.ask(c, p, over) },
			Progress: func(p agenttool.Progress) { s.jobEnded(c, p) },
		},
	}
}

func (s *Server) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return fmt.Sprintf("rap-%d", s.count)
}

// fail answers a call that the host does not have.
func (s *Server) fail(c *call, text string) {
	c.release()
	s.post(c, resultMessage{Type: "tool_result", Group: c.Group, ID: c.ID, CallID: c.CallID, Text: errorMark + text}, func(outcome) { s.retire(c) })
}

// completed delivers how a call ended. A job that it left is followed from then on.
func (s *Server) completed(c *call, done host.Completion) {
	c.release()
	follows := s.leaves(c, done.Job)
	m := resultOf(c.address, done)
	m.Subscription = follows
	if follows {
		m.mention(done.Job)
	}
	s.post(c, m, func(end outcome) { s.told(c, follows, end) })
	if view, changed := viewOf(c.address, done); changed {
		s.post(c, view, nil)
	}
	if follows {
		go func() {
			defer s.workers.Done()
			s.follow(c)
		}()
	}
}

// told goes on after a result was taken or given up. A job that the runtime has heard of is kept; one of a result that it refused
// is ended, since nobody can know of it.
func (s *Server) told(c *call, follows bool, end outcome) {
	switch {
	case !follows:
		s.retire(c)
	case end != taken:
		s.abandon(c, "its result could not be delivered", end == refused)
	default:
		s.keepJob(c)
	}
}

// keepJob notes on disk that only the end of the job of a call is owed now.
func (s *Server) keepJob(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.key()] != c {
		return
	}
	if err := s.store.put(c, c.job); err != nil {
		s.log("a job is followed in memory only: %v", err)
	}
}

// leaves notes the job that goes on after a call, and reports whether it is to be followed, by a goroutine that is counted
// already. One that nobody waits for is ended.
func (s *Server) leaves(c *call, job string) bool {
	if job == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	following := 0
	for _, other := range s.calls {
		if other.job != "" {
			following++
		}
	}
	if s.closing || c.canceled != "" || following >= maxJobs {
		if c.canceled != "" && !s.closing {
			s.workers.Go(func() { s.kill(c, job) })
		}
		return false
	}
	c.job = job
	s.workers.Add(1) // before Close waits
	return true
}

// abandon ends a call that nobody waits for: it is canceled, or its job is. A job that is not to end is only followed no longer.
func (s *Server) abandon(c *call, reason string, kill bool) {
	s.mu.Lock()
	if c.canceled == "" {
		c.canceled = reason
	}
	id, job := c.host, c.job
	if job != "" && !c.muted && c.ended == nil {
		c.muted = kill || !s.closing
		if kill && !s.closing {
			s.workers.Go(func() { s.kill(c, job) })
		}
	}
	s.stopLocked(c)
	s.mu.Unlock()
	if job == "" && id != "" {
		s.o.Host.Cancel(id, reason)
	}
}

// stopLocked ends the following of a job.
func (s *Server) stopLocked(c *call) {
	if c.job != "" && !c.closed {
		c.closed = true
		close(c.over)
	}
}

// retire forgets a call for which nothing is owed.
func (s *Server) retire(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range c.choices {
		delete(s.choices, id)
	}
	if s.calls[c.key()] == c {
		delete(s.calls, c.key())
		s.store.remove(c)
	}
}

// own makes a call about a job, for which nobody is asked.
func (s *Server) own(c *call, tool, input string) (host.Completion, error) {
	done := make(chan host.Completion, 1)
	err := s.o.Host.Invoke(host.Request{
		ID: s.nextID(), Tool: tool, Input: []byte(input), Timeout: helperTime, Actor: "rap",
		Caller: host.Caller{CallID: c.ID, Refs: []string{c.Group}},
	}, func(end host.Completion) { done <- end })
	if err != nil {
		return host.Completion{}, err
	}
	limit := time.NewTimer(2 * helperTime)
	defer limit.Stop()
	select {
	case end := <-done:
		return end, nil
	case <-limit.C:
		return host.Completion{}, errors.New("it did not end")
	case <-s.life.Done():
		return host.Completion{}, s.life.Err()
	}
}
