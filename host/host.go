// Package host is the pipeline: the one place that knows in which order a call is resolved, bound, decided, run,
// recorded and answered.
//
// The leaves decide (permissions: may it run; scheduler: beside what; persist: what is kept), the tools act, and
// the host asks each of them once per call. Every call, however it ends, ends in one terminal result.
//
//	h, err := host.New(host.Options{Tools: tools, Scope: scope, Locate: w.Locate, Store: store})
//	err = h.Invoke(host.Request{ID: "c1", Tool: "read", Input: input}, func(c host.Completion) { … })
//	…
//	h.Close()
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/scheduler"
)

// Options is what a host is made of. Locate and Store are required; without Tools there is nothing to call.
type Options struct {
	Tools  []agenttool.Tool
	Scope  agenttool.Scope
	Locate func(*agenttool.Path) error // follows links: fills Resolved, Root and Private
	Store  *persist.Store

	Policy      permissions.Policy   // its mode is the loosest that SetMode accepts
	Parser      permissions.Parser   // reads the rules that answers add; without Names: of the tools of this host
	Session     agenttool.SessionID  // the id of Store's session
	IDs         *agenttool.IDs       // nil: a new one
	Now         func() time.Time     // nil: time.Now
	MaxParallel int                  // calls that run at once; 0: 10
	Memory      int64                // bytes that the process may have, which bound what calls hold at once; 0: they are not bounded by it
	Approvals   prompt.Approvals     // how prompts are answered
	Level       string               // of the sandbox of commands, for prompts
	Private     []string             // directories of toolhost's own, absolute and without links, which no grant opens
	Version     string               // of this build, for hello
	PanicLog    func(message string) // told of a tool's panic, with its stack; nil: nobody
	Jobs        Jobs                 // of the tools; nil: none outlives its call
	First       func()               // runs once, before the first call does anything; nil: nothing. Calls wait for it, so that it must be bounded

	Hooks       []hook.Hook // run at moments of calls; [Host.SetHooks] replaces them
	HookEnviron []string    // "NAME=value" each: what the environment of hooks is made from; nil: nothing of it

	// HookMatch reports whether a rule is about a call, for hooks that are set for some inputs only. Nil: there are none
	// such. Several goroutines call it.
	HookMatch func(rule string, r permissions.Request) bool
}

const (
	defaultMaxParallel = 10
	maxActive          = 64 // calls that are being prepared, run or answered at once; others wait in line
	maxLive            = 16_384
	liveBytes          = 32 << 10  // what a live call takes beside its input
	memberBytes        = 256 << 10 // what a call of a batch takes until all of them have ended
	batchShare         = 8         // large results of batches take at most this part of the memory
	contentBytes       = 24 << 20  // what a call on files takes at most while it holds content
	maxLiveInput       = 64 << 20  // bytes of the inputs of live calls
)

// Host serves calls. Its methods may be used from several goroutines.
type Host struct {
	o        Options
	registry *registry
	sched    *scheduler.Scheduler // slots and locks of running calls
	gate     *scheduler.Scheduler // calls being worked on, whatever their phase
	room     *scheduler.Scheduler // calls on files that hold their content or a result made of it; nil: memory does not bound them
	journal  journal
	rules    rules
	prompts  *prompt.Broker
	grants   grants
	runner   *hook.Runner
	ctx      context.Context // ends when the host stops
	stop     context.CancelCauseFunc
	first    sync.Once
	running  sync.WaitGroup
	followed sync.WaitGroup // jobs whose end will be announced

	mu        sync.Mutex // guards what follows
	dir       string     // where calls start
	movers    []mover    // in the order of admission
	admitted  int64
	active    map[*call]bool
	jobs      []background
	hooks     *hook.Set // nil: none
	draining  bool
	overrides overrides
	closed    bool
	calls     map[string]*call // live calls by native id
	input     int              // bytes of their inputs
	ended     history          // native ids that ended not long ago
	batches   map[string]*batch
}

// New returns a host that serves the tools of o. It does no IO.
func New(o Options) (*Host, error) {
	if o.Locate == nil || o.Store == nil {
		return nil, errors.New("host: Locate and Store are required")
	}
	if o.IDs == nil {
		o.IDs = &agenttool.IDs{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxParallel == 0 {
		o.MaxParallel = defaultMaxParallel
	}
	if o.Policy.Mode == "" {
		o.Policy.Mode = permissions.Default
	}
	reg, err := newRegistry(o.Tools)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h := &Host{
		o:        o,
		registry: reg,
		sched:    scheduler.New(o.MaxParallel),
		gate:     scheduler.New(maxActive),
		rules:    rules{policy: o.Policy, limit: o.Policy.Mode, parser: o.Parser},
		grants:   grants{o.Locate, o.Private},
		dir:      o.Scope.Dir,
		active:   map[*call]bool{},
		calls:    map[string]*call{},
		batches:  map[string]*batch{},
	}
	if o.Memory > 0 {
		h.room = scheduler.New(int(max(1, o.Memory/contentBytes)))
	}
	h.journal = journal{store: o.Store, ids: o.IDs, now: o.Now}
	if o.Parser.Names == nil {
		h.rules.parser = permissions.Parser{Names: Names(o.Tools), Home: o.Scope.Home}
	}
	h.prompts = prompt.New(prompt.Options{Rules: &h.rules, Approvals: o.Approvals, IDs: o.IDs, Now: o.Now})
	if h.runner, err = hook.NewRunner(hook.Options{Workspace: o.Policy.Workspace, Session: o.Session, Environ: o.HookEnviron, IDs: o.IDs, Now: o.Now}); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if h.hooks, err = h.compileHooks(o.Hooks); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	return h, nil
}

// Request asks for one call.
type Request struct {
	ID      string        // the caller's id, unique among live calls; required
	Tool    string        // name or alias
	Input   []byte        // a JSON object; kept byte for byte
	Batch   string        // results of one batch are handed over in the order of their requests
	After   []string      // ids of earlier calls that must succeed first
	Timeout time.Duration // deadline from admission; 0: none
	Actor   string        // who asks, for the record
	Person  bool          // the person of the session asks, at a terminal of their own: to read or end its jobs takes no permission
	Trace   []byte        // a JSON object for the record's telemetry_refs; nil: none
	Caller  Caller        // how the other end of the call is told of it, where it is not by events
}

// Caller is the other end of one call, where that is not the client of the whole session. The zero value hears nothing
// and answers nothing. Its functions must not block.
type Caller struct {
	CallID string   // what its protocol calls the call, for the record; empty: [Request].ID
	Refs   []string // its threads and groups, for the record's runtime_refs

	// Asked hears the prompts of this call. A caller that has one answers them, by [Host.Decide], so that they wait for it
	// though nobody else is there. over is closed when a prompt needs no answer any more.
	Asked prompt.Asked

	// Progress hears how the call goes on while it runs, at most ten times a second, and how a job ended that it left: its id is
	// the TaskID then, and Status is completed, failed or canceled.
	Progress func(agenttool.Progress)
}

// name is what the record calls the call.
func (r Request) name() string {
	if r.Caller.CallID != "" {
		return r.Caller.CallID
	}
	return r.ID
}

// ErrRequest is wrapped by the errors of requests that were refused before anything was recorded or run.
var ErrRequest = prompt.ErrRefused

// IsRefused reports whether err says that a request was refused before anything happened.
func IsRefused(err error) bool { return errors.Is(err, ErrRequest) }

// ErrBusy is wrapped by the errors of requests that can be sent again when others have ended.
var ErrBusy = errors.New("busy")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRequest}, args...)...)
}

// Invoke admits one call and returns at once. done is called exactly once, from another goroutine, when the call has
// ended and everything before it in its batch has been handed over. An error means that nothing was admitted.
func (h *Host) Invoke(r Request, done func(Completion)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.admissible([]Request{r}); err != nil {
		return err
	}
	var b *batch
	if r.Batch != "" {
		b = h.joinBatch(r.Batch)
	}
	h.start(h.register(r, b), done)
	return nil
}

// admissible checks what must hold before calls, in their order, are recorded.
func (h *Host) admissible(requests []Request) error {
	if h.closed || h.draining {
		return refuse("toolhost is shutting down and takes no more calls")
	}
	later, input := map[string]bool{}, h.input
	for _, r := range requests {
		later[r.ID] = true
		input += len(r.Input)
	}
	if int64(len(h.calls)+len(requests)) > h.share(liveBytes, maxLive) || int64(input) > h.share(8, maxLiveInput) && len(h.calls) > 0 {
		return fmt.Errorf("%w: %d calls with %d bytes of input are not answered yet; send this again when some are", ErrBusy, len(h.calls), h.input)
	}
	seen := map[string]bool{}
	for i, r := range requests {
		switch {
		case r.ID == "":
			return refuse("call %d has no id: give each call an id that is unique among running calls", i+1)
		case h.calls[r.ID] != nil || seen[r.ID]:
			return refuse("id %q belongs to a call that is still running: use another", r.ID)
		case !json.Valid(r.Input) || len(r.Trace) > 0 && !json.Valid(r.Trace): // records hold both byte for byte
			return refuse("the input or trace of call %q is not JSON", r.ID)
		case r.Timeout < 0:
			return refuse("timeout_ms of call %q is negative", r.ID)
		}
		for _, id := range r.After {
			earlier := seen[id] || !later[id] && (h.calls[id] != nil || h.ended.has(id))
			if !earlier {
				return refuse("call %q is to run after %q, which is not the id of an earlier call", r.ID, id)
			}
		}
		seen[r.ID] = true
	}
	return nil
}

// register makes the call known. The caller holds h.mu.
func (h *Host) register(r Request, b *batch) *call {
	c := newCall(h, r, h.rules.Policy())
	if h.hooks != nil {
		c.hooks = &hooked{host: h, set: h.hooks, rec: c.rec, tool: c.tool, name: r.Tool}
	}
	for _, id := range r.After {
		c.after = append(c.after, dependency{id: id, call: h.calls[id], succeeded: h.ended.succeeded(id)})
	}
	h.calls[r.ID] = c
	h.input += len(r.Input)
	if b != nil {
		b.add(c)
	}
	if len(r.After) == 0 {
		h.admit(c)
	}
	return c
}

// start runs the call in its own goroutine. It has ended, for Drain, when its result was handed over.
func (h *Host) start(c *call, done func(Completion)) {
	c.done = done
	h.running.Add(1)
	go c.serve()
}

// forget takes an ended call out of the live ones and remembers how it ended.
func (h *Host) forget(c *call, succeeded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, c.req.ID)
	h.input -= len(c.req.Input)
	h.ended.add(c.req.ID, succeeded)
	if b := c.batch; b != nil {
		if !succeeded {
			b.failed(c)
		}
		if b.leave(c) {
			h.dir = b.movedTo(h.dir)
			delete(h.batches, b.id)
		}
	}
}

// Mode returns the mode in force.
func (h *Host) Mode() permissions.Mode { return h.rules.Policy().Mode }

// SetMode changes the mode for calls that are admitted or answered from now on. It can go no looser than the mode
// that the host was started with.
func (h *Host) SetMode(m permissions.Mode) error {
	changed, err := h.rules.setMode(m)
	if err != nil || !changed {
		return err
	}
	surface := h.registry.surface(h.o.IDs.New("surface_", h.o.Now()), h.o.Now(), string(m))
	h.journal.record(agenttool.Event{EventType: agenttool.EventSurfaceUpdated}, "reason", "mode is now "+string(m), "surface", surface)
	return nil
}

// Attend says that somebody can answer prompts until detach is called, as [prompt.Broker.Attend] says.
func (h *Host) Attend() (detach func()) { return h.prompts.Attend() }

// Prompts returns the open prompts, oldest first; those that ask the same as another are counted with it.
func (h *Host) Prompts() []prompt.Prompt { return h.prompts.List() }

// Decide answers a prompt, and those that ask the same, as [prompt.Broker.Decide] says.
func (h *Host) Decide(a prompt.Answer) (agenttool.Decision, error) { return h.prompts.Decide(a) }

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
