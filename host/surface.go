package host

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/permissions"
	"toolhost/persist"
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

	mu       sync.Mutex                                // guards what follows
	byID     map[agenttool.SurfaceID]agenttool.Surface // as they were first made
	narrowed map[agenttool.SurfaceID]bool              // those that clients made
	current  agenttool.Surface
	model    ModelClaim
	watchers []func()
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
func (w *surfaces) keep(s agenttool.Surface) agenttool.Surface {
	content := s
	content.SurfaceID, content.CreatedAt = "", ""
	sum := sha256.Sum256(encode(content))
	s.SurfaceID = agenttool.SurfaceID("surface_" + base32.HexEncoding.EncodeToString(sum[:])[:26])
	if old, made := w.byID[s.SurfaceID]; made {
		return old
	}
	if w.byID == nil {
		w.byID = map[agenttool.SurfaceID]agenttool.Surface{}
	}
	w.byID[s.SurfaceID] = s
	return s
}

// of returns the surface that a call is held to; an empty id is the session's.
func (w *surfaces) of(id agenttool.SurfaceID) (agenttool.Surface, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" || id == w.current.SurfaceID {
		return w.current, nil
	}
	if s, made := w.byID[id]; made {
		return s, nil
	}
	return agenttool.Surface{}, refuse("surface_id %q is no surface of this session: leave it out, or make one with agenttool/surface", id)
}

// admits says why a tool that exists cannot be called on a surface, or nil.
func (w *surfaces) admits(id agenttool.SurfaceID, e *entry) error {
	w.mu.Lock()
	s, narrowed := w.byID[id], w.narrowed[id]
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
		b.ToolID = d.ToolID
		switch {
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
		none = false
		if e.obstacle(p, m).Reason == "" {
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
		reason := "feature_disabled"
		if d.Lifecycle == agenttool.RequiresSetup {
			reason = "setup_required"
		}
		return agenttool.BlockedTool{Reason: reason, Detail: err.Error()}
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

// View is the tools as clients see them: the records of each, and the surface of the session.
type View struct {
	Surface            agenttool.Surface             `json:"surface"`
	Declarations       []agenttool.Declaration       `json:"declarations"`
	Interfaces         []agenttool.Interface         `json:"interfaces"`
	ExecutionProfiles  []agenttool.ExecutionProfile  `json:"execution_profiles"`
	PermissionProfiles []agenttool.PermissionProfile `json:"permission_profiles"`
	SchedulerPolicy    agenttool.SchedulerPolicy     `json:"scheduler_policy"`
	Namespaces         []agenttool.Namespace         `json:"namespaces"`
	Warnings           []string                      `json:"warnings,omitempty"` // about tools
}

// Listed are the records of the tools that a model can use: those that are blocked or left out are not among them.
func (v View) Listed() View {
	on := map[agenttool.ToolID]bool{}
	for _, t := range slices.Concat(v.Surface.LoadedTools, v.Surface.DeferredTools) {
		on[toolOf(t)] = true
	}
	listed := View{Surface: v.Surface, SchedulerPolicy: v.SchedulerPolicy, Namespaces: v.Namespaces, Warnings: v.Warnings}
	for i, d := range v.Declarations {
		if on[d.ToolID] {
			listed.Declarations = append(listed.Declarations, d)
			listed.Interfaces = append(listed.Interfaces, v.Interfaces[i])
			listed.ExecutionProfiles = append(listed.ExecutionProfiles, v.ExecutionProfiles[i])
			listed.PermissionProfiles = append(listed.PermissionProfiles, v.PermissionProfiles[i])
		}
	}
	return listed
}

// view returns the records of all tools beside a surface. Schemas of deferred tools are left out until they are loaded.
func (r *registry) view(v View) View {
	v.Namespaces, v.Warnings = r.namespaces(), r.warnings
	for _, e := range r.entries {
		d, i := e.declared(), e.callable()
		if !e.isLoaded() {
			d.InputContract, d.OutputContract = nil, nil
			i.ModelInputSchema, i.RuntimeInputSchema, i.OutputSchema, i.SchemaVisibility = nil, nil, nil, "deferred"
		}
		v.Declarations = append(v.Declarations, d)
		v.Interfaces = append(v.Interfaces, i)
		v.ExecutionProfiles = append(v.ExecutionProfiles, e.Execution)
		v.PermissionProfiles = append(v.PermissionProfiles, e.Permission)
	}
	return v
}

// namespaces are those of the tools, in the order of the tools. Names are unique over all of them.
func (r *registry) namespaces() (all []agenttool.Namespace) {
	for _, e := range r.entries {
		d := e.Declaration
		if !slices.ContainsFunc(all, func(n agenttool.Namespace) bool { return n.Namespace == d.Namespace }) {
			all = append(all, agenttool.Namespace{SchemaVersion: agenttool.SchemaVersion, Namespace: d.Namespace, Source: "toolhost"})
		}
		n := &all[slices.IndexFunc(all, func(n agenttool.Namespace) bool { return n.Namespace == d.Namespace })]
		n.ToolRefs = append(n.ToolRefs, string(d.ToolID))
	}
	return all
}

// partitions are the fields of an interface that the standard lists in its prose only (X15). Clients get them with a surface. They
// follow from the tool's other records, so the log does not repeat them.
//
// Agent Tool v0.2.0, "Tool interface" (AT-475 … AT-484).
type partitions struct {
	NativeIDs      map[string]string `json:"native_ids"` // by protocol
	UserFacingName string            `json:"user_facing_name"`

	// Discovery.
	Description    string   `json:"description"`
	CapabilityRefs []string `json:"capability_refs"`
	ShouldDefer    bool     `json:"should_defer"`
	AlwaysLoad     bool     `json:"always_load"`

	// Availability.
	RequiresSetup       bool     `json:"requires_setup"`
	RequiredCredentials []string `json:"required_credentials"`
	ModelRequirements   []string `json:"model_requirements"`
	FeatureGateRefs     []string `json:"feature_gate_refs"`

	// Validation.
	SchemaValidation string `json:"schema_validation"`
	ValueValidation  string `json:"value_validation"`
	IOPreflight      string `json:"io_preflight_validation"`

	// Permission of calls.
	SandboxProfile    string `json:"sandbox_profile"`
	PermissionChannel string `json:"permission_channel"`
	DecisionRef       string `json:"decision_ref"` // of a call, in its invocation

	// Running calls.
	TimeoutMS             int64  `json:"timeout_ms"` // 0: no deadline unless the call has one
	AbortSemantics        string `json:"abort_semantics"`
	ProgressSchema        string `json:"progress_schema"`
	ContextModifierPolicy string `json:"context_modifier_policy"`

	// Results.
	ResultMapper        string   `json:"result_mapper"`
	RedactionPolicyRefs []string `json:"redaction_policy_refs"`
}

// The policies that every call has.
const (
	sessionPersistence = "toolhost.persistence.session" // large results are payloads of the session
	sessionRedaction   = "toolhost.redaction.session"   // nothing that is stored holds a secret
)

// rendering says which fields of records a client shows.
func rendering(title string) map[string]any {
	return map[string]any{
		"ui_summary": "result.ui_facing_summary", "activity_description": title, "progress_render_hint": "progress.message",
		"rejected_render_hint": "result.error.message", "error_render_hint": "result.error.message", "transcript_search_text": "result.content",
	}
}

// callable is the tool's interface with all partitions.
func (e *entry) callable() agenttool.Interface {
	i, d := e.Interface, e.Declaration
	u, can := e.tool.(agenttool.Unready)
	p := partitions{
		NativeIDs: map[string]string{"mcp": d.Name, "function_calling": d.Name}, UserFacingName: cmp.Or(d.Title, d.Name),

		Description: d.Description, CapabilityRefs: list(d.CapabilityRefs),
		ShouldDefer: d.Lifecycle == agenttool.Deferred, AlwaysLoad: d.Lifecycle != agenttool.Deferred,

		RequiresSetup:       d.Lifecycle == agenttool.RequiresSetup || can && u.Unready() != nil,
		RequiredCredentials: list(e.Permission.CredentialRefs), ModelRequirements: []string{}, FeatureGateRefs: []string{},

		SchemaValidation: "model_input_schema", ValueValidation: "before_hooks", IOPreflight: "after_permission",

		SandboxProfile: cmp.Or(e.Permission.SandboxProfile, "none"), PermissionChannel: "agenttool/decide", DecisionRef: "invocation.permission_decision_refs",

		TimeoutMS: e.Execution.TimeoutMS, AbortSemantics: "may_have_changed_something", ProgressSchema: "none", ContextModifierPolicy: "forbid",

		ResultMapper: "once", RedactionPolicyRefs: []string{sessionRedaction},
	}
	if i.IsReadOnly == true {
		p.AbortSemantics = "changes_nothing"
	}
	if e.Execution.SupportsProgress {
		p.ProgressSchema = "tool_progress"
	}
	if e.Execution.SupportsContextModifiers {
		p.ContextModifierPolicy = sessionPolicy(0).ContextModifierPolicy
	}
	if i.RuntimeInputSchema == nil {
		i.RuntimeInputSchema = i.ModelInputSchema
	}
	i.Aliases, i.MaxInlineChars = list(i.Aliases), cmp.Or(i.MaxInlineChars, persist.InlineChars)
	i.PersistencePolicyRef, i.Rendering = cmp.Or(i.PersistencePolicyRef, sessionPersistence), rendering(p.UserFacingName)
	own := i.Extra
	i.Extra = agenttool.Extra{}
	_ = json.Unmarshal(encode(p), &i.Extra) // it is an object
	maps.Copy(i.Extra, own)
	return i
}

// declared is the tool's declaration with all fields of its contracts, and its names in other protocols. Clients get it with a surface. The
// additions follow from the tool's other records, so the log does not repeat them.
//
// Agent Tool v0.2.0, "Tool declaration" (AT-001, AT-005, AT-006, AT-019).
func (e *entry) declared() agenttool.Declaration {
	d := e.Declaration
	if d.InputContract != nil {
		d.InputContract = inputContract(*d.InputContract)
	}
	var out agenttool.OutputContract
	if d.OutputContract != nil {
		out = *d.OutputContract
	}
	d.OutputContract = outputContract(out, e.Interface)
	d.ExternalMappings = append([]agenttool.ExternalMapping{
		{System: "mcp", Extra: agenttool.Extra{"method": encode("tools/call"), "tool_name": encode(d.Name)}},
		{System: "function_calling", Extra: agenttool.Extra{"function_name": encode(d.Name), "strict": encode(e.Interface.Strict)}},
	}, d.ExternalMappings...)
	return d
}

func inputContract(c agenttool.InputContract) *agenttool.InputContract {
	if c.RuntimeInputSchema == nil {
		c.RuntimeInputSchema = c.ModelInputSchema
	}
	c.ArgumentMode = cmp.Or(c.ArgumentMode, "json")
	c.MutationPolicy = cmp.Or(c.MutationPolicy, "a changed input is bound again from the start")
	c.Examples = append([]json.RawMessage{}, c.Examples...)
	c.SensitiveFields, c.InternalOnlyFields = list(c.SensitiveFields), list(c.InternalOnlyFields)
	if c.Defaults == nil {
		c.Defaults = map[string]any{}
	}
	return &c
}

func outputContract(c agenttool.OutputContract, i agenttool.Interface) *agenttool.OutputContract {
	if c.StructuredSchema == nil {
		c.StructuredSchema = i.OutputSchema
	}
	c.MaxInlineChars = cmp.Or(c.MaxInlineChars, i.MaxInlineChars, persist.InlineChars)
	c.PersistencePolicyRef = cmp.Or(c.PersistencePolicyRef, i.PersistencePolicyRef, sessionPersistence)
	c.RenderingBoundary = cmp.Or(c.RenderingBoundary, "output is data: it is never interpreted")
	c.RedactionRules = append([]string{sessionRedaction}, c.RedactionRules...)
	c.FallbackSummary = cmp.Or(c.FallbackSummary, "result.ui_facing_summary")
	c.ArtifactExpectations = list(c.ArtifactExpectations)
	return &c
}

// list is a list that is written even if it is empty.
func list(items []string) []string { return append([]string{}, items...) }
