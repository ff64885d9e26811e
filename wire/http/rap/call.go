package rap

import (
	"errors"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/host"
	"toolhost/host/prompt"
)

// begin gives a call to the host. If that fails, the error is the result of the call (RAP-10, RAP-11).
func (c *call) begin(in invocation, fault error) {
	s := c.server
	c.release = sync.OnceFunc(c.release)
	if fault != nil {
		c.fail("this is no valid invocation: " + fault.Error())
		return
	}
	if text := s.unknown(in.Operation); text != "" {
		c.fail(text)
		return
	}
	id := s.nextID()
	s.mu.Lock()
	c.host = id
	gone := c.canceled
	s.mu.Unlock()
	if gone != "" {
		c.fail("the call was canceled before it began: " + gone)
		return
	}
	err := s.o.Host.Invoke(c.request(in, id), func(done host.Completion) { c.completed(done) })
	switch {
	case errors.Is(err, host.ErrBusy):
		c.fail("toolhost is busy: " + err.Error())
	case err != nil:
		c.fail(err.Error())
	}
	if err == nil {
		c.cancelLate()
	}
}

// cancelLate cancels a call that was abandoned while it was given to the host.
func (c *call) cancelLate() {
	s := c.server
	s.mu.Lock()
	reason := c.canceled
	s.mu.Unlock()
	if reason != "" {
		s.o.Host.Cancel(c.host, reason)
	}
}

func (c *call) request(in invocation, id string) host.Request {
	actor := "rap"
	if in.User != "" {
		actor += ":" + visible.Text(in.User)
	}
	threads := append([]string{c.Group}, in.Ancestors...)
	return host.Request{
		ID: id, Tool: in.Operation, Input: in.Arguments, Timeout: callTime, Actor: actor,
		Caller: host.Caller{
			CallID: c.ID, Refs: threads, Threads: threads,
			Asked:    func(p prompt.Prompt, over <-chan struct{}) { c.server.questions.ask(c, p, over) },
			Progress: func(p agenttool.Progress) { c.jobEnded(p) },
		},
	}
}

// fail answers a call that the host does not have.
func (c *call) fail(text string) {
	c.release()
	c.answer()
	c.server.outbox.post(c, resultMessage{Type: "tool_result", Group: c.Group, ID: c.ID, CallID: c.CallID, Text: errorMark + text}, func(outcome) { c.retire() })
}

// answer notes that a call has its result: it is not open any more, also while the result waits to be delivered.
func (c *call) answer() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.answered = true
}

// completed delivers how a call ended. A job that it left is followed from then on.
func (c *call) completed(done host.Completion) {
	s := c.server
	c.release()
	c.answer()
	follows := c.leaves(done.Job)
	m := resultOf(c.address, done)
	m.Subscription = follows
	if follows {
		m.mention(done.Job)
	}
	s.outbox.post(c, m, func(end outcome) { c.told(follows, end) })
	if view, changed := viewOf(c.address, done); changed {
		s.outbox.post(c, view, nil)
	}
	if follows {
		go func() {
			defer s.run.Done()
			c.follow()
		}()
	}
}

// told goes on after a result was delivered or given up. It follows the job of a delivered result. It ends the job of a result that
// the runtime refused, since no client knows of that job.
func (c *call) told(follows bool, end outcome) {
	switch {
	case !follows:
		c.retire()
	case end != taken:
		c.abandon("its result could not be delivered", end == refused)
	default:
		c.keepJob()
	}
}

// keepJob notes on disk that only the end of the job of a call is owed now.
func (c *call) keepJob() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.key()] != c {
		return
	}
	if err := s.store.put(c, c.job); err != nil {
		s.o.log("a job is followed in memory only: %v", err)
	}
}

// leaves notes the job that goes on after a call, and reports whether the caller has to follow it, in a goroutine that
// leaves has counted. It ends the job of a canceled call.
func (c *call) leaves(job string) bool {
	s := c.server
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
			s.run.Go(func() { c.kill(job) })
		}
		return false
	}
	c.job = job
	s.run.Add(1) // before Close waits
	return true
}

// abandon ends a call whose runtime waits no longer: it cancels the call or, if kill is set, ends its job. Without kill it only
// stops following the job.
func (c *call) abandon(reason string, kill bool) {
	s := c.server
	s.mu.Lock()
	if c.canceled == "" {
		c.canceled = reason
	}
	id, job := c.host, c.job
	if job != "" && !c.muted && c.ended == nil {
		c.muted = kill || !s.closing
		if kill && !s.closing {
			s.run.Go(func() { c.kill(job) })
		}
	}
	c.stopLocked()
	s.mu.Unlock()
	if job == "" && id != "" {
		s.o.Host.Cancel(id, reason)
	}
}

// stopLocked ends the following of a job.
func (c *call) stopLocked() {
	if c.job != "" && !c.closed {
		c.closed = true
		close(c.over)
	}
}

// retire forgets a call that needs no more callbacks.
func (c *call) retire() {
	s := c.server
	s.questions.forget(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.key()] == c {
		delete(s.calls, c.key())
		s.store.remove(c)
	}
}

// own makes a call of the server itself about a job. It does not ask for approval.
func (c *call) own(tool, input string) (host.Completion, error) {
	s := c.server
	done := make(chan host.Completion, 1)
	err := s.o.Host.Invoke(host.Request{
		ID: s.nextID(), Tool: tool, Input: []byte(input), Timeout: helperTime, Actor: "rap",
		Caller: host.Caller{CallID: c.ID, Refs: []string{c.Group}},
	}, func(end host.Completion) { done <- end })
	if err != nil {
		return host.Completion{}, err
	}
	select {
	case end := <-done:
		return end, nil
	case <-time.After(2 * helperTime):
		return host.Completion{}, errors.New("it did not end")
	case <-s.run.ctx.Done():
		return host.Completion{}, s.run.ctx.Err()
	}
}

// unwanted reports whether the runtime wants no more messages about the job of a call.
func (c *call) unwanted() bool {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.muted
}
