package host

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// surfaces are the sets of tools that calls may name: the session's, and narrower ones that clients made of it. A surface with the same
// tools and reasons has the same id.
//
// A tool that a rule or the mode denies altogether is left out of the lists that models get. A call of it is refused by the rule or the
// mode, like any other, so that its record says which.
type surfaces struct {
	registry *registry
	rules    *rules
	journal  *journal

	mu sync.Mutex
	surfaceSet
	current  agenttool.Surface
	model    ModelClaim
	watchers []func()
}

// surfaceSet are the surfaces of a session, by their ids.
type surfaceSet struct {
	made     map[agenttool.SurfaceID]agenttool.Surface // as they were first made
	narrowed map[agenttool.SurfaceID]bool              // made by clients
}

// ModelClaim describes the model of a client.
type ModelClaim struct {
	Name        string   `json:"name,omitempty"`
	Unsupported []string `json:"unsupported_tools,omitempty"` // names of tools that the model cannot use
}

// maxSurfaces is how many narrower surfaces a session may have.
const maxSurfaces = 1000

// SurfaceScopes are the scopes of the standard (AT-075 … AT-083).
var SurfaceScopes = []string{"turn", "task", "session", "tenant", "skill", "peer_agent", "workspace", "role", "model_request"}

// Narrowing asks for a surface with fewer tools than the session's.
type Narrowing struct {
	Scope string   // empty: session
	Tools []string // names of the tools that stay; nil: all
	Role  string   // for the record
}

// now is the session's surface as it is now.
func (w *surfaces) now() agenttool.Surface {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// renew computes the session's surface again, and tells of it if it changed.
func (w *surfaces) renew(reason string) {
	policy := w.rules.Policy()
	w.mu.Lock()
	previous := w.current
	s := w.registry.surface(policy, w.model)
	s.CreatedAt = agenttool.Timestamp(w.journal.now())
	w.current = w.keep(s)
	changed, first, watchers := w.current.SurfaceID != previous.SurfaceID, previous.SurfaceID == "", slices.Clone(w.watchers)
	s = w.current
	w.mu.Unlock()
	if first || !changed {
		return
	}
	events := w.journal.created(previous)
	w.journal.first("surface " + string(s.SurfaceID))
	w.journal.submit(false, append(events, w.journal.event(agenttool.Event{EventType: agenttool.EventSurfaceUpdated},
		"reason", reason, "previous_surface_id", string(previous.SurfaceID), "surface", s))...)
	for _, changed := range watchers {
		changed()
	}
}

// add keeps a surface that a client made.
func (w *surfaces) add(s agenttool.Surface) (agenttool.Surface, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.narrowed) >= maxSurfaces {
		return s, refuse("this session has %d surfaces: use one of them", maxSurfaces)
	}
	s = w.keep(s)
	if w.narrowed == nil {
		w.narrowed = map[agenttool.SurfaceID]bool{}
	}
	w.narrowed[s.SurfaceID] = true
	return s, nil
}

// keep gives a surface its id, and returns it as it was first made. The caller holds w.mu.
func (w *surfaceSet) keep(s agenttool.Surface) agenttool.Surface {
	content := s
	content.SurfaceID, content.CreatedAt = "", ""
	sum := sha256.Sum256(encode(content))
	s.SurfaceID = agenttool.SurfaceID("surface_" + base32.HexEncoding.EncodeToString(sum[:])[:26])
	if old, made := w.made[s.SurfaceID]; made {
		return old
	}
	if w.made == nil {
		w.made = map[agenttool.SurfaceID]agenttool.Surface{}
	}
	w.made[s.SurfaceID] = s
	return s
}

// of returns the surface that a call is held to; an empty id is the session's.
func (w *surfaces) of(id agenttool.SurfaceID) (agenttool.Surface, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" || id == w.current.SurfaceID {
		return w.current, nil
	}
	if s, made := w.made[id]; made {
		return s, nil
	}
	return agenttool.Surface{}, refuse("surface_id %q is no surface of this session: leave it out, or make one with agenttool/surface", id)
}

// admits says why a tool that exists cannot be called on a surface, or nil.
func (w *surfaces) admits(id agenttool.SurfaceID, e *entry) error {
	w.mu.Lock()
	s, narrowed := w.made[id], w.narrowed[id]
	current := w.current
	w.mu.Unlock()
	tool := e.Declaration.ToolID
	if why := e.disabled(w.rules.Policy()); why != "" {
		return agenttool.Failure(agenttool.PolicyBlocked, "disabled_tool", e.Declaration.Name+" cannot be called: "+why)
	}
	if b, found := find(current.BlockedTools, tool); found && b.Reason == "model_unsupported" {
		return agenttool.Failure(agenttool.CapabilityGap, "model_unsupported", e.Declaration.Name+" cannot be called: "+b.Detail)
	}
	if b, found := find(s.ExcludedTools, tool); found && narrowed {
		return agenttool.Failure(agenttool.PolicyBlocked, "not_on_surface", e.Declaration.Name+" cannot be called: "+b.Detail)
	}
	return nil
}

// narrow leaves the tools out that are not kept.
func narrow(s agenttool.Surface, keep map[agenttool.ToolID]bool, role string) agenttool.Surface {
	reason, detail := "feature_disabled", "the client left it out of this surface"
	if role != "" {
		reason, detail = "role_not_allowed", "the client left it out of the surface of the role "+role
	}
	for _, ref := range s.ToolRefs {
		if id := agenttool.ToolID(ref); !keep[id] {
			s.ExcludedTools = append(s.ExcludedTools, agenttool.BlockedTool{ToolID: id, Reason: reason, Detail: detail})
		}
	}
	dropped := func(id agenttool.ToolID) bool { return !keep[id] }
	s.ToolRefs = slices.DeleteFunc(slices.Clone(s.ToolRefs), func(ref string) bool { return dropped(agenttool.ToolID(ref)) })
	s.LoadedTools = slices.DeleteFunc(slices.Clone(s.LoadedTools), func(t any) bool { return dropped(toolOf(t)) })
	s.DeferredTools = slices.DeleteFunc(slices.Clone(s.DeferredTools), func(t any) bool { return dropped(toolOf(t)) })
	s.BlockedTools = slices.DeleteFunc(slices.Clone(s.BlockedTools), func(b agenttool.BlockedTool) bool { return dropped(b.ToolID) })
	return s
}

// surface lists what can be called, and why the rest cannot.
func (r *registry) surface(p permissions.Policy, m ModelClaim) agenttool.Surface {
	s := agenttool.Surface{
		SchemaVersion: agenttool.SchemaVersion, Scope: "session", Producer: "toolhost", SurfaceReason: "session in mode " + string(p.Mode),
	}
	if m.Name != "" || m.Unsupported != nil {
		s.ModelCapabilities = map[string]any{"name": m.Name, "unsupported_tools": m.Unsupported}
	}
	jobs := r.startsJobs(p, m)
	for _, e := range r.entries {
		d := e.Declaration
		s.ToolRefs = append(s.ToolRefs, string(d.ToolID))
		b := e.obstacle(p, m)
		if _, acts := e.tool.(agenttool.JobTool); acts && b.Reason == "" && !jobs {
			b.Reason, b.Detail = "policy_blocked", "no tool that starts jobs can be called"
		}
		switch b.ToolID = d.ToolID; {
		case b.Reason != "":
			s.BlockedTools = append(s.BlockedTools, b)
		case !e.isLoaded():
			s.DeferredTools = append(s.DeferredTools, agenttool.DeferredTool{
				SchemaVersion: agenttool.SchemaVersion, ToolID: d.ToolID, Name: d.Name, Namespace: d.Namespace,
				SearchHint: d.SearchHint, Source: "toolhost", SchemaVisibility: "deferred", LoadingState: "discoverable",
				Reason: "deferred_until_discovered", SelectionRef: "select:" + d.Name,
			})
		default:
			s.LoadedTools = append(s.LoadedTools, string(d.ToolID))
		}
	}
	return s
}

// startsJobs reports whether a tool that leaves jobs behind can be called, or there is none at all.
func (r *registry) startsJobs(p permissions.Policy, m ModelClaim) bool {
	none := true
	for _, e := range r.entries {
		if _, acts := e.tool.(agenttool.JobTool); acts || !e.Execution.SupportsBackground {
			continue
		}
		if none = false; e.obstacle(p, m).Reason == "" {
			return true
		}
	}
	return none
}

// disabled says where the settings disable the tool, if they do.
func (e *entry) disabled(p permissions.Policy) string {
	if at, is := p.Disabled[e.Declaration.Name]; is {
		return "tools.disable in the settings names it (" + at.Where() + ")"
	}
	return ""
}

// obstacle says why no call of the tool can work; its zero value is that some can.
func (e *entry) obstacle(p permissions.Policy, m ModelClaim) (b agenttool.BlockedTool) {
	d := e.Declaration
	if err := e.blocked(); err != nil && d.Lifecycle != agenttool.Deferred {
		return agenttool.BlockedTool{Reason: blockedReason(d.Lifecycle), Detail: err.Error()}
	}
	if why := e.disabled(p); why != "" {
		return agenttool.BlockedTool{Reason: "feature_disabled", Detail: why}
	}
	if slices.Contains(m.Unsupported, d.Name) {
		return agenttool.BlockedTool{Reason: "model_unsupported", Detail: "the client says that its model cannot use it"}
	}
	if u, ok := e.tool.(agenttool.Unready); ok {
		if err := u.Unready(); err != nil {
			return agenttool.BlockedTool{Reason: "setup_required", Detail: err.Error()}
		}
	}
	reads := e.Interface.IsReadOnly == true && slices.Contains(e.Permission.AccessKinds, "file_read")
	writes := e.Interface.IsReadOnly == false && slices.Contains(e.Permission.AccessKinds, "file_write")
	if rule, hidden := p.Hides(d.Name, permissions.Uses{Reads: reads, Writes: writes}); hidden {
		return agenttool.BlockedTool{Reason: "policy_blocked", Detail: "denied by " + rule.Described()}
	}
	if _, acts := e.tool.(agenttool.JobTool); !acts && p.Mode == permissions.Plan && e.Interface.IsReadOnly == false {
		return agenttool.BlockedTool{Reason: "policy_blocked", Detail: "mode plan runs only calls that read"}
	}
	return b
}

func blockedReason(l agenttool.Lifecycle) string {
	if l == agenttool.RequiresSetup {
		return "setup_required"
	}
	return "feature_disabled"
}
