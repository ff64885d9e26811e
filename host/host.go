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
		live:      live{memory: o.Memory, calls: map[string]*call{}, batches: map[string]*batch{}},
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
	return c.decide(), c.bound.Facts(), nil
}

// Doors and settings read and change these parts of a host, besides calls.

// Mode returns the mode in force.
func (h *Host) Mode() permissions.Mode { return h.rules.Policy().Mode }

// Party is the party that chooses a mode.
type Party uint8

// The parties.
const (
	ByClient Party = iota // it can go no looser than the mode that the host was started with, or that a user chose
	ByUser                // a person: any mode, unless the administrator's settings choose it
)

// SetMode changes the mode for calls that are admitted or answered from now on, and answers the prompts that it decides.
func (h *Host) SetMode(m permissions.Mode, by Party) error {
	if by == ByClient {
		return h.rules.tighten(m)
	}
	if err := h.rules.SetMode(m); err != nil {
		return err
	}
	h.prompts.Reconsider()
	return nil
}

// Attend registers a user for prompts until detach is called: see [prompt.Broker.Attend].
func (h *Host) Attend() (detach func()) { return h.prompts.Attend() }

// Prompts returns the open prompts, oldest first; those that ask the same as another are counted with it.
func (h *Host) Prompts() []prompt.Prompt { return h.prompts.List() }

// Decide answers a prompt, and those that ask the same, as [prompt.Broker.Decide] says.
func (h *Host) Decide(a prompt.Answer) (agenttool.Decision, error) { return h.prompts.Decide(a) }

// Try returns the coverage of further rules: of a prompt, and of the last calls of the session. It changes nothing.
func (h *Host) Try(id agenttool.DecisionID, rules []string) (prompt.Trial, error) {
	t, with, err := h.prompts.Try(id, rules)
	if err == nil {
		h.live.recent.addTo(&t, h.rules.Policy(), with)
	}
	return t, err
}

// Amendment are the settings that change while a host runs.
type Amendment struct {
	Policy    permissions.Policy // its mode is the loosest from now on
	Approvals prompt.Approvals
	With      func() // puts in force what tools go by besides, in the same moment; it takes no time and calls no host. nil: nothing
}

// Amend puts another policy in force: for calls that are admitted or answered from now on, and for prompts that wait, which it
// may answer. Rules that were granted for this session stay, and so does a mode that the client made tighter.
func (h *Host) Amend(a Amendment) {
	if a.With == nil {
		a.With = func() {}
	}
	policy := h.rules.amend(a.Policy, a.With)
	h.prompts.Amend(a.Approvals)
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "mode", policy.Mode, "rules", len(policy.Rules()), "snapshot", policy.Snapshot)
	h.surfaces.renew("settings changed")
	h.prompts.Reconsider()
}

// Revoke takes rules back that were granted for this session. It reports how many there were.
func (h *Host) Revoke(text string) int { return h.rules.revoke(text) }

// Policy returns the policy in force.
func (h *Host) Policy() permissions.Policy { return h.rules.Policy() }

// Made returns the directories outside of the workspace that calls of this session made, and that stayed open to it, if they still
// are the same.
func (h *Host) Made() []string { return h.rules.stillMade() }

// Tripped records what the person should know of names that other programs run or obey, and tells those who look on.
func (h *Host) Tripped(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventProtectedChanged}, "warning", message)
}

// Warn records what the person should know of settings, and tells those who look on.
func (h *Host) Warn(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "warning", message)
}

// Dir is where calls start that are admitted now.
func (h *Host) Dir() string { return h.places.current() }

// Hooks returns the hooks in force.
func (h *Host) Hooks() *hook.Set { return h.hooks.Load() }

// Subscribe adds a listener; changing it later is done by Resubscribe.
func (h *Host) Subscribe(s *Subscription) { h.journal.subscribe(s) }

// Replay hands deliver the events after seq, at most limit, and whether there are more. When there are none, s hears what it asked
// for from there on, everything if it asked for nothing, after deliver has returned, with no gap and none twice. deliver must not
// block. A seq that no event has, of another session perhaps, is refused with class invalid_arguments: unknown_event for one that
// is still to come, events_gone for one that was forgotten.
func (h *Host) Replay(seq int64, limit int, s *Subscription, deliver func(entries []persist.Entry, more bool)) error {
	return h.journal.replay(seq, limit, s, deliver)
}

// Unsubscribe ends a subscription.
func (h *Host) Unsubscribe(s *Subscription) { h.journal.unsubscribe(s) }

// Resubscribe changes the level of a subscription.
func (h *Host) Resubscribe(s *Subscription, level Level, prompts bool) {
	h.journal.resubscribe(s, level, prompts)
}

// Surface returns the records of all tools. Schemas of deferred tools are left out until they are loaded.
func (h *Host) Surface() View {
	return h.registry.view(View{Surface: h.surfaces.now(), SchedulerPolicy: sessionPolicy(h.o.MaxParallel)})
}

// Narrow makes a surface with the tools that a client wants, of those that the session has. The zero value returns the session's.
func (h *Host) Narrow(n Narrowing) (View, error) {
	if n.Scope == "" && n.Tools == nil && n.Role == "" {
		return h.Surface(), nil
	}
	if err := (choice{"scope", &n.Scope, "session", SurfaceScopes}).settle(); err != nil {
		return View{}, err
	}
	keep := map[agenttool.ToolID]bool{}
	for _, name := range n.Tools {
		e := h.registry.names[name]
		if e == nil {
			return View{}, h.registry.unknown(name)
		}
		keep[e.Declaration.ToolID] = true
	}
	s := h.surfaces.now()
	s.Scope, s.SurfaceReason = n.Scope, "narrowed from "+string(s.SurfaceID)
	if n.Role != "" {
		s.RoleConstraints = map[string]any{"role": n.Role}
	}
	if n.Tools != nil {
		s = narrow(s, keep, n.Role)
	}
	s, err := h.surfaces.add(s)
	if err != nil {
		return View{}, err
	}
	if events := h.journal.created(s); len(events) > 0 {
		h.journal.submit(false, events...)
	}
	return h.registry.view(View{Surface: s, SchedulerPolicy: sessionPolicy(h.o.MaxParallel)}), nil
}

// Claim takes a description of the model from a client, for all later calls. A name that no tool has is refused.
func (h *Host) Claim(m ModelClaim) error {
	for _, name := range m.Unsupported {
		if h.registry.names[name] == nil {
			return h.registry.unknown(name)
		}
	}
	h.surfaces.mu.Lock()
	h.surfaces.model = m
	h.surfaces.mu.Unlock()
	h.surfaces.renew("the client described its model")
	return nil
}

// WatchSurface has changed called, from any goroutine, when the tools of the session's surface have changed.
func (h *Host) WatchSurface(changed func()) {
	h.surfaces.mu.Lock()
	defer h.surfaces.mu.Unlock()
	h.surfaces.watchers = append(h.surfaces.watchers, changed)
}

// Search looks for tools: "select:a,b" by exact name, else by words over name, namespace, description and hint
// (AT-217 … AT-224).
func (h *Host) Search(query string, limit int) agenttool.SearchResult {
	found := h.registry.search(query, limit, h.surfaces.now())
	for _, m := range found.Matches {
		if m.LoadingState == "discoverable" && h.journal.first("discovered "+string(m.ToolID)) {
			h.journal.record(agenttool.Event{EventType: agenttool.EventDeferredDiscovered, ToolID: m.ToolID}, "name", m.Name, "reason", m.Reason)
		}
	}
	return found
}

// Load makes deferred tools callable and returns their declarations; missing are names that no tool has.
func (h *Host) Load(names []string) (loaded []agenttool.Declaration, missing []string) {
	loaded, missing = []agenttool.Declaration{}, []string{}
	for _, name := range names {
		e := h.registry.names[name]
		if e == nil {
			missing = append(missing, name)
			continue
		}
		e.mu.Lock()
		fresh := !e.loaded && e.Declaration.Lifecycle == agenttool.Deferred
		e.loaded = true
		e.mu.Unlock()
		if fresh {
			h.journal.record(agenttool.Event{EventType: agenttool.EventDeferredLoaded, ToolID: e.Declaration.ToolID}, "name", name)
			h.surfaces.renew(name + " is loaded")
		}
		loaded = append(loaded, e.declared())
	}
	return loaded, missing
}

// ReadResult returns a page of a payload of this session.
func (h *Host) ReadResult(ref string, offset, limit int64) (persist.Page, error) {
	return h.o.Store.Page(ref, offset, limit)
}

// Status returns the live calls, jobs and open prompts, oldest first.
func (h *Host) Status() Status {
	s := Status{Calls: h.live.list(h.o.Now()), Jobs: h.jobs.list(), Pending: []agenttool.Decision{}, Denied: h.live.recent.denied(), Mode: string(h.Mode())}
	for _, p := range h.prompts.All() {
		s.Pending = append(s.Pending, p.Decision)
	}
	return s
}
