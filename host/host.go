// Package host is the pipeline: the one place that knows the order of a call's steps: it is resolved, bound, decided, run,
// recorded and answered.
//
// The leaves decide (permissions: may it run; scheduler: which calls run beside it; persist: which records stay), the tools act, and
// the host asks each of them once per call. Every call, however it ends, ends in one terminal result.
//
//	h, err := host.New(host.Options{Tools: tools, Scope: scope, Locate: w.Locate, Store: store})
//	err = h.Invoke(host.Request{ID: "c1", Tool: "read", Input: input}, func(c host.Completion) { … })
//	…
//	h.Close()
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/scheduler"
)

// Options are the options of a host. Locate and Store are required; without Tools there is nothing to call.
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

	HookOptions
}

// HookOptions are the hooks of a host, with their environment and matcher.
type HookOptions struct {
	Hooks       []hook.Hook // run at moments of calls; [Host.SetHooks] replaces them
	HookEnviron []string    // "NAME=value" each: the environment of hooks is made from it; nil: hooks get none of it

	// HookMatch reports whether a rule is about a call, for hooks that are set for some inputs only. Nil: there are none
	// such. Several goroutines call it.
	HookMatch func(rule string, r permissions.Request) bool
}

const (
	defaultMaxParallel = 10
	maxActive          = 64       // calls that are being prepared, run or answered at once; others wait in line
	contentBytes       = 24 << 20 // maximum memory of a call on files while it holds content
)

// Host serves calls. Its methods may be used from several goroutines.
type Host struct {
	o         Options
	registry  *registry
	sched     *scheduler.Scheduler // slots and locks of running calls
	gate      *scheduler.Scheduler // calls being worked on, whatever their phase
	room      *scheduler.Scheduler // calls on files that hold their content or a result made of it; nil: memory does not bound them
	journal   journal
	surfaces  surfaces
	rules     rules
	prompts   *prompt.Broker
	grants    grants
	runner    *hook.Runner
	ctx       context.Context // ends when the host stops
	stop      context.CancelCauseFunc
	first     sync.Once
	running   sync.WaitGroup
	jobs      jobs
	places    places
	live      live
	overrides overrides
	hooks     atomic.Pointer[hook.Set] // nil: none
}

// New returns a host that serves the tools of o. It does no IO, except that tools look for the programs that they need.
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
	o.MaxParallel = cmp.Or(o.MaxParallel, defaultMaxParallel)
	o.Policy.Mode, o.Policy.Snapshot = cmp.Or(o.Policy.Mode, permissions.Default), 1
	reg, err := newRegistry(o.Tools)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h := &Host{
		o:         o,
		registry:  reg,
		sched:     scheduler.New(o.MaxParallel),
		gate:      scheduler.New(maxActive),
		rules:     rules{policy: o.Policy, limit: o.Policy.Mode, parser: o.Parser},
		grants:    grants{o.Locate, o.Private},
		places:    places{locate: o.Locate, scope: o.Scope, dir: o.Scope.Dir, active: map[*call]bool{}},
		live:      live{memory: o.Memory, inFlight: inFlight{calls: map[string]*call{}}, batches: map[string]*batch{}},
		overrides: overrides{now: o.Now},
	}
	if o.Memory > 0 {
		h.room = scheduler.New(int(max(1, o.Memory/contentBytes)))
	}
	h.journal = journal{store: o.Store, ids: o.IDs, now: o.Now}
	if o.Parser.Names == nil {
		h.rules.parser = permissions.Parser{Names: Names(o.Tools), Home: o.Scope.Home}
	}
	h.surfaces = surfaces{registry: h.registry, rules: &h.rules, journal: &h.journal}
	h.surfaces.renew("the session begins")
	h.rules.changed = func(m permissions.Mode) { h.surfaces.renew("mode is now " + string(m)) }
	h.prompts = prompt.New(prompt.Options{Rules: &h.rules, Approvals: o.Approvals, IDs: o.IDs, Now: o.Now})
	if h.runner, err = hook.NewRunner(hook.Options{Workspace: o.Policy.Workspace, Session: o.Session, Environ: o.HookEnviron, IDs: o.IDs, Now: o.Now}); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h.jobs = jobs{tools: o.Jobs, journal: &h.journal}
	if err := h.SetHooks(o.Hooks); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h.ctx, h.stop = context.WithCancelCause(context.Background())
	return h, nil
}

// SetHooks replaces the hooks for calls that are admitted from now on. On an error, which says everything that is wrong
// with them, the old ones stay.
func (h *Host) SetHooks(hooks []hook.Hook) error {
	set, err := h.registry.compileHooks(hooks, h.o.HookMatch != nil)
	if err == nil {
		h.hooks.Store(set)
	}
	return err
}

// Workspace is the first root.
func (h *Host) Workspace() string { return h.o.Policy.Workspace }

// Invoke admits one call and returns at once. done is called exactly once, from another goroutine, when the call has
// ended and everything before it in its batch has been handed over. An error means that nothing was admitted.
func (h *Host) Invoke(r Request, done func(Completion)) error {
	read := h.registry.adapt(r)
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if err := h.live.admissible(&h.surfaces, r); err != nil {
		return err
	}
	var b *batch
	if r.Batch != "" {
		b = h.live.join(r.Batch, h.sched, h.o.MaxParallel)
	}
	h.start(h.register(r, read, b), done)
	return nil
}

// register makes the call known. The caller holds h.live.mu.
func (h *Host) register(r Request, read adapted, b *batch) *call {
	c := newCall(h, r, read, h.rules.Policy().For(r.Caller.Threads))
	if set := h.hooks.Load(); set != nil {
		c.hooks = &hookRunner{host: h, set: set, rec: c.rec, hookTarget: hookTarget{tool: c.tool, name: r.Tool}}
	}
	for _, id := range r.After {
		c.after = append(c.after, dependency{id: id, call: h.live.calls[id], succeeded: h.live.ended.succeeded(id)})
	}
	h.live.calls[r.ID] = c
	h.live.input += len(r.Input)
	if b != nil {
		b.add(c)
		c.rec.update(func(inv *agenttool.Invocation) { inv.SchedulerPolicyRef = b.policy.SchedulerPolicyID })
	}
	if len(r.After) == 0 {
		c.admit()
	}
	return c
}

func newCall(h *Host, r Request, read adapted, policy permissions.Policy) *call {
	now := h.o.Now()
	surface, _ := h.surfaces.of(r.Surface) // admission has refused unknown ones
	inv := agenttool.Invocation{
		SchemaVersion: agenttool.SchemaVersion,
		InvocationID:  agenttool.InvocationID(h.o.IDs.New("inv_", now)),
		ToolID:        unknownTool,
		SurfaceID:     surface.SurfaceID,
		NativeCallID:  r.name(),
		Inputs:        agenttool.Inputs{ModelInput: r.Input},
		InvocationRefs: agenttool.InvocationRefs{
			ActorRef: r.Actor, RuntimeRefs: append([]string{string(h.o.Session)}, r.Caller.Refs...), SchedulerPolicyRef: schedulerPolicyID,
		},
		CreatedAt: agenttool.Timestamp(now),
	}
	tool := h.registry.names[r.Tool]
	if tool != nil {
		inv.ToolID = tool.Declaration.ToolID
		learnSensitive(h.o.Store.Redactor(), tool, r.Input)
	}
	if len(read.changes) > 0 {
		learnSensitive(h.o.Store.Redactor(), tool, read.input)
		inv.Mutations = []agenttool.InputMutation{adaptation(read.changes, agenttool.InputMutation{
			SchemaVersion: agenttool.SchemaVersion, MutationID: agenttool.MutationID(h.o.IDs.New("mut_", now)), InvocationID: inv.InvocationID,
			CreatedAt: inv.CreatedAt,
		})}
	}
	if len(r.Trace) > 0 {
		inv.TelemetryRefs = append(inv.TelemetryRefs, r.Trace)
	}
	if len(r.Mapping) > 0 {
		inv.ExternalMappings = append(inv.ExternalMappings, r.Mapping)
	}
	c := &call{
		admission: admission{host: h, req: r, tool: tool, surface: surface, adaptError: read.err}, binding: binding{input: read.input},
		rec:      newRecord(&h.journal, inv),
		lifetime: lifetime{ended: make(chan struct{}), handed: make(chan struct{})},
	}
	c.approval = approval{c: c, policy: policy}
	c.ctx, c.cancel = context.WithCancelCause(h.ctx)
	c.expire = func() {}
	if r.Timeout > 0 {
		c.ctx, c.expire = context.WithTimeoutCause(c.ctx, r.Timeout, errDeadline(r.Timeout))
	}
	return c
}

// unknownTool is the id on the record of a call that names no tool: the name itself can be anything.
const unknownTool = "toolhost.unknown"

// start runs the call in its own goroutine. It has ended, for Drain, when its result was handed over.
func (h *Host) start(c *call, done func(Completion)) {
	c.done = done
	h.running.Add(1)
	go c.serve()
}

// Batch admits all calls of a batch, or none, and returns at once. done is called exactly once, when all have ended,
// with their completions in the order of the calls, or in that of their ends if the policy says allow_unordered.
func (h *Host) Batch(r BatchRequest, done func([]Completion)) error {
	read := make([]adapted, min(len(r.Calls), maxBatch)) // more are refused
	for i := range read {
		read[i] = h.registry.adapt(r.Calls[i])
	}
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	switch {
	case r.ID == "":
		return refuse("the batch has no id")
	case h.live.batches[r.ID] != nil:
		return refuse("batch %q is still running: use another id", r.ID)
	case len(r.Calls) == 0 || len(r.Calls) > maxBatch:
		return refuse("a batch holds 1 to %d calls, not %d", maxBatch, len(r.Calls))
	}
	b, err := newBatch(h.sched, sessionPolicy(h.o.MaxParallel), r)
	if err != nil {
		return err
	}
	if err := h.live.admissible(&h.surfaces, r.Calls...); err != nil {
		return err
	}
	if err := h.live.holds(len(r.Calls)); err != nil {
		return err
	}
	h.live.batches[r.ID] = b
	calls := make([]*call, len(r.Calls))
	for i, req := range r.Calls {
		calls[i] = h.register(req, read[i], b)
	}
	collect := collector{ordered: b.policy.OrderingPolicy != "allow_unordered", list: make([]Completion, len(calls)), done: done}
	for i, c := range calls {
		h.start(c, func(got Completion) { collect.add(i, got) })
	}
	return nil
}

// forget takes an ended call out of the live ones, and returns its batch if that has ended with it. The deferred moves of the batch take
// effect before another call can be admitted.
func (h *Host) forget(c *call, succeeded bool) (over *batch) {
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if over = h.live.remove(c, succeeded); over != nil {
		h.places.leave(over)
	}
	return over
}

// Check returns the decision about a call, and its facts, without making the call: it is resolved, checked, bound and
// located, but not recorded or run. Hooks do not run. The error is the call's error before a decision.
func (h *Host) Check(ctx context.Context, tool string, input []byte) (agenttool.Decision, *agenttool.Facts, error) {
	r := Request{ID: "check", Tool: tool, Input: input}
	c := newCall(h, r, h.registry.adapt(r), h.rules.Policy())
	c.dir = h.places.current()
	defer c.cancel(nil)
	_, err := c.through(ctx, []step{
		{agenttool.PhaseResolveTool, c.resolveTool, agenttool.StatusBlocked},
		{agenttool.PhaseParseSchema, c.parseSchema, agenttool.StatusSchemaParseFailed},
		{agenttool.PhaseValidateValues, c.bind, agenttool.StatusValidationFailed},
		{agenttool.PhasePrepareObserved, c.locate, agenttool.StatusValidationFailed},
	})
	if err != nil {
		return agenttool.Decision{}, nil, err
	}
	return c.approval.decide(), c.bound.Facts(), nil
}
