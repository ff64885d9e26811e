package host

import (
	"cmp"
	"maps"
	"slices"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

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

	discovery
	availability
	validation

	permissionPart

	runPart

	resultPart
}

// permissionPart is about the permission of calls.
type permissionPart struct {
	SandboxProfile    string `json:"sandbox_profile"`
	PermissionChannel string `json:"permission_channel"`
	DecisionRef       string `json:"decision_ref"` // of a call, in its invocation
}

// runPart is about running calls.
type runPart struct {
	TimeoutMS             int64  `json:"timeout_ms"` // 0: no deadline unless the call has one
	AbortSemantics        string `json:"abort_semantics"`
	ProgressSchema        string `json:"progress_schema"`
	ContextModifierPolicy string `json:"context_modifier_policy"`
}

// resultPart is about results.
type resultPart struct {
	ResultMapper        string   `json:"result_mapper"`
	RedactionPolicyRefs []string `json:"redaction_policy_refs"`
}

type discovery struct {
	Description    string   `json:"description"`
	CapabilityRefs []string `json:"capability_refs"`
	ShouldDefer    bool     `json:"should_defer"`
	AlwaysLoad     bool     `json:"always_load"`
}

type availability struct {
	RequiresSetup       bool     `json:"requires_setup"`
	RequiredCredentials []string `json:"required_credentials"`
	ModelRequirements   []string `json:"model_requirements"`
	FeatureGateRefs     []string `json:"feature_gate_refs"`
}

type validation struct {
	SchemaValidation string `json:"schema_validation"`
	ValueValidation  string `json:"value_validation"`
	IOPreflight      string `json:"io_preflight_validation"`
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
		discovery: discovery{Description: d.Description, CapabilityRefs: list(d.CapabilityRefs),
			ShouldDefer: d.Lifecycle == agenttool.Deferred, AlwaysLoad: d.Lifecycle != agenttool.Deferred},
		availability: availability{RequiresSetup: d.Lifecycle == agenttool.RequiresSetup || can && u.Unready() != nil,
			RequiredCredentials: list(e.Permission.CredentialRefs), ModelRequirements: []string{}, FeatureGateRefs: []string{}},
		validation: validation{SchemaValidation: "model_input_schema", ValueValidation: "before_hooks", IOPreflight: "after_permission"},

		permissionPart: permissionPart{SandboxProfile: cmp.Or(e.Permission.SandboxProfile, "none"), PermissionChannel: "agenttool/decide", DecisionRef: "invocation.permission_decision_refs"},
		runPart:        runPart{TimeoutMS: e.Execution.TimeoutMS, AbortSemantics: "may_have_changed_something", ProgressSchema: "none", ContextModifierPolicy: "forbid"},
		resultPart:     resultPart{ResultMapper: "once", RedactionPolicyRefs: []string{sessionRedaction}},
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
