package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

// caller is the call that started a job and receives its reports.
type caller struct {
	job     string
	started time.Time

	mu       sync.Mutex
	reporter agenttool.Reporter // nil when the job has ended
	asking   []string           // objects that a user is asked about
}

// leave drops the reference to the call.
func (c *caller) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reporter = nil
}

func (c *caller) get() agenttool.Reporter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reporter
}

// payload opens the payload for the whole output.
func (c *caller) payload() (agenttool.Payload, error) {
	r := c.get()
	if r == nil {
		return nil, errEnded
	}
	return r.Payload("output", "text/plain; charset=utf-8")
}

var errEnded = errors.New("the job has ended")

// ask asks whether the command may have an access. ctx is over when the command does not wait for it any more.
func (c *caller) ask(ctx context.Context, v sandbox.Violation) bool {
	asker, ok := c.get().(agenttool.Asker)
	if !ok {
		return false
	}
	w := wishFor(v)
	c.mu.Lock()
	c.asking = append(c.asking, w.Object)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.asking, w.Object)
		c.asking = slices.Delete(c.asking, i, i+1)
	}()
	return ctx.Err() == nil && asker.Ask(ctx, w)
}

// mayAsk reports whether ask would put a question.
func (c *caller) mayAsk(v sandbox.Violation) bool {
	asker, ok := c.get().(agenttool.Asker)
	return ok && asker.MayAsk(wishFor(v))
}

func wishFor(v sandbox.Violation) agenttool.Wish {
	w := agenttool.Wish{Grant: v.Grant, Object: cmp.Or(v.Path, v.Host), Detail: v.Detail, Program: v.Program}
	if v.Wall == sandbox.ProtectedName {
		w.Rule = v.Rule
	}
	return w
}

// asks are the objects of open questions.
func (c *caller) asks() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects := slices.Clone(c.asking)
	slices.Sort(objects)
	return slices.Compact(objects)
}

// signaled reports that another job has sent a process of this one a signal.
func (j *Job) signaled(s sandbox.Signaled) {
	j.mu.Lock()
	j.signals = append(j.signals, s)
	j.signals = j.signals[max(0, len(j.signals)-maxSignals):]
	j.mu.Unlock()
	r := j.caller.get()
	if r == nil {
		return
	}
	r.Progress(agenttool.Progress{
		Status: "running", Message: OneLine(fmt.Sprintf("%s sent %s to %s", s.By, SignalName(s.Signal), s.Program)),
		ElapsedMS: time.Since(j.started).Milliseconds(), TaskID: j.id, Extra: agenttool.Extra{"signaled_by": signals([]sandbox.Signaled{s})},
	})
}

// maxSignals bounds what is kept of the signals that a job got from others.
const maxSignals = 10

// signals encodes signals: [{"job":"j2","signal":"SIGTERM","program":"vite"}].
func signals(all []sandbox.Signaled) json.RawMessage {
	type entry struct {
		Job     string `json:"job"`
		Signal  string `json:"signal"`
		Program string `json:"program"`
	}
	var entries []entry
	for _, s := range all {
		entries = append(entries, entry{s.By, SignalName(s.Signal), s.Program})
	}
	encoded, _ := agenttool.Encode(entries) // strings: it cannot fail
	return encoded
}

// violated immediately reports an access that the sandbox blocked.
func (c *caller) violated(v sandbox.Violation) {
	r := c.get()
	encoded, err := agenttool.Encode(v)
	if r == nil || err != nil {
		return // strings and a truth value: it cannot fail
	}
	r.Progress(agenttool.Progress{
		Status: "running", Message: OneLine(v.String()), ElapsedMS: time.Since(c.started).Milliseconds(), TaskID: c.job,
		Extra: agenttool.Extra{"sandbox_violation": encoded},
	})
}
