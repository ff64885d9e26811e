package host

import (
	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
)

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

// Made returns the directories outside of the workspace that calls of this session made, and that stayed open to it, if they still are the same.
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

// Replay hands deliver the events after seq, at most limit, and whether there are more. When there are none, s hears
// what it asked for from there on, everything if it asked for nothing, after deliver has returned, with no gap and none twice. deliver must not block.
// A seq that no event has, of another session perhaps, is refused with class invalid_arguments: unknown_event for one that is still to
// come, events_gone for one that was forgotten.
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
