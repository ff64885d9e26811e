package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/scheduler"
)

// live are the calls and batches that have not ended.
type live struct {
	memory int64 // that the process may have; 0: it is not bounded
	recent recent

	mu       sync.Mutex // guards what follows
	draining bool
	closed   bool
	calls    map[string]*call // that have not ended, by native id
	input    int              // bytes of their inputs
	ended    history          // native ids that ended not long ago
	batches  map[string]*batch
	leaving  int64 // held bytes of batches that have ended, and whose last results are being handed over
}

const (
	maxLive      = 16_384
	liveBytes    = 32 << 10  // taken by a live call beside its input
	memberBytes  = 256 << 10 // memory of a call in a batch until all its calls have ended
	batchShare   = 8         // large results of batches take at most this part of the memory
	maxLiveInput = 64 << 20  // bytes of the inputs of live calls
)

// admissible checks what must hold before calls, in their order, are recorded.
func (l *live) admissible(known *surfaces, requests ...Request) error {
	if l.closed || l.draining {
		return refuse("toolhost is shutting down and takes no more calls")
	}
	later, input := map[string]bool{}, l.input
	for _, r := range requests {
		if _, err := known.of(r.Surface); err != nil {
			return err
		}
		later[r.ID] = true
		input += len(r.Input)
	}
	if int64(len(l.calls)+len(requests)) > l.share(liveBytes, maxLive) || int64(input) > l.share(8, maxLiveInput) && len(l.calls) > 0 {
		return fmt.Errorf("%w: %d calls with %d bytes of input are not answered yet; send this again when some are", ErrBusy, len(l.calls), l.input)
	}
	seen := map[string]bool{}
	for i, r := range requests {
		switch {
		case r.ID == "":
			return refuse("call %d has no id: give each call an id that is unique among running calls", i+1)
		case l.calls[r.ID] != nil || seen[r.ID]:
			return refuse("id %q belongs to a call that is still running: use another", r.ID)
		case !json.Valid(r.Input): // records hold it byte for byte
			return refuse("the input of call %q is not JSON", r.ID)
		case len(r.Trace) > MaxMapping || len(r.Trace) > 0 && !json.Valid(r.Trace):
			return refuse("the trace of call %q is not JSON, or has more than %d bytes", r.ID, MaxMapping)
		case len(r.Mapping) > MaxMapping || len(r.Mapping) > 0 && !json.Valid(r.Mapping):
			return refuse("the mapping of call %q is not JSON, or has more than %d bytes", r.ID, MaxMapping)
		case r.Timeout < 0:
			return refuse("timeout_ms of call %q is negative", r.ID)
		}
		for _, id := range r.After {
			earlier := seen[id] || !later[id] && (l.calls[id] != nil || l.ended.has(id))
			if !earlier {
				return refuse("call %q is to run after %q, which is not the id of an earlier call", r.ID, id)
			}
		}
		seen[r.ID] = true
	}
	return nil
}

// holds reports whether memory has room for the results of a batch of n calls, which wait for each other, beside those of the batches that
// run. The caller holds l.mu.
func (l *live) holds(n int) error {
	most := int(l.share(memberBytes, maxLive))
	if n > most {
		return refuse("a batch holds 1 to %d calls where memory is limited as it is here, not %d", most, n)
	}
	for _, b := range l.batches {
		n += b.size
	}
	if n > most {
		return fmt.Errorf("%w: the results of other batches are not complete yet; send this again when they are", ErrBusy)
	}
	return nil
}

// keep reports whether memory has room for a result until those before it in its batch, or all of them, have been handed over, and
// counts it if so. A change that was made is always reported.
func (l *live) keep(c *call, out agenttool.Output) error {
	if c.batch == nil || l.memory <= 0 || !c.readOnly() {
		return nil
	}
	size := int64(-memberBytes)
	for _, part := range out.Content {
		size += int64(len(part.Data) + len(part.Text))
	}
	if size <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	held := size + l.leaving
	for _, b := range l.batches {
		held += b.held
	}
	if held > l.memory/batchShare {
		return agenttool.Failure(agenttool.ResultTooLarge, "batch_full",
			"memory is limited here and holds no more results of batches: make this call again by itself")
	}
	c.batch.held += size
	return nil
}

// share is a part of the memory that the process may have, and no more than usual.
func (l *live) share(of, usual int64) int64 {
	if l.memory <= 0 {
		return usual
	}
	return min(usual, l.memory/of)
}

func (l *live) find(id string) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[id]; c != nil {
		return c
	}
	for _, c := range l.calls {
		if string(c.rec.id) == id {
			return c
		}
	}
	return nil
}

// after returns the member of the batch behind an ended call, or nil.
func (l *live) after(c *call) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.next
}

// mayStart reports whether the call, which has its slot or must wait for it, may go on. After the end of input only
// read-only calls may still wait.
func (l *live) mayStart(c *call, atOnce bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining && !c.readOnly() && (!atOnce || c.afterOther) {
		return false
	}
	c.waiting = !atOnce && !c.readOnly()
	return true
}

// beginWait is mayStart for a call that would wait for a person; started ends it.
func (l *live) beginWait(c *call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.waiting = !l.draining
	return !l.draining
}

// started says that the call waits no longer.
func (l *live) started(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.waiting = false
}

// join returns the live batch of that id, or a new one under the session's policy. The caller holds l.mu.
func (l *live) join(id string, sched *scheduler.Scheduler, parallel int) *batch {
	b := l.batches[id]
	if b == nil {
		b = &batch{id: id, policy: sessionPolicy(parallel), group: sched.Group(0)}
		l.batches[id] = b
	}
	return b
}

// forget takes an ended call out of the live ones and remembers how it ended. It returns the call's batch if that has ended with it. The
// deferred moves of the batch take effect before another call can be admitted.
func (h *Host) forget(c *call, succeeded bool) (over *batch) {
	l, b := &h.live, c.batch
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, c.req.ID)
	l.input -= len(c.req.Input)
	l.ended.add(c.req.ID, succeeded)
	if b == nil {
		return nil
	}
	if !succeeded {
		b.failed(c)
	}
	if !b.leave(c) {
		return nil
	}
	delete(l.batches, b.id)
	l.leaving += b.held
	h.places.leave(b)
	return b
}

// handedOver says that the results of a batch that has ended are no longer held here.
func (l *live) handedOver(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving -= b.held
}

// Status describes the live calls, jobs and prompts.
type Status struct {
	Calls   []CallStatus          `json:"calls"`
	Jobs    []agenttool.JobStatus `json:"jobs"`
	Pending []agenttool.Decision  `json:"pending_decisions"`
	Denied  []Denied              `json:"denied"` // the last ones, the newest last
	Mode    string                `json:"mode"`
}

// CallStatus is one live call.
type CallStatus struct {
	ID           string                     `json:"id"`
	InvocationID agenttool.InvocationID     `json:"invocation_id"`
	ToolID       agenttool.ToolID           `json:"tool_id"`
	Subject      string                     `json:"subject,omitempty"` // of the first ones: the command or path, or else the input, cut
	Status       agenttool.InvocationStatus `json:"status"`
	QueueState   string                     `json:"queue_state,omitempty"` // queued or executing; empty: it is not that far
	ElapsedMS    int64                      `json:"elapsed_ms"`
}

func (l *live) list(now time.Time) []CallStatus {
	list, inputs := []CallStatus{}, map[agenttool.InvocationID][]byte{}
	l.mu.Lock()
	for _, c := range l.calls {
		inv, queue := c.rec.queued()
		started, _ := time.Parse(time.RFC3339, inv.CreatedAt)
		list = append(list, CallStatus{c.req.ID, inv.InvocationID, inv.ToolID, "", inv.Status, queue, now.Sub(started).Milliseconds()})
		inputs[inv.InvocationID] = c.req.Input
	}
	l.mu.Unlock()
	slices.SortFunc(list, func(a, b CallStatus) int { return strings.Compare(string(a.InvocationID), string(b.InvocationID)) })
	for i := range list[:min(len(list), maxSubjects)] {
		list[i].Subject = subjectOf(inputs[list[i].InvocationID])
	}
	return list
}

// history remembers how the last calls ended, by native id, in a ring. The zero value is empty.
type history struct {
	outcome map[string]bool
	order   []string
}

const historySize = 4096

func (h *history) add(id string, succeeded bool) {
	if h.outcome == nil {
		h.outcome = map[string]bool{}
	}
	if _, again := h.outcome[id]; !again {
		h.order = append(h.order, id)
	}
	h.outcome[id] = succeeded
	if len(h.order) > historySize {
		delete(h.outcome, h.order[0])
		h.order = h.order[1:]
	}
}

func (h *history) has(id string) bool { _, ok := h.outcome[id]; return ok }

func (h *history) succeeded(id string) bool { return h.outcome[id] }

// recent holds the last calls that a rule or a person decided. The zero value is empty.
type recent struct {
	mu    sync.Mutex
	calls []recentCall // the oldest first
}

// recentCall is a decided call.
type recentCall struct {
	id      agenttool.InvocationID
	at      time.Time
	subject string
	tool    string
	request permissions.Request
	last    agenttool.Behavior
	why     string
}

// Bounds of the recent calls.
const (
	maxRecent   = 50
	maxParts    = 100      // commands and paths of a call that is remembered with its facts
	maxCode     = 32 << 10 // bytes of the input of a call that runs code, and is remembered with its facts: they are parts of it
	maxRead     = 8 << 10  // bytes of an input that is read for its subject
	maxSubject  = 300      // characters
	maxTrial    = 20       // calls that a trial names
	maxSubjects = 200      // calls of a status that have a subject
)

func (r *recent) add(c recentCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(slices.DeleteFunc(r.calls, func(old recentCall) bool { return old.id == c.id }), c)
	r.calls = slices.Delete(r.calls, 0, max(0, len(r.calls)-maxRecent))
}

// Denied is a call that was not allowed.
type Denied struct {
	At           string                 `json:"at"`
	InvocationID agenttool.InvocationID `json:"invocation_id"`
	Tool         string                 `json:"tool"`
	Subject      string                 `json:"subject"`
	Why          string                 `json:"why"`
}

// denied are the last calls that were not allowed, the newest last.
func (r *recent) denied() []Denied {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Denied{}
	for _, c := range r.calls {
		if c.last == agenttool.Deny {
			list = append(list, Denied{agenttool.Timestamp(c.at), c.id, c.tool, c.subject, c.why})
		}
	}
	return list
}

// addTo adds to a trial the calls that would have run unasked by further rules, the newest first.
func (r *recent) addTo(t *prompt.Trial, before, with permissions.Policy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Backward(r.calls) {
		if c.request.Facts != nil && !before.Allows(c.request) && with.Allows(c.request) && len(t.Calls) < maxTrial {
			t.Calls = append(t.Calls, c.tool+": "+c.subject)
		}
	}
}

// subjectOf is the subject of a call in one line: its command or path, or else its input.
func subjectOf(input []byte) string {
	var known struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if len(input) <= maxRead {
		_ = json.Unmarshal(input, &known) // the input was checked; members of another type stay empty
	}
	text := cmp.Or(known.Command, known.Path, string(input[:min(len(input), 4*maxSubject)]))
	return cut.Characters(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxSubject)
}
