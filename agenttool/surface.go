package agenttool

import "toolhost/agenttool/json"

// Surface is the set of tools that one session, turn or request may use.
//
// Agent Tool v0.2.0, "tool_surface" (AT-003).
type Surface struct {
	SchemaVersion          string         `json:"schema_version"`
	SurfaceID              SurfaceID      `json:"surface_id"`
	Scope                  string         `json:"scope"` // turn, task, session, workspace, …
	CreatedAt              string         `json:"created_at,omitempty"`
	Producer               string         `json:"producer,omitempty"`
	ToolRefs               []string       `json:"tool_refs,omitempty"`
	LoadedTools            []any          `json:"loaded_tools,omitempty"`
	DeferredTools          []any          `json:"deferred_tools,omitempty"`
	BlockedTools           []BlockedTool  `json:"blocked_tools,omitempty"`
	ExcludedTools          []BlockedTool  `json:"excluded_tools,omitempty"`
	SelectionPolicy        map[string]any `json:"selection_policy,omitempty"`
	DefaultToolChoice      any            `json:"default_tool_choice,omitempty"`
	CapabilityRequirements []string       `json:"capability_requirements,omitempty"`
	ModelCapabilities      map[string]any `json:"model_capabilities,omitempty"`
	RoleConstraints        map[string]any `json:"role_constraints,omitempty"`
	SurfaceReason          string         `json:"surface_reason,omitempty"`
	PolicyRefs             []string       `json:"policy_refs,omitempty"`
	RuntimeRefs            []string       `json:"runtime_refs,omitempty"`
	Extra                  Extra          `json:",embed"`
}

// BlockedTool is a tool that exists and cannot be called, with the reason (AT-067 … AT-074).
type BlockedTool struct {
	ToolID ToolID `json:"tool_id"`
	Reason string `json:"reason"` // policy_blocked, setup_required, feature_disabled, …
	Detail string `json:"detail,omitempty"`
	Extra  Extra  `json:",embed"`
}

// DeferredTool is a tool whose schema the host sends only after a search for it.
//
// Agent Tool v0.2.0, "deferred_tool_ref" (AT-013, AT-212 … AT-216).
type DeferredTool struct {
	SchemaVersion           string         `json:"schema_version"`
	ToolID                  ToolID         `json:"tool_id"`
	Name                    string         `json:"name"`
	Namespace               string         `json:"namespace,omitempty"`
	SearchHint              string         `json:"search_hint,omitempty"`
	Source                  string         `json:"source,omitempty"`
	SchemaVisibility        string         `json:"schema_visibility,omitempty"`
	LoadingState            string         `json:"loading_state"` // loaded, deferred, discoverable, pending_provider, unavailable
	Reason                  string         `json:"reason,omitempty"`
	PendingProviderOrServer string         `json:"pending_provider_or_server,omitempty"`
	SelectionRef            string         `json:"selection_ref,omitempty"`
	NativeRef               map[string]any `json:"native_ref,omitempty"`
	Extra                   Extra          `json:",embed"`
}

// SearchResult answers a search over the catalogue (AT-217 … AT-224). The standard publishes no schema for it.
type SearchResult struct {
	SchemaVersion      string        `json:"schema_version"`
	Query              string        `json:"query"`
	QueryType          string        `json:"query_type"` // select or keyword
	Matches            []SearchMatch `json:"matches"`    // best first; empty says that nothing matched
	MissingNames       []string      `json:"missing_names,omitempty"`
	PendingProviders   []string      `json:"pending_providers,omitempty"`
	TotalDeferredTools int           `json:"total_deferred_tools"`
	NextAction         string        `json:"next_action"` // load_schema_then_call, call, refine_query; choose_another: none of the matches can be called
	Extra              Extra         `json:",embed"`
}

// MarshalJSON writes no matches as a list: "nothing matched" is machine-readable (AT-220).
func (r SearchResult) MarshalJSON() ([]byte, error) {
	type plain SearchResult
	if r.Matches == nil {
		r.Matches = []SearchMatch{}
	}
	return json.Encode(plain(r))
}

// SearchMatch is one candidate of a SearchResult.
type SearchMatch struct {
	ToolID       ToolID  `json:"tool_id"`
	Name         string  `json:"name"`
	Namespace    string  `json:"namespace"`
	Description  string  `json:"description"`
	LoadingState string  `json:"loading_state"`
	Score        float64 `json:"score"` // 0 … 1
	Reason       string  `json:"reason"`
	Extra        Extra   `json:",embed"`
}
