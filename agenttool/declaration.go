package agenttool

import "encoding/json"

// Lifecycle is the state of a tool (AT-060 … AT-066). Only available, deprecated and loaded deferred tools run.
type Lifecycle string

// The lifecycle states.
const (
	Draft         Lifecycle = "draft"
	Available     Lifecycle = "available"
	Disabled      Lifecycle = "disabled"
	RequiresSetup Lifecycle = "requires_setup"
	Deferred      Lifecycle = "deferred"
	Deprecated    Lifecycle = "deprecated"
	Retired       Lifecycle = "retired"
)

// ToolKind is one of the standard's 17 kinds of tool (AT-040 … AT-056).
type ToolKind string

// The kinds that toolhost itself declares.
const (
	KindShellCommand  ToolKind = "shell_command"
	KindFileOperation ToolKind = "file_operation"
	KindCustom        ToolKind = "custom"
)

// ToolKinds lists the kinds in the standard's order. A tool of another kind is kept as it came.
var ToolKinds = []ToolKind{
	"function", "mcp_tool", "openapi_operation", "native_tool", "browser_action", KindShellCommand, "code_execution", KindFileOperation, "web_search",
	"retrieval", "model_task", "skill_tool", "peer_agent_tool", "policy_check", "artifact_operation", "evidence_export", KindCustom,
}

// Declaration announces a tool: its name, its purpose and its contracts.
//
// Agent Tool v0.2.0, "tool_declaration" (AT-001).
type Declaration struct {
	SchemaVersion        string            `json:"schema_version"`
	ToolID               ToolID            `json:"tool_id"`
	Namespace            string            `json:"namespace"`
	Name                 string            `json:"name"`
	Aliases              []string          `json:"aliases,omitempty"`
	Title                string            `json:"title,omitempty"`
	Description          string            `json:"description"`
	SearchHint           string            `json:"search_hint,omitempty"`
	Lifecycle            Lifecycle         `json:"lifecycle"`
	ToolKind             ToolKind          `json:"tool_kind"`
	CapabilityRefs       []string          `json:"capability_refs,omitempty"`
	InputContract        *InputContract    `json:"input_contract,omitempty"`
	OutputContract       *OutputContract   `json:"output_contract,omitempty"`
	InterfaceRef         string            `json:"interface_ref,omitempty"`
	ExecutionProfileRef  string            `json:"execution_profile_ref,omitempty"`
	PermissionProfileRef string            `json:"permission_profile_ref,omitempty"`
	ExternalMappings     []ExternalMapping `json:"external_mappings,omitempty"`
	Annotations          map[string]any    `json:"annotations,omitempty"`
	Extra                Extra             `json:",embed"`
}

// Namespace groups tools of one source. Agent Tool v0.2.0, "tool_namespace" (AT-004); no published schema.
type Namespace struct {
	SchemaVersion string   `json:"schema_version"`
	Namespace     string   `json:"namespace"`
	Description   string   `json:"description,omitempty"`
	Source        string   `json:"source,omitempty"`
	ToolRefs      []string `json:"tool_refs,omitempty"` // ours: its tools
	Extra         Extra    `json:",embed"`
}

// InputContract describes the input of a tool.
//
// Agent Tool v0.2.0, "tool_input_contract" (AT-005); no published schema. X02: the schema is always written, under
// the name model_input_schema.
type InputContract struct {
	ModelInputSchema   json.RawMessage   `json:"model_input_schema"`
	RuntimeInputSchema json.RawMessage   `json:"runtime_input_schema,omitempty"`
	ArgumentMode       string            `json:"argument_mode,omitempty"` // json, text, file, multipart, stream or custom
	Strict             bool              `json:"strict"`
	Defaults           map[string]any    `json:"defaults,omitzero"`
	Examples           []json.RawMessage `json:"examples,omitzero"`
	SensitiveFields    []string          `json:"sensitive_fields,omitzero"`
	InternalOnlyFields []string          `json:"internal_only_fields,omitzero"`
	MutationPolicy     string            `json:"mutation_policy,omitempty"`
	Extra              Extra             `json:",embed"`
}

// OutputContract describes the output of a tool.
//
// Agent Tool v0.2.0, "tool_output_contract" (AT-006); no published schema.
type OutputContract struct {
	StructuredSchema     json.RawMessage `json:"structured_schema,omitempty"`
	ContentTypes         []string        `json:"content_types,omitempty"`
	ArtifactExpectations []string        `json:"artifact_expectations,omitzero"`
	MaxInlineChars       int             `json:"max_inline_chars,omitempty"`
	PersistencePolicyRef string          `json:"persistence_policy_ref,omitempty"`
	RenderingBoundary    string          `json:"rendering_boundary,omitempty"`
	RedactionRules       []string        `json:"redaction_rules,omitempty"`
	FallbackSummary      string          `json:"fallback_summary,omitempty"`
	Extra                Extra           `json:",embed"`
}

// ExternalMapping keeps the identity that a tool or call has in another protocol, member by member.
//
// Agent Tool v0.2.0, "tool_external_mapping" (AT-019, AT-340 … AT-346); no published schema.
type ExternalMapping struct {
	System string `json:"system"` // mcp, openapi, function_calling, a2a, cli, browser, telemetry
	Extra  Extra  `json:",embed"` // the native ids, as that system spells them
}

// Interface is the callable form of a tool: its schemas, and the facts that hold for every input. A fact that depends
// on the input is a string that names the component that computes it.
//
// Agent Tool v0.2.0, "tool_interface" (AT-002). The fields after ExternalMappings are in its prose only (X15).
type Interface struct {
	SchemaVersion string   `json:"schema_version"`
	InterfaceID   string   `json:"interface_id"`
	ToolID        ToolID   `json:"tool_id"`
	Name          string   `json:"name,omitempty"`
	Aliases       []string `json:"aliases,omitzero"`
	SearchHint    string   `json:"search_hint,omitempty"`
	Schemas
	StaticFacts
	RequiresUserInteraction bool   `json:"requires_user_interaction"`
	ClassifierInput         any    `json:"classifier_input,omitempty"`
	PermissionMatcher       string `json:"permission_matcher,omitempty"`
	ProfileRefs
	MaxInlineChars   int               `json:"max_inline_chars,omitempty"` // 0: the host's limit
	Rendering        map[string]any    `json:"rendering,omitempty"`
	ExternalMappings []ExternalMapping `json:"external_mappings,omitempty"`

	Namespace string `json:"namespace,omitempty"`
	CallRules
	Extra Extra `json:",embed"`
}

// Schemas are those of a tool's input and output.
type Schemas struct {
	ModelInputSchema   json.RawMessage `json:"model_input_schema,omitempty"`
	RuntimeInputSchema json.RawMessage `json:"runtime_input_schema,omitempty"`
	OutputSchema       json.RawMessage `json:"output_schema,omitempty"`
	Strict             bool            `json:"strict"`
	SchemaVisibility   string          `json:"schema_visibility,omitempty"` // loaded, deferred, internal or native_ref
}

// StaticFacts hold for every call of the tool: each is a bool, or a string that names its computation.
type StaticFacts struct {
	IsEnabled         any `json:"is_enabled,omitempty"` // these five: a bool or a string
	IsReadOnly        any `json:"is_read_only,omitempty"`
	IsConcurrencySafe any `json:"is_concurrency_safe,omitempty"`
	IsDestructive     any `json:"is_destructive,omitempty"`
	IsOpenWorld       any `json:"is_open_world,omitempty"`
}

// ProfileRefs are the profiles of a tool, by id.
type ProfileRefs struct {
	ExecutionProfileRef  string `json:"execution_profile_ref,omitempty"`
	PermissionProfileRef string `json:"permission_profile_ref,omitempty"`
	PersistencePolicyRef string `json:"persistence_policy_ref,omitempty"`
}

// CallRules say how a call of the tool is treated; they are ours.
type CallRules struct {
	InterruptBehavior string   `json:"interrupt_behavior,omitempty"` // cancel or block
	DenyBeforeIO      bool     `json:"deny_before_io"`
	EmptyResultPolicy string   `json:"empty_result_policy,omitempty"`
	InferredFacts     []string `json:"inferred_facts,omitempty"`
}

// ExecutionProfile says how a tool runs, and truthfully what it supports.
//
// Agent Tool v0.2.0, "tool_execution_profile" (AT-007, AT-450 … AT-462). The last four are in its prose only (X16).
type ExecutionProfile struct {
	SchemaVersion            string            `json:"schema_version"`
	ExecutionProfileID       string            `json:"execution_profile_id"`
	ExecutionKind            string            `json:"execution_kind"` // shell, embedded_runtime, mcp_server, …
	SupportsProgress         bool              `json:"supports_progress"`
	SupportsCancel           bool              `json:"supports_cancel"`
	SupportsResume           bool              `json:"supports_resume"`
	SupportsRetries          bool              `json:"supports_retries"`
	SupportsPartialResults   bool              `json:"supports_partial_results"`
	SupportsBackground       bool              `json:"supports_background"`
	SupportsArtifacts        bool              `json:"supports_artifacts"`
	SupportsContextModifiers bool              `json:"supports_context_modifiers"`
	Sandboxed                bool              `json:"sandboxed"`
	SandboxProfile           string            `json:"sandbox_profile,omitempty"`
	TimeoutMS                int64             `json:"timeout_ms,omitempty"` // 0: no deadline unless the call has one
	ExternalMappings         []ExternalMapping `json:"external_mappings,omitempty"`

	SupportsTimeout              bool  `json:"supports_timeout"`
	SupportsResultPersistence    bool  `json:"supports_result_persistence"`
	SupportsCredentialDelegation bool  `json:"supports_credential_delegation"`
	SupportsOffline              bool  `json:"supports_offline"`
	Extra                        Extra `json:",embed"`
}

// PermissionProfile says what a tool can touch, for every input alike.
//
// Agent Tool v0.2.0, "tool_permission_profile" (AT-008, AT-465 … AT-472).
type PermissionProfile struct {
	SchemaVersion       string   `json:"schema_version"`
	PermissionProfileID string   `json:"permission_profile_id"`
	RiskLevel           string   `json:"risk_level"` // low, medium, high or critical
	AccessKinds         []string `json:"access_kinds,omitempty"`
	WriteEffects        []string `json:"write_effects,omitempty"`
	NetworkScope        string   `json:"network_scope,omitempty"`
	TenantScope         string   `json:"tenant_scope,omitempty"`
	CredentialRefs      []string `json:"credential_refs,omitzero"` // empty: it is given none
	SandboxProfile      string   `json:"sandbox_profile,omitempty"`
	ApprovalRequired    bool     `json:"approval_required"`
	ApprovalReason      string   `json:"approval_reason,omitempty"`
	PromptAvoidable     bool     `json:"prompt_avoidable"` // ours: a rule or the mode can decide where no person is
	PermissionChannel   string   `json:"permission_channel,omitempty"`
	RuleMatchingFields  []string `json:"rule_matching_fields,omitempty"`
	DataSensitivity     string   `json:"data_sensitivity,omitempty"`
	RetentionHint       string   `json:"retention_hint,omitempty"`
	RedactionRequired   bool     `json:"redaction_required"`
	PolicyRefs          []string `json:"policy_refs,omitempty"`
	Extra               Extra    `json:",embed"`
}
